"""kp.unbake: keys by the error of the fitted curves."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.rotations import exp
from support.errors import raises

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


def test_the_default_key_count_follows_the_error_curve():
    motion = clip()
    assert kp.unbake(motion).keys.tolist() == kp.unbake(motion, auto=True).keys.tolist()
    keyed = kp.unbake(motion)
    assert motion.n_frames / 100 <= keyed.n_keys <= motion.n_frames / 5
    assert kp.score(motion, keyed).max_mm < 17.0


def test_a_figure_without_height_has_keys_but_no_millimetres():
    point = kp.Skeleton(("Point",), [-1], [[0, 0, 0]])
    options = np.cumsum(np.random.default_rng(0).normal(size=(80, 1, 3)), axis=0)
    motion = kp.Motion("point", point, 30.0, options * [1, 0, 1], np.tile([1.0, 0, 0, 0], (80, 1, 1)))
    assert kp.unbake(motion, keys=20).n_keys == 20
    assert kp.unbake(motion).n_keys >= 2
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


def test_extremes_are_slow_poses_unless_given():
    motion = clip()
    keyed = kp.unbake(motion, keys=20)
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
    ("options", "problem"),
    [
        ({"keys": 0}, "keys=0, expected at least 1"),
        ({"keys": 1}, "salient needs at least 2"),
        ({"keys": 999}, "has only 240 frames"),
        ({"keys": 9, "method": "farthest"}, "choose by another method first"),
        ({"keys": 9, "smoothing_s": 0.1}, "unbake has no option 'smoothing_s'"),
        ({"keys": 5, "auto": True}, "expected one of keys="),
        ({"tolerance_mm": -1}, "tolerance_mm=-1"),
        ({"keys": 9, "interpolation": "bouncy"}, "expected one of bezier, natural, linear"),
        ({"keys": 9, "rotation": "matrix"}, "expected one of quaternion, euler"),
        ({"keys": 9, "polish": True, "rotation": "euler"}, "polish=True needs"),
        ({"keys": 9, "polish": False, "polish_weights": {"feet": 2}}, "curves are not polished"),
        ({"keys": 9, "shared_tangents": True, "interpolation": "natural"}, "only interpolation bezier"),
        ({"keys": 9, "joints": "wings"}, "wings"),
        ({"keys": 9, "frames": (0, 50)}, r"unbake m\[100:400\]"),
        ({"keys": 9, "colour": 3}, "no option 'colour'"),
        ({"keys": 9, "max_keys": "x"}, "max_keys='x', expected a whole number"),
        ({"keys": 9, "polish": True, "jump_penalty": 0.01}, "free tangents"),
        ({"selection": (0, 5), "keys": 3}, "without keys="),
        ({"selection": (0, 240)}, "0 to 239"),
        ({"selection": ()}, "at least one"),
        ({"selection": "some"}, "expected what kp.select gives"),
        ({"keys": 9, "max_gap_frames": 3}, "need at least"),
        ({"tolerance_mm": 0.001, "max_keys": 9}, "no keys stay within 0.001 mm; with 9 keys"),
    ],
    ids=str,
)
def test_impossible_requests(options, problem):
    """The wording is pinned here."""
    with pytest.raises(kp.KeyposeError, match=problem):
        kp.unbake(clip(), **options)


def test_only_motions_are_unbaked():
    with raises(kp.OptionError, expected="a Motion, as kp.load gives"):
        kp.unbake(np.zeros((4, 3)), keys=2)
    with raises(kp.OptionError, option="selection"):
        kp.unbake(clip(100), kp.select(clip(), keys=5))
