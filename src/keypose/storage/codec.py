"""The codec of motions within a tolerance: ``encode`` and the decoder that reads its groups."""

from keypose.storage.lossy.decode import LossyDecoder
from keypose.storage.lossy.encode import encode

__all__ = ["LossyDecoder", "encode"]
