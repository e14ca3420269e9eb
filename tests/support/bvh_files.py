"""A small BVH file as text, and a comparison of two motions."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose import rotations as rot

HIERARCHY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Knee
  {
    OFFSET 0 -10 0
    CHANNELS 1 Xrotation
    End Site
    {
      OFFSET 0 -9 1
    }
  }
  JOINT Chest
  {
    OFFSET 0 12 0.5
    CHANNELS 3 Yrotation Zrotation Xrotation
  }
}
"""
ROWS = [
    [0, 20, 0, 1, 2, 3, 4, 5, 6, 7],
    [1, 21, 2, 11, 12, 13, 14, 15, 16, 17],
    [2, 22, 4, -21, 22, 23, 24, -5, 46, 1],
]


def bvh_text(rows=ROWS, *, hierarchy=HIERARCHY, frames=None, frame_time="0.02", eol="\n") -> str:
    lines = [*hierarchy.splitlines(), "MOTION", f"Frames: {len(rows) if frames is None else frames}"]
    lines += [f"Frame Time: {frame_time}", *(" ".join(map(str, row)) for row in rows)]
    return eol.join(lines) + eol


def same_motion(a: kp.Motion, b: kp.Motion) -> None:
    assert b.skeleton.names == a.skeleton.names and b.skeleton.channels == a.skeleton.channels
    assert b.skeleton.rotation_orders == a.skeleton.rotation_orders
    assert b.skeleton.parents.tolist() == a.skeleton.parents.tolist()
    np.testing.assert_allclose(b.skeleton.offsets, a.skeleton.offsets, atol=1e-6)
    np.testing.assert_allclose(b.skeleton.end_offsets, a.skeleton.end_offsets, atol=1e-6)
    assert b.skeleton.end_joints.tolist() == a.skeleton.end_joints.tolist()
    assert 1 / b.fps == pytest.approx(1 / a.fps, abs=1e-12)
    assert np.rad2deg(rot.angle_between(a.rotations, b.rotations)).max() < 1e-4
    assert np.abs(a.translations - b.translations).max() <= 1e-6
