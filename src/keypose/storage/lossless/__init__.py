"""Motions without loss: whole numbers, foretold from one another, and what was missed through a range coder."""

from keypose.storage.lossless.decode import LosslessDecoder
from keypose.storage.lossless.encode import encode_lossless
from keypose.storage.lossless.table import ChannelTable

__all__ = ["ChannelTable", "LosslessDecoder", "encode_lossless"]
