"""What tracks play, against a twin that steps through the frames; levels of detail; nouns that refuse nonsense."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
import naive_swings as naive
from keypose.rotations import angle_between, normalise
from keypose.swings import Path, Settings
from keypose.swings.means import mean_of, means_of

MEAN = np.array((1.0, 0.0, 0.0, 0.0))


def made_track(seed: int) -> kp.Track:
    """Swings and keyed spans of all lengths and gaps, adjacent ones too."""
    rng = np.random.default_rng(seed)
    frame, swings, keyed = int(rng.integers(0, 4)), [], []
    for _ in range(int(rng.integers(0, 7))):
        start = frame + int(rng.choice([0, 0, 1, 5]))
        q = normalise(rng.normal(size=4))
        if rng.random() < 0.6:
            frame = start + int(rng.integers(1, 9))
            swings.append(kp.Swing("arm", start, frame, q, *unit_and_angle(rng)))
        else:
            frames = start + np.cumsum(rng.integers(1, 4, size=int(rng.integers(1, 5)))) - 1
            keyed.append(kp.KeyedSpan(frames, normalise(rng.normal(size=(len(frames), 4)))))
            frame = int(frames[-1])
        frame += 1
    return kp.Track.of("arm", MEAN, swings, keyed)


def unit_and_angle(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis), float(rng.uniform(0, 5))


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_playback_is_that_of_the_twin(seed):
    track = made_track(seed)
    frames = np.concatenate((np.arange(-2.0, track.last_frame + 4), np.random.default_rng(seed).uniform(0, 60, 20)))
    wanted = np.array([naive.played(naive.parts_of(track), MEAN, frame) for frame in frames])
    assert angle_between(track.sample(frames), wanted).max() < 1e-7


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_keys_play_their_very_numbers(seed):
    track = made_track(seed)
    for span in track.keyed:
        np.testing.assert_array_equal(track.sample(span.frames.astype(float)), span.rotations)


def test_swings_one_by_one_and_back():
    track = made_track(11)
    again = kp.Track.of("arm", MEAN, reversed(track.swings), track.keyed, track.rests)
    np.testing.assert_allclose(again.turns, track.turns, atol=1e-15)
    np.testing.assert_array_equal(again.starts, track.starts)
    assert [swing.angle for swing in track.swings] == pytest.approx(track.angles.tolist())
    for swing in track.swings:
        at_end = track.sample(np.array([float(swing.end)]))[0]
        assert angle_between(swing.end_rotation, at_end) < 1e-12


def test_means_are_those_of_each_span():
    rng = np.random.default_rng(5)
    near = normalise(rng.normal(size=4) + 0.1 * rng.normal(size=(30, 2, 4)))
    rotations = near * rng.choice([-1.0, 1.0], size=(30, 2, 1))
    spans = [(0, 2, 5), (0, 9, 9), (1, 0, 29), (1, 20, 29)]  # they may overlap
    means = means_of(rotations, *np.array(spans).T)
    for mean, (joint, start, end) in zip(means, spans, strict=True):
        some = [q if q @ rotations[start, joint] >= 0 else -q for q in rotations[start : end + 1, joint]]
        assert angle_between(mean, normalise(np.mean(some, axis=0))) < 1e-7
        assert angle_between(mean, mean_of(rotations[start : end + 1])[joint]) < 1e-7


@pytest.fixture(scope="module")
def walk() -> tuple[kp.Motion, kp.Swings]:
    motion = kp.demo_motion()
    return motion, kp.swings(motion)


def test_level_of_detail(walk):
    motion, found = walk
    errors = [kp.score(motion, found.play(level)).mean_deg for level in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert errors == sorted(errors, reverse=True)
    assert found.coarser(0.5).n_swings == round(found.n_swings / 2)
    kept = np.sort(np.concatenate([track.angles for track in found.coarser(0.5).tracks]))
    everything = np.sort(np.concatenate([track.angles for track in found.tracks]))
    np.testing.assert_array_equal(kept, everything[-len(kept) :])
    assert found.coarser(0.0).n_swings == 0
    np.testing.assert_array_equal(found.play(1.0).rotations, found.play().rotations)
    for bad in (-0.1, 1.1, "all", True):
        with pytest.raises(kp.OptionError, match="level="):
            found.play(bad)  # type: ignore[arg-type]


def test_another_frame_rate_meets_the_same_frames(walk):
    motion, found = walk
    twice = found.play(fps=2 * motion.fps)
    np.testing.assert_array_equal(twice.rotations[::2], found.play().rotations)
    np.testing.assert_array_equal(twice.translations[::2], found.play().translations)
    with pytest.raises(kp.OptionError, match="too many"):
        found.play(fps=1e6)


def test_joints_by_name_and_part(walk):
    _, found = walk
    assert found["right_thigh"] is found.track("right_thigh").swings
    assert all(swing.joint == found.track("right_thigh").joint for swing in found["right_thigh"])
    with pytest.raises(kp.UnknownJoint, match="did you mean"):
        found["right_tigh"]
    assert len(found) == found.n_swings == sum(len(track.swings) for track in found.tracks)
    assert repr(found).startswith("Swings(")


def test_nouns_survive_pickling(walk):
    _, found = walk
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.play().rotations, found.play().rotations)
    with pytest.raises(ValueError, match="read-only"):
        again.tracks[2].turns[0] = 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kp.Swing("arm", 5, 5, MEAN, (1, 0, 0), 1), "expected an end after the start"),
        (lambda: kp.Swing("arm", 5, 9, MEAN, (1, 0, 0), -1), "not negative"),
        (lambda: kp.Swing("arm", 5, 9, MEAN, (2, 0, 0), 1), "axis of a swing: a length of 2, expected 1"),
        (lambda: kp.Swing("arm", 5, 9, MEAN * 3, (1, 0, 0), 1), "length of 3"),
        (lambda: kp.Swing("arm", 5.5, 9, MEAN, (1, 0, 0), 1), "start=5.5"),
        (lambda: kp.Swing("arm", 5, 9, MEAN, (1, 0, 0), float("nan")), "nan"),
        (lambda: kp.Rest("arm", 5, 4, MEAN), "expected them in order"),
        (lambda: kp.KeyedSpan([3, 3], [MEAN, MEAN]), "increasing"),
        (lambda: kp.KeyedSpan(np.zeros(0, int), np.zeros((0, 4))), "at least one frame"),
        (
            lambda: kp.Track("arm", MEAN, [0, 4], [4, 8], [MEAN, MEAN], np.zeros((2, 3))),
            "frames 0 to 4 and 4 to 8 overlap",
        ),
        (lambda: kp.Track("arm", MEAN, [-2], [4], [MEAN], np.zeros((1, 3))), "before frame 0"),
        (lambda: kp.Track("arm", MEAN, [5], [4], [MEAN], np.zeros((1, 3))), "ends before it starts"),
        (lambda: kp.Track("arm", MEAN, [5, 0], [7, 2], [MEAN, MEAN], np.zeros((2, 3))), "out of order"),
        (lambda: kp.Track("arm", MEAN, [0], [4], [MEAN], np.full((1, 3), 1e9)), "radians"),
        (lambda: kp.Track("arm", MEAN, keyed=None), "arm: keyed is NoneType, expected several KeyedSpan"),
        (lambda: kp.Track("arm", MEAN, keyed=(None,)), "arm: keyed: NoneType among them, expected KeyedSpan"),
        (lambda: kp.Track.of("arm", MEAN, [3]), "arm: swings: int among them, expected Swing"),
        (lambda: kp.Track.of("arm", MEAN, rests=3), "arm: rests is int, expected several Rest"),
        (lambda: kp.Swing.turning("arm", 0, 5, MEAN, None), "turn of a swing"),
        (lambda: kp.Swing.turning("arm", 0, 5, MEAN, "x"), "turn of a swing: not numbers"),
        (lambda: kp.Swing.turning("arm", 0, 5, MEAN, (1.0, 2.0)), "turn of a swing: shape"),
    ],
)
def test_wrong_states_are_refused(make, said):
    with pytest.raises(kp.KeyposeError, match=said):
        make()


def test_swings_refuse_what_is_outside_the_clip(walk):
    _, found = walk
    with pytest.raises(kp.ModelError, match="outside the clip"):
        replace(found, n_frames=found.n_frames - 2, contacts=None, paths=())
    with pytest.raises(kp.ModelError, match="in the skeleton's order"):
        replace(found, tracks=found.tracks[::-1])
    with pytest.raises(kp.ModelError, match="a path outside the clip"):
        path = found.paths[0]
        replace(found, paths=(Path(path.joint, path.keys + 1, path.curves),))
    with pytest.raises(kp.ModelError, match="at most one"):
        replace(found, paths=found.paths[:1] * 2)
    with pytest.raises(kp.ModelError, match="up axis"):
        replace(found, up="up")  # type: ignore[arg-type]
    for wrong in (("tail",), ("Head", "Tail")):
        with pytest.raises(kp.ModelError, match=r"left_out names '(tail|Tail)', expected names of joints"):
            replace(found, settings=replace(found.settings, left_out=wrong))
    for wrong in (found.settings.left_out[::-1], found.settings.left_out[:1] * 2):
        with pytest.raises(kp.ModelError, match="left_out, expected each joint once, in the skeleton's order"):
            replace(found, settings=replace(found.settings, left_out=wrong))


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("name", (5, None)),
        ("skeleton", (None, 5)),
        ("tracks", (None, 5, "x", (None,))),
        ("paths", (None, 5, ("hips",))),
        ("contacts", (5, "left", np.zeros((3, 2), bool))),
        ("settings", (None, 5, {})),
        ("notes", (None, 5, "said", (3,))),
        ("reference_pose", (5, np.zeros(3))),
        ("up", (np.zeros(3), None, 1)),
        ("n_frames", (None, "9", 2**31)),
        ("places", (None, "x", np.zeros(2))),
    ],
)
def test_swings_refuse_what_is_of_another_kind(walk, field, values):
    _, found = walk
    for wrong in values:
        with pytest.raises(kp.KeyposeError, match=rf"(swings: |places of joints|n_frames=).*|{field}"):
            replace(found, **{field: wrong})


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("threshold", (float("nan"), float("inf"), "0.4", True, None, -0.1, 3.2)),
        ("smoothing_s", (-1, 11)),
        ("window_s", (0, 11)),
        ("least_s", (-1, 1e308)),
        ("rest_rad_per_s", (-1, 1e308)),
        ("fallback_deg", (0, 181)),
        ("translation_mm", (-1, 1e308)),
        ("metric", (None, "sine", 3, ["angle"])),
        ("fallback", ("curves", 3, False)),
        ("left_out", ("Head", 5, None, (3,))),
    ],
)
def test_settings_refuse_what_no_swings_are_found_with(walk, field, values):
    _, found = walk
    for wrong in values:
        with pytest.raises(kp.OptionError, match=f"^{field}="):
            replace(found.settings, **{field: wrong})


def test_settings_are_plain_numbers_whatever_they_were_given_as():
    told = Settings(threshold=1, least_s=np.float32(0.5), left_out=["Head"])  # type: ignore[arg-type]
    assert (type(told.threshold), type(told.least_s), told.left_out) == (float, float, ("Head",))
    assert told == Settings(1.0, least_s=0.5, left_out=("Head",)) and pickle.loads(pickle.dumps(told)) == told
