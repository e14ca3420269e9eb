"""The lossy codec: ``encode`` and the decoder of its groups."""

from keypose.storage.lossy.encode import encode
from keypose.storage.lossy.plan import LossyDecoder

__all__ = ["LossyDecoder", "encode"]
