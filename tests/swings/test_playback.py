"""Playback of tracks against a twin that steps through the frames; levels of detail; validation of types."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.rotations import angle_between, normalise
from keypose.swings import Path, Settings
from keypose.swings.fallback import mean_rotation, span_mean_rotations
from reference import naive_swings as naive
from support.errors import raises

MEAN = np.array((1.0, 0.0, 0.0, 0.0))


def random_track(seed: int) -> kp.Track:
    """Swings and keyed spans of all lengths and gaps, adjacent ones too."""
    rng = np.random.default_rng(seed)
    frame, swings, keyed, rests = int(rng.integers(0, 4)), [], [], []
    for _ in range(int(rng.integers(0, 7))):
        start = frame + int(rng.choice([0, 0, 1, 5]))
        q = normalise(rng.normal(size=4))
        kind = rng.random()
        if kind < 0.2:
            frame = start + int(rng.integers(0, 9))
            rests.append(kp.Rest("arm", start, frame, q))
        elif kind < 0.6:
            frame = start + int(rng.integers(1, 9))
            swings.append(kp.Swing("arm", start, frame, q, *unit_and_angle(rng)))
        else:
            frames = start + np.cumsum(rng.integers(1, 4, size=int(rng.integers(1, 5)))) - 1
            keyed.append(kp.KeyedSpan(frames, normalise(rng.normal(size=(len(frames), 4)))))
            frame = int(frames[-1])
        frame += 1
    return kp.Track.build("arm", MEAN, swings, keyed, rests)


def unit_and_angle(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis), float(rng.uniform(0, 5))


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_playback_is_that_of_the_twin(seed):
    track = random_track(seed)
    frames = np.concatenate((np.arange(-2.0, track.last_frame + 4), np.random.default_rng(seed).uniform(0, 60, 20)))
    expected = np.array([naive.sample(naive.split_track(track), MEAN, frame) for frame in frames])
    assert angle_between(track.sample(frames), expected).max() < 1e-7


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_keys_play_exact_values(seed):
    track = random_track(seed)
    for span in track.keyed:
        np.testing.assert_array_equal(track.sample(span.frames.astype(float)), span.rotations)


def test_swings_one_by_one_and_back():
    track = random_track(11)
    rebuilt = kp.Track.build("arm", MEAN, reversed(track.swings), track.keyed, track.rests)
    np.testing.assert_allclose(rebuilt.rotation_vectors, track.rotation_vectors, atol=1e-15)
    np.testing.assert_array_equal(rebuilt.starts, track.starts)
    assert [swing.angle for swing in track.swings] == pytest.approx(track.angles.tolist())
    for swing in track.swings:
        at_end = track.sample(np.array([float(swing.end)]))[0]
        assert angle_between(swing.end_rotation, at_end) < 1e-12


def test_means_are_those_of_each_span():
    rng = np.random.default_rng(5)
    near = normalise(rng.normal(size=4) + 0.1 * rng.normal(size=(30, 2, 4)))
    rotations = near * rng.choice([-1.0, 1.0], size=(30, 2, 1))
    spans = [(0, 2, 5), (0, 9, 9), (1, 0, 29), (1, 20, 29)]  # they may overlap
    means = span_mean_rotations(rotations, *np.array(spans).T)
    for mean, (joint, start, end) in zip(means, spans, strict=True):
        same_sign = [q if q @ rotations[start, joint] >= 0 else -q for q in rotations[start : end + 1, joint]]
        assert angle_between(mean, normalise(np.mean(same_sign, axis=0))) < 1e-7
        assert angle_between(mean, mean_rotation(rotations[start : end + 1])[joint]) < 1e-7


@pytest.fixture(scope="module")
def walk() -> tuple[kp.Motion, kp.Swings]:
    motion = kp.demo_motion()
    return motion, kp.swings(motion)


def test_level_of_detail(walk):
    motion, swings = walk
    errors = [kp.score(motion, swings.play(level)).mean_deg for level in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert errors == sorted(errors, reverse=True)
    assert swings.simplify(0.5).n_swings == round(swings.n_swings / 2)
    remaining = np.sort(np.concatenate([track.angles for track in swings.simplify(0.5).tracks]))
    all_angles = np.sort(np.concatenate([track.angles for track in swings.tracks]))
    np.testing.assert_array_equal(remaining, all_angles[-len(remaining) :])
    assert swings.simplify(0.0).n_swings == 0
    np.testing.assert_array_equal(swings.play(1.0).rotations, swings.play().rotations)
    for bad in (-0.1, 1.1, "all", True):
        with raises(kp.OptionError, option="level"):
            swings.play(bad)  # type: ignore[arg-type]


def test_another_frame_rate_meets_the_same_frames(walk):
    motion, swings = walk
    twice = swings.play(fps=2 * motion.fps)
    np.testing.assert_array_equal(twice.rotations[::2], swings.play().rotations)
    np.testing.assert_array_equal(twice.translations[::2], swings.play().translations)
    with raises(kp.OptionError, value=1000000.0):
        swings.play(fps=1e6)


def test_joints_by_name_and_part(walk):
    _, swings = walk
    assert swings["right_thigh"] is swings.track("right_thigh").swings
    assert all(swing.joint == swings.track("right_thigh").joint for swing in swings["right_thigh"])
    with raises(kp.UnknownJoint, value="right_tigh"):
        swings["right_tigh"]
    assert len(swings) == swings.n_swings == sum(len(track.swings) for track in swings.tracks)
    assert repr(swings).startswith("Swings(")


def test_swings_survive_pickling(walk):
    _, swings = walk
    restored = pickle.loads(pickle.dumps(swings))
    np.testing.assert_array_equal(restored.play().rotations, swings.play().rotations)
    with pytest.raises(ValueError, match="read-only"):
        restored.tracks[2].rotation_vectors[0] = 0


@pytest.mark.parametrize(
    ("make", "kind", "fields"),
    [
        (lambda: kp.Swing("arm", 5, 5, MEAN, (1, 0, 0), 1), kp.ModelError, {"problem": "swing of 'arm': frames 5 to 5, 1 radians", "hint": "expected an end after the start and an angle that is not negative"}),
        (lambda: kp.Swing("arm", 5, 9, MEAN, (1, 0, 0), -1), kp.ModelError, {"problem": "swing of 'arm': frames 5 to 9, -1 radians", "hint": "expected an end after the start and an angle that is not negative"}),
        (lambda: kp.Swing("arm", 5, 9, MEAN, (2, 0, 0), 1), kp.ModelError, {"problem": "a length of 2", "subject": "axis of a swing", "expected": "1"}),
        (lambda: kp.Swing("arm", 5, 9, MEAN * 3, (1, 0, 0), 1), kp.ModelError, {"problem": "a length of 3", "subject": "start rotation of a swing", "expected": "1"}),
        (lambda: kp.Swing("arm", 5.5, 9, MEAN, (1, 0, 0), 1), kp.OptionError, {"option": "start", "value": 5.5, "expected": "a whole number"}),
        (lambda: kp.Swing("arm", 5, 9, MEAN, (1, 0, 0), float("nan")), kp.ModelError, {"problem": "nan at index (0,)", "option": "angle of a swing", "expected": "finite numbers up to 1e+15"}),
        (lambda: kp.Rest("arm", 5, 4, MEAN), kp.ModelError, {"problem": "rest of 'arm': frames 5 to 4", "expected": "them in order"}),
        (lambda: kp.KeyedSpan([3, 3], [MEAN, MEAN]), kp.ModelError, {"subject": "keyed span", "expected": "at least one frame, and increasing ones"}),
        (lambda: kp.KeyedSpan(np.zeros(0, int), np.zeros((0, 4))), kp.ModelError, {"subject": "keyed span", "expected": "at least one frame, and increasing ones"}),
        (lambda: kp.Track("arm", MEAN, [0, 4], [4, 8], [MEAN, MEAN], np.zeros((2, 3))), kp.ModelError, {"problem": "frames 0 to 4 and 4 to 8 overlap", "subject": "arm"}),
        (lambda: kp.Track("arm", MEAN, [-2], [4], [MEAN], np.zeros((1, 3))), kp.ModelError, {"problem": "something before frame 0", "subject": "arm"}),
        (lambda: kp.Track("arm", MEAN, [5], [4], [MEAN], np.zeros((1, 3))), kp.ModelError, {"problem": "a swing or rest that ends before it starts", "subject": "arm"}),
        (lambda: kp.Track("arm", MEAN, [5, 0], [7, 2], [MEAN, MEAN], np.zeros((2, 3))), kp.ModelError, {"problem": "swings, rests or keys out of order", "subject": "arm"}),
        (lambda: kp.Track("arm", MEAN, [0], [4], [MEAN], np.full((1, 3), 1e9)), kp.ModelError, {"problem": "a swing by more than 1e+06 radians", "subject": "arm"}),
        (lambda: kp.Track("arm", MEAN, keyed=None), kp.ModelError, {"problem": "keyed is NoneType", "subject": "arm", "expected": "several KeyedSpan"}),
        (lambda: kp.Track("arm", MEAN, keyed=(None,)), kp.ModelError, {"problem": "NoneType among them", "subject": "arm: keyed", "expected": "KeyedSpan"}),
        (lambda: kp.Track.build("arm", MEAN, [3]), kp.ModelError, {"problem": "int among them", "subject": "arm: swings", "expected": "Swing"}),
        (lambda: kp.Track.build("arm", MEAN, rests=3), kp.ModelError, {"problem": "rests is int", "subject": "arm", "expected": "several Rest"}),
        (lambda: kp.Swing.from_rotation_vector("arm", 0, 5, MEAN, None), kp.ModelError, {"problem": "shape ()", "option": "rotation vector of a swing", "expected": "(3)"}),
        (lambda: kp.Swing.from_rotation_vector("arm", 0, 5, MEAN, "x"), kp.ModelError, {"problem": "not numbers (<U1)", "option": "rotation vector of a swing"}),
        (lambda: kp.Swing.from_rotation_vector("arm", 0, 5, MEAN, (1.0, 2.0)), kp.ModelError, {"problem": "shape (2,)", "option": "rotation vector of a swing", "expected": "(3)"}),
    ],
)  # fmt: skip
def test_invalid_values_are_rejected(make, kind, fields):
    with raises(kind, **fields):
        make()


def test_swings_reject_frames_outside_the_clip(walk):
    _, swings = walk
    with raises(kp.ModelError, subject="Hips", expected="frames 0 to 1474"):
        replace(swings, n_frames=swings.n_frames - 2, contacts=None, paths=())
    with raises(kp.ModelError, subject="swings", expected="one track for each joint, in the skeleton's order"):
        replace(swings, tracks=swings.tracks[::-1])
    with raises(kp.ModelError, subject="Hips", expected="frames 0 to 1476"):
        path = swings.paths[0]
        replace(swings, paths=(Path(path.joint, path.keys + 1, path.curves),))
    with raises(kp.ModelError, subject="swings", expected="at most one for each joint, in the skeleton's order"):
        replace(swings, paths=swings.paths[:1] * 2)
    with raises(kp.ModelError, subject="swings", expected="one of X, Y, Z, -X, -Y, -Z"):
        replace(swings, up="up")  # type: ignore[arg-type]
    for wrong in (("tail",), ("Head", "Tail")):
        with raises(kp.ModelError, subject="swings", expected="names of joints of the skeleton"):
            replace(swings, settings=replace(swings.settings, left_out=wrong))
    for wrong in (swings.settings.left_out[::-1], swings.settings.left_out[:1] * 2):
        with raises(kp.ModelError, subject="swings", expected="each joint once, in the skeleton's order"):
            replace(swings, settings=replace(swings.settings, left_out=wrong))


@pytest.mark.parametrize(
    ("field", "values", "expected"),
    [
        ("name", (5, None), "str"),
        ("skeleton", (None, 5), "Skeleton"),
        ("tracks", (None, 5, "x"), "several Track"),
        ("paths", (None, 5), "several Path"),
        ("contacts", (5, "left", np.zeros((3, 2), bool)), "FootContacts"),
        ("settings", (None, 5, {}), "Settings"),
        ("notes", (None, 5, "said"), "several str"),
        ("reference_pose", (5, np.zeros(3)), "Pose"),
    ],
)
def test_swings_reject_wrong_types(walk, field, values, expected):
    _, swings = walk
    for wrong in values:
        problem = f"{field} is {type(wrong).__name__}"
        with raises(kp.ModelError, subject="swings", problem=problem, expected=expected):
            replace(swings, **{field: wrong})


@pytest.mark.parametrize(
    ("field", "wrong", "expected"), [("tracks", None, "Track"), ("paths", "hips", "Path"), ("notes", 3, "str")]
)
def test_swings_reject_elements_of_wrong_types(walk, field, wrong, expected):
    problem = f"{type(wrong).__name__} among them"
    with raises(kp.ModelError, subject=f"swings: {field}", problem=problem, expected=expected):
        replace(walk[1], **{field: (wrong,)})


def test_swings_reject_other_axes_counts_and_shapes(walk):
    _, swings = walk
    for axis in (np.zeros(3), None, 1):
        with raises(kp.ModelError, subject="swings", expected="one of X, Y, Z, -X, -Y, -Z"):
            replace(swings, up=axis)
    for n_frames in (None, "9"):
        with raises(kp.OptionError, option="n_frames", value=n_frames, expected="a whole number of at least 1"):
            replace(swings, n_frames=n_frames)
    with raises(kp.ModelError, subject="swings", problem=f"{2**31} frames", expected=f"at most {2**31 - 1}"):
        replace(swings, n_frames=2**31)
    for translations, problem in ((None, "shape ()"), ("x", "not numbers (<U1)"), (np.zeros(2), "shape (2,)")):
        with raises(kp.ModelError, option="places of joints", problem=problem):
            replace(swings, translations=translations)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("threshold", (float("nan"), float("inf"), "0.4", True, None, -0.1, 3.2)),
        ("smoothing_s", (-1, 11)),
        ("window_s", (0, 11)),
        ("min_duration_s", (-1, 1e308)),
        ("rest_rad_per_s", (-1, 1e308)),
        ("fallback_deg", (0, 181)),
        ("translation_mm", (-1, 1e308)),
        ("metric", (None, "sine", 3, ["angle"])),
        ("fallback", ("curves", 3, False)),
        ("left_out", ("Head", 5, None, (3,))),
    ],
)
def test_settings_reject_bad_values(walk, field, values):
    _, swings = walk
    for wrong in values:
        with raises(kp.OptionError, option=field, value=wrong):
            replace(swings.settings, **{field: wrong})


def test_settings_are_converted_to_plain_values():
    options = Settings(threshold=1, min_duration_s=np.float32(0.5), left_out=["Head"])  # type: ignore[arg-type]
    assert (type(options.threshold), type(options.min_duration_s), options.left_out) == (float, float, ("Head",))
    assert (
        options == Settings(1.0, min_duration_s=0.5, left_out=("Head",))
        and pickle.loads(pickle.dumps(options)) == options
    )
