"""Small synthetic motions for tests of figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import keypose as kp


def motion(parents: Any, offsets: Any, *, frames: int = 10, names: Any = None, **rest: Any) -> kp.Motion:
    """Return a static motion of a skeleton given by parents and offsets."""
    skeleton = kp.Skeleton(names or tuple(f"j{k}" for k in range(len(parents))), np.array(parents), np.array(offsets))
    translations = np.tile(skeleton.offsets, (frames, 1, 1))
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(parents), 1))
    return kp.Motion(rest.pop("name", "clip"), skeleton, 30.0, translations, rotations, **rest)


def markers(count: int, frames: int = 10) -> kp.Motion:
    """Return markers at random positions."""
    random = np.random.default_rng(3)
    m = motion([-1] * count, np.zeros((count, 3)), frames=frames, metres_per_unit=0.001, up="Z")
    return replace(m, translations=random.uniform(0, 1700, (frames, count, 3)))


ANY_SKELETON = {
    "demo": kp.demo_motion(30),
    "one joint, one frame": motion([-1], [[1.0, 2.0, 3.0]], frames=1),
    "one marker": markers(1),
    "markers": markers(40),
    "no height": motion([-1, 0, 1], [[0, 0, 0], [1.0, 0, 0], [0, 0, 2.0]]),
    "no extent": motion([-1, 0, 1], np.zeros((3, 3))),
    "170 joints": motion([-1, *range(169)], np.random.default_rng(0).normal(size=(170, 3)), frames=3),
    "3000 joints": motion([-1, *([0] * 2999)], np.random.default_rng(0).normal(size=(3000, 3)), frames=2),
    "3000 markers": markers(3000, frames=2),
    "two roots": motion([-1, 0, -1, 2], np.eye(4, 3)),
    "huge": motion([-1, 0, 1], 1e15 * np.eye(3), frames=2),
    "minute": motion([-1, 0, 1], 1e-310 * np.eye(3), frames=2),
    "far away": motion([-1, 0], [[1e9, 5.0, -1e9], [0.0, 1.0, 0.0]], frames=2),
}
