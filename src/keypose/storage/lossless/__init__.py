"""The lossless codec: columns of integers, predicted from each other, with range-coded prediction errors."""

from keypose.storage.lossless.angle_recovery import ChannelTable
from keypose.storage.lossless.codec import LosslessDecoder, encode_lossless

__all__ = ["ChannelTable", "LosslessDecoder", "encode_lossless"]
