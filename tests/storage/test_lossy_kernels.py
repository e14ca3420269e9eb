"""The kernels of the lossy codec against reference implementations: range coder, schedule, residuals, gains."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose import _core
from reference import naive_range_coder as coder
from reference import naive_storage_gains
from reference import naive_storage_lossy as naive
from reference.naive import forward
from support.lossy_clips import LARGEST_RESIDUAL, CodedClip, clips, sections

pytestmark = pytest.mark.one_python

relaxed = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
SIXTY_FOUR_BITS = st.one_of(
    st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1])
)


# Bits and integers


@given(st.lists(st.tuples(st.integers(0, 13), SIXTY_FOUR_BITS), max_size=60))
@relaxed
def test_integer_stream_round_trip(row):
    ours, theirs = coder.IntegerWriter(), _core.IntegerWriter()
    for kind, number in row:
        ours.write(kind, number)
        theirs.write(kind, number)
    data = theirs.finish()
    assert data == ours.finish()
    slow, fast = coder.IntegerReader(data), _core.IntegerReader(data)
    for kind, number in row:
        assert slow.read(kind) == fast.read(kind) == number
    fast.finish()
    assert slow.is_finished()


@given(st.lists(st.tuples(st.booleans(), st.one_of(st.none(), st.integers(0, 3))), max_size=300), st.data())
@relaxed
def test_range_coder_round_trip(row, data):
    """Any model, however wrong, codes without loss."""
    starts = data.draw(st.lists(st.tuples(st.integers(32, 65504), st.integers(0, 32)), min_size=4, max_size=4))
    writer, models = coder.RangeEncoder(), [coder.BitModel(probability, count, 32) for probability, count in starts]
    for bit, which in row:
        writer.write_bit(int(bit), None if which is None else models[which])
    reader, models = coder.RangeDecoder(writer.finish()), [coder.BitModel(one, seen, 32) for one, seen in starts]
    assert [reader.read_bit(None if which is None else models[which]) for _, which in row] == [bit for bit, _ in row]
    assert reader.n_missing <= 4


# The schedule


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("has_next", [False, True])
def test_every_frame_is_predicted_once_from_known_frames(order, has_next):
    for frames in range(1, 201):
        known, levels = {0} | ({frames} if has_next else set()), {0: 9}
        for frame, level, _, weights in naive.schedule(frames, has_next, order):
            assert frame not in known and set(weights) <= known and sum(weights.values()) == 2**14
            assert max(map(abs, weights.values())) <= 2**15
            known.add(frame)
            levels[frame] = level
        assert known - {frames} == set(range(frames))
        assert _core.kps_frame_levels(frames, has_next, order).tolist() == [levels[t] for t in range(frames)]


@cache
def one_hinge() -> CodedClip:
    out = coder.IntegerWriter()
    for kind, number in ((naive.BITS, 8), (naive.ROTATION, 1), (naive.LARGEST, 0), *[(naive.FINE, 0)] * 3,
                         (naive.LARGEST, 0), (naive.FINE, 0), (naive.FINE, 0), (naive.SIGN, 0), (naive.TRANSLATION, 0),
                         (naive.STEP, -200), (naive.PRIOR, 0), *[(naive.LEVEL, 0)] * 11):  # fmt: skip
        out.write(kind, number)
    return CodedClip(kp.Skeleton(("hinge",), [-1], [[0, 0, 0]]), out.finish())


@given(st.lists(st.integers(-30, 30), min_size=4, max_size=4), st.integers(2, 200), st.booleans())
@relaxed
def test_cubics_are_foretold(factors, frames, has_next):
    """Cubics are predicted exactly, up to rounding, wherever four frames are known."""
    a, b, c, d = factors
    curve = [a + b * t + c * t * t // 8 + d * t**3 // 512 for t in range(frames + 1)]
    rows = np.zeros((frames, 1), np.int32)
    for frame, _, _, weights in naive.schedule(frames, has_next, 0):
        foretold = sum(w * curve[at] for at, w in weights.items()) + 2**13 >> 14
        rows[frame] = curve[frame] - foretold
        if len(weights) == 4:
            biggest = max(abs(curve[at]) for at in weights)
            assert abs(int(rows[frame, 0])) <= 3 + 4 * biggest / 2**14
    kernel = one_hinge().kernel
    body = kernel.write_body(0, -48, rows, has_next)  # one unit per residual
    ends = np.array(curve[:1], np.int64), np.array(curve[-1:], np.int64) if has_next else None
    assert kernel.decode_body(frames, body, *ends)[:, 0].tolist() == curve[:frames]


# Residuals


@given(st.data())
@relaxed
def test_residuals_round_trip(data):
    kernel = data.draw(clips()).kernel
    group_sections = data.draw(sections(kernel, max_frames=40, coarsest=-8))
    pose = np.zeros(kernel.tracks, np.int64)
    after = None if group_sections.next_pose is None else pose
    result = kernel.decode_body(group_sections.frames, group_sections.body, pose, after)
    known = dict(enumerate(result.tolist())) | {group_sections.frames: pose.tolist()}
    for frame, level, _, weights in naive.schedule(group_sections.frames, after is not None, group_sections.order):
        units = naive.units_per_residual(group_sections.grain, level)
        for k, residual in enumerate(group_sections.residuals[frame].tolist()):
            foretold = sum(w * known[at][k] for at, w in weights.items()) + 2**13 >> 14
            assert known[frame][k] == foretold + units * residual


@given(st.lists(st.integers(-LARGEST_RESIDUAL, LARGEST_RESIDUAL), min_size=1, max_size=30))
@example([-LARGEST_RESIDUAL])
@example([-LARGEST_RESIDUAL] * 30)
@relaxed
def test_residuals_of_zero_bytes(sizes):
    """The coded residual consists of zero bytes that must not be dropped."""
    kernel = one_hinge().kernel
    rows = np.array([0, *sizes], np.int32)[:, None]
    result = kernel.decode_body(len(rows), kernel.write_body(1, -48, rows, False), np.zeros(1, np.int64), None)
    assert np.diff(result[:, 0]).tolist() == sizes


def test_huge_residuals_and_grains_are_refused():
    kernel = one_hinge().kernel
    for grain, residual in ((0, 2**30), (0, -(2**30)), (-49, 0), (80, 0)):
        with pytest.raises(ValueError, match="out of range"):
            kernel.write_pose(grain, np.array([residual], np.int32))


# Gains


@given(st.data(), st.integers(0, 2**32 - 1))
@settings(relaxed, max_examples=40)
def test_curvatures(data, seed):
    """The closed form along the chains against dense least squares over all points and numbers."""
    coded_clip = data.draw(clips(steps=st.just(0), min_bits=12, max_coordinate=20.0))
    rng = np.random.default_rng(seed)
    skeleton = replace(coded_clip.skeleton, offsets=rng.normal(0, 3, (coded_clip.skeleton.n_joints, 3)))
    coded_clip = CodedClip(skeleton, coded_clip.data)
    reference, kernel, mm_per_unit = coded_clip.reference, coded_clip.kernel, 40.0
    rows = rng.normal(0, data.draw(st.sampled_from([1e-6, 0.3, 1.5])), (2, kernel.tracks))
    poses = [np.array(part) for part in zip(*(reference.frame(row.tolist()) for row in rows), strict=True)]
    shifts, rotations = (np.ascontiguousarray(part) for part in poses)
    positions, _ = forward(skeleton.parents, shifts * mm_per_unit, rotations)
    figure = _core.kps_figure(kernel, skeleton.parents, skeleton.end_joints, skeleton.end_offsets, mm_per_unit)
    frames = _core.KpsFrames(positions, world_rotations(skeleton, rotations), shifts * mm_per_unit, rows)
    result = _core.kps_curvatures(kernel, figure, frames)
    slow = np.sum([naive_storage_gains.curvatures(reference, row.tolist(), mm_per_unit) for row in rows], axis=0)
    assert result == pytest.approx(slow, rel=1e-3, abs=1e-3)


def world_rotations(skeleton: kp.Skeleton, rotations: np.ndarray) -> np.ndarray:
    world = rotations.copy()
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            world[:, j] = [
                naive.quaternion_product(a, b)
                for a, b in zip(world[:, parent].tolist(), rotations[:, j].tolist(), strict=True)
            ]
    return world


def choose_chain(kind: int, joints: int = 900, frames: int = 10) -> float:
    """Return the seconds for choosing the numbers of a chain of joints with charts of one kind, except the root."""
    charts = np.zeros((joints, 14))
    charts[:, [1, 5, 9, 13]] = 1.0
    charts[:, 0], charts[0, 0] = kind, 3
    tracks = 3 * joints if kind == 3 else 3
    parents = np.arange(-1, joints - 1, dtype=np.int32)
    offsets, none = np.ones((joints, 3)), np.zeros(tracks, np.int32)
    kernel = _core.kps_clip(
        parents,
        charts,
        np.zeros(joints, np.uint8),
        offsets,
        none - 60,
        none.astype(np.int64),
        none,
        np.zeros(11, np.int32),
    )
    figure = _core.kps_figure(kernel, parents, np.array([joints - 1], np.int32), np.ones((1, 3)), 1.0)
    translations, local = kernel.poses(np.zeros((frames, tracks), np.int64))
    positions, world = _core.forward_kinematics(parents, translations, local)
    originals = _core.KpsFrames(positions, world, translations, np.zeros((frames, tracks)))
    start = time.process_time()
    assert _core.kps_choose_body(kernel, figure, originals, np.zeros(tracks, np.int64), None, 1.0, 0, 0.65, 8)[0]
    return time.process_time() - start


def test_a_deep_chain_of_still_joints_takes_less_time_than_one_of_moving_joints():
    assert choose_chain(kind=0) < choose_chain(kind=3)
