"""From a motion to keys with curves and back: any interpolation, any kind of rotations, unusual clips."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.curves import interpolate_linear
from keypose.curves.capture_faults import (
    Flip,
    bridge_rotations,
    describe_flips,
    find_flips,
    find_turnovers,
    flag_flips,
    leaf_joints,
    list_flips,
    remove_flips,
)
from keypose.curves.cubic_fit import ROTATION_KINDS, build_channels, choose_rotation_orders
from keypose.curves.keyed_motion import INTERPOLATIONS, add_residual, build_keyed_motion
from keypose.metrics import position_errors_mm
from keypose.rotations import angle_between, exp, from_euler, multiply, normalise, rotate
from reference import naive
from reference import naive_inbetween as twin
from support.flips import turn_over

KINDS = [(interpolation, kind) for interpolation in INTERPOLATIONS for kind in ROTATION_KINDS]
SKELETON = kp.Skeleton(
    ("Hips", "Chest", "Head", "LeftThumb"),
    [-1, 0, 1, 1],
    [[0, 0, 0], [0, 5, 0], [0, 4, 1], [3, 1, 0]],
    end_offsets=[[0, 2, 0], [1, 0, 0]],
    end_joints=[2, 3],
)


def build_motion(frames: int, seed: int = 0, *, step: float = 0.1) -> kp.Motion:
    """Four joints that turn and wander smoothly, all of them also moving off their parents."""
    rng = np.random.default_rng(seed)
    path = np.cumsum(np.cumsum(rng.normal(scale=0.1 * step, size=(frames, 4, 6)), axis=0), axis=0)
    rotations = exp(path[..., :3] + rng.normal(size=(4, 3)))
    return kp.Motion("made", SKELETON, 60.0, SKELETON.offsets + path[..., 3:], rotations)


def build_keyed(
    motion: kp.Motion, keys: list[int], interpolation: str = "bezier", rotation_kind: str = "quaternion", **options
):
    frames = np.array(keys, np.int32)
    return add_residual(
        build_keyed_motion(motion, frames, interpolation, build_channels(motion, rotation_kind), **options), motion
    )


def max_angle(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest angle between two sets of rotations."""
    return float(angle_between(a, b).max())


@st.composite
def clips(draw: st.DrawFn) -> tuple[kp.Motion, list[int]]:
    frames = draw(st.integers(1, 40))
    keys = draw(st.sets(st.integers(0, frames - 1), min_size=1))
    return build_motion(frames, draw(st.integers(0, 99)), step=draw(st.sampled_from([0.02, 0.1, 0.5]))), sorted(keys)


@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
@given(clip=clips())
@settings(max_examples=25, deadline=None)
def test_keys_stay_and_the_residual_brings_the_original_back(interpolation, rotation_kind, clip):
    motion, keys = clip
    keyed = build_keyed(motion, keys, interpolation, rotation_kind)
    sampled, back = keyed.sample(), keyed.sample(1.0)
    np.testing.assert_array_equal(sampled.translations[keys], motion.translations[keys])
    assert max_angle(sampled.rotations[keys], motion.rotations[keys]) < 1e-7
    if rotation_kind == "quaternion":  # the very numbers, but for the sign
        np.testing.assert_array_equal(np.abs(sampled.rotations[keys]), np.abs(motion.rotations[keys]))
    assert position_errors_mm(motion, back).max() < 1e-6
    assert max_angle(back.rotations, motion.rotations) < 1e-7
    lengths = np.linalg.norm(sampled.rotations, axis=-1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-12)


