"""The chosen integers stay within the tolerance; damaged bytes give an error or finite frames."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.error import tolerance_mm_per_unit
from keypose.storage.groups import CodedFrames, CodingError, group_bounds
from reference.naive_storage_error import largest_error
from support.lossy_clips import clips, exotic_motion, sections

pytestmark = pytest.mark.one_python

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


def decode_all(motion: kp.Motion, coded_frames: CodedFrames) -> kp.Motion:
    translations, rotations = decode_frames(motion, coded_frames)
    return replace(motion, translations=translations, rotations=rotations)


def decode_frames(motion: kp.Motion, coded_frames: CodedFrames) -> tuple[np.ndarray, np.ndarray]:
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    followers = [*coded_frames.poses[1:], None]
    groups = [
        decoder.decode_group(g, *group)
        for g, group in enumerate(zip(coded_frames.poses, coded_frames.bodies, followers, strict=True))
    ]
    translations, rotations = (np.concatenate(part) for part in zip(*groups, strict=True))
    return translations, rotations


@pytest.mark.parametrize("tolerance_mm", [0.02, 1.0, 20.0])
def test_golden_clips_stay_within_tolerance_and_decode_to_the_same_bits(tolerance_mm):
    motion = exotic_motion(33)
    mm_per_unit = tolerance_mm_per_unit(motion)
    once = decode_all(motion, encode(motion, tolerance_mm))
    assert largest_error(motion, once, mm_per_unit)[0] <= tolerance_mm
    twice = decode_all(once, encode(once, tolerance_mm))
    assert largest_error(once, twice, tolerance_mm_per_unit(once))[0] <= tolerance_mm


@given(seed=st.integers(0, 2**32 - 1), roughness=st.sampled_from([0.0, 0.01, 0.3, 3.0]), n_frames=st.integers(1, 12))
@settings(relaxed, max_examples=12)
def test_rough_motions_too(seed, roughness, n_frames):
    rng = np.random.default_rng(seed)
    smooth = exotic_motion(n_frames)
    rotations = smooth.rotations + roughness * rng.normal(size=smooth.rotations.shape)
    motion = replace(smooth, rotations=rotations / np.linalg.norm(rotations, axis=2, keepdims=True))
    assert largest_error(motion, decode_all(motion, encode(motion, 1.0)), tolerance_mm_per_unit(motion))[0] <= 1.0


# Damage


def outcome(motion: kp.Motion, coded_frames: CodedFrames) -> str:
    """Return whether decoding gives finite frames or a CodingError."""
    try:
        translations, rotations = decode_frames(motion, coded_frames)
    except CodingError:
        return "refused"
    units = np.abs(np.linalg.norm(rotations, axis=2) - 1).max() < 1e-9
    return "finite" if np.isfinite(translations).all() and units else "broken"


def test_every_flipped_bit():
    motion = exotic_motion(6)
    coded_frames = encode(motion, 5.0)
    assert len(group_bounds(motion.n_frames, motion.fps)) == 1
    result = set()
    for part in ("parameters", "poses", "bodies"):
        expected = getattr(coded_frames, part)
        data = expected if part == "parameters" else expected[0]
        for bit in range(8 * len(data)):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            flipped = bytes(damaged) if part == "parameters" else (bytes(damaged),)
            result.add(outcome(motion, replace(coded_frames, **{part: flipped})))
    assert result == {"finite", "refused"}


@given(data=st.data(), steps=st.sampled_from([4096, -4096, 300, 150]))
@relaxed
def test_huge_rotations_are_refused(data, steps):
    coded_clip = data.draw(clips(steps=st.just(steps)))
    group_sections = data.draw(sections(coded_clip.kernel))
    decoder = LossyDecoder(coded_clip.skeleton, float(group_sections.frames), group_sections.frames, coded_clip.data)
    try:
        poses = decoder.decode_group(
            0,
            group_sections.pose,
            group_sections.body,
            None if group_sections.next_pose is None else group_sections.pose,
        )
    except CodingError:
        return
    assert all(np.isfinite(part).all() for part in poses)
    assert np.abs(np.linalg.norm(poses[1], axis=2) - 1).max() < 1e-6


@given(st.binary(max_size=200), st.binary(max_size=60), st.binary(max_size=60))
@relaxed
def test_any_bytes(clip, pose, body):
    motion = exotic_motion(6)
    assert outcome(motion, CodedFrames(1, clip, (pose,), (body,))) in ("refused", "finite")
    honest = encode_once()
    assert outcome(motion, replace(honest, poses=(pose,), bodies=(body,))) in ("refused", "finite")


@cache
def encode_once() -> CodedFrames:
    return encode(exotic_motion(6), 5.0)
