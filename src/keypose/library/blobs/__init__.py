"""Bytes under the name of their own sha256: in a folder, or in an object store behind the same verbs."""

from keypose.library.blobs.base import Blobs, hash_of
from keypose.library.blobs.folder import FolderBlobs
from keypose.library.blobs.place import blobs_at

__all__ = ["Blobs", "FolderBlobs", "blobs_at", "hash_of"]
