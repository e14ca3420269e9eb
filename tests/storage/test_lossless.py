"""Lossless groups: every bit of any motion comes back, from each group alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lossless_motions import assert_back, decoded, size, skeleton_of, strange_motions

import keypose as kp
import naive_storage_lossless as naive
from keypose import _core
from keypose.model import Pose
from keypose.storage.groups import LOSSLESS, group_bounds
from keypose.storage.lossless import LosslessDecoder, encode_lossless
from keypose.storage.lossless.layout import channel_layout

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
SIX = ("Xposition", "Yposition", "Zposition", "Zrotation", "Yrotation", "Xrotation")
THREE = ("Zrotation", "Xrotation", "Yrotation")


def from_angles(angles: np.ndarray, fps: float = 30.0) -> kp.Motion:
    """A figure of joints with three rotation channels each, as a reader makes it of angles (T, 3 J) in degrees."""
    skeleton = skeleton_of([THREE] * (angles.shape[1] // 3))
    translations, rotations = channel_layout(skeleton).poses(np.ascontiguousarray(angles))
    return kp.Motion("angles", skeleton, fps, translations, rotations)


def walking(n_frames: int = 90, joints: int = 3, noise: float = 0.05) -> np.ndarray:
    rng = np.random.default_rng(5)
    t = np.arange(n_frames)[:, None]
    curves = 40 * np.sin(t / 9 + np.arange(3 * joints)) + rng.normal(0, noise, (n_frames, 3 * joints))
    return np.round(curves, 4)


@given(motion=strange_motions())
@relaxed
def test_every_bit_of_any_motion_comes_back(motion):
    coded = encode_lossless(motion)
    assert coded.kind == LOSSLESS and not any(coded.poses)
    assert len(coded.bodies) == len(coded.poses) == len(group_bounds(motion.n_frames, motion.fps))
    assert_back(motion, coded)


@given(motion=strange_motions())
@settings(relaxed, max_examples=25)
def test_the_slow_twin_reads_the_same(motion):
    coded = encode_lossless(motion)
    clip = naive.Clip(motion.skeleton, coded.clip)
    for (start, stop), body in zip(group_bounds(motion.n_frames, motion.fps), coded.bodies, strict=True):
        translations, rotations = clip.group(body, stop - start)
        assert np.array(translations).tobytes() == motion.translations[start:stop].tobytes()
        assert np.array(rotations).tobytes() == motion.rotations[start:stop].tobytes()
    if motion.reference_pose is not None:
        assert np.array(clip.reference()[0]).tobytes() == motion.reference_pose.translations.tobytes()
        assert np.array(clip.reference()[1]).tobytes() == motion.reference_pose.rotations.tobytes()


def test_angles_are_found_in_the_motion_alone():
    motion = from_angles(walking())
    coded = encode_lossless(motion)
    assert_back(motion, coded)
    as_quaternions = encode_lossless(replace(motion, rotations=motion.rotations * (1 + 1e-15)))
    assert 3 * size(coded) < size(as_quaternions)


@pytest.mark.parametrize("start", [-900, -500, 200, 800])
def test_angles_beyond_half_a_turn_are_found(start):
    angles = walking()
    angles[:, 0] = np.round(np.linspace(start, start + 1400, len(angles)), 4)
    motion = from_angles(angles)
    coded = encode_lossless(motion)
    assert_back(motion, coded)
    assert size(coded) < 2000


def test_angles_that_jump_by_full_turns_cost_little():
    angles = walking()
    still_running = angles.copy()
    still_running[:, 0] = np.round(np.linspace(-700, 900, len(angles)), 4)
    jumping = still_running.copy()
    jumping[:, 0] = np.round((still_running[:, 0] + 180) % 360 - 180, 4)
    sizes = []
    for table in (still_running, jumping):
        motion = from_angles(table)
        coded = encode_lossless(motion)
        assert_back(motion, coded)
        sizes.append(size(coded))
    assert sizes[1] < sizes[0] + 30


def test_gimbal_lock_falls_back_to_quaternions_of_that_joint():
    angles = walking()
    angles[40:, 1] = 90.0
    motion = from_angles(angles)
    coded = encode_lossless(motion)
    assert_back(motion, coded)
    assert LosslessDecoder(motion.skeleton, motion.fps, motion.n_frames, coded.clip)._layout.free == (
        True,
        False,
        False,
    )


def test_columns_of_one_joint_tell_each_other():
    angles = walking(joints=1)
    angles[:, 1] = np.round(0.3 * angles[:, 0] + 0.004 * angles[:, 0] ** 2, 4)
    angles[:, 2] = np.round(5 - 0.1 * angles[:, 0] + 0.0001 * angles[:, 0] ** 3, 4)
    one_alone = walking(joints=1)
    one_alone[:, 1:] = 0.0
    bodies = [sum(map(len, encode_lossless(from_angles(table)).bodies)) for table in (angles, one_alone)]
    assert bodies[0] < bodies[1] + 90 * 2 * 2 / 8  # two bits a number for what is rounded


def test_numbers_of_six_digits_cost_six_digits():
    rng = np.random.default_rng(2)
    words = [f"{x:.6g}" for x in rng.normal(0, 1, 3000) * 10.0 ** rng.integers(-4, 3, 3000)]
    values = np.array(words, float).reshape(500, 2, 3)
    still = np.tile((1.0, 0.0, 0.0, 0.0), (500, 2, 1))
    motion = kp.Motion("digits", skeleton_of([SIX, SIX]), 50.0, values, still)
    coded = encode_lossless(motion)
    assert_back(motion, coded)
    assert 8 * size(coded) < 3000 * (np.log2(1e6) + 6)  # and the sign and the decade


def test_one_frame_and_nothing_that_changes_take_no_body():
    for n_frames in (1, 100):
        motion = from_angles(np.tile(walking(1), (n_frames, 1)))
        coded = encode_lossless(motion)
        assert_back(motion, coded)
        assert not any(coded.bodies)


def test_negative_zeros_stay():
    values = np.zeros((40, 2, 3))
    values[::3] = -0.0
    values[20:, 0, 0] = -0.01 * np.arange(20)
    motion = kp.Motion("zeros", skeleton_of([SIX, SIX]), 30.0, values, np.tile((-1.0, -0.0, 0.0, 0.0), (40, 2, 1)))
    coded = encode_lossless(motion)
    assert_back(motion, coded)
    assert size(coded) < 120


def test_many_frames_are_fitted_on_some_of_them():
    rng = np.random.default_rng(8)
    angles = np.round(np.cumsum(rng.normal(0, 0.4, (30_000, 3)), axis=0), 2)
    angles[:, 1] = np.round(60 * np.sin(angles[:, 1] / 60), 2)  # not through gimbal lock
    motion = from_angles(angles, fps=120.0)
    coded = encode_lossless(motion)
    assert_back(motion, coded)
    assert size(coded) < 30_000 * 3 * 8 / 8


def test_a_reference_pose_of_its_own_is_kept():
    motion = from_angles(walking())
    pose = Pose(motion.translations[0] + 1 / 3, from_angles(walking(noise=3.0)).rotations[7])
    motion = replace(motion, reference_pose=pose)
    assert_back(motion, encode_lossless(motion))


def test_decoding_twice_and_in_any_order_gives_the_same():
    motion = from_angles(walking(200))
    coded = encode_lossless(motion)
    decoder = LosslessDecoder(motion.skeleton, motion.fps, motion.n_frames, coded.clip)
    first = decoder.group(3, b"", coded.bodies[3], None)
    decoder.group(1, b"", coded.bodies[1], b"")
    again = decoder.group(3, b"", coded.bodies[3], None)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    assert len(decoded(motion, coded)[0]) == 200


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(-(2**63), 2**63 - 1)), max_size=40))
@relaxed
def test_numbers_of_kinds_come_back_and_the_twin_reads_them(numbers):
    out = _core.NumbersOut()
    for kind, number in numbers:
        out.put(kind, number)
    data = out.finish()
    fast, slow = _core.NumbersIn(data), naive.Numbers(data)
    for kind, number in numbers:
        assert fast.take(kind) == number == slow.take(str(kind))
    fast.finish()


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 2**32))
@relaxed
def test_fits_are_least_squares_of_rows_by_how_far_off_they_were(rows, columns, seed):
    rng = np.random.default_rng(seed)
    features, target = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    counts = [n for n in range(1, columns + 1) if n <= rows]
    weights = np.split(_core.trusting_fits(features, target, counts), np.cumsum(counts)[:-1])
    off = np.abs(target - features[:, : counts[-1]] @ np.linalg.lstsq(features[:, : counts[-1]], target, rcond=None)[0])
    trust = 1 / np.sqrt(off + np.sort(off)[rows // 2] + 1e-6 * np.abs(target).max())
    scaled, wanted = features * trust[:, None], target * trust
    for n, found in zip(counts, weights, strict=True):
        best = np.linalg.lstsq(scaled[:, :n], wanted, rcond=None)[0]
        left = [np.linalg.norm(wanted - scaled[:, :n] @ w) for w in (found, best)]
        assert left[0] <= left[1] * (1 + 1e-5) + 1e-6


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.booleans()), min_size=1, max_size=40))
@relaxed
def test_bits_of_misses_are_those_of_the_twin(rows):
    misses = np.array([miss for miss, _ in rows])
    first = np.array([True, *(flag for _, flag in rows[1:])])
    sizes = np.abs(misses.astype(float))
    bits = 0.0
    for t in range(len(rows)):
        before = [0.0 if first[k] else sizes[k] for k in range(max(0, t - 6), t)]
        spread = 0.05 + (sizes[first].mean() if first[t] else sum(before) / max(1, len(before)))
        bits += np.log2(1 + 2 * spread) + 2 * np.log2(1 + sizes[t] / (2 * spread + 0.5))
    assert _core.miss_bits(misses, first.view(np.uint8)) == pytest.approx(bits, rel=1e-9)


def test_a_column_that_others_tell_gets_no_weight():
    features = np.ones((9, 3))
    features[:, 1] = np.arange(9.0)
    features[:, 2] = 2 * features[:, 1] - 3
    weights = _core.trusting_fits(features, 5 * features[:, 1] + 1, [3])
    assert np.allclose(weights, (1, 5, 0))
