"""Encode a motion within a tolerance; the result is verified with the decoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose import _core, kinematics
from keypose.arrays import Floats
from keypose.model import Motion
from keypose.storage.error import errors_mm, tolerance_mm_per_unit
from keypose.storage.groups import WITHIN_TOLERANCE, CodedFrames, group_bounds
from keypose.storage.lossless import encode_lossless
from keypose.storage.lossy.charts import choose_charts, fine_bits
from keypose.storage.lossy.plan import CENTRE_UNITS, MAX_CENTRE, MAX_STEP, N_LEVELS, LossyDecoder, Plan

POSE_LEVEL = 9
INITIAL_GRAIN = 8
TRIAL_GROUPS = 3  # number of groups, spread over the clip, on which coding modes are compared
# Maximum size of a mode on the middle group, relative to the best one, to be compared on all trial groups.
MAX_SIZE_RATIO = 1.1
POINTS_PER_TRACK = 8.0  # approximate number of points per track: a joint, its six points and the next joint
UNITS_PER_STEP = 64
ATTEMPTS = 8
FINER_EIGHTHS = 12  # refinement of the steps if the tolerance cannot be reached
MIN_PRIOR, MAX_PRIOR = -16, 40  # half doublings
RAW_BYTES_PER_JOINT = 40  # rotation, translation and scale as float32
LOSSLESS_TRIAL_RATIO = 14  # compression ratio below which lossless may be smaller
ROUNDING_MARGIN = 1e-6  # share of the tolerance that allows for rounding errors of other measurements

ProgressCallback = Callable[[float], None]  # called with the completed fraction, 0 to 1


class CodingMode(NamedTuple):
    """How groups are coded; the best mode depends on the clip and the tolerance."""

    order: int  # order and prediction of frames: 0 bisection, 1 copy of the previous frame, 2 linear extrapolation
    tolerance_share: float  # ratio of the tolerance that each joint may use


CODING_MODES = (CodingMode(0, 0.65), CodingMode(0, 0.9), CodingMode(1, 0.65), CodingMode(2, 0.65))


@dataclass(frozen=True, eq=False)
class _Group:
    """The integers chosen for a group."""

    pose_grain: int
    pose_residuals: NDArray[np.int32]  # (tracks,)
    order: int
    grain: int
    residuals: NDArray[np.int32]  # (frames, tracks)
    has_next: bool  # whether another group follows

    def levels(self) -> NDArray[np.int32]:
        """Return the level of each frame; of the first one, that of poses."""
        return _core.kps_frame_levels(len(self.residuals), self.has_next, self.order)

    def pose_bytes(self, kernel: _core.KpsClip) -> bytes:
        """Return the coded first frame."""
        return kernel.write_pose(self.pose_grain, self.pose_residuals)

    def body_bytes(self, kernel: _core.KpsClip) -> bytes:
        """Return the coded other frames."""
        return kernel.write_body(self.order, self.grain, self.residuals, self.has_next)


def encode(motion: Motion, tolerance_mm: float, *, progress: ProgressCallback | None = None) -> CodedFrames:
    """Encode groups that decode within ``tolerance_mm`` at every point, as verified with the decoder.

    If lossless coding needs no more bytes, it is used instead; see ``kind`` of the result.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # extreme numbers are handled below
            coded_frames = _encode_within(motion, tolerance_mm, progress or (lambda part: None))
    except _ToleranceNotReached:
        return encode_lossless(motion)
    if _n_bytes(coded_frames) * LOSSLESS_TRIAL_RATIO < RAW_BYTES_PER_JOINT * motion.n_frames * motion.n_joints:
        return coded_frames
    return min(coded_frames, encode_lossless(motion), key=_n_bytes)


class _ToleranceNotReached(Exception):  # noqa: N818 - never leaves this file
    """No step size reaches the tolerance."""


def _n_bytes(coded_frames: CodedFrames) -> int:
    return len(coded_frames.parameters) + sum(map(len, coded_frames.poses)) + sum(map(len, coded_frames.bodies))


