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
NAN = float("nan")


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

ANGLES = kp.Curves(*[np.zeros((4, 2, 3))] * 3)
INCREASING = {"subject": "keyed motion", "expected": "increasing frames from 0 to 19"}
BAD = {
    "no keys": ({"keys": []}, {"problem": "keys []"} | INCREASING),
    "keys twice": ({"keys": [0, 4, 4, 19]}, {"problem": "keys [0, 4, 4, 19]"} | INCREASING),
    "keys backwards": ({"keys": [0, 10, 4, 19]}, {"problem": "keys [0, 10, 4, 19]"} | INCREASING),
    "a key before the clip": ({"keys": [-1, 4, 10, 19]}, {"problem": "keys [-1, 4, 10, 19]"} | INCREASING),
    "a key after the clip": ({"keys": [0, 4, 10, 20]}, {"problem": "keys [0, 4, 10, 20]"} | INCREASING),
    "keys between frames": ({"keys": [0, 4.5, 10, 19]}, {"option": "keys", "expected": "integers"}),
    "fewer keys than poses": ({"keys": [0, 4, 19]}, {"problem": "translation curves (4, 2, 3)", "expected": "(3, 2, 3)"}),
    "no frames": ({"n_frames": 0}, {"subject": "keyed motion", "expected": "increasing frames from 0 to -1"}),
    "half a frame": ({"n_frames": 19.5}, {"problem": "19.5 frames", "expected": "a whole number"}),
    "no rate": ({"fps": 0.0}, {"option": "fps", "value": 0.0}),
    "a rate that is no number": ({"fps": NAN}, {"option": "fps", "value": NAN}),
    "an unknown axis": ({"up": "W"}, {"subject": "keyed motion", "expected": "one of X, Y, Z, -X, -Y, -Z"}),
    "too few extremes": ({"extremes": [True, False]}, {"subject": "keyed motion", "expected": "one flag for each of 4 keys"}),
    "an unknown order": ({"rotations": ANGLES, "rotation_orders": ("XYX", "ZXY")}, {"subject": "keyed motion", "expected": "a rotation order of XYZ, XZY, YXZ, YZX, ZXY, ZYX for each joint"}),
    "quaternions as angles": ({"rotation_orders": ("XYZ", "ZXY")}, {"problem": "rotation curves (4, 2, 4)", "expected": "(4, 2, 3)"}),
    "a residual of other joints": ({"residual": kp.Residual(np.zeros((20, 3, 3)), np.zeros((20, 3, 3)))}, {"problem": "a residual of 3 joints", "expected": "2"}),
    "tangents of one kind only": ({"translations": kp.Curves(np.zeros((4, 2, 3)))}, {"problem": "tangents for translations or rotations only"}),
    "other joints": ({"translations": kp.Curves(*[np.zeros((4, 3, 3))] * 3)}, {"problem": "translation curves (4, 3, 3)", "expected": "(4, 2, 3)"}),
    "no unit rotations": ({"rotations": kp.Curves(np.full((4, 2, 4), 0.9), np.zeros((4, 2, 4)), np.zeros((4, 2, 4)))}, {"problem": "a rotation that is no unit quaternion (wxyz)"}),
    "a negative unit": ({"metres_per_unit": -1.0}, {"subject": "motion", "problem": "-1 metres per unit"}),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "fields"), BAD.values(), ids=BAD)
def test_mismatched_arrays_are_rejected(changes: dict[str, object], fields: dict[str, object]) -> None:
    with raises(OptionError if "fps" in changes else ModelError, **fields):
        keyed(**changes)


