"""The space of the page: one way there and back, for every way up and every unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.kinematics import UPS
from keypose.rotations import from_euler, multiply, rotate
from keypose.workbench import page_space, shown
from keypose.workbench.showing import step_of


def turned(motion: kp.Motion, up: str, unit: float) -> kp.Motion:
    """``motion``, whose up is Y, as a file with another way up, another unit and an origin far away."""
    quarter = {
        "Y": (0, 0, 0),
        "-Y": (0, 0, 180),
        "X": (0, 0, -90),
        "-X": (0, 0, 90),
        "Z": (90, 0, 0),
        "-Z": (-90, 0, 0),
    }
    q = from_euler(np.deg2rad(quarter[up]), "XYZ")
    s = motion.skeleton
    skeleton = replace(s, offsets=s.offsets * unit, end_offsets=s.end_offsets * unit)
    translations, rotations = motion.translations * unit, motion.rotations.copy()
    translations[:, 0] = rotate(q, translations[:, 0]) + np.array((3.0, -7.0, 11.0)) * unit
    rotations[:, 0] = multiply(q, rotations[:, 0])
    return kp.Motion("turned", skeleton, motion.fps, translations, rotations, up=up)


@pytest.mark.parametrize("up", UPS)
@pytest.mark.parametrize("unit", [0.01, 1.0, 39.37])
def test_places_go_there_and_back(motion: kp.Motion, up: str, unit: float) -> None:
    other = turned(motion, up, unit)
    space = page_space(other)
    world = other.world_positions()
    np.testing.assert_allclose(space.file_place(space.places(world)), world, atol=1e-9 * unit)
    way = np.array((0.3, -0.2, 0.1))
    np.testing.assert_allclose(space.places(space.file_place(way)), way, atol=1e-9)
    np.testing.assert_allclose(
        space.file_place(way) - space.file_place(np.zeros(3)), space.file_way(way), atol=1e-9 * unit
    )


@pytest.mark.parametrize("up", UPS)
def test_a_figure_stands_upright_on_the_floor_whatever_its_file(motion: kp.Motion, up: str) -> None:
    other = turned(motion, up, 1.0)
    space = page_space(other)
    assert np.linalg.det(space.turn) == pytest.approx(1.0)
    places = space.places(other.world_positions())
    joints = other.skeleton
    head, foot = places[:, joints.joint("head")], places[:, joints.joint("left_foot")]
    assert ((head - foot)[:, 1] > 0.5).all()
    ends = space.places(other.end_positions())
    lowest = np.minimum(places[..., 1].min(axis=1), ends[..., 1].min(axis=1))
    assert (lowest < 0).mean() <= 0.06 and lowest.min() > -0.1
    hips = places[:, joints.joint("hips")]
    middle = (hips.min(axis=0) + hips.max(axis=0)) / 2
    np.testing.assert_allclose(middle[[0, 2]], 0.0, atol=1e-9)


def test_metres_are_those_of_a_figure_of_1_7_m(motion: kp.Motion) -> None:
    space = page_space(motion)
    assert space.metres_per_unit * motion.height == pytest.approx(1.7)


@pytest.mark.parametrize("up", UPS)
def test_turns_about_the_page_turn_the_file_alike(motion: kp.Motion, up: str) -> None:
    space = page_space(turned(motion, up, 2.0))
    q = from_euler(np.deg2rad((20.0, -35.0, 50.0)), "XYZ")
    point = np.array((0.2, 1.1, -0.4))
    by_page = rotate(q, point)
    by_file = space.turn @ rotate(space.file_turn(q), space.turn.T @ point)
    np.testing.assert_allclose(by_file, by_page, atol=1e-12)


def test_a_point_without_height_is_shown_in_the_units_of_its_file() -> None:
    skeleton = kp.Skeleton(("marker",), np.array([-1]), np.zeros((1, 3)))
    still = kp.Motion("marker", skeleton, 30.0, np.ones((4, 1, 3)), np.tile((1.0, 0, 0, 0), (4, 1, 1)))
    assert page_space(still).metres_per_unit == 1.0
    assert page_space(replace(still, metres_per_unit=0.01)).metres_per_unit == 0.01
    np.testing.assert_allclose(shown(still, page_space(still)).positions, 0.0)


def test_every_so_many_frames_are_shown(motion: kp.Motion) -> None:
    space = page_space(motion)
    all_of_it, some = shown(motion, space), shown(motion, space, 7)
    assert all_of_it.positions.dtype == np.float32 and all_of_it.positions.shape == (120, motion.n_joints, 3)
    np.testing.assert_array_equal(some.positions, all_of_it.positions[::7])
    np.testing.assert_array_equal(some.ends, all_of_it.ends[::7])
    assert (some.fps, some.n_frames, some.step) == (motion.fps / 7, 120, 7)
    np.testing.assert_allclose(all_of_it.positions, space.places(motion.world_positions()), atol=1e-6)


@pytest.mark.parametrize(
    ("fps", "most_frames", "step"), [(None, None, 1), (10, None, 3), (60, None, 1), (None, 50, 3), (15, 10, 12)]
)
def test_frames_are_thinned_to_what_is_asked(
    motion: kp.Motion, fps: float | None, most_frames: int | None, step: int
) -> None:
    assert step_of(motion, fps, most_frames) == step
    assert most_frames is None or len(motion.translations[::step]) <= most_frames
