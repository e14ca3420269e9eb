"""The decoder implements docs/kps-coding.md: a reader written from the page alone gives the same bits."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.storage.codec import LossyDecoder, encode
from keypose.storage.groups import CodedFrames, CodingError, group_bounds
from keypose.storage.lossy.plan import compute_bone_axes, dequantize_quaternion
from reference import naive_storage_lossy as naive
from reference import naive_turns
from support.lossy_clips import CodedClip, clips, exotic_motion, residuals, sections

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


def assert_reference_agrees(motion: kp.Motion, coded_frames: CodedFrames) -> None:
    """Assert equal numbers of all tracks, and every bit of the poses."""
    decoded = CodedClip(motion.skeleton, coded_frames.parameters)
    kernel, reference = decoded.kernel, decoded.reference
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    for g, (start, stop) in enumerate(group_bounds(motion.n_frames, motion.fps)):
        pose, body = coded_frames.poses[g], coded_frames.bodies[g]
        next_pose = coded_frames.poses[g + 1] if g + 1 < len(coded_frames.poses) else None
        first, after = reference.pose(pose), None if next_pose is None else reference.pose(next_pose)
        assert kernel.decode_pose(pose).tolist() == first
        next_row = None if after is None else np.array(after)
        numbers = reference.body(body, stop - start, first, after)
        assert kernel.decode_body(stop - start, body, np.array(first, np.int64), next_row).tolist() == numbers
        for ours, theirs in zip(
            reference.group(pose, body, stop - start, next_pose),
            decoder.decode_group(g, pose, body, next_pose),
            strict=True,
        ):
            assert np.array(ours).tobytes() == theirs.tobytes()


@pytest.mark.data
@pytest.mark.one_python
@pytest.mark.parametrize(
    ("clip", "tolerance_mm"),
    [("jumping/13_11", 1.0), ("running/16_55", 0.1), ("golf_swing/64_01", 5.0), ("ball_kick/10_02", 0.01)],
)
def test_real_clips(data_dir, clip, tolerance_mm):
    motion = kp.load(data_dir / "cmu30" / f"{clip}.bvh")[:44]
    assert_reference_agrees(motion, encode(motion, tolerance_mm))


@pytest.mark.parametrize("tolerance_mm", [0.1, 3.0])
def test_every_kind_of_rotation_and_translation(tolerance_mm):
    motion = exotic_motion()
    coded_frames = encode(motion, tolerance_mm)
    reference = CodedClip(motion.skeleton, coded_frames.parameters).reference
    assert {joint["turn"] for joint in reference.joints} == set(range(6))
    assert {joint["place"] for joint in reference.joints} == {0, 1, 2}
    assert_reference_agrees(motion, coded_frames)


@pytest.mark.parametrize("n_frames", [1, 2, 3, 7, 29, 31])
def test_short_clips(n_frames):
    motion = exotic_motion(31)[:n_frames]
    assert_reference_agrees(motion, encode(motion, 1.0))


def test_long_groups_of_fast_cameras():
    """At 300 frames a second strides of 128 and 256 share a level."""
    motion = replace(exotic_motion(620), fps=300.0)
    motion = kp.Motion("two", kp.Skeleton(("a", "b"), [-1, 0], np.eye(3)[:2]), 300.0, *(
        np.ascontiguousarray(values[:, :2]) for values in (motion.translations, motion.rotations)
    ))  # fmt: skip
    assert_reference_agrees(motion, encode(motion, 1.0))


@pytest.mark.one_python
@given(st.data())
@relaxed
def test_arbitrary_coded_clips(data):
    coded_clip = data.draw(clips())
    kernel, reference = coded_clip.kernel, coded_clip.reference
    group_sections = data.draw(sections(kernel))
    first = reference.pose(group_sections.pose)
    after = None if group_sections.next_pose is None else reference.pose(group_sections.next_pose)
    numbers = reference.body(group_sections.body, group_sections.frames, first, after)
    assert kernel.decode_pose(group_sections.pose).tolist() == first
    start, next_row = np.array(first, np.int64), None if after is None else np.array(after, np.int64)
    if any(abs(n) > 2**44 for row in numbers for n in row):
        with pytest.raises(RuntimeError, match="out of range"):
            kernel.decode_body(group_sections.frames, group_sections.body, start, next_row)
        return
    result = kernel.decode_body(group_sections.frames, group_sections.body, start, next_row)
    assert result.tolist() == numbers
    values = [reference.values(row) for row in numbers]
    rotations = [v for row in values for v, track in zip(row, reference.tracks, strict=True) if track["turns"]]
    if any(abs(turn) > 2**20 for turn in rotations):
        with pytest.raises(RuntimeError, match="out of range"):
            kernel.poses(result)
        return
    for ours, theirs in zip(zip(*map(reference.frame, values), strict=True), kernel.poses(result), strict=True):
        assert np.array(ours).tobytes() == theirs.tobytes()


@given(st.data())
@settings(relaxed, max_examples=8)
def test_arbitrary_long_groups(data):
    coded_clip = data.draw(clips())
    kernel, reference = coded_clip.kernel, coded_clip.reference
    frames, has_next = data.draw(st.integers(250, 600)), data.draw(st.booleans())
    if not 0 < kernel.tracks <= 6:
        return
    rows = residuals(data.draw, (frames, kernel.tracks), 5000)
    body = kernel.write_body(0, -10, rows, has_next)
    pose = np.zeros(kernel.tracks, np.int64)
    after = pose + 77 if has_next else None
    result = kernel.decode_body(frames, body, pose, after)
    assert result.tolist() == reference.body(body, frames, pose.tolist(), None if after is None else after.tolist())


@given(bits=st.integers(2, 40), seed=st.integers(0, 2**32 - 1))
@relaxed
def test_squares_are_added_one_after_another(bits, seed):
    """``sum`` of floats rounds differently from Python 3.12 on."""
    limit = int(0.8 * 2 ** (bits - 1))
    others = np.random.default_rng(seed).integers(-limit, limit, 3, endpoint=True).tolist()
    scale = 0.7071067811865476 / 2 ** (bits - 1)
    a, b, c = (n * scale for n in others)
    assert dequantize_quaternion((0, *others), bits).tolist() == [sqrt(1.0 - (a * a + b * b + c * c)), a, b, c]


def test_bones_by_roots_not_powers():
    """``x ** 0.5`` is not always the square root, and differs between machines."""
    rng = np.random.default_rng(0)
    rows = [row for row in rng.normal(0, 5, (60_000, 3)).tolist() if _square(row) ** 0.5 != sqrt(_square(row))][:20]
    assert len(rows) >= 10
    skeleton = kp.Skeleton(tuple(f"j{k}" for k in range(len(rows) + 1)), range(-1, len(rows)), [[0, 0, 0], *rows])
    for joint, axes in enumerate(compute_bone_axes(skeleton)):
        assert axes.tolist() == naive_turns.bone_axes(skeleton, joint)


def _square(row: list[float]) -> float:
    x, y, z = row
    return x * x + y * y + z * z


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1e-12, 1e-9, 1e-4, 1.0, 10.0, 1e4, 5e5]))
@relaxed
def test_sine_and_cosine_are_right(seed, size):
    for angle in np.random.default_rng(seed).uniform(0, size, 20).tolist():
        sine, cosine = naive_turns.sine_cosine(angle)
        assert abs(sine - np.sin(angle)) < 5e-16 and abs(cosine - np.cos(angle)) < 5e-16


def test_refused_by_the_decoder():
    motion = exotic_motion(5)
    coded_frames = encode(motion, 1.0)
    for clip in (b"", coded_frames.parameters[:-4], coded_frames.parameters[:10], b"\xff" * 40, bytes(40)):
        with pytest.raises(CodingError):
            LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, clip)
    assert naive.LossyClip(motion.skeleton, coded_frames.parameters).is_finished()
