"""kp.unbake: keys by the error of the fitted curves."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.curves.capture_faults import list_flips
from keypose.errors import Hint
from keypose.extremes import find_extremes, mark_extremes
from keypose.metrics import position_errors_mm
from keypose.model.selection import Cliff
from keypose.rotations import exp
from support.errors import Pattern, raises

SKELETON = kp.Skeleton(("Hips", "Chest", "Head"), [-1, 0, 1], [[0, 0, 0], [0, 9, 0], [0, 6, 1]])


def clip(frames: int = 240) -> kp.Motion:
    return kp.demo_motion(fps=60)[:frames]


@pytest.fixture(scope="module")
def walk(data_dir) -> kp.Motion:
    return kp.load(data_dir / "cmu120/07_05_walk.bvh").at_fps(60)


def test_keys_are_optimal_for_fitted_curves():
    motion = clip()
    keyed = kp.unbake(motion, keys=20)
    chosen = kp.select(motion, "salient", keys=20, cost="inbetween")
    assert keyed.keys.tolist() == chosen.frames.tolist() and keyed.is_cubic
    chord = kp.unbake(motion, kp.select(motion, "salient", keys=20), polish=False)
    plain = kp.unbake(motion, keys=20, polish=False)
    ladder = kp.ladder(motion, "salient", cost="inbetween", max_keys=20)
    assert kp.score(motion, plain).max_mm == pytest.approx(ladder.costs[20], rel=1e-9)
    assert kp.score(motion, plain).max_mm < 0.7 * kp.score(motion, chord).max_mm
    assert kp.score(motion, keyed).max_mm <= kp.score(motion, plain).max_mm * (1 + 1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"polish": False},
        {"interpolation": "linear"},
        {"rotation": "euler"},
        {"shared_tangents": True},
        {"jump_penalty": 0.001},
        {"joints": "hands"},
        {"pins": (17, 99)},
        {"measure": "mean", "objective": "sum"},
    ],
    ids=str,
)
def test_sampled_curves_stay_within_the_tolerance(options):
    motion = clip(150)
    keyed = kp.unbake(motion, tolerance_mm=12.0, **options)
    assert kp.score(motion, keyed.sample()).max_mm <= 12.0
    assert set(options.get("pins", ())) <= set(keyed.keys.tolist())
    if not options:
        fewer = kp.unbake(motion, keys=keyed.n_keys - 1)
        assert kp.score(motion, fewer).max_mm > 12.0


@pytest.mark.data
@pytest.mark.parametrize("tolerance_mm", [1.0, 5.0, 25.0])
def test_captured_motion_stays_within_the_tolerance(walk, tolerance_mm):
    keyed = kp.unbake(walk, tolerance_mm=tolerance_mm)
    assert kp.score(walk, keyed.sample(residual=0.0)).max_mm <= tolerance_mm
    assert kp.score(walk, keyed.sample(residual=1.0)).max_mm < 1e-6


@pytest.mark.data
def test_polish_brings_joints_closer(walk):
    plain, better = kp.unbake(walk, keys=14, polish=False), kp.unbake(walk, keys=14)
    assert plain.keys.tolist() == better.keys.tolist()
    assert kp.score(walk, better).mean_mm < 0.95 * kp.score(walk, plain).mean_mm
    assert kp.score(walk, better).max_mm <= kp.score(walk, plain).max_mm * (1 + 1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"polish": False},
        {"interpolation": "linear"},
        {"interpolation": "natural"},
        {"rotation": "euler"},
        {"joints": "hands"},
        {"pins": (17, 99)},
    ],
    ids=str,
)
def test_auto_takes_the_fewest_keys_within_one_percent_of_the_height(options):
    motion = clip(150)
    keyed, fewest = kp.unbake(motion, auto=True, **options), kp.unbake(motion, tolerance_mm=17.0, **options)
    assert kp.unbake(motion, **options).keys.tolist() == keyed.keys.tolist()
    assert kp.score(motion, keyed.sample()).max_mm <= 17.0
    assert fewest.n_keys <= keyed.n_keys <= 1.25 * fewest.n_keys


@pytest.mark.data
def test_auto_takes_a_strong_cliff_above_the_fewest_keys(walk, monkeypatch):
    part = walk[:120]
    fewest = kp.unbake(part, tolerance_mm=17.0)
    ladder = kp.ladder(part, cost="inbetween")
    above = fewest.n_keys + 1
    for strength, expected in ((0.26, above), (0.24, fewest.n_keys)):
        cliffs = (Cliff(fewest.n_keys, 0.9), Cliff(above, strength))
        monkeypatch.setattr(kp.Ladder, "cliffs", lambda self, cliffs=cliffs: cliffs)
        keyed = kp.unbake(part, extremes_first=False)
        assert keyed.keys.tolist() == (ladder.at(above).frames if expected == above else fewest.keys).tolist()
        assert kp.score(part, keyed).max_mm <= 17.0


@pytest.mark.data
def test_auto_does_not_depend_on_the_frame_rate(data_dir):
    for name in ("cmu120/07_05_walk.bvh", "asf-amc/02_01.bvh"):
        walk = kp.load(data_dir / name)
        counts = [kp.unbake(walk.at_fps(fps)).n_keys for fps in (24, 30, 60, 120)]
        assert np.abs(np.array(counts) / np.median(counts) - 1).max() <= 0.2, counts


@pytest.mark.data
def test_auto_does_not_spend_keys_on_flips(data_dir):
    """A finger base turns over in frame 125, which moves a finger by 83 mm."""
    motion = kp.load(data_dir / "cmu30/ball_kick/10_06.bvh")
    flipped = list_flips(motion)
    assert flipped["LeftFingerBase"] == ((125, 125),)
    keyed = kp.unbake(motion)
    errors = position_errors_mm(motion, keyed.sample()).max(axis=1)
    assert errors[125] > 50 and np.delete(errors, 125).max() <= 17.0
    assert kp.score(motion, keyed.sample(1.0)).max_mm < 1e-6
    assert kp.score(motion, kp.unbake(motion, tolerance_mm=17.0)).max_mm <= 17.0  # in every frame


def test_auto_goes_up_to_max_keys():
    motion = clip()
    assert kp.unbake(motion).n_keys > 6
    at_most_6 = kp.unbake(motion, max_keys=6, extremes_first=False)
    assert at_most_6.keys.tolist() == kp.unbake(motion, keys=6).keys.tolist()


def test_a_figure_without_height_has_keys_but_no_millimetres():
    point = kp.Skeleton(("Point",), [-1], [[0, 0, 0]])
    options = np.cumsum(np.random.default_rng(0).normal(size=(80, 1, 3)), axis=0)
    motion = kp.Motion("point", point, 30.0, options * [1, 0, 1], np.tile([1.0, 0, 0, 0], (80, 1, 1)))
    assert kp.unbake(motion, keys=20).n_keys == 20
    errors = np.linalg.norm(kp.unbake(motion).sample().world_positions() - motion.world_positions(), axis=-1)
    assert errors.max() <= 0.01 * np.ptp(motion.world_positions(), axis=0).max()
    with raises(kp.OptionError, code="no_height"):
        kp.unbake(motion, tolerance_mm=3.0)


def test_keys_of_any_method_or_plain_frames_are_taken():
    motion = clip()
    chosen = kp.select(motion, "farthest", keys=8)
    assert kp.unbake(motion, chosen, interpolation="linear").keys.tolist() == chosen.frames.tolist()
    assert kp.unbake(motion, (0, 100, 40, 239)).keys.tolist() == [0, 40, 100, 239]
    straight = kp.unbake(motion, chosen, interpolation="linear")
    assert kp.score(motion, straight).max_mm == pytest.approx(kp.score(motion, chosen).max_mm, rel=1e-9)


def test_the_residual_is_stored_by_default():
    motion = clip()
    keyed = kp.unbake(motion, keys=12)
    assert kp.score(motion, keyed.sample(1.0)).max_mm < 1e-6
    half, none = kp.score(motion, keyed.sample(0.5)).mean_mm, kp.score(motion, keyed).mean_mm
    assert 0.3 * none < half < 0.7 * none
    bare = kp.unbake(motion, keys=12, residual=False)
    assert bare.residual is None and bare.sample().rotations.tobytes() == keyed.sample().rotations.tobytes()
    with raises(kp.OptionError, code="no_residual"):
        bare.sample(0.5)


def test_extremes_are_ends_of_travel_unless_given():
    motion = clip()
    keyed = kp.unbake(motion, keys=20)
    assert keyed.extremes.tolist() == mark_extremes(keyed.keys, find_extremes(motion), motion.fps).tolist()
    assert keyed.extremes[0] and keyed.extremes[-1] and 2 < keyed.extremes.sum() < 20
    with_extremes = kp.unbake(motion, keys=20, extremes=keyed.keys[[0, 3, 19]])
    assert np.flatnonzero(with_extremes.extremes).tolist() == [0, 3, 19]
    with raises(kp.OptionError, option="extremes"):
        kp.unbake(motion, (0, 20, 239), extremes=(7,))


def test_a_loop_begins_and_ends_with_the_same_key():
    angle = np.linspace(0, 2 * np.pi, 61)
    wobble = np.stack([np.sin(angle), np.cos(3 * angle) - 1, np.sin(2 * angle)], axis=-1)
    rotations = exp(0.6 * wobble[:, None] * np.array([0.3, 0.8, 1.0])[:, None])
    shifts = np.zeros((61, 3, 3))
    shifts[:, 0] = wobble
    motion = kp.Motion("loop", SKELETON, 30.0, SKELETON.offsets + shifts, rotations)
    keyed = kp.unbake(motion, keys=9, loop=True, pins=(20,))
    assert keyed.n_keys == 9 and {0, 20, 60} <= set(keyed.keys.tolist())
    assert kp.score(motion, kp.unbake(motion, tolerance_mm=20.0, loop=True)).max_mm <= 20.0
    assert kp.unbake(motion, loop=True).keys[-1] == 60


def test_the_default_gap_never_makes_a_search_fail():
    motion = clip()
    assert kp.unbake(motion, tolerance_mm=5000.0, excluded=range(20, 220)).n_keys >= 2
    assert kp.unbake(motion, min_gap_frames=150).keys.tolist() == [0, 239]
    with raises(kp.OptionError, code="no_selection", value=240):
        kp.unbake(motion, tolerance_mm=5000.0, excluded=range(20, 220), max_gap_frames=60)


def test_options_are_checked_of_one_frame_too():
    frame = clip()[:1]
    for options in ({"keys": 99}, {"bogus": 1}, {"tolerance_mm": -5.0}):
        with pytest.raises(kp.OptionError):
            kp.unbake(frame, **options)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_very_short_clips(frames):
    motion = clip()[100 : 100 + frames]
    for options in (
        {},
        {"tolerance_mm": 1.0},
        {"interpolation": "linear"},
        {"rotation": "euler"},
        {"shared_tangents": True},
    ):
        keyed = kp.unbake(motion, **options)
        assert 1 <= keyed.n_keys <= frames
        assert kp.score(motion, keyed.sample(1.0)).max_mm < 1e-6


def test_still_figures_and_huge_rotations():
    still = kp.Motion(
        "still", SKELETON, 30.0, np.repeat(SKELETON.offsets[None], 40, axis=0), np.tile([1.0, 0, 0, 0], (40, 3, 1))
    )
    keyed = kp.unbake(still, tolerance_mm=0.0)
    assert keyed.n_keys <= 3 and kp.score(still, keyed).max_mm == 0.0
    spin = np.zeros((200, 3, 3))
    spin[:, 0, 1] = np.linspace(0, 40 * np.pi, 200)
    spinning = kp.Motion("spin", SKELETON, 60.0, np.repeat(SKELETON.offsets[None], 200, axis=0), exp(spin))
    for options in ({}, {"rotation": "euler"}):
        keyed = kp.unbake(spinning, tolerance_mm=5.0, **options)
        assert kp.score(spinning, keyed).max_mm <= 5.0
        rotations = keyed.sample(fps=240).rotations
        assert np.abs(np.linalg.norm(rotations, axis=-1) - 1).max() < 1e-9


def test_a_hold_takes_no_keys_of_its_own():
    """Keys are at most a second apart where the body moves; where it stands still, up to four seconds."""
    motion = clip(90)
    hold = np.concatenate((np.arange(45), np.full(400, 45), np.arange(45, 90)))
    held = kp.Motion("hold", motion.skeleton, 60.0, motion.translations[hold], motion.rotations[hold])
    for options in ({"tolerance_mm": 10.0}, {"keys": 14}, {}):
        keyed = kp.unbake(held, **options)
        assert int(np.diff(keyed.keys).max()) > 150, options
    narrow = kp.unbake(held, tolerance_mm=10.0, max_gap_frames=60)
    assert int(np.diff(narrow.keys).max()) <= 60 and narrow.n_keys > kp.unbake(held, tolerance_mm=10.0).n_keys


def test_a_pop_of_a_thumb_is_held_over_and_comes_back_with_the_residual():
    motion = clip(120)
    leaf = int(np.flatnonzero(~np.isin(np.arange(motion.n_joints), motion.skeleton.parents))[0])
    rotations = motion.rotations.copy()
    rotations[60, leaf] = [0.0, 0.0, 1.0, 0.0]
    popping = kp.Motion("pop", motion.skeleton, motion.fps, motion.translations, rotations)
    keyed = kp.unbake(popping, (0, 30, 60, 90, 119))
    around = keyed.sample().rotations[58:63, leaf]
    assert np.abs(np.sum(around[1:] * around[:-1], axis=-1)).min() > 0.99
    assert kp.score(popping, keyed.sample(1.0)).max_deg < 1e-4


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"keys": 0}, {"option": "keys", "value": 0, "expected": "at least 1"}),
        ({"keys": 1}, {"problem": "is too few: salient needs at least 2 here for the first and the last frame", "option": "keys", "value": 1}),
        ({"keys": 999}, {"problem": "is too many: 'demo' has only 240 frames", "option": "keys", "value": 999}),
        ({"tolerance_mm": 9, "method": "farthest"}, {"option": "tolerance_mm", "expected": "a number of keys with it, or the method salient"}),
        ({"keys": 9, "method": "nearest"}, {"option": "method", "value": "nearest"}),
        ({"keys": 9, "smoothing_s": 0.1}, {"code": "unknown_option", "problem": Pattern("keys are chosen by the error of the curves"), "value": "smoothing_s"}),
        ({"keys": 5, "auto": True}, {"code": "conflicting_options", "expected": Hint("one of keys=, tolerance_mm= and auto=True", "one of --keys, --tolerance-mm and --auto")}),
        ({"tolerance_mm": -1}, {"option": "tolerance_mm", "value": -1, "expected": "a number of at least 0"}),
        ({"keys": 9, "interpolation": "bouncy"}, {"option": "interpolation", "value": "bouncy", "expected": "one of bezier, natural, linear"}),
        ({"keys": 9, "rotation": "matrix"}, {"option": "rotation", "value": "matrix", "expected": "one of quaternion, euler"}),
        ({"keys": 9, "polish": True, "rotation": "euler"}, {"problem": "needs interpolation bezier, rotation quaternion and free tangents", "option": "polish", "value": True}),
        ({"keys": 9, "polish": False, "polish_weights": {"feet": 2}}, {"problem": "curves are not polished here, so weights have no effect", "option": "polish_weights"}),
        ({"keys": 9, "shared_tangents": True, "interpolation": "natural"}, {"problem": "only interpolation bezier has free tangents", "option": "shared_tangents"}),
        ({"keys": 9, "joints": "wings"}, {"value": "wings"}),
        ({"keys": 9, "frames": (0, 50)}, {"code": "unknown_option", "problem": Pattern(r"for a part of a motion unbake m\[100:400\]$"), "value": "frames"}),
        ({"keys": 9, "colour": 3}, {"code": "unknown_option", "problem": "salient has no option 'colour'", "value": "colour", "hint": Pattern("^known: objective, cost, ")}),
        ({"keys": 9, "max_keys": "x"}, {"option": "max_keys", "value": "x", "expected": "a whole number of at least 1"}),
        ({"keys": 9, "polish": True, "jump_penalty": 0.01}, {"problem": "needs interpolation bezier, rotation quaternion and free tangents", "option": "polish", "value": True}),
        ({"selection": (0, 5), "keys": 3}, {"problem": "a selection already contains the keys: give it without keys=, tolerance_mm=, auto= and other options"}),
        ({"selection": (0, 240)}, {"problem": "frame 240", "option": "selection", "expected": "frames from 0 to 239"}),
        ({"selection": ()}, {"problem": "no frames", "option": "selection", "expected": "at least one"}),
        ({"selection": "some"}, {"option": "selection", "value": "some", "expected": "what kp.select gives, or frames like (0, 30, 88)"}),
        ({"keys": 9, "max_gap_frames": 3}, {"problem": "is too few: 0 pins and gaps of at most 3 frames need at least 81 keys of 240 frames", "option": "max_keys", "value": 9}),
        ({"tolerance_mm": 0.001, "max_keys": 9}, {"code": "no_selection", "problem": "no keys stay within 0.001 mm", "value": 0.001, "hint": Pattern("^with 9 keys the largest error is ")}),
    ],
    ids=str,
)  # fmt: skip
def test_impossible_requests(options, fields):
    with raises(kp.UnknownJoint if "joints" in options else kp.OptionError, **fields):
        kp.unbake(clip(), **options)


def test_only_motions_are_unbaked():
    with raises(kp.OptionError, expected="a Motion, as kp.load gives"):
        kp.unbake(np.zeros((4, 3)), keys=2)
    with raises(kp.OptionError, option="selection"):
        kp.unbake(clip(100), kp.select(clip(), keys=5))