@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
@given(clip=clips(), more=st.floats(0, 1))
@settings(max_examples=10, deadline=None)
def test_sampling_is_that_of_the_slow_twin(interpolation, rotation_kind, clip, more):
    motion, keys = clip
    keyed = build_keyed(motion, keys, interpolation, rotation_kind)
    frames = np.append(np.arange(motion.n_frames, dtype=float), more * (motion.n_frames - 1))
    translations, rotations = twin.sample(keyed, frames.tolist())
    sampled = keyed.sample(frames=frames)
    np.testing.assert_allclose(sampled.translations, translations, atol=1e-9)
    assert max_angle(sampled.rotations, rotations) < 1e-7
    alone = keyed.pose(float(frames[-1]))
    np.testing.assert_array_equal(alone.rotations, sampled.rotations[-1])


@pytest.mark.parametrize("gap", [2, 3, 7, 15])
def test_a_spans_error_is_that_of_the_slow_twin(gap):
    motion = build_motion(30, 3, step=0.5)
    channels = build_channels(motion)
    i, j = 5, 5 + gap
    for weights in (np.ones(4), np.array([1.0, 0.0, 2.0, 0.5])):
        cubic = build_keyed_motion(motion, np.array([i, j], np.int32)).sample()
        straight = interpolate_linear(motion, [i, j])
        for rebuilt, expected in (
            (cubic, twin.fitted_span_error(motion, channels.translations, channels.rotations, i, j, weights)),
            (straight, twin.slerp_span_error(motion, i, j, weights)),
        ):
            off = np.linalg.norm(rebuilt.world_positions() - motion.world_positions(), axis=-1)
            assert (weights * off[i : j + 1]).max() == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
def test_quaternion_signs_do_not_matter(interpolation, rotation_kind):
    motion, keys = build_motion(50, 8), [0, 12, 13, 30, 49]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(50, 4, 1))
    flipped = dataclasses.replace(motion, rotations=signs * motion.rotations)
    expected = build_keyed(motion, keys, interpolation, rotation_kind).sample()
    keyed = build_keyed(flipped, keys, interpolation, rotation_kind)
    assert max_angle(keyed.sample().rotations, expected.rotations) < 1e-6
    if rotation_kind == "quaternion":
        assert (np.einsum("kjc,kjc->kj", keyed.rotations.values[:-1], keyed.rotations.values[1:]) > 0).all()


def test_straight_curves_are_straight_in_betweens():
    motion, keys = build_motion(50, 1), [0, 9, 10, 33, 49]
    expected = interpolate_linear(motion, keys)
    sampled = build_keyed(motion, keys, "linear").sample()
    np.testing.assert_allclose(sampled.translations, expected.translations, atol=1e-12)
    assert max_angle(sampled.rotations, expected.rotations) < 1e-7


def test_other_rates_and_single_frames_lie_on_the_same_curves():
    keyed = build_keyed(build_motion(41, 2), [0, 7, 21, 40])
    fast = keyed.sample(fps=240.0)
    assert fast.n_frames == 161 and fast.fps == 240.0
    np.testing.assert_allclose(fast.rotations[::4], keyed.sample().rotations, atol=1e-12)
    back = keyed.sample(1.0, fps=120.0)
    np.testing.assert_allclose(back.rotations[::2], keyed.sample(1.0).rotations, atol=1e-12)
    np.testing.assert_array_equal(keyed.pose(20.25).rotations, fast.rotations[81])
    half = keyed.sample(0.5)
    d0 = angle_between(keyed.sample().rotations, half.rotations)
    d1 = angle_between(half.rotations, keyed.sample(1.0).rotations)
    np.testing.assert_allclose(d0, d1, atol=1e-7)


# Odd clips