def _encode_within(motion: Motion, tolerance_mm: float, progress: ProgressCallback) -> CodedFrames:
    mm_per_unit = tolerance_mm_per_unit(motion)
    joints, numbers = choose_charts(motion, tolerance_mm, mm_per_unit)
    clip = _ClipEncoder(motion, numbers, mm_per_unit)
    plan = clip.with_steps(Plan(fine_bits(tolerance_mm), joints), tolerance_mm)
    target_mm = tolerance_mm * (1 - ROUNDING_MARGIN)
    for _ in range(ATTEMPTS):
        groups = clip.choose_groups(plan, target_mm, progress)
        if groups is not None:
            coded_frames = clip.encode_groups(plan, groups)
            max_error_mm = _max_error_mm(motion, coded_frames, mm_per_unit)
            if max_error_mm <= tolerance_mm:
                return coded_frames
            target_mm *= 0.9 * tolerance_mm / max_error_mm
        else:
            plan = replace(plan, steps=tuple(step - FINER_EIGHTHS for step in plan.steps))
    raise _ToleranceNotReached


class _ClipEncoder:
    """Encodes a motion group by group."""

    def __init__(self, motion: Motion, numbers: Floats, mm_per_unit: float) -> None:
        self._motion = motion
        self._numbers = numbers
        self._mm_per_unit = mm_per_unit
        self._bounds = group_bounds(motion.n_frames, motion.fps)

    def with_steps(self, plan: Plan, tolerance_mm: float) -> Plan:
        """Return the plan with steps that contribute equally to the error."""
        tracks = plan.n_tracks
        plan = replace(plan, steps=(0,) * tracks, centres=(0,) * tracks, track_priors=(0,) * tracks)
        kernel, figure = self._kernels(plan)
        total = sum(
            (_core.kps_curvatures(kernel, figure, frames) for frames in map(self._frames, range(len(self._bounds)))),
            np.zeros(tracks),
        )
        curvature = np.maximum(total / self._motion.n_frames, 1e-30)
        exponents = np.rint(8 * np.log2(tolerance_mm * np.sqrt(POINTS_PER_TRACK / curvature)))
        if not np.all(np.abs(exponents) < MAX_STEP // 2):  # figures of 1e-150 units, or NaN
            raise _ToleranceNotReached
        exponents = exponents.astype(int)
        return self._with_centres(replace(plan, steps=tuple(exponents.tolist())))

    def _with_centres(self, plan: Plan) -> Plan:
        """Return the plan with centres: the mean of translation tracks, 0 for rotation tracks."""
        centres, track = [], 0
        for joint in plan.joints:
            for i in range(joint.n_tracks):
                unit = 2.0 ** (plan.steps[track] / 8) / UNITS_PER_STEP
                is_translation = joint.moves and i < 3
                middle = float(self._numbers[:, track].mean()) / unit / CENTRE_UNITS if is_translation else 0.0
                if not abs(middle) <= MAX_CENTRE:
                    raise _ToleranceNotReached
                centres.append(round(middle))
                track += 1
        return replace(plan, centres=tuple(centres))

    def choose_groups(self, plan: Plan, target_mm: float, progress: ProgressCallback) -> list[_Group] | None:
        """Return the integers of every group, or None if the steps of the plan are not fine enough."""
        plan = self._with_centres(plan)
        kernel, figure = self._kernels(plan)
        last = len(self._bounds) - 1
        poses = [_core.kps_choose_pose(kernel, figure, self._frames(g), target_mm) for g in range(last + 1)]
        if not all(is_within for is_within, *_ in poses):
            return None

        cache: dict[tuple[CodingMode, int], _Group | None] = {}

        def code_body(g: int, mode: CodingMode, grain: int) -> _Group | None:
            if (mode, g) not in cache:
                next_pose = poses[g + 1][4][0] if g < last else None
                is_within, order, grain, residuals, _ = _core.kps_choose_body(
                    kernel, figure, self._frames(g), poses[g][4][0], next_pose, target_mm, *mode, grain
                )
                group = _Group(poses[g][2], poses[g][3][0], order, grain, residuals, g < last)
                cache[mode, g] = group if is_within else None
            return cache[mode, g]

        def total_bytes(mode: CodingMode, group_indices: list[int]) -> float:
            groups = [group for g in group_indices if (group := code_body(g, mode, INITIAL_GRAIN)) is not None]
            if len(groups) < len(group_indices):
                return np.inf
            kernel = _with_priors(plan, groups).build_kernel(self._motion.skeleton)
            return float(sum(len(group.body_bytes(kernel)) for group in groups))

        trial_groups = sorted(set(np.linspace(0, last, TRIAL_GROUPS + 2).astype(int)[1:-1].tolist()))
        middle = [trial_groups[len(trial_groups) // 2]]
        sizes = {mode: total_bytes(mode, middle) for mode in CODING_MODES}
        close_modes = [mode for mode in CODING_MODES if sizes[mode] <= MAX_SIZE_RATIO * min(sizes.values())]
        best_mode = (
            close_modes[0]
            if len(close_modes) == 1
            else min(close_modes, key=lambda mode: total_bytes(mode, trial_groups))
        )
        groups: list[_Group] = []
        for g in range(last + 1):
            group = code_body(g, best_mode, groups[-1].grain if groups else INITIAL_GRAIN)
            if group is None:
                return None
            groups.append(group)
            progress((g + 1) / (last + 1))
        return groups

    def encode_groups(self, plan: Plan, groups: list[_Group]) -> CodedFrames:
        """Encode the chosen integers."""
        plan = _with_priors(self._with_centres(plan), groups)
        kernel = plan.build_kernel(self._motion.skeleton)
        poses = tuple(group.pose_bytes(kernel) for group in groups)
        bodies = tuple(group.body_bytes(kernel) for group in groups)
        return CodedFrames(WITHIN_TOLERANCE, plan.to_bytes(), poses, bodies)

    def _kernels(self, plan: Plan) -> tuple[_core.KpsClip, _core.KpsFigure]:
        s = self._motion.skeleton
        kernel = plan.build_kernel(s)
        ends = np.ascontiguousarray(s.end_joints, np.int32)
        figure = _core.kps_figure(
            kernel,
            np.ascontiguousarray(s.parents, np.int32),
            ends,
            np.ascontiguousarray(s.end_offsets),
            self._mm_per_unit,
        )
        return kernel, figure

    def _frames(self, g: int) -> _core.KpsFrames:
        """Return the frames of one group, in mm."""
        m = self._motion
        start, stop = self._bounds[g]
        translations = m.translations[start:stop] * self._mm_per_unit
        rotations = np.ascontiguousarray(m.rotations[start:stop])
        positions, world_rotations = kinematics.forward(m.skeleton.parents, translations, rotations)
        if not np.isfinite(positions).all():
            raise _ToleranceNotReached
        return _core.KpsFrames(
            positions, world_rotations, translations, np.ascontiguousarray(self._numbers[start:stop])
        )


def _with_priors(plan: Plan, groups: list[_Group]) -> Plan:
    """Return the plan with priors of the residual sizes, modelled as a factor per track times a factor per level."""
    tracks = plan.n_tracks
    sums, counts = np.zeros((N_LEVELS, tracks)), np.zeros(N_LEVELS)
    for group in groups:
        levels = group.levels()
        sizes = np.abs(group.residuals.astype(np.int64))
        for level in set(levels.tolist()) - {POSE_LEVEL}:
            sums[level] += sizes[levels == level].sum(axis=0)
            counts[level] += int(np.sum(levels == level))
        sums[POSE_LEVEL] += np.abs(group.pose_residuals.astype(np.int64))
        counts[POSE_LEVEL] += 1
    by_track, by_level = np.ones(tracks), np.ones(N_LEVELS)
    for _ in range(10):
        by_level = (sums.sum(axis=1) + 0.1) / (counts * by_track.sum() + 0.1)
        by_track = (sums.sum(axis=0) + 0.1) / ((counts * by_level).sum() + 0.1)
    tracks_halves = np.clip(np.rint(2 * np.log2(by_track * by_level[0])), MIN_PRIOR, MAX_PRIOR).astype(int)
    level_halves = np.clip(np.rint(2 * np.log2(by_level / by_level[0])), MIN_PRIOR, MAX_PRIOR).astype(int)
    level_halves[counts == 0] = 0
    return replace(plan, track_priors=tuple(tracks_halves.tolist()), level_priors=tuple(level_halves.tolist()))


def _max_error_mm(motion: Motion, coded_frames: CodedFrames, mm_per_unit: float) -> float:
    """Return the largest error of the decoded bytes."""
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    max_error = 0.0
    for g, (start, stop) in enumerate(group_bounds(motion.n_frames, motion.fps)):
        next_pose = coded_frames.poses[g + 1] if g + 1 < len(coded_frames.poses) else None
        translations, rotations = decoder.decode_group(g, coded_frames.poses[g], coded_frames.bodies[g], next_pose)
        span = motion[start:stop]
        decoded = replace(span, translations=translations, rotations=rotations)
        max_error = max(max_error, float(errors_mm(span, decoded, 0, stop - start, mm_per_unit=mm_per_unit).max()))
    return max_error
