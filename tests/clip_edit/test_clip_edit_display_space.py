"""Display space: conversion to it and back, for every up axis and unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.clip_edit import build_frame_data, compute_display_space
from keypose.clip_edit.display_data import choose_stride
from keypose.kinematics import UPS
from keypose.rotations import from_euler, multiply, rotate


def reorient(motion: kp.Motion, up: str, unit: float) -> kp.Motion:
    """Return ``motion``, whose up axis is Y, with another up axis, another unit and a distant origin."""
    angles = {
        "Y": (0, 0, 0),
        "-Y": (0, 0, 180),
        "X": (0, 0, -90),
        "-X": (0, 0, 90),
        "Z": (90, 0, 0),
        "-Z": (-90, 0, 0),
    }
    q = from_euler(np.deg2rad(angles[up]), "XYZ")
    s = motion.skeleton
    skeleton = replace(s, offsets=s.offsets * unit, end_offsets=s.end_offsets * unit)
    translations, rotations = motion.translations * unit, motion.rotations.copy()
    translations[:, 0] = rotate(q, translations[:, 0]) + np.array((3.0, -7.0, 11.0)) * unit
    rotations[:, 0] = multiply(q, rotations[:, 0])
    return kp.Motion("reoriented", skeleton, motion.fps, translations, rotations, up=up)


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize("unit", [0.01, 1.0, 39.37])
def test_round_trip(motion: kp.Motion, up: str, unit: float) -> None:
    other = reorient(motion, up, unit)
    space = compute_display_space(other)
    world = other.world_positions()
    np.testing.assert_allclose(space.to_file(space.to_display(world)), world, atol=1e-9 * unit)
    offset = np.array((0.3, -0.2, 0.1))
    np.testing.assert_allclose(space.to_display(space.to_file(offset)), offset, atol=1e-9)
    np.testing.assert_allclose(
        space.to_file(offset) - space.to_file(np.zeros(3)), space.offset_to_file(offset), atol=1e-9 * unit
    )


@pytest.mark.parametrize("up", UPS)
def test_figure_stands_upright_on_the_floor(motion: kp.Motion, up: str) -> None:
    other = reorient(motion, up, 1.0)
    space = compute_display_space(other)
    assert np.linalg.det(space.rotation) == pytest.approx(1.0)
    positions = space.to_display(other.world_positions())
    joints = other.skeleton
    head, foot = positions[:, joints.joint("head")], positions[:, joints.joint("left_foot")]
    assert ((head - foot)[:, 1] > 0.5).all()
    ends = space.to_display(other.end_positions())
    lowest = np.minimum(positions[..., 1].min(axis=1), ends[..., 1].min(axis=1))
    assert (lowest < 0).mean() <= 0.06 and lowest.min() > -0.1
    hips = positions[:, joints.joint("hips")]
    middle = (hips.min(axis=0) + hips.max(axis=0)) / 2
    np.testing.assert_allclose(middle[[0, 2]], 0.0, atol=1e-9)


def test_scale(motion: kp.Motion) -> None:
    space = compute_display_space(motion)
    assert space.metres_per_unit * motion.height == pytest.approx(1.7)


@pytest.mark.parametrize("up", UPS)
def test_rotation_to_file(motion: kp.Motion, up: str) -> None:
    space = compute_display_space(reorient(motion, up, 2.0))
    q = from_euler(np.deg2rad((20.0, -35.0, 50.0)), "XYZ")
    point = np.array((0.2, 1.1, -0.4))
    in_display = rotate(q, point)
    in_file = space.rotation @ rotate(space.rotation_to_file(q), space.rotation.T @ point)
    np.testing.assert_allclose(in_file, in_display, atol=1e-12)


def test_scale_without_height() -> None:
    skeleton = kp.Skeleton(("marker",), np.array([-1]), np.zeros((1, 3)))
    motion = kp.Motion("marker", skeleton, 30.0, np.ones((4, 1, 3)), np.tile((1.0, 0, 0, 0), (4, 1, 1)))
    assert compute_display_space(motion).metres_per_unit == 1.0
    assert compute_display_space(replace(motion, metres_per_unit=0.01)).metres_per_unit == 0.01
    np.testing.assert_allclose(build_frame_data(motion, compute_display_space(motion)).positions, 0.0)


def test_stride(motion: kp.Motion) -> None:
    space = compute_display_space(motion)
    all_frames, some = build_frame_data(motion, space), build_frame_data(motion, space, 7)
    assert all_frames.positions.dtype == np.float32 and all_frames.positions.shape == (120, motion.n_joints, 3)
    np.testing.assert_array_equal(some.positions, all_frames.positions[::7])
    np.testing.assert_array_equal(some.ends, all_frames.ends[::7])
    assert (some.fps, some.n_frames, some.stride) == (motion.fps / 7, 120, 7)
    np.testing.assert_allclose(all_frames.positions, space.to_display(motion.world_positions()), atol=1e-6)


@pytest.mark.parametrize(
    ("fps", "max_frames", "stride"), [(None, None, 1), (10, None, 3), (60, None, 1), (None, 50, 3), (15, 10, 12)]
)
def test_choose_stride(motion: kp.Motion, fps: float | None, max_frames: int | None, stride: int) -> None:
    assert choose_stride(motion, fps, max_frames) == stride
    assert max_frames is None or len(motion.translations[::stride]) <= max_frames
