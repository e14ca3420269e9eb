"""Swings made by hand, edited and asked."""

from __future__ import annotations

import numpy as np

import naive_swings_editing as twin
from keypose.swings.editing import SwingEdit

X, Y, Z = np.eye(3)
ARM, OTHER = "LeftArm", "RightArm"
# 10 degrees per frame at most; a gap of 5 frames, of 1 frame, of 20
ROW = [(5, 14, X, 60), (20, 29, Y, 90), (30, 35, X, 20), ("rest", 37, 50), (56, 59, Z, 9)]


def edit(**rows) -> SwingEdit:
    return SwingEdit(twin.by_hand(rows or {ARM: ROW}))


def at(edit_or_swings, frame, joint=ARM):
    now = edit_or_swings.swings if isinstance(edit_or_swings, SwingEdit) else edit_or_swings
    return twin.rotation_at(now.track(joint), frame)


def assert_same_rotation(one, other, within=1e-9):
    assert twin.angle_of(one, other) < within
