"""Lossless groups: every bit of any motion is restored, from each group separately."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import _core
from keypose.model import Pose
from keypose.storage.groups import LOSSLESS, group_bounds
from keypose.storage.lossless import LosslessDecoder, encode_lossless
from keypose.storage.lossless.layout import channel_layout
from reference import naive_storage_lossless as naive
from support.lossless_motions import arbitrary_motions, assert_round_trip, build_skeleton, coded_size, decode_all

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
SIX = ("Xposition", "Yposition", "Zposition", "Zrotation", "Yrotation", "Xrotation")
THREE = ("Zrotation", "Xrotation", "Yrotation")


def from_angles(angles: np.ndarray, fps: float = 30.0) -> kp.Motion:
    """Return a motion of joints with three rotation channels each, as the reader computes it from angles (T, 3 J) in degrees."""
    skeleton = build_skeleton([THREE] * (angles.shape[1] // 3))
    translations, rotations = channel_layout(skeleton).poses(np.ascontiguousarray(angles))
    return kp.Motion("angles", skeleton, fps, translations, rotations)


def walk_curves(n_frames: int = 90, joints: int = 3, noise: float = 0.05) -> np.ndarray:
    rng = np.random.default_rng(5)
    t = np.arange(n_frames)[:, None]
    curves = 40 * np.sin(t / 9 + np.arange(3 * joints)) + rng.normal(0, noise, (n_frames, 3 * joints))
    return np.round(curves, 4)


@given(motion=arbitrary_motions())
@relaxed
def test_round_trip_is_bit_exact(motion):
    coded_frames = encode_lossless(motion)
    assert coded_frames.kind == LOSSLESS and not any(coded_frames.poses)
    assert len(coded_frames.bodies) == len(coded_frames.poses) == len(group_bounds(motion.n_frames, motion.fps))
    assert_round_trip(motion, coded_frames)


@given(motion=arbitrary_motions())
@settings(relaxed, max_examples=25)
def test_reference_decoder_agrees(motion):
    coded_frames = encode_lossless(motion)
    clip = naive.LosslessClip(motion.skeleton, coded_frames.parameters)
    for (start, stop), body in zip(group_bounds(motion.n_frames, motion.fps), coded_frames.bodies, strict=True):
        translations, rotations = clip.group(body, stop - start)
        assert np.array(translations).tobytes() == motion.translations[start:stop].tobytes()
        assert np.array(rotations).tobytes() == motion.rotations[start:stop].tobytes()
    if motion.reference_pose is not None:
        assert np.array(clip.reference()[0]).tobytes() == motion.reference_pose.translations.tobytes()
        assert np.array(clip.reference()[1]).tobytes() == motion.reference_pose.rotations.tobytes()


def test_angles_are_recovered_from_the_motion():
    motion = from_angles(walk_curves())
    coded_frames = encode_lossless(motion)
    assert_round_trip(motion, coded_frames)
    as_quaternions = encode_lossless(replace(motion, rotations=motion.rotations * (1 + 1e-15)))
    assert 3 * coded_size(coded_frames) < coded_size(as_quaternions)


@pytest.mark.parametrize("start", [-900, -500, 200, 800])
def test_angles_beyond_180_degrees_are_recovered(start):
    angles = walk_curves()
    angles[:, 0] = np.round(np.linspace(start, start + 1400, len(angles)), 4)
    motion = from_angles(angles)
    coded_frames = encode_lossless(motion)
    assert_round_trip(motion, coded_frames)
    assert coded_size(coded_frames) < 2000


def test_jumps_by_full_turns_are_cheap():
    angles = walk_curves()
    continuous = angles.copy()
    continuous[:, 0] = np.round(np.linspace(-700, 900, len(angles)), 4)
    jumping = continuous.copy()
    jumping[:, 0] = np.round((continuous[:, 0] + 180) % 360 - 180, 4)
    sizes = []
    for table in (continuous, jumping):
        motion = from_angles(table)
        coded_frames = encode_lossless(motion)
        assert_round_trip(motion, coded_frames)
        sizes.append(coded_size(coded_frames))
    assert sizes[1] < sizes[0] + 30


def test_gimbal_lock_falls_back_to_quaternions_of_that_joint():
    angles = walk_curves()
    angles[40:, 1] = 90.0
    motion = from_angles(angles)
    coded_frames = encode_lossless(motion)
    assert_round_trip(motion, coded_frames)
    assert LosslessDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)._layout.is_free == (
        True,
        False,
        False,
    )


def test_dependent_columns_of_a_joint_are_cheap():
    angles = walk_curves(joints=1)
    angles[:, 1] = np.round(0.3 * angles[:, 0] + 0.004 * angles[:, 0] ** 2, 4)
    angles[:, 2] = np.round(5 - 0.1 * angles[:, 0] + 0.0001 * angles[:, 0] ** 3, 4)
    one_column = walk_curves(joints=1)
    one_column[:, 1:] = 0.0
    bodies = [sum(map(len, encode_lossless(from_angles(table)).bodies)) for table in (angles, one_column)]
    assert bodies[0] < bodies[1] + 90 * 2 * 2 / 8  # two bits per number for rounding


def test_numbers_with_six_significant_digits():
    rng = np.random.default_rng(2)
    number_texts = [f"{x:.6g}" for x in rng.normal(0, 1, 3000) * 10.0 ** rng.integers(-4, 3, 3000)]
    values = np.array(number_texts, float).reshape(500, 2, 3)
    still = np.tile((1.0, 0.0, 0.0, 0.0), (500, 2, 1))
    motion = kp.Motion("digits", build_skeleton([SIX, SIX]), 50.0, values, still)
    coded_frames = encode_lossless(motion)
    assert_round_trip(motion, coded_frames)
    assert 8 * coded_size(coded_frames) < 3000 * (np.log2(1e6) + 6)  # and the sign and the decade


def test_one_frame_or_constant_columns_need_no_body():
    for n_frames in (1, 100):
        motion = from_angles(np.tile(walk_curves(1), (n_frames, 1)))
        coded_frames = encode_lossless(motion)
        assert_round_trip(motion, coded_frames)
        assert not any(coded_frames.bodies)


def test_negative_zeros_are_preserved():
    values = np.zeros((40, 2, 3))
    values[::3] = -0.0
    values[20:, 0, 0] = -0.01 * np.arange(20)
    motion = kp.Motion("zeros", build_skeleton([SIX, SIX]), 30.0, values, np.tile((-1.0, -0.0, 0.0, 0.0), (40, 2, 1)))
    coded_frames = encode_lossless(motion)
    assert_round_trip(motion, coded_frames)
    assert coded_size(coded_frames) < 120


def test_long_clips_are_fitted_on_a_sample_of_frames():
    rng = np.random.default_rng(8)
    angles = np.round(np.cumsum(rng.normal(0, 0.4, (30_000, 3)), axis=0), 2)
    angles[:, 1] = np.round(60 * np.sin(angles[:, 1] / 60), 2)  # no gimbal lock
    motion = from_angles(angles, fps=120.0)
    coded_frames = encode_lossless(motion)
    assert_round_trip(motion, coded_frames)
    assert coded_size(coded_frames) < 30_000 * 3 * 8 / 8


def test_reference_pose_round_trip():
    motion = from_angles(walk_curves())
    pose = Pose(motion.translations[0] + 1 / 3, from_angles(walk_curves(noise=3.0)).rotations[7])
    motion = replace(motion, reference_pose=pose)
    assert_round_trip(motion, encode_lossless(motion))


def test_decoding_in_any_order_is_deterministic():
    motion = from_angles(walk_curves(200))
    coded_frames = encode_lossless(motion)
    decoder = LosslessDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    first = decoder.decode_group(3, b"", coded_frames.bodies[3], None)
    decoder.decode_group(1, b"", coded_frames.bodies[1], b"")
    repeated = decoder.decode_group(3, b"", coded_frames.bodies[3], None)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, repeated, strict=True))
    assert len(decode_all(motion, coded_frames)[0]) == 200


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(-(2**63), 2**63 - 1)), max_size=40))
@relaxed
def test_integer_stream_round_trip_and_reference(numbers):
    out = _core.IntegerWriter()
    for kind, number in numbers:
        out.write(kind, number)
    data = out.finish()
    fast, slow = _core.IntegerReader(data), naive.IntegerReader(data)
    for kind, number in numbers:
        assert fast.read(kind) == number == slow.read(str(kind))
    fast.finish()


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 2**32))
@relaxed
def test_robust_fits_are_weighted_least_squares(rows, columns, seed):
    rng = np.random.default_rng(seed)
    features, target = rng.normal(size=(rows, columns)), rng.normal(size=rows)
    counts = [n for n in range(1, columns + 1) if n <= rows]
    weights = np.split(_core.robust_fits(features, target, counts), np.cumsum(counts)[:-1])
    off = np.abs(target - features[:, : counts[-1]] @ np.linalg.lstsq(features[:, : counts[-1]], target, rcond=None)[0])
    trust = 1 / np.sqrt(off + np.sort(off)[rows // 2] + 1e-6 * np.abs(target).max())
    scaled, expected = features * trust[:, None], target * trust
    for n, result in zip(counts, weights, strict=True):
        best = np.linalg.lstsq(scaled[:, :n], expected, rcond=None)[0]
        residuals = [np.linalg.norm(expected - scaled[:, :n] @ w) for w in (result, best)]
        assert residuals[0] <= residuals[1] * (1 + 1e-5) + 1e-6


@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.booleans()), min_size=1, max_size=40))
@relaxed
def test_error_bits_agree_with_the_reference(rows):
    misses = np.array([miss for miss, _ in rows])
    first = np.array([True, *(flag for _, flag in rows[1:])])
    sizes = np.abs(misses.astype(float))
    bits = 0.0
    for t in range(len(rows)):
        before = [0.0 if first[k] else sizes[k] for k in range(max(0, t - 6), t)]
        spread = 0.05 + (sizes[first].mean() if first[t] else sum(before) / max(1, len(before)))
        bits += np.log2(1 + 2 * spread) + 2 * np.log2(1 + sizes[t] / (2 * spread + 0.5))
    assert _core.error_bits(misses, first.view(np.uint8)) == pytest.approx(bits, rel=1e-9)


def test_dependent_column_gets_zero_weight():
    features = np.ones((9, 3))
    features[:, 1] = np.arange(9.0)
    features[:, 2] = 2 * features[:, 1] - 3
    weights = _core.robust_fits(features, 5 * features[:, 1] + 1, [3])
    assert np.allclose(weights, (1, 5, 0))
