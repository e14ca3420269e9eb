"""Store motions in ``.kps`` files, within an error bound or lossless, with random access to any second."""

from keypose.storage.group_reader import Damage
from keypose.storage.stored_motion import StoredMotion
from keypose.storage.writer import encode_kps, encode_kps_keys, encode_kps_swings

__all__ = ["Damage", "StoredMotion", "encode_kps", "encode_kps_keys", "encode_kps_swings"]
