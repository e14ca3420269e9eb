"""Keys where swings are inaccurate: against an exhaustive twin, on real clips, and in edge cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import _core
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise
from keypose.swings.fallback import SWING_COST, KeyFitter, add_keys
from reference import naive_swings_keys as naive
from support.errors import Pattern, raises

ROUNDING_DEG = 1e-8


def random_rotations(rng: np.random.Generator, frames: int) -> np.ndarray:
    """Return rotations (T, 4) that rotate, rest, change direction and sometimes jump."""
    q, velocity, rotations = normalise(rng.normal(size=4)), np.zeros(3), []
    for _ in range(frames):
        rotations.append(q)
        if rng.random() < 0.1:
            velocity = rng.normal(size=3) * float(rng.choice([0.0, 0.01, 0.05, 0.2]))
        jump = rng.normal(size=3) if rng.random() < 0.01 else 0.0
        q = normalise(multiply(q, exp(velocity + 0.003 * rng.normal(size=3) + jump)))
    return np.array(rotations)


def good_swings(rng: np.random.Generator, rotations: np.ndarray, tolerance: float) -> list[naive.GoodSwing]:
    """Return some spans that one even rotation plays within the tolerance, not all ending at the exact rotation."""
    swings: list[naive.GoodSwing] = []
    frame = int(rng.integers(0, 3))
    while frame + 3 < len(rotations) and len(swings) < 4:
        end = frame + int(rng.integers(2, 8))
        if end < len(rotations):
            last = normalise(multiply(rotations[end], exp(0.3 * tolerance * rng.normal(size=3) / 2)))
            nodes = [naive.Node(frame, rotations[frame]), naive.Node(end, last)]
            span = np.arange(frame, end + 1)
            if angle_between(naive.sample_chain(nodes, span), rotations[span]).max() <= tolerance:
                swings.append(naive.GoodSwing(frame, end, rotations[frame], last))
        frame = end + int(rng.integers(1, 6))
    return swings


def build_core_chain(rotations, tolerance, swings, max_gap) -> list[naive.Node]:
    firsts, lasts = (np.array([getattr(s, end) for s in swings]).reshape(-1, 4) for end in ("first", "last"))
    _, frames, keys, stays_flags, rotations_played = _core.swing_keys(
        rotations[:, None],
        np.array([tolerance]),
        np.zeros(len(swings), np.int32),
        np.array([swing.start for swing in swings], np.int32),
        np.array([swing.end for swing in swings], np.int32),
        firsts,
        log(multiply(conjugate(firsts), lasts)),
        SWING_COST,
        max_gap,
    )
    nodes = [naive.Node(int(frame), key) for frame, key in zip(frames, keys, strict=True)]
    for swing, stays in zip(swings, stays_flags, strict=True):
        if stays:
            nodes += [naive.Node(swing.start, swing.first, True), naive.Node(swing.end, swing.last, True)]
    nodes.sort(key=lambda node: node.frame)
    assert angle_between(rotations_played[:, 0], naive.sample_chain(nodes, np.arange(len(rotations)))).max() < 1e-9
    return nodes


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    frames=st.integers(1, 45),
    tolerance=st.sampled_from([1e-9, 0.005, 0.03, 0.1, 0.8]),
    max_gap=st.sampled_from([1, 7, 1000]),
)
@pytest.mark.one_python
def test_chains_are_those_of_the_twin(seed, frames, tolerance, max_gap):
    rng = np.random.default_rng(seed)
    rotations = random_rotations(rng, frames)
    swings = good_swings(rng, rotations, tolerance)
    ours = build_core_chain(rotations, tolerance, swings, max_gap)
    theirs = naive.build_chain(rotations, tolerance, swings, SWING_COST, max_gap)
    assert naive.chain_cost(ours, SWING_COST) == pytest.approx(naive.chain_cost(theirs, SWING_COST), abs=1e-9)
    played = naive.sample_chain(ours, np.arange(frames))
    assert angle_between(played, rotations).max() <= tolerance
    if [node.frame for node in ours] == [node.frame for node in theirs]:  # among equally cheap chains either will do
        for our_node, their_node in zip(ours, theirs, strict=True):
            assert angle_between(our_node.rotation, their_node.rotation) < 1e-7
    else:
        assert swings


@pytest.mark.one_python
@pytest.mark.data
def test_fewer_keys_than_the_fewest_on_the_captured_rotations(data_dir):
    motion = kp.load(data_dir / "cmu120" / "swings" / "16_02.bvh").at_fps(60)[:100]
    ours = theirs = 0
    tolerance = np.deg2rad(2.8)
    for joint in ("hips", "right_thigh", "right_shin", "left_upper_arm", "left_forearm"):
        rotations = motion.rotations[:, motion.skeleton.joint(joint)]
        ours += len(build_core_chain(rotations, tolerance, [], 480))
        theirs += naive.fewest_on_curve(rotations, tolerance)
    assert ours < 0.9 * theirs


def largest_deg(motion: kp.Motion, swings: kp.Swings) -> np.ndarray:
    """(J,) over the frames."""
    return np.rad2deg(angle_between(motion.rotations, swings.play().rotations)).max(axis=0)


@pytest.fixture(scope="module")
def kicks(data_dir) -> kp.Motion:
    return kp.load(data_dir / "cmu120" / "86_01_mixed-jumps-kicks-punches.bvh").at_fps(60)[:600]


@pytest.mark.data
@pytest.mark.parametrize("tolerance_deg", [0.01, 0.5, 2.8, 10.0, 200.0])
def test_no_frame_exceeds_the_tolerance(kicks, tolerance_deg):
    swings = kp.swings(kicks)
    before = largest_deg(kicks, swings)
    keyed = add_keys(kicks, swings, tolerance_deg)
    assert (largest_deg(kicks, keyed) <= tolerance_deg + ROUNDING_DEG).all()
    near_enough = before <= tolerance_deg
    assert (before > 20).any()
    for j, near in enumerate(near_enough):
        assert (keyed.tracks[j] is swings.tracks[j]) == near
    assert keyed.paths is swings.paths


@pytest.mark.data
def test_swings_that_are_good_stay_and_bad_ones_become_shorter_ones(kicks):
    plain, keyed = kp.swings(kicks), kp.swings(kicks, fallback="keys")
    assert keyed.settings.fallback == "keys"
    frames = np.arange(kicks.n_frames, dtype=np.float64)
    stayed = refitted = 0
    for j, (old, new) in enumerate(zip(plain.tracks, keyed.tracks, strict=True)):
        off = np.rad2deg(angle_between(old.sample(frames), kicks.rotations[:, j]))
        good = {s.start: s for s in old.swings if off[s.start : s.end + 1].max() <= 2.8}
        for swing in new.swings:
            same = good.get(swing.start)
            if same is not None and same.end == swing.end and (same.rotation_vector == swing.rotation_vector).all():
                stayed += 1
            else:  # most of it lies in a swing that was found, and is fast and long enough to be one
                shared = max(min(s.end, swing.end) - max(s.start, swing.start) for s in old.swings)
                assert shared >= 0.75 * (swing.end - swing.start)
                assert swing.n_frames >= 8 and swing.angle >= 0.003 * (swing.end - swing.start)
                refitted += 1
    assert stayed > 50 and refitted > 50


@pytest.mark.data
def test_the_twelve_clips_with_keys_at_the_default(data_dir):
    errors = []
    for path in sorted((data_dir / "cmu120" / "swings").glob("*.bvh")):
        motion = kp.load(path).at_fps(60)
        errors.append(kp.swings(motion, fallback="keys").error(motion))
    assert len(errors) == 12
    assert np.mean(errors) <= 8.0


@pytest.mark.data
@pytest.mark.parametrize("tolerance_deg", [0.5, 6.0])
def test_played_rotations_match_the_tracks(kicks, tolerance_deg):
    keyed = KeyFitter(kicks, kp.swings(kicks)).fit(np.full(kicks.n_joints, tolerance_deg))
    assert angle_between(keyed.play_rotations(), keyed.build_swings().play().rotations).max() < 1e-9


@pytest.mark.data
def test_each_joint_may_have_its_own_tolerance(kicks):
    swings = kp.swings(kicks)
    head, thigh = (kicks.skeleton.joint(name) for name in ("head", "right_thigh"))
    keyed = add_keys(kicks, swings, 5.0, {"right_thigh": 0.5})
    off = largest_deg(kicks, keyed)
    assert 0.4 < off[thigh] <= 0.5 + ROUNDING_DEG < 1.0 < off[head] <= 5.0 + ROUNDING_DEG
    tolerances = np.full(kicks.n_joints, 5.0)
    tolerances[thigh] = 0.5
    keyed_by_array = add_keys(kicks, swings, 1.0, tolerances)
    np.testing.assert_array_equal(keyed_by_array.play().rotations, keyed.play().rotations)


@pytest.mark.data
def test_tracks_with_keys_have_no_rests(kicks):
    keyed = [track for track in kp.swings(kicks, fallback="keys").tracks if track.n_keys]
    assert keyed and not any(len(track.rest_starts) for track in keyed)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 200), tolerance=st.sampled_from([0.01, 1.0, 25.0]))
def test_random_motions_stay_within_the_tolerance(seed, frames, tolerance):
    rng = np.random.default_rng(seed)
    single = kp.demo_motion()[:1]
    rotations = np.tile(single.rotations, (frames, 1, 1))
    for j in (0, 2, 5):
        rotations[:, j] = random_rotations(rng, frames)
    motion = replace(single, rotations=rotations, translations=np.tile(single.translations, (frames, 1, 1)))
    keyed = kp.swings(motion, float(rng.uniform(0, 2)), fallback="keys", fallback_deg=tolerance)
    assert largest_deg(motion, keyed).max() <= tolerance + ROUNDING_DEG


def test_a_still_joint_needs_no_keys_and_a_jump_by_half_a_turn_two():
    single = kp.demo_motion()[:1]
    rotations = np.tile(single.rotations, (90, 1, 1))
    half = normalise(multiply(rotations[45:, 3], exp(np.array((np.pi, 0.0, 0.0)))))
    rotations[45:, 3] = half
    motion = replace(single, rotations=rotations, translations=np.tile(single.translations, (90, 1, 1)))
    keyed = kp.swings(motion, fallback="keys", left_out=[])
    keys = [track.n_keys for track in keyed.tracks]
    assert keys[3] == 2 and sum(keys) == 2
    assert largest_deg(motion, keyed).max() < ROUNDING_DEG


def test_bad_arguments_are_rejected():
    motion = kp.demo_motion()[:100]
    swings = kp.swings(motion)
    for nonsense in (0, -1.0, float("nan"), "3"):
        with raises(kp.OptionError, option="tolerance_deg", expected="a number above 0"):
            add_keys(motion, swings, nonsense)
    with raises(kp.OptionError, option="per_joint", expected="one for each of 26 joints"):
        add_keys(motion, swings, 1.0, [1.0, 2.0])
    with raises(kp.OptionError, option="per_joint['Spine']", value=0.0):
        add_keys(motion, swings, 1.0, {motion.skeleton.names[1]: 0.0})
    with pytest.raises(kp.UnknownJoint):
        add_keys(motion, swings, 1.0, {"left_wing": 1.0})
    with raises(
        kp.OptionError,
        code="different_motions",
        problem=Pattern("^'demo' is not the motion that the swings of 'demo' were found in"),
    ):
        add_keys(motion[:50], swings, 1.0)


def test_core_rejects_swings_that_do_not_fit():
    rotations = np.tile(np.array((1.0, 0, 0, 0)), (10, 1, 1))

    def call(starts, ends, max_gap=5):
        n = len(starts)
        unit = np.tile(np.array((1.0, 0, 0, 0)), (n, 1))
        of = np.zeros(n, np.int32)
        starts, ends = np.array(starts, np.int32), np.array(ends, np.int32)
        return _core.swing_keys(rotations, np.array([0.1]), of, starts, ends, unit, unit[:, 1:].copy(), 2.0, max_gap)

    call([1, 5], [4, 9])
    for starts, ends in (([5], [10]), ([-1], [3]), ([4], [4]), ([1, 3], [3, 6]), ([5, 1], [7, 2])):
        with pytest.raises(ValueError, match="swing"):
            call(starts, ends)
    with pytest.raises(ValueError, match="max_span"):
        call([], [], 0)
