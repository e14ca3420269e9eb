"""The measure in which the tolerance of a stored motion is promised."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
import naive_storage_error as twin
from keypose.errors import OptionError
from keypose.model import Skeleton
from keypose.rotations import exp, multiply
from keypose.storage import error
from keypose.storage.error import END_SITE, LargestError, frame_errors_mm, largest_error, mm_per_unit_of


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[40:60]


def off(motion: kp.Motion, rng: np.random.Generator, metres: float = 0.001, radians: float = 0.01) -> kp.Motion:
    """The motion with every number a little off."""
    places = motion.translations + rng.normal(scale=metres * motion.height, size=motion.translations.shape)
    turns = exp(rng.normal(scale=radians, size=motion.translations.shape))
    return replace(motion, translations=places, rotations=multiply(motion.rotations, turns))


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
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (n_frames, 1, 1))
    return kp.Motion("one", skeleton, 30.0, np.zeros((n_frames, 1, 3)), turns, **more)  # type: ignore[arg-type]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), turned=st.booleans())
def test_it_is_what_the_slow_twin_finds(motion: kp.Motion, seed: int, turned: bool) -> None:
    few = motion[:3]
    decoded = off(few, np.random.default_rng(seed), 0.0 if turned else 1e-3, 1e-2 if turned else 0.0)
    scale = mm_per_unit_of(few)
    all_points = list(twin.distances_mm(few, decoded, scale))
    mm = twin.largest_error(few, decoded, scale)[0]
    found = largest_error(few, decoded)
    assert found.mm == pytest.approx(mm, rel=1e-9)
    there = next(d for d, *where in all_points if where == [found.frame, found.joint, found.what])
    assert there == pytest.approx(mm, rel=1e-9)  # where several are as far off, any of them
    per_frame = [max(d for d, t, *_ in all_points if t == frame) for frame in range(3)]
    np.testing.assert_allclose(frame_errors_mm(few, decoded), per_frame, rtol=1e-9)


def test_nothing_is_off(motion: kp.Motion) -> None:
    assert largest_error(motion, motion) == LargestError(0.0, 0, motion.skeleton.names[0], "joint")


def test_a_shift_is_what_it_is_on_a_figure_of_170_cm(motion: kp.Motion) -> None:
    places = motion.translations.copy()
    places[7, 0, 2] += motion.height / 1700  # a millimetre, in one frame
    found = largest_error(motion, replace(motion, translations=places))
    assert found.mm == pytest.approx(1.0) and found.frame == 7


def test_a_turn_that_moves_no_joint_is_seen_3_cm_off() -> None:
    original = one_joint(metres_per_unit=0.01)
    turns = original.rotations.copy()
    turns[2, 0] = exp(np.array([0.0, 0.0, 0.1]))
    found = largest_error(original, replace(original, rotations=turns))
    assert found.mm == pytest.approx(2 * 30 * np.sin(0.05))
    assert (found.frame, found.joint) == (2, "marker") and found.what in ("3 cm along +X", "3 cm along +Y")
    assert str(found).startswith("3 mm at frame 2, marker (3 cm along +")


def test_an_end_site_far_off_its_joint_counts() -> None:
    original = one_joint(ends=True, metres_per_unit=1.0)
    assert original.height == 2.0  # of joint and end site
    turns = original.rotations.copy()
    turns[1, 0] = exp(np.array([0.001, 0.0, 0.0]))
    found = largest_error(original, replace(original, rotations=turns))
    assert found.mm == pytest.approx(1.7) and found.what == END_SITE


@pytest.mark.parametrize("length", [1, 50, 10**9])
def test_blocks_do_not_matter(motion: kp.Motion, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    decoded = off(motion, np.random.default_rng(1))
    whole = largest_error(motion, decoded)
    monkeypatch.setattr(error, "BLOCK_POSES", length)
    assert largest_error(motion, decoded) == whole
    assert largest_error(motion[:7], decoded[:7], mm_per_unit=mm_per_unit_of(motion)).mm <= whole.mm


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
    assert mm_per_unit_of(motion) == motion.mm_per_unit
    assert mm_per_unit_of(replace(motion, metres_per_unit=0.0254)) == motion.mm_per_unit


def test_without_height_the_unit_of_the_file_counts_else_metres() -> None:
    assert mm_per_unit_of(one_joint(metres_per_unit=0.01)) == 10.0
    assert mm_per_unit_of(one_joint()) == 1000.0


def test_what_rounding_leaves_of_no_height_is_none() -> None:
    two = Skeleton(("a", "b"), [-1, -1], np.zeros((2, 3)))
    places = np.full((3, 2, 3), 1000.0)
    places[:, 1, 1] += 1e-10
    motion = kp.Motion("flat", two, 30.0, places, np.tile([1.0, 0, 0, 0], (3, 2, 1)), metres_per_unit=0.001)
    assert motion.height > 0
    assert mm_per_unit_of(motion) == 1.0


# What cannot be compared


def test_motions_that_do_not_belong_together_are_refused(motion: kp.Motion) -> None:
    with pytest.raises(OptionError, match=r"has 20 frames, .* 19"):
        largest_error(motion, motion[:-1])
    names = ("Other", *motion.skeleton.names[1:])
    with pytest.raises(OptionError, match="different joints"):
        largest_error(motion, replace(motion, skeleton=replace(motion.skeleton, names=names)))
    bare = replace(motion.skeleton, end_joints=[], end_offsets=np.zeros((0, 3)))
    with pytest.raises(OptionError, match="different end sites"):
        largest_error(motion, replace(motion, skeleton=bare))
