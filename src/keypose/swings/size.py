"""The packed size of swings by section."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.swings.codec import pack_with_sizes
from keypose.swings.model import Swings

NUMBER_BYTES = 4
SECTIONS = ("swings", "rests", "keys", "left_out", "translation", "header")


@dataclass(frozen=True)
class Size:
    """The bytes of packed swings by section, and those of the raw motion."""

    swings: int
    rests: int
    keys: int  # where swings are inaccurate
    left_out: int  # joints stored frame by frame: fingers, toes
    translation: int  # paths and changed translations
    header: int  # the clip, its skeleton, foot contacts, flags of tracks
    raw_bytes: int  # 4 for each rotation and position channel of the skeleton in each frame

    @property
    def sections(self) -> dict[str, int]:
        """The bytes of each section by name."""
        return {part: getattr(self, part) for part in SECTIONS}

    @property
    def total(self) -> int:
        """The total number of bytes."""
        return sum(self.sections.values())

    @property
    def ratio(self) -> float:
        """The packed bytes over the raw bytes."""
        return self.total / max(1, self.raw_bytes)


def measure_size(swings: Swings) -> Size:
    """Return the packed size of ``swings``."""
    sizes = pack_with_sizes(swings)[1]
    channels = sum(len(channels) for channels in swings.skeleton.channels)
    return Size(**{part: sizes[part] for part in SECTIONS}, raw_bytes=NUMBER_BYTES * channels * swings.n_frames)