@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
def test_huge_rotations(interpolation, rotation_kind):
    """A joint that spins five times: each frame is 30 degrees on, keys 120 degrees apart."""
    frames = 61
    angles = np.zeros((frames, 4, 3))
    angles[:, 0, 1] = np.deg2rad(30.0) * np.arange(frames)
    angles[:, 2, 2] = -np.deg2rad(17.0) * np.arange(frames)
    rotations = from_euler(angles, "ZYX")
    motion = kp.Motion("spin", SKELETON, 60.0, np.broadcast_to(SKELETON.offsets, (frames, 4, 3)), rotations)
    keyed = build_keyed(motion, list(range(0, 61, 4)), interpolation, rotation_kind)
    sampled = keyed.sample()
    steps = angle_between(sampled.rotations[:-1], sampled.rotations[1:])
    np.testing.assert_allclose(np.rad2deg(steps[:, 0]), 30.0, atol=4.0)  # never the other way round
    np.testing.assert_allclose(np.rad2deg(steps[:, 2]), 17.0, atol=2.0)
    assert position_errors_mm(motion, keyed.sample(1.0)).max() < 1e-6
    if rotation_kind == "euler":
        assert abs(np.ptp(keyed.rotations.values[:, 0], axis=0).max() - np.deg2rad(1800)) < 1e-6
    else:
        signs = np.einsum("kjc,kjc->kj", keyed.rotations.values[:-1], keyed.rotations.values[1:])
        assert (signs[:, [1, 3]] > 0).all()


@given(st.integers(0, 200), st.sampled_from([0.1, 0.5, 2.0]))
@settings(max_examples=40, deadline=None)
def test_angles_do_not_jump(seed, step):
    motion = build_motion(60, seed, step=step)
    channels = build_channels(motion, "euler")
    assert channels.rotation_orders is not None
    is_leaf = leaf_joints(SKELETON)
    flips = [flip for flip in find_turnovers(motion.rotations, motion.fps) if is_leaf[flip.joint]]
    rotations = bridge_rotations(motion.rotations, flips)
    step_angles = angle_between(rotations[:-1], rotations[1:])
    jumps = np.abs(np.diff(channels.rotations, axis=0)).max(axis=2)
    locked = np.abs(channels.rotations[..., 1]).max(axis=0) > np.deg2rad(80)
    assert (jumps[:, ~locked] < 6.0 * step_angles[:, ~locked].max(axis=0) + 1e-9).all()
    assert (jumps < np.pi).all()
    for joint, order in enumerate(channels.rotation_orders):
        restored = from_euler(channels.rotations[:, joint], order)
        assert max_angle(restored, rotations[:, joint]) < 1e-6


def test_the_best_order_keeps_farthest_from_the_lock():
    rng = np.random.default_rng(4)
    angles = np.stack((rng.uniform(-2, 2, 80), np.linspace(-1.5, 1.5, 80), rng.uniform(-0.2, 0.2, 80)), axis=1)
    rotations = from_euler(angles[:, None], "XYZ")
    (order,), euler_angles = choose_rotation_orders(rotations)
    assert order != "XYZ" and np.abs(euler_angles[:, 0, 1]).max() < 1.4
    matrices = np.array([naive.euler_matrix(np.rad2deg(a), order) for a in euler_angles[:, 0]])
    expected = np.array([naive.quaternion_matrix(q) for q in rotations[:, 0]])
    np.testing.assert_allclose(matrices, expected, atol=1e-6)


def build_flips(length: int) -> tuple[kp.Motion, kp.Motion]:
    """A motion, and the same with a thumb turned over by 180 degrees for some frames."""
    clean = build_motion(60, 7)
    return clean, turn_over(clean, 3, (20, 20 + length))


@pytest.mark.parametrize("rotation_kind", ROTATION_KINDS)
@pytest.mark.parametrize("length", [1, 3, 6])
def test_flips_of_leaf_joints_are_removed_and_restored_by_the_residual(length, rotation_kind):
    clean, flipped = build_flips(length)
    keyed = build_keyed(flipped, [0, 15, 30, 45, 59], "bezier", rotation_kind)
    sampled = keyed.sample()
    assert np.rad2deg(max_angle(sampled.rotations[:, 3], clean.rotations[:, 3])) < 15
    np.testing.assert_allclose(
        sampled.rotations[:, :3],
        build_keyed(clean, [0, 15, 30, 45, 59], "bezier", rotation_kind).sample().rotations[:, :3],
    )
    assert position_errors_mm(flipped, keyed.sample(1.0)).max() < 1e-6
    assert max_angle(keyed.sample(1.0).rotations, flipped.rotations) < 1e-7


