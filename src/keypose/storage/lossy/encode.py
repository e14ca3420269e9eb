"""A motion to groups of bytes within a tolerance, tried on the decoder before anybody gets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose import _core, kinematics
from keypose.arrays import Floats
from keypose.model import Motion
from keypose.storage.error import errors_mm, mm_per_unit_of
from keypose.storage.groups import WITHIN_TOLERANCE, Coded, group_bounds
from keypose.storage.lossless import encode_lossless
from keypose.storage.lossy.charts import fine_bits, spelled
from keypose.storage.lossy.decode import LossyDecoder
from keypose.storage.lossy.plan import CENTRE_UNITS, LEVELS, MOST_CENTRE, MOST_STEP, Plan

POSE_LEVEL = 9
FIRST_GRAIN = 8
TRIED_GROUPS = 3  # on which manners are tried, spread over the clip,
CLOSE = 1.1  # by those that are not farther off than this in the middle one
POINTS_PER_TRACK = 8.0  # that a step is shared among, about: a joint, its six points and the next joint
UNITS_PER_STEP = 64
ATTEMPTS = 8
FINER_EIGHTHS = 12  # how much finer steps get where the first ones cannot hold the tolerance
LEAST_PRIOR, MOST_PRIOR = -16, 40  # half doublings
RAW_BYTES_PER_JOINT = 40  # rotation, translation and scale as floats of 4 bytes
WORTH_A_TRY = 14  # times smaller than raw: below, lossless may take fewer bytes
ROUNDING = 1e-6  # of the tolerance, kept for the rounding of whoever measures again

Progress = Callable[[float], None]  # told the part that is done, from 0 to 1


class Manner(NamedTuple):
    """How groups are coded; which is best depends on the clip and the tolerance."""

    order: int  # 0 by halves, 1 as the frame before, 2 straight on
    kept: float  # part of the tolerance that each joint may use up by itself


MANNERS = (Manner(0, 0.65), Manner(0, 0.9), Manner(1, 0.65), Manner(2, 0.65))


@dataclass(frozen=True, eq=False)
class _Group:
    """The whole numbers that were chosen for a group."""

    pose_grain: int
    pose_residuals: NDArray[np.int32]  # (tracks,)
    order: int
    grain: int
    residuals: NDArray[np.int32]  # (frames, tracks)
    has_next: bool  # whether another group follows

    def levels(self) -> NDArray[np.int32]:
        """The level of each frame, of the first that of poses."""
        return _core.kps_frame_levels(len(self.residuals), self.has_next, self.order)

    def pose_bytes(self, kernel: _core.KpsClip) -> bytes:
        """The first frame."""
        return kernel.write_pose(self.pose_grain, self.pose_residuals)

    def body_bytes(self, kernel: _core.KpsClip) -> bytes:
        """The other frames."""
        return kernel.write_body(self.order, self.grain, self.residuals, self.has_next)


def encode(motion: Motion, tolerance_mm: float, *, progress: Progress | None = None) -> Coded:
    """Groups that decode within ``tolerance_mm`` at every point, as the decoder's own output was found to be.

    Where the tolerance asks for so much that keeping every number takes no more, that is done: ``kind`` tells.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # such numbers are found out below
            coded = _within(motion, tolerance_mm, progress or (lambda part: None))
    except _NotFineEnough:
        return encode_lossless(motion)
    if _bytes(coded) * WORTH_A_TRY < RAW_BYTES_PER_JOINT * motion.n_frames * motion.n_joints:
        return coded
    return min(coded, encode_lossless(motion), key=_bytes)


class _NotFineEnough(Exception):  # noqa: N818 - never leaves this file
    """No steps hold the tolerance."""


def _bytes(coded: Coded) -> int:
    return len(coded.clip) + sum(map(len, coded.poses)) + sum(map(len, coded.bodies))


