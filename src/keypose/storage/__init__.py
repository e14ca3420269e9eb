"""Motions in ``.kps`` files: small, within a promised error or without loss, any second readable without the rest."""

from keypose.storage.damage import Damage
from keypose.storage.stored import StoredMotion, open_kps
from keypose.storage.writing import keys_bytes, stored_bytes, swings_bytes

__all__ = ["Damage", "StoredMotion", "keys_bytes", "open_kps", "stored_bytes", "swings_bytes"]
