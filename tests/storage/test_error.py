"""The error measure of the tolerance of a stored motion."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.errors import OptionError
from keypose.model import Skeleton
from keypose.rotations import exp, multiply
from keypose.storage import error
from keypose.storage.error import END_SITE, LargestError, frame_errors_mm, largest_error, tolerance_mm_per_unit
from reference import naive_storage_error as twin
from support.errors import raises


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[40:60]


def shift_and_rotate(
    motion: kp.Motion, rng: np.random.Generator, metres: float = 0.001, radians: float = 0.01
) -> kp.Motion:
    """Return the motion with small changes of every number."""
    positions = motion.translations + rng.normal(scale=metres * motion.height, size=motion.translations.shape)
    rotations = exp(rng.normal(scale=radians, size=motion.translations.shape))
    return replace(motion, translations=positions, rotations=multiply(motion.rotations, rotations))


def one_joint(n_frames: int = 4, *, ends: bool = False, **more: object) -> kp.Motion:
    skeleton = Skeleton(
        names=("marker",),
        parents=[-1],
        offsets=np.zeros((1, 3)),
        rotation_orders=("ZXY",),
        channels=((),),
        end_joints=[0] if ends else [],
        end_offsets=[[0.0, 2.0, 0.0]] if ends else np.zeros((0, 3)),
    )
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (n_frames, 1, 1))
    return kp.Motion("one", skeleton, 30.0, np.zeros((n_frames, 1, 3)), rotations, **more)  # type: ignore[arg-type]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rotated=st.booleans())
def test_agrees_with_the_reference(motion: kp.Motion, seed: int, rotated: bool) -> None:
    few = motion[:3]
    decoded = shift_and_rotate(few, np.random.default_rng(seed), 0.0 if rotated else 1e-3, 1e-2 if rotated else 0.0)
    scale = tolerance_mm_per_unit(few)
    all_points = list(twin.distances_mm(few, decoded, scale))
    mm = twin.largest_error(few, decoded, scale)[0]
    result = largest_error(few, decoded)
    assert result.mm == pytest.approx(mm, rel=1e-9)
    there = next(d for d, *where in all_points if where == [result.frame, result.joint, result.point])
    assert there == pytest.approx(mm, rel=1e-9)  # of equal errors, any may be returned
    per_frame = [max(d for d, t, *_ in all_points if t == frame) for frame in range(3)]
    np.testing.assert_allclose(frame_errors_mm(few, decoded), per_frame, rtol=1e-9)


def test_identical_motions_have_no_error(motion: kp.Motion) -> None:
    assert largest_error(motion, motion) == LargestError(0.0, 0, motion.skeleton.names[0], "joint")


def test_shift_is_measured_on_a_figure_of_170_cm(motion: kp.Motion) -> None:
    positions = motion.translations.copy()
    positions[7, 0, 2] += motion.height / 1700  # a millimetre, in one frame
    result = largest_error(motion, replace(motion, translations=positions))
    assert result.mm == pytest.approx(1.0) and result.frame == 7


def test_rotation_without_joint_movement_is_measured_3_cm_off() -> None:
    original = one_joint(metres_per_unit=0.01)
    rotations = original.rotations.copy()
    rotations[2, 0] = exp(np.array([0.0, 0.0, 0.1]))
    result = largest_error(original, replace(original, rotations=rotations))
    assert result.mm == pytest.approx(2 * 30 * np.sin(0.05))
    assert (result.frame, result.joint) == (2, "marker") and result.point in ("3 cm along +X", "3 cm along +Y")
    assert str(result).startswith("3 mm at frame 2, marker (3 cm along +")


def test_an_end_site_far_off_its_joint_counts() -> None:
    original = one_joint(ends=True, metres_per_unit=1.0)
    assert original.height == 2.0  # from joint to end site
    rotations = original.rotations.copy()
    rotations[1, 0] = exp(np.array([0.001, 0.0, 0.0]))
    result = largest_error(original, replace(original, rotations=rotations))
    assert result.mm == pytest.approx(1.7) and result.point == END_SITE


@pytest.mark.parametrize("length", [1, 50, 10**9])
def test_blocks_do_not_matter(motion: kp.Motion, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    decoded = shift_and_rotate(motion, np.random.default_rng(1))
    expected = largest_error(motion, decoded)
    monkeypatch.setattr(error, "BLOCK_POSES", length)
    assert largest_error(motion, decoded) == expected
    assert largest_error(motion[:7], decoded[:7], mm_per_unit=tolerance_mm_per_unit(motion)).mm <= expected.mm


def test_memory_does_not_grow_with_the_clip() -> None:
    motion = one_joint(200_000, metres_per_unit=1.0)
    tracemalloc.start()
    try:
        largest_error(motion, motion)
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


# The scale


def test_a_figure_with_height_is_170_cm_tall(motion: kp.Motion) -> None:
    assert tolerance_mm_per_unit(motion) == motion.mm_per_unit
    assert tolerance_mm_per_unit(replace(motion, metres_per_unit=0.0254)) == motion.mm_per_unit


def test_without_height_the_unit_of_the_file_counts_else_metres() -> None:
    assert tolerance_mm_per_unit(one_joint(metres_per_unit=0.01)) == 10.0
    assert tolerance_mm_per_unit(one_joint()) == 1000.0


def test_height_from_rounding_counts_as_none() -> None:
    two = Skeleton(("a", "b"), [-1, -1], np.zeros((2, 3)))
    positions = np.full((3, 2, 3), 1000.0)
    positions[:, 1, 1] += 1e-10
    motion = kp.Motion("flat", two, 30.0, positions, np.tile([1.0, 0, 0, 0], (3, 2, 1)), metres_per_unit=0.001)
    assert motion.height > 0
    assert tolerance_mm_per_unit(motion) == 1.0


# Incomparable motions


def test_incomparable_motions_are_refused(motion: kp.Motion) -> None:
    with raises(OptionError, expected="the same number"):
        largest_error(motion, motion[:-1])
    names = ("Other", *motion.skeleton.names[1:])
    with raises(OptionError, expected="the same joints"):
        largest_error(motion, replace(motion, skeleton=replace(motion.skeleton, names=names)))
    bare = replace(motion.skeleton, end_joints=[], end_offsets=np.zeros((0, 3)))
    with raises(OptionError, expected="the same end sites"):
        largest_error(motion, replace(motion, skeleton=bare))
