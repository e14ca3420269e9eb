"""How many bytes swings take, and what for."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.swings.noun import Swings
from keypose.swings.packed import packed_parts

NUMBER_BYTES = 4
PARTS = ("swings", "rests", "keys", "left_out", "translation", "header")


@dataclass(frozen=True)
class Size:
    """The bytes of packed swings by what they are for, beside those of the motion frame by frame."""

    swings: int
    rests: int
    keys: int  # where swings describe a joint badly
    left_out: int  # joints that are kept frame by frame from the start: fingers, toes
    translation: int  # where joints are that move about
    header: int  # the clip, its skeleton, contacts of feet, what each joint has
    raw_bytes: int  # 4 for each rotation and position channel of the skeleton in each frame

    @property
    def parts(self) -> dict[str, int]:
        """The bytes of each part by name."""
        return {part: getattr(self, part) for part in PARTS}

    @property
    def total(self) -> int:
        """All bytes together."""
        return sum(self.parts.values())

    @property
    def ratio(self) -> float:
        """The part of the raw bytes that is left."""
        return self.total / max(1, self.raw_bytes)


def size_of(swings: Swings) -> Size:
    """The size of ``swings`` when they are packed."""
    sizes = packed_parts(swings)[1]
    channels = sum(len(channels) for channels in swings.skeleton.channels)
    return Size(**{part: sizes[part] for part in PARTS}, raw_bytes=NUMBER_BYTES * channels * swings.n_frames)
