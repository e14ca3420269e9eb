"""The lossy codec: ``encode`` and the decoder of its groups."""

from keypose.storage.lossy.decode import LossyDecoder
from keypose.storage.lossy.encode import encode

__all__ = ["LossyDecoder", "encode"]
