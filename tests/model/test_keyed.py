"""KeyedMotion, Curves and Residual: checks, read-only arrays, repr, sampling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import rotations as rot
from keypose.errors import KeyposeError, ModelError, OptionError
from keypose.model.keyed_motion import SpanPosition
from support.errors import raises

SKELETON = kp.Skeleton(("Hips", "Chest"), [-1, 0], [[0, 0, 0], [0, 5, 0]])
KEYS = [0, 4, 10, 19]


def keyed(**changes: object) -> kp.KeyedMotion:
    """Return four keys of two joints over twenty frames, cubic, with a residual."""
    rng = np.random.default_rng(0)

    def numbers(channels: int) -> np.ndarray:
        return 0.1 * rng.normal(size=(4, 2, channels))

    rotations = rot.normalise(numbers(4) + [1.0, 0, 0, 0])
    overrides: dict[str, object] = {
        "name": "made",
        "skeleton": SKELETON,
        "fps": 30.0,
        "n_frames": 20,
        "keys": KEYS,
        "translations": kp.Curves(SKELETON.offsets + numbers(3), numbers(3), numbers(3)),
        "rotations": kp.Curves(rotations, numbers(4), numbers(4)),
        "residual": kp.Residual(0.1 * rng.normal(size=(20, 2, 3)), 0.1 * rng.normal(size=(20, 2, 3))),
    }
    return kp.KeyedMotion(**(overrides | changes))  # type: ignore[arg-type]


def straight(curves: kp.Curves) -> kp.Curves:
    return kp.Curves(curves.values)


# Arrays


@pytest.mark.parametrize("duplicate", [lambda x: x, lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_arrays_are_read_only_and_stay_so(duplicate: Callable[[kp.KeyedMotion], kp.KeyedMotion]) -> None:
    keyed_motion = keyed()
    keyed_motion = duplicate(replace(keyed_motion, residual=keyed_motion.residual.retime([0.0, 19.0], [0.0, 19.0])))
    for instance, expected in (
        (keyed_motion, 2),
        (keyed_motion.translations, 3),
        (keyed_motion.rotations, 3),
        (keyed_motion.residual, 4),
    ):
        arrays = [
            getattr(instance, f.name) for f in fields(instance) if isinstance(getattr(instance, f.name), np.ndarray)
        ]
        assert len(arrays) == expected
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
    with pytest.raises(FrozenInstanceError):
        keyed_motion.n_frames = 3
    np.testing.assert_array_equal(keyed_motion.sample(0.5).rotations, keyed().sample(0.5).rotations)


def test_the_callers_arrays_are_neither_shared_nor_locked() -> None:
    values, keys = np.ones((2, 2, 3)), np.array([0, 5])
    curves = kp.Curves(values)
    values[:] = 7.0
    assert (curves.values == 1.0).all()
    rotations = kp.Curves(np.tile(rot.IDENTITY, (2, 2, 1)))
    motion = kp.KeyedMotion("x", SKELETON, 30, 6, keys, curves, rotations)
    keys[1] = 3
    assert motion.keys.tolist() == [0, 5] and motion.keys.dtype == np.int32


# Texts


def test_repr() -> None:
    keyed_motion = keyed()
    assert repr(keyed_motion) == "KeyedMotion('made', 4 keys of 20 frames at 30 fps, 2 joints, cubic, with residual)"
    assert repr(keyed_motion.rotations) == "Curves(4 keys, 2 joints x 4, cubic)"
    assert repr(keyed_motion.residual) == "Residual(20 frames, 2 joints)"
    plain = keyed(
        translations=straight(keyed_motion.translations), rotations=straight(keyed_motion.rotations), residual=None
    )
    assert repr(plain).endswith("2 joints, straight)")
    assert (keyed_motion.n_keys, keyed_motion.n_joints, len(keyed_motion), keyed_motion.duration_s) == (
        4,
        2,
        20,
        pytest.approx(20 / 30),
    )
    assert keyed_motion.is_cubic and not plain.is_cubic
    assert keyed_motion.extremes.tolist() == [True] * 4
    assert keyed(extremes=[True, False, False, True]).extremes.tolist() == [True, False, False, True]
    assert len(keyed_motion.poses) == 4
    np.testing.assert_array_equal(keyed_motion.poses[2].rotations, keyed_motion.rotations.values[2])
    assert keyed_motion.key_index(10) == 2
    with raises(OptionError, hint="the nearest are at 0, 4, 10, 19"):
        keyed_motion.key_index(5)


def test_the_sampled_motion_carries_the_metadata() -> None:
    pose = kp.Pose(np.zeros((2, 3)), np.tile(rot.IDENTITY, (2, 1)))
    metadata = {"up": "Z", "metres_per_unit": 0.01, "first_frame": 7, "reference_pose": pose, "notes": ("seen",)}
    sampled = keyed(**metadata).sample()
    for name, value in metadata.items():
        assert getattr(sampled, name) == value
    assert sampled.name == "made" and sampled.fps == 30.0 and sampled.n_frames == 20


def test_nearly_unit_rotations_are_normalised() -> None:
    keyed_motion = keyed()
    near = replace(keyed_motion, rotations=keyed_motion.rotations.with_values(keyed_motion.rotations.values * 1.0001))
    np.testing.assert_allclose(np.linalg.norm(near.rotations.values, axis=-1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(near.rotations.out_tangents, keyed_motion.rotations.out_tangents)


# Errors

BAD = {
    "no keys": {"keys": []},
    "keys twice": {"keys": [0, 4, 4, 19]},
    "keys backwards": {"keys": [0, 10, 4, 19]},
    "a key before the clip": {"keys": [-1, 4, 10, 19]},
    "a key after the clip": {"keys": [0, 4, 10, 20]},
    "keys between frames": {"keys": [0, 4.5, 10, 19]},
    "fewer keys than poses": {"keys": [0, 4, 19]},
    "no frames": {"n_frames": 0},
    "half a frame": {"n_frames": 19.5},
    "no rate": {"fps": 0.0},
    "a rate that is no number": {"fps": float("nan")},
    "an unknown axis": {"up": "W"},
    "too few extremes": {"extremes": [True, False]},
    "an unknown order": {"rotation_orders": ("XYX", "ZXY")},
    "quaternions as angles": {"rotation_orders": ("XYZ", "ZXY")},
    "a residual of other joints": {"residual": kp.Residual(np.zeros((20, 3, 3)), np.zeros((20, 3, 3)))},
    "slopes on one kind only": {"translations": kp.Curves(np.zeros((4, 2, 3)))},
    "other joints": {"translations": kp.Curves(*[np.zeros((4, 3, 3))] * 3)},
    "no unit turns": {"rotations": kp.Curves(np.full((4, 2, 4), 0.9), np.zeros((4, 2, 4)), np.zeros((4, 2, 4)))},
    "a negative unit": {"metres_per_unit": -1.0},
}  # fmt: skip


@pytest.mark.parametrize("changes", BAD.values(), ids=BAD)
def test_mismatched_arrays_are_rejected(changes: dict[str, object]) -> None:
    with pytest.raises(KeyposeError) as info:
        keyed(**changes)
    error = info.value
    assert error.expected is not None or (type(error), error.subject) == (ModelError, "keyed motion")
    if type(error) is OptionError:
        assert (error.option, error.value) == ("fps", changes["fps"])
    else:
        assert error.subject in ("keyed motion", "motion") or error.option == "keys"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fps": 60.0, "frames": [0]}, "not both"),
        ({"fps": 0.0}, "fps=0.0, expected"),
        ({"fps": "fast"}, "fps='fast', expected"),
        ({"fps": 1e6, "residual": "much"}, "residual='much', expected"),
        ({"residual": float("nan")}, "residual=nan, expected"),
        ({"frames": []}, "expected frames from 0 to 19"),
        ({"frames": [-0.5]}, "expected frames from 0 to 19"),
        ({"frames": [19.01]}, "expected frames from 0 to 19"),
        ({"frames": [[1, 2]]}, "shape"),
        ({"frames": "all"}, "not numbers"),
    ],
)
def test_invalid_samples(arguments: dict[str, object], message: str) -> None:
    """The wording is pinned here."""
    with pytest.raises(KeyposeError, match=message):
        keyed().sample(**arguments)  # type: ignore[arg-type]


def test_without_a_residual_there_is_none_to_sample() -> None:
    plain = keyed(residual=None)
    assert plain.sample().n_frames == 20
    with raises(OptionError, code="no_residual"):
        plain.sample(0.5)


@pytest.mark.parametrize(
    "curves",
    [
        lambda: kp.Curves(np.zeros((2, 3))),
        lambda: kp.Curves(np.zeros((2, 1, 3)), np.zeros((2, 1, 3))),
        lambda: kp.Curves(np.zeros((2, 1, 3)), np.zeros((1, 1, 3)), np.zeros((2, 1, 3))),
        lambda: kp.Curves(np.full((2, 1, 3), np.nan)),
        lambda: kp.Residual(np.zeros((0, 1, 3)), np.zeros((0, 1, 3))),
        lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 2, 3))),
        lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 1, 3)), frames=[0.0, 1.0]),
        lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 1, 3)), frames=[0.0, 0.0], sources=[0.0, 1.0]),
        lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 1, 3)), frames=[0.0, 1.0], sources=[1.0, 0.0]),
    ],
)
def test_curves_and_residuals_that_do_not_fit_together(curves: Callable[[], object]) -> None:
    with pytest.raises(ModelError):
        curves()


# Positions between keys


@given(st.sets(st.integers(0, 50), min_size=1), st.lists(st.floats(0, 50), min_size=1))
@settings(max_examples=60, deadline=None)
def test_span_positions(keys: set[int], frames: list[float]) -> None:
    sorted_keys = np.array(sorted(keys), np.int32)
    place = SpanPosition.locate(sorted_keys, np.array(frames))
    for n, frame in enumerate(frames):
        inside = min(max(frame, sorted_keys[0]), sorted_keys[-1])
        before = max(k for k in range(len(sorted_keys)) if sorted_keys[k] <= inside)
        assert place.before[n] == before
        assert 0 <= place.fraction[n] < 1
        assert sorted_keys[before] + place.fraction[n] * place.gap[n] == pytest.approx(inside)
        if inside in keys:
            assert place.fraction[n] == 0


def test_a_still_joint_has_neither_values_nor_tangents_that_change() -> None:
    values = np.ones((3, 3, 2))
    values[1, 0] = 2.0
    tangents = np.zeros((3, 3, 2))
    tangents[2, 1] = 1.0
    assert kp.Curves(values, tangents, np.zeros((3, 3, 2))).still_joints().tolist() == [False, False, True]
    assert kp.Curves(values).still_joints().tolist() == [False, True, True]


# The residual


def test_detail_follows_the_frames_that_move() -> None:
    rotations = np.zeros((11, 1, 3))
    rotations[:, 0, 0] = np.arange(11.0)
    detail = kp.Residual(rotations, np.zeros((11, 1, 3)))
    frames = np.array([0.0, 2.5, 10.0])
    np.testing.assert_allclose(detail.source_frames(frames), frames)
    later = detail.retime(np.array([0.0, 5.0, 10.0]), np.array([0.0, 8.0, 10.0]))
    np.testing.assert_allclose(later.source_frames(np.array([0.0, 4.0, 8.0, 9.0, 10.0])), [0, 2.5, 5, 7.5, 10])
    back = later.retime(np.array([0.0, 8.0, 10.0]), np.array([0.0, 5.0, 10.0]))
    np.testing.assert_allclose(back.source_frames(frames), frames)
    assert repr(later) == "Residual(11 frames, 1 joints, retimed)"


def test_detail_rotates_and_shifts_in_the_joints_own_frame() -> None:
    quarter = rot.from_euler(np.array([np.pi / 2, 0, 0]), "ZYX")  # x becomes y
    detail = kp.Residual(np.array([[[0.2, 0.0, 0.0]]]), np.array([[[1.0, 0.0, 0.0]]]))
    place, turn = detail.apply(np.zeros((1, 1, 3)), quarter[None, None], np.zeros(1), 0.5)
    np.testing.assert_allclose(place[0, 0], [0, 0.5, 0], atol=1e-12)
    np.testing.assert_allclose(turn[0, 0], rot.multiply(quarter, rot.exp(np.array([0.1, 0, 0]))), atol=1e-12)
