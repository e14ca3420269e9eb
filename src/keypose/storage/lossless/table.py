"""The numbers of a BVH file as it wrote them, which a motion alone does not tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, frozen_floats
from keypose.errors import ModelError
from keypose.model import Motion
from keypose.storage.lossless.layout import channel_layout
from keypose.storage.lossless.spelling import DECIMAL, same_bits, spellings

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LONGEST_WORD = 64


@dataclass(frozen=True, eq=False)
class ChannelTable(Frozen):
    """Every number of the MOTION section of a BVH file, in file order.

    Angles may be beyond 180 degrees or in gimbal lock, where a motion, which keeps quaternions, has lost which angles
    they came from. The rows that the reader kept apart from the movement as a reference pose come first.
    """

    values: Floats  # (R, channels of all joints)
    frame_time: str  # the word behind "Frame Time:", ".0083333"
    apart: int = 0  # rows kept apart as a reference pose: 0 or 1

    def __post_init__(self) -> None:
        self._put("values", frozen_floats(self.values, (None, None), "channel values"))
        if len(self.frame_time) > LONGEST_WORD or not _NUMBER.fullmatch(self.frame_time):
            raise ModelError(f"channel table: frame time {self.frame_time[:LONGEST_WORD]!r}, expected a decimal number")
        if self.apart not in (0, 1) or len(self.values) <= self.apart:
            raise ModelError(
                f"channel table: {self.apart} of {len(self.values)} rows kept apart, expected 0 or 1 of more"
            )

    def __repr__(self) -> str:
        rows, channels = self.values.shape
        return f"ChannelTable({rows} rows of {channels} channels)"

    def decimals(self) -> Ints:
        """How many decimals tell the numbers of each channel; -1: none do, as in numbers with an exponent."""
        spelt = spellings(np.ascontiguousarray(self.values.T))
        return np.array([s.decimals if s.kind == DECIMAL else -1 for s in spelt], np.int32)

    def is_of(self, motion: Motion) -> bool:
        """Whether ``motion`` is what a reader makes of these numbers, bit for bit."""
        layout = channel_layout(motion.skeleton)
        pose = motion.reference_pose
        rows = motion.n_frames + self.apart
        if self.values.shape != (rows, len(layout.channel_columns)) or self.apart != (pose is not None):
            return False
        columns = np.empty_like(self.values)
        columns[:, layout.channel_columns] = self.values
        translations, rotations = layout.poses(columns)
        pairs = [(translations[self.apart :], motion.translations), (rotations[self.apart :], motion.rotations)]
        if pose is not None:
            pairs += [(translations[0], pose.translations), (rotations[0], pose.rotations)]
        return all(same_bits(a, b).all() for a, b in pairs)