def test_flips_are_found_in_every_joint():
    clean = build_motion(60, 7, step=0.02)
    assert find_turnovers(clean.rotations, 60.0) == ()
    flipped = turn_over(turn_over(clean, 1, (20, 21), (22, 28)), 3, (0, 4), (20, 23), (57, 60))
    assert find_turnovers(flipped.rotations, 60.0) == (Flip(1, 20, 21), Flip(3, 20, 23), Flip(1, 22, 28))
    assert find_turnovers(flipped.rotations, 30.0) == (Flip(1, 20, 21), Flip(3, 20, 23))  # 0.1 s are three frames


def test_a_turn_that_stays_or_returns_halfway_is_no_flip():
    clean = build_motion(60, 7, step=0.02)
    assert find_turnovers(turn_over(clean, 1, (20, 60)).rotations, 60.0) == ()
    assert find_turnovers(turn_over(clean, 1, (20, 27)).rotations, 60.0) == ()  # more than 0.1 s
    rotations = clean.rotations.copy()
    rotations[20, 1] = multiply(rotations[20, 1], exp(np.array([0, np.deg2rad(100), 0])))
    rotations[21:, 1] = multiply(rotations[21:, 1], exp(np.array([0, np.deg2rad(60), 0])))
    assert find_turnovers(rotations, 60.0) == ()


def test_joints_that_turn_over_together_and_leave_the_limbs_in_place_do_not_flip():
    """As where the hips turn over and the legs turn back: only the angles are odd."""
    clean = build_motion(60, 7, step=0.02)
    alone = turn_over(clean, 1, (20, 22))
    assert find_flips(alone) == (Flip(1, 20, 22),)
    translations = clean.translations.copy()  # the head stays where it is while the chest turns over
    translations[20:22, 2:] = rotate(np.array([0.0, -1.0, 0.0, 0.0]), clean.translations[20:22, 2:])
    together = dataclasses.replace(alone, translations=translations)
    assert position_errors_mm(clean, together).max() < 1e-6
    assert find_turnovers(together.rotations, 60.0) == (Flip(1, 20, 22),)
    assert find_flips(together) == () and remove_flips(together) is together


def test_flips_concern_the_joint_and_those_below_it():
    flipped = turn_over(turn_over(build_motion(60, 7, step=0.02), 1, (20, 22)), 3, (30, 31))
    flags = flag_flips(flipped)
    assert np.argwhere(flags.is_turned).tolist() == [[20, 1], [21, 1], [30, 3]]
    assert np.argwhere(flags.is_moved).tolist() == [[20, 2], [20, 3], [21, 2], [21, 3]]
    assert not np.any(flag_flips(build_motion(60, 7, step=0.02)))
    flips = list_flips(flipped)
    assert describe_flips(flips) == "Chest in frames 20-21; LeftThumb in frame 30"
    many = {f"Joint{k}": ((1, 1), (5, 6), (8, 8), (9, 9)) for k in range(8)}
    assert describe_flips(many).startswith("Joint0 in frames 1, 5-6, 8 and 1 more; ")
    assert describe_flips(many).endswith("Joint5 in frames 1, 5-6, 8 and 1 more; 2 more joints")


def test_a_motion_without_the_flips_that_move_others():
    clean = build_motion(60, 7, step=0.02)
    leaf_only = turn_over(clean, 3, (20, 23))
    assert remove_flips(clean) is clean and remove_flips(leaf_only) is leaf_only
    flipped = turn_over(leaf_only, 1, (30, 33))
    steady = remove_flips(flipped)
    changed = np.argwhere((steady.rotations != flipped.rotations).any(axis=-1))
    assert changed.tolist() == [[30, 1], [31, 1], [32, 1]]
    assert max_angle(steady.rotations[:, 1], clean.rotations[:, 1]) < np.deg2rad(5)
    steps = angle_between(steady.rotations[29:33, 1], steady.rotations[30:34, 1])
    np.testing.assert_allclose(steps, steps[0], rtol=1e-9)  # at constant speed
    assert leaf_joints(SKELETON).tolist() == [False, False, True, True]


