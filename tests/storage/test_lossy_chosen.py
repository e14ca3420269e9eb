"""What the encoder chooses stays within the tolerance, and what damage does to it is an error or finite."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lossy_clips import clips, exotic_motion, sections

import keypose as kp
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.error import mm_per_unit_of
from keypose.storage.groups import Coded, CodingError, group_bounds
from naive_storage_error import largest_error

pytestmark = pytest.mark.one_python

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


def decoded(motion: kp.Motion, coded: Coded) -> kp.Motion:
    translations, rotations = frames_of(motion, coded)
    return replace(motion, translations=translations, rotations=rotations)


def frames_of(motion: kp.Motion, coded: Coded) -> tuple[np.ndarray, np.ndarray]:
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded.clip)
    followers = [*coded.poses[1:], None]
    parts = [decoder.group(g, *group) for g, group in enumerate(zip(coded.poses, coded.bodies, followers, strict=True))]
    translations, rotations = (np.concatenate(part) for part in zip(*parts, strict=True))
    return translations, rotations


@pytest.mark.parametrize("tolerance_mm", [0.02, 1.0, 20.0])
def test_no_point_is_beyond_the_tolerance_and_what_was_decoded_stays(tolerance_mm):
    motion = exotic_motion(33)
    mm_per_unit = mm_per_unit_of(motion)
    once = decoded(motion, encode(motion, tolerance_mm))
    assert largest_error(motion, once, mm_per_unit)[0] <= tolerance_mm
    twice = decoded(once, encode(once, tolerance_mm))
    assert largest_error(once, twice, mm_per_unit_of(once))[0] <= tolerance_mm


@given(seed=st.integers(0, 2**32 - 1), roughness=st.sampled_from([0.0, 0.01, 0.3, 3.0]), n_frames=st.integers(1, 12))
@settings(relaxed, max_examples=12)
def test_rough_motions_too(seed, roughness, n_frames):
    rng = np.random.default_rng(seed)
    smooth = exotic_motion(n_frames)
    rotations = smooth.rotations + roughness * rng.normal(size=smooth.rotations.shape)
    motion = replace(smooth, rotations=rotations / np.linalg.norm(rotations, axis=2, keepdims=True))
    assert largest_error(motion, decoded(motion, encode(motion, 1.0)), mm_per_unit_of(motion))[0] <= 1.0


# Damage


def outcome(motion: kp.Motion, coded: Coded) -> str:
    """Frames that are finite, or the one error that there may be."""
    try:
        translations, rotations = frames_of(motion, coded)
    except CodingError:
        return "refused"
    units = np.abs(np.linalg.norm(rotations, axis=2) - 1).max() < 1e-9
    return "finite" if np.isfinite(translations).all() and units else "broken"


def test_every_flipped_bit():
    motion = exotic_motion(6)
    coded = encode(motion, 5.0)
    assert len(group_bounds(motion.n_frames, motion.fps)) == 1
    found = set()
    for part in ("clip", "poses", "bodies"):
        whole = getattr(coded, part)
        data = whole if part == "clip" else whole[0]
        for bit in range(8 * len(data)):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            flipped = bytes(damaged) if part == "clip" else (bytes(damaged),)
            found.add(outcome(motion, replace(coded, **{part: flipped})))
    assert found == {"finite", "refused"}


@given(data=st.data(), steps=st.sampled_from([4096, -4096, 300, 150]))
@relaxed
def test_turns_beyond_all_measure_are_refused(data, steps):
    made = data.draw(clips(steps=st.just(steps)))
    made_of = data.draw(sections(made.kernel))
    decoder = LossyDecoder(made.skeleton, float(made_of.frames), made_of.frames, made.data)
    try:
        poses = decoder.group(0, made_of.pose, made_of.body, None if made_of.next_pose is None else made_of.pose)
    except CodingError:
        return
    assert all(np.isfinite(part).all() for part in poses)
    assert np.abs(np.linalg.norm(poses[1], axis=2) - 1).max() < 1e-6


@given(st.binary(max_size=200), st.binary(max_size=60), st.binary(max_size=60))
@relaxed
def test_any_bytes(clip, pose, body):
    motion = exotic_motion(6)
    assert outcome(motion, Coded(1, clip, (pose,), (body,))) in ("refused", "finite")
    honest = encode_once()
    assert outcome(motion, replace(honest, poses=(pose,), bodies=(body,))) in ("refused", "finite")


@cache
def encode_once() -> Coded:
    return encode(exotic_motion(6), 5.0)