@pytest.mark.parametrize(
    ("arguments", "kind", "fields"),
    [
        ({"fps": 60.0, "frames": [0]}, OptionError, {"expected": "fps= or frames=, not both"}),
        ({"fps": 0.0}, OptionError, {"option": "fps", "value": 0.0, "expected": "a number from 0.001 to 1e+06"}),
        ({"fps": "fast"}, OptionError, {"option": "fps", "value": "fast", "expected": "a number from 0.001 to 1e+06"}),
        (
            {"fps": 1e6, "residual": "much"},
            OptionError,
            {"option": "residual", "value": "much", "expected": "a number"},
        ),
        ({"residual": NAN}, OptionError, {"option": "residual", "value": NAN, "expected": "a number"}),
        ({"frames": []}, OptionError, {"expected": "frames from 0 to 19"}),
        ({"frames": [-0.5]}, OptionError, {"expected": "frames from 0 to 19"}),
        ({"frames": [19.01]}, OptionError, {"expected": "frames from 0 to 19"}),
        ({"frames": [[1, 2]]}, ModelError, {"problem": "shape (1, 2)", "option": "frames", "expected": "(any)"}),
        ({"frames": "all"}, ModelError, {"problem": "not numbers (<U3)", "option": "frames"}),
    ],
)
def test_invalid_samples(arguments: dict[str, object], kind: type[KeyposeError], fields: dict[str, object]) -> None:
    with raises(kind, **fields):
        keyed().sample(**arguments)  # type: ignore[arg-type]


def test_without_a_residual_there_is_none_to_sample() -> None:
    plain = keyed(residual=None)
    assert plain.sample().n_frames == 20
    with raises(OptionError, code="no_residual"):
        plain.sample(0.5)


@pytest.mark.parametrize(
    ("curves", "fields"),
    [
        (lambda: kp.Curves(np.zeros((2, 3))), {"problem": "shape (2, 3)", "option": "curve values"}),
        (lambda: kp.Curves(np.zeros((2, 1, 3)), np.zeros((2, 1, 3))), {"subject": "curves", "expected": "both or none"}),
        (lambda: kp.Curves(np.zeros((2, 1, 3)), np.zeros((1, 1, 3)), np.zeros((2, 1, 3))), {"option": "in_tangents", "expected": "(2, 1, 3)"}),
        (lambda: kp.Curves(np.full((2, 1, 3), np.nan)), {"problem": "nan at index (0, 0, 0)", "option": "curve values"}),
        (lambda: kp.Residual(np.zeros((0, 1, 3)), np.zeros((0, 1, 3))), {"subject": "residual", "expected": "at least one"}),
        (lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 2, 3))), {"option": "residual shifts", "expected": "(5, 1, 3)"}),
        (lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 1, 3)), frames=[0.0, 1.0]), {"subject": "residual", "problem": "frames and sources belong together"}),
        (lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 1, 3)), frames=[0.0, 0.0], sources=[0.0, 1.0]), {"subject": "residual", "expected": "increasing frames with sources that do not decrease"}),
        (lambda: kp.Residual(np.zeros((5, 1, 3)), np.zeros((5, 1, 3)), frames=[0.0, 1.0], sources=[1.0, 0.0]), {"subject": "residual", "expected": "increasing frames with sources that do not decrease"}),
    ],
)  # fmt: skip
def test_curves_and_residuals_that_do_not_fit_together(curves: Callable[[], object], fields: dict[str, str]) -> None:
    with raises(ModelError, **fields):
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
    assert repr(later) == "Residual(11 frames, 1 joint, retimed)"


def test_detail_rotates_and_shifts_in_the_joints_own_frame() -> None:
    quarter = rot.from_euler(np.array([np.pi / 2, 0, 0]), "ZYX")  # x becomes y
    detail = kp.Residual(np.array([[[0.2, 0.0, 0.0]]]), np.array([[[1.0, 0.0, 0.0]]]))
    place, turn = detail.apply(np.zeros((1, 1, 3)), quarter[None, None], np.zeros(1), 0.5)
    np.testing.assert_allclose(place[0, 0], [0, 0.5, 0], atol=1e-12)
    np.testing.assert_allclose(turn[0, 0], rot.multiply(quarter, rot.exp(np.array([0.1, 0, 0]))), atol=1e-12)
