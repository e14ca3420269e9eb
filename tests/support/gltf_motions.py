"""Motions to write as glTF, and helpers to read and edit the written files."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.rotations import IDENTITY, from_euler
from support.gltf_scene import glb_of

NAMES = ("Hips", "Spine", "Head", "LeftUpLeg", "LeftLeg", "RightUpLeg", "RightLeg")
PARENTS = (-1, 0, 1, 0, 3, 0, 5)
OFFSETS = np.array(
    [[0, 0.9, 0], [0, 0.2, 0], [0, 0.4, 0.02], [0.1, -0.05, 0], [0, -0.4, 0], [-0.1, -0.05, 0], [0, -0.4, 0]]
)


def figure(frames: int = 20, *, fps: float = 30.0, unit: float = 1.0, **fields) -> kp.Motion:
    """Return a small person who moves at random; the head does not rotate."""
    rng = np.random.default_rng(frames)
    skeleton = kp.Skeleton(
        NAMES,
        np.array(PARENTS),
        OFFSETS / unit,
        rotation_orders=("ZXY", "XYZ", "YXZ", "ZYX", "ZXY", "XZY", "YZX"),
        end_joints=np.array([2, 4, 6]),
        end_offsets=np.array([[0, 0.2, 0], [0, -0.4, 0.1], [0, -0.4, 0.1]]) / unit,
    )
    rotations = from_euler(np.cumsum(rng.normal(0, 0.1, (frames, 7, 3)), axis=0), "ZXY")
    rotations[:, 2] = IDENTITY
    translations = np.repeat(skeleton.offsets[None], frames, axis=0)
    translations[:, 0] += np.cumsum(rng.normal(0, 0.02, (frames, 3)), axis=0) / unit
    return kp.Motion("person", skeleton, fps, translations, rotations, **fields)


def read_document(path: Path) -> dict:
    content = path.read_bytes()
    return json.loads(content[20 : 20 + struct.unpack_from("<I", content, 12)[0]])


def replace_document(path: Path, new_document: dict) -> Path:
    content = path.read_bytes()
    size = struct.unpack_from("<I", content, 12)[0]
    path.write_bytes(glb_of(json.dumps(new_document).encode(), content[28 + size :]))
    return path


def assert_same(result: kp.Motion, motion: kp.Motion) -> None:
    mine, its = motion.skeleton, result.skeleton
    for field in ("names", "rotation_orders", "channels"):
        assert getattr(its, field) == getattr(mine, field), field
    for field in ("parents", "offsets", "end_joints", "end_offsets"):
        np.testing.assert_array_equal(getattr(its, field), getattr(mine, field), err_msg=field)
    for field in ("fps", "n_frames", "up", "metres_per_unit", "first_frame"):
        assert getattr(result, field) == getattr(motion, field), field
    size = max(np.abs(motion.translations).max(), 1e-9)
    np.testing.assert_allclose(result.translations, motion.translations, atol=1e-7 * size)
    assert kp.rotations.angle_between(result.rotations, motion.rotations).max() < 1e-6
    assert (result.reference_pose is None) == (motion.reference_pose is None)
    if motion.reference_pose is not None:
        np.testing.assert_allclose(result.reference_pose.rotations, motion.reference_pose.rotations, atol=1e-7)


CASES = {
    "plain": figure(),
    "one frame": figure(1),
    "odd rate": figure(fps=1 / 0.0083333),
    "Z up, inches": figure(unit=0.0254, up="Z", metres_per_unit=0.0254),
    "says no unit": figure(unit=0.01),
    "starts late": figure(first_frame=-17),
    "reference pose": figure(reference_pose=kp.Pose(OFFSETS, from_euler(np.full((7, 3), 0.1), "ZXY"))),
    "stands still": replace(
        figure(), rotations=np.tile(IDENTITY, (20, 7, 1)), translations=np.tile(OFFSETS, (20, 1, 1))
    ),
    "markers": kp.Motion(
        "markers",
        kp.Skeleton(("A", "B", "C"), np.array([-1, -1, -1]), np.zeros((3, 3))),
        100.0,
        np.random.default_rng(0).normal(size=(9, 3, 3)),
        np.tile(IDENTITY, (9, 3, 1)),
    ),
    "one point": kp.Motion(
        "point",
        kp.Skeleton(("A",), np.array([-1]), np.zeros((1, 3))),
        10.0,
        np.zeros((2, 1, 3)),
        np.tile(IDENTITY, (2, 1, 1)),
    ),
}
