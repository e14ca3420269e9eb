"""The numbers of a BVH file, which cannot always be recovered from its motion."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats, Frozen, Ints, freeze_floats
from keypose.errors import ModelError
from keypose.model import Motion
from keypose.storage.lossless.layout import channel_layout
from keypose.storage.lossless.number_format import DECIMAL, choose_number_formats, same_bits

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
MAX_FRAME_TIME_LENGTH = 64


@dataclass(frozen=True, eq=False)
class ChannelTable(Frozen):
    """Every number of the MOTION section of a BVH file, in file order.

    Angles may be beyond 180 degrees or in gimbal lock, where the quaternions of a motion do not determine them. A
    reference pose, which the reader separates from the movement, is the first row.
    """

    values: Floats  # (R, channels of all joints)
    frame_time: str  # the text after "Frame Time:", such as ".0083333"
    n_reference_rows: int = 0  # 0 or 1

    def __post_init__(self) -> None:
        self._set_field("values", freeze_floats(self.values, (None, None), "channel values"))
        if len(self.frame_time) > MAX_FRAME_TIME_LENGTH or not _NUMBER.fullmatch(self.frame_time):
            raise ModelError(
                f"channel table: frame time {self.frame_time[:MAX_FRAME_TIME_LENGTH]!r}, expected a decimal number"
            )
        if self.n_reference_rows not in (0, 1) or len(self.values) <= self.n_reference_rows:
            raise ModelError(
                f"channel table: {self.n_reference_rows} of {len(self.values)} rows kept apart, expected 0 or 1 of more"
            )

    def __repr__(self) -> str:
        rows, channels = self.values.shape
        return f"ChannelTable({rows} rows of {channels} channels)"

    def decimals(self) -> Ints:
        """Return the number of decimals of each channel; -1: not decimal, as numbers with an exponent."""
        number_formats = choose_number_formats(np.ascontiguousarray(self.values.T))
        return np.array([s.decimals if s.kind == DECIMAL else -1 for s in number_formats], np.int32)

    def matches_motion(self, motion: Motion) -> bool:
        """Return whether ``motion`` is exactly what the reader returns for these numbers."""
        layout = channel_layout(motion.skeleton)
        pose = motion.reference_pose
        rows = motion.n_frames + self.n_reference_rows
        if self.values.shape != (rows, len(layout.channel_columns)) or self.n_reference_rows != (pose is not None):
            return False
        columns = np.empty_like(self.values)
        columns[:, layout.channel_columns] = self.values
        translations, rotations = layout.poses(columns)
        pairs = [
            (translations[self.n_reference_rows :], motion.translations),
            (rotations[self.n_reference_rows :], motion.rotations),
        ]
        if pose is not None:
            pairs += [(translations[0], pose.translations), (rotations[0], pose.rotations)]
        return all(same_bits(a, b).all() for a, b in pairs)
