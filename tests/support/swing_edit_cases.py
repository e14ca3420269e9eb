"""Swings for tests of edits."""

from __future__ import annotations

import numpy as np

from keypose.swings.edit import SwingEdit
from reference import naive_swings_edit as twin

X, Y, Z = np.eye(3)
ARM, OTHER = "LeftArm", "RightArm"
# 10 degrees per frame at most; a gap of 5 frames, of 1 frame, of 20
ROW = [(5, 14, X, 60), (20, 29, Y, 90), (30, 35, X, 20), ("rest", 37, 50), (56, 59, Z, 9)]


def edit(n_frames: int = 60, **rows) -> SwingEdit:
    return SwingEdit(twin.build_swings(rows or {ARM: ROW}, n_frames))


def rotation_at(edit_or_swings, frame, joint=ARM):
    swings = edit_or_swings.swings if isinstance(edit_or_swings, SwingEdit) else edit_or_swings
    return twin.rotation_at(swings.track(joint), frame)


def assert_same_rotation(first, second, within=1e-9):
    assert twin.angle_of(first, second) < within