@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
def test_one_frame_two_keys_and_keys_without_the_ends(interpolation, rotation_kind):
    single = build_keyed(build_motion(1), [0], interpolation, rotation_kind)
    assert single.sample().n_frames == 1 and position_errors_mm(build_motion(1), single.sample(1.0)).max() < 1e-9
    motion = build_motion(30, 5)
    pair = build_keyed(motion, [0, 29], interpolation, rotation_kind)
    assert max_angle(pair.sample().rotations[[0, -1]], motion.rotations[[0, -1]]) < 1e-7
    inner = build_keyed(motion, [10, 20], interpolation, rotation_kind)
    held = inner.sample()
    assert (held.rotations[:10] == held.rotations[10]).all() and (
        held.translations[21:] == motion.translations[20]
    ).all()
    assert position_errors_mm(motion, inner.sample(1.0)).max() < 1e-6


@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
def test_static_joints_keep_exact_values(interpolation, rotation_kind):
    motion = build_motion(40, 6)
    still = normalise(np.array([0.9, 0.1, -0.3, 0.2]))
    rotations, translations = motion.rotations.copy(), motion.translations.copy()
    rotations[:, 1], translations[:, 1] = still, [0.1, 5.0, 0.3]
    motion = dataclasses.replace(motion, rotations=rotations, translations=translations)
    keyed = build_keyed(motion, [0, 11, 12, 30, 39], interpolation, rotation_kind)
    assert keyed.rotations.still_joints()[1] and keyed.translations.still_joints()[1]
    sampled = keyed.sample()
    assert (sampled.translations[:, 1] == [0.1, 5.0, 0.3]).all()
    assert max_angle(sampled.rotations[:, 1], np.broadcast_to(still, (40, 4))) < 1e-7


@pytest.mark.data
@pytest.mark.parametrize(("interpolation", "rotation_kind"), KINDS)
@pytest.mark.parametrize("clip", ["07_05_walk", "49_06_cartwheel"])
def test_real_clips(data_dir: Path, clip, interpolation, rotation_kind):
    motion = kp.load(data_dir / "cmu120" / f"{clip}.bvh").at_fps(60)[:240]
    keys = kp.select(motion, keys=24).frames.tolist()
    keyed = build_keyed(motion, keys, interpolation, rotation_kind)
    assert position_errors_mm(motion, keyed.sample(1.0)).max() < 1e-6
    assert max_angle(keyed.sample(1.0).rotations, motion.rotations) < 1e-6
    np.testing.assert_allclose(position_errors_mm(motion, keyed.sample())[keys], 0.0, atol=1e-6)
    if rotation_kind == "euler":
        angles = build_channels(motion, rotation_kind).rotations
        assert np.abs(np.diff(angles, axis=0)).max() < np.pi
    if (interpolation, rotation_kind) == ("bezier", "euler"):  # nearly the same motion as with quaternions
        other = position_errors_mm(motion, build_keyed(motion, keys).sample())
        assert position_errors_mm(motion, keyed.sample()).mean() < 1.25 * other.mean()


@pytest.mark.data
def test_fitted_tangents_beat_the_others_on_a_real_clip(data_dir: Path):
    motion = kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)
    keys = kp.select(motion, keys=26).frames.tolist()

    def mean(interpolation: str, **options) -> float:
        return float(position_errors_mm(motion, build_keyed(motion, keys, interpolation, **options).sample()).mean())

    separate, shared = mean("bezier"), mean("bezier", shared=True)
    assert separate < shared < min(mean("linear"), mean("natural"))
    assert separate <= mean("bezier", jump_penalty=0.01) <= 1.05 * shared
