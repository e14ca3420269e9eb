"""Blobs: bytes named by their sha256, in a folder or an object store."""

from keypose.library.blobs.base import Blobs, sha256_hex
from keypose.library.blobs.folder import FolderBlobs, open_blobs

__all__ = ["Blobs", "FolderBlobs", "open_blobs", "sha256_hex"]