def _within(motion: Motion, tolerance_mm: float, progress: Progress) -> Coded:
    mm_per_unit = mm_per_unit_of(motion)
    joints, numbers = spelled(motion, tolerance_mm, mm_per_unit)
    clip = _Clip(motion, numbers, mm_per_unit)
    plan = clip.with_steps(Plan(fine_bits(tolerance_mm), joints), tolerance_mm)
    aim = tolerance_mm * (1 - ROUNDING)
    for _ in range(ATTEMPTS):
        groups = clip.chosen(plan, aim, progress)
        if groups is not None:
            coded = clip.coded(plan, groups)
            worst = _worst_mm(motion, coded, mm_per_unit)
            if worst <= tolerance_mm:
                return coded
            aim *= 0.9 * tolerance_mm / worst
        else:
            plan = replace(plan, steps=tuple(step - FINER_EIGHTHS for step in plan.steps))
    raise _NotFineEnough


class _Clip:
    """A motion on its way, group by group."""

    def __init__(self, motion: Motion, numbers: Floats, mm_per_unit: float) -> None:
        self._motion = motion
        self._numbers = numbers
        self._mm_per_unit = mm_per_unit
        self._bounds = group_bounds(motion.n_frames, motion.fps)

    def with_steps(self, plan: Plan, tolerance_mm: float) -> Plan:
        """The plan with steps such that each costs about as much of the tolerance as any other."""
        tracks = plan.n_tracks
        plan = replace(plan, steps=(0,) * tracks, centres=(0,) * tracks, track_priors=(0,) * tracks)
        kernel, figure = self._kernels(plan)
        total = sum(
            (_core.kps_curvatures(kernel, figure, frames) for frames in map(self._frames, range(len(self._bounds)))),
            np.zeros(tracks),
        )
        curvature = np.maximum(total / self._motion.n_frames, 1e-30)
        exponents = np.rint(8 * np.log2(tolerance_mm * np.sqrt(POINTS_PER_TRACK / curvature)))
        if not np.all(np.abs(exponents) < MOST_STEP // 2):  # figures of 1e-150 units, or not a number
            raise _NotFineEnough
        exponents = exponents.astype(int)
        return self._with_centres(replace(plan, steps=tuple(exponents.tolist())))

    def _with_centres(self, plan: Plan) -> Plan:
        """Tracks of shifts start from their mean, those of turns from nothing."""
        centres, track = [], 0
        for joint in plan.joints:
            for i in range(joint.tracks):
                unit = 2.0 ** (plan.steps[track] / 8) / UNITS_PER_STEP
                moved = joint.moves and i < 3
                middle = float(self._numbers[:, track].mean()) / unit / CENTRE_UNITS if moved else 0.0
                if not abs(middle) <= MOST_CENTRE:
                    raise _NotFineEnough
                centres.append(round(middle))
                track += 1
        return replace(plan, centres=tuple(centres))

    def chosen(self, plan: Plan, aim_mm: float, progress: Progress) -> list[_Group] | None:
        """The whole numbers of every group, or None where the steps of the plan are not fine enough."""
        plan = self._with_centres(plan)
        kernel, figure = self._kernels(plan)
        last = len(self._bounds) - 1
        poses = [_core.kps_choose_pose(kernel, figure, self._frames(g), aim_mm) for g in range(last + 1)]
        if not all(found for found, *_ in poses):
            return None

        made: dict[tuple[Manner, int], _Group | None] = {}

        def body(g: int, manner: Manner, grain: int) -> _Group | None:
            if (manner, g) not in made:
                after = poses[g + 1][4][0] if g < last else None
                found, order, grain, residuals, _ = _core.kps_choose_body(
                    kernel, figure, self._frames(g), poses[g][4][0], after, aim_mm, *manner, grain
                )
                group = _Group(poses[g][2], poses[g][3][0], order, grain, residuals, g < last)
                made[manner, g] = group if found else None
            return made[manner, g]

        def size(manner: Manner, some: list[int]) -> float:
            groups = [group for g in some if (group := body(g, manner, FIRST_GRAIN)) is not None]
            if len(groups) < len(some):
                return np.inf
            kernel = _with_priors(plan, groups).kernel(self._motion.skeleton)
            return float(sum(len(group.body_bytes(kernel)) for group in groups))

        tried = sorted(set(np.linspace(0, last, TRIED_GROUPS + 2).astype(int)[1:-1].tolist()))
        middle = [tried[len(tried) // 2]]
        sizes = {manner: size(manner, middle) for manner in MANNERS}
        close = [manner for manner in MANNERS if sizes[manner] <= CLOSE * min(sizes.values())]
        manner = close[0] if len(close) == 1 else min(close, key=lambda manner: size(manner, tried))
        groups: list[_Group] = []
        for g in range(last + 1):
            group = body(g, manner, groups[-1].grain if groups else FIRST_GRAIN)
            if group is None:
                return None
            groups.append(group)
            progress((g + 1) / (last + 1))
        return groups

    def coded(self, plan: Plan, groups: list[_Group]) -> Coded:
        """The bytes of the chosen numbers."""
        plan = _with_priors(self._with_centres(plan), groups)
        kernel = plan.kernel(self._motion.skeleton)
        poses = tuple(group.pose_bytes(kernel) for group in groups)
        bodies = tuple(group.body_bytes(kernel) for group in groups)
        return Coded(WITHIN_TOLERANCE, plan.to_bytes(), poses, bodies)

    def _kernels(self, plan: Plan) -> tuple[_core.KpsClip, _core.KpsFigure]:
        s = self._motion.skeleton
        kernel = plan.kernel(s)
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
        """The frames of one group, in mm."""
        m = self._motion
        start, stop = self._bounds[g]
        shifts = m.translations[start:stop] * self._mm_per_unit
        turns = np.ascontiguousarray(m.rotations[start:stop])
        positions, world_turns = kinematics.forward(m.skeleton.parents, shifts, turns)
        if not np.isfinite(positions).all():
            raise _NotFineEnough
        return _core.KpsFrames(positions, world_turns, shifts, np.ascontiguousarray(self._numbers[start:stop]))


def _with_priors(plan: Plan, groups: list[_Group]) -> Plan:
    """The plan with how large residuals are: a factor for each track times one for each level, as near as that goes."""
    tracks = plan.n_tracks
    sums, counts = np.zeros((LEVELS, tracks)), np.zeros(LEVELS)
    for group in groups:
        levels = group.levels()
        sizes = np.abs(group.residuals.astype(np.int64))
        for level in set(levels.tolist()) - {POSE_LEVEL}:
            sums[level] += sizes[levels == level].sum(axis=0)
            counts[level] += int(np.sum(levels == level))
        sums[POSE_LEVEL] += np.abs(group.pose_residuals.astype(np.int64))
        counts[POSE_LEVEL] += 1
    by_track, by_level = np.ones(tracks), np.ones(LEVELS)
    for _ in range(10):
        by_level = (sums.sum(axis=1) + 0.1) / (counts * by_track.sum() + 0.1)
        by_track = (sums.sum(axis=0) + 0.1) / ((counts * by_level).sum() + 0.1)
    tracks_halves = np.clip(np.rint(2 * np.log2(by_track * by_level[0])), LEAST_PRIOR, MOST_PRIOR).astype(int)
    level_halves = np.clip(np.rint(2 * np.log2(by_level / by_level[0])), LEAST_PRIOR, MOST_PRIOR).astype(int)
    level_halves[counts == 0] = 0
    return replace(plan, track_priors=tuple(tracks_halves.tolist()), level_priors=tuple(level_halves.tolist()))


def _worst_mm(motion: Motion, coded: Coded, mm_per_unit: float) -> float:
    """The largest error of what the decoder makes of these very bytes."""
    decoder = LossyDecoder(motion.skeleton, motion.fps, motion.n_frames, coded.clip)
    worst = 0.0
    for g, (start, stop) in enumerate(group_bounds(motion.n_frames, motion.fps)):
        following = coded.poses[g + 1] if g + 1 < len(coded.poses) else None
        translations, rotations = decoder.group(g, coded.poses[g], coded.bodies[g], following)
        part = motion[start:stop]
        decoded = replace(part, translations=translations, rotations=rotations)
        worst = max(worst, float(errors_mm(part, decoded, 0, stop - start, mm_per_unit=mm_per_unit).max()))
    return worst
