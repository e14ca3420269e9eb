"""Adapt the pieces beside edited ones, so that there are no jumps.

If an edited piece ends with another rotation than before, the pieces after it must be adapted. If the gap is wide
enough, the joint rotates by the difference in it. Otherwise the curve after the gap is rotated by a share of the
difference, which falls smoothly from 1 to 0 until the end of the next piece or, if that would be too fast, of a later
one; pieces are refitted to their new ends. The pieces before an edited piece are adapted in the same way, backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.edit.pieces import ZERO_ANGLE, Course, Piece, build_course
from keypose.swings.track import Track

FIXED_ROUNDS = 10  # rounds of closing seams in which fixed pieces do not move
MAX_ROUNDS = 500

SLACK = 1 + 1e-9  # of limits, for rounding errors
MIN_FADE_S = 0.2  # minimum duration of a fade over keys, which could otherwise change too fast
SLOW_SHARE = 0.75  # of the soft limit; a difference can be added where the speed is lower
GROWTH = 1.2  # minimum growth of the distance from one candidate to the next


def adapt_neighbours(
    track: Track, old_row: Sequence[Piece], row: Sequence[Piece], pace: PaceLimits
) -> tuple[list[Piece], bool]:
    """Return ``row`` with free pieces refitted to fixed ones; and whether some exceed the allowed speed.

    ``track`` and its pieces ``old_row`` are those before the edit; free pieces of ``row`` are still on that curve.
    """
    course = build_course(row)
    nodes = np.cumsum([0, *(len(piece.frames) for piece in row)]).tolist()
    allowed = _allowed_steps(course, row, old_row, pace)
    rotations, too_fast = course.rotations.copy(), False
    for first, stop in _free_runs(row):
        left = _required_rotation(track, row[first - 1], end=True) if first > 0 else None
        right = _required_rotation(track, row[stop], end=False) if stop < len(row) else None
        if left is None and right is None:
            continue
        run_nodes = nodes[first], nodes[stop]
        run = FreeRun(course, allowed, pace, row[first:stop], *run_nodes, first > 0, stop < len(row))
        new_rotations, fits = run.solve(left, right)
        rotations[nodes[first] : nodes[stop]] = new_rotations
        too_fast |= not fits
    _close_seams(course, rotations, _changed_bridges(row, old_row, rotations, course), allowed, row)
    return _refit_pieces(row, nodes, course, rotations), too_fast


def _required_rotation(track: Track, piece: Piece, *, end: bool) -> Floats | None:
    """Return the rotation vector (3,), in the parent's frame, by which the pieces beside a fixed one must move.

    It is the difference of the end or start of the fixed piece from the old rotation at that frame; None: no
    difference.
    """
    at = piece.end if end else piece.start
    old_rotation = track.sample(np.array([float(at)]))[0]
    rotation_vector = log(multiply(piece.rotations[-1 if end else 0], conjugate(old_rotation)))
    return rotation_vector if np.linalg.norm(rotation_vector) > ZERO_ANGLE else None


def _free_runs(row: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Yield start and stop of each run of free pieces."""
    first = 0
    for index, piece in enumerate(row):
        if piece.is_fixed:
            if index > first:
                yield first, index
            first = index + 1
    if first < len(row):
        yield first, len(row)


def _allowed_steps(course: Course, row: Sequence[Piece], old_row: Sequence[Piece], pace: PaceLimits) -> Floats:
    """Return the allowed angle per frame (N - 1,): the soft limit or, if larger, the speed before the edit at that time
    or seam."""
    old_course = build_course(old_row)
    old_steps, seams = (
        _steps_by_frame(old_course, int(course.frames.max(initial=0))),
        old_course.steps()[old_course.is_bridge],
    )
    allowed = np.maximum(course.steps(), pace.soft)
    for k, left, right in zip(np.flatnonzero(course.is_bridge).tolist(), row, row[1:], strict=False):
        fastest = float(old_steps[course.frames[k] : course.frames[k + 1]].max(initial=0.0))
        if left.old_index >= 0 and right.old_index == left.old_index + 1:
            fastest = max(fastest, float(seams[left.old_index]))
        allowed[k] = min(pace.hard, max(pace.soft, fastest))
    return allowed


def _steps_by_frame(old_course: Course, last_frame: int) -> Floats:
    """Return the angles (T,) from each frame to the next before the edit, at least until ``last_frame``."""
    steps = np.zeros(max(last_frame, int(old_course.frames.max(initial=0))) + 1)
    if len(old_course.rotation_vectors):
        steps[old_course.frames[0] : old_course.frames[-1]] = np.repeat(old_course.steps(), np.diff(old_course.frames))
    return steps


def _changed_bridges(row: Sequence[Piece], old_row: Sequence[Piece], rotations: Floats, course: Course) -> Bools:
    """Return flags (N - 1,) of the bridges that changed."""
    changed = np.zeros(len(course.rotation_vectors), bool)
    moved = (rotations != course.rotations).any(axis=1)
    node = 0
    for left, right in pairwise(row):
        node += len(left.frames)
        is_same = all(piece.old_index >= 0 and piece is old_row[piece.old_index] for piece in (left, right))
        changed[node - 1] = not is_same or right.old_index != left.old_index + 1 or moved[node - 1] or moved[node]
    return changed


def _close_seams(course: Course, rotations: Floats, changed: Bools, allowed: Floats, row: Sequence[Piece]) -> None:
    """Move the nodes at the ends of bridges that are still too fast towards each other.

    Beside a fixed piece only the free one is moved; two free or two fixed ones are moved equally. After
    ``FIXED_ROUNDS`` all are moved equally, for free pieces between two fixed ones that are too far apart.
    """
    fixed = np.repeat([piece.is_fixed for piece in row], [len(piece.frames) for piece in row])
    max_angles = allowed * np.diff(course.frames)  # of each bridge in total
    for attempt in range(MAX_ROUNDS):
        seams = np.flatnonzero(changed)
        angles = np.linalg.norm(log(multiply(conjugate(rotations[seams]), rotations[seams + 1])), axis=1)
        too_wide = seams[angles > max_angles[seams] * SLACK].tolist()
        if not too_wide:
            return
        for a in too_wide:
            b = a + 1
            rotation_vector = log(multiply(conjugate(rotations[a]), rotations[b]))
            angle = float(np.linalg.norm(rotation_vector))
            if angle <= max_angles[a]:
                continue
            excess = rotation_vector / angle * (angle - max_angles[a])
            share = 0.5 if fixed[a] == fixed[b] or attempt >= FIXED_ROUNDS else float(fixed[b])
            rotations[a] = normalise(multiply(rotations[a], exp(share * excess)))
            rotations[b] = normalise(multiply(rotations[b], exp((share - 1.0) * excess)))
            for bridge in (a - 1, b):  # if a single key moved, the bridge on its other side has changed, too
                if 0 <= bridge < len(changed):
                    changed[bridge] |= course.is_bridge[bridge]


def _refit_pieces(row: Sequence[Piece], nodes: list[int], course: Course, rotations: Floats) -> list[Piece]:
    """Return the pieces through their new nodes; pieces whose nodes did not move are returned as they are."""
    rotation_vectors = course.vectors_through(rotations)
    pieces = []
    for piece, first, stop in zip(row, nodes[:-1], nodes[1:], strict=True):
        moved = bool((rotations[first:stop] != course.rotations[first:stop]).any())
        rotation_vector = piece.rotation_vector if piece.rotation_vector is None else rotation_vectors[first]
        pieces.append(
            replace(piece, rotations=rotations[first:stop], rotation_vector=rotation_vector) if moved else piece
        )
    return pieces


@dataclass(frozen=True)
class PaceLimits:
    """Speed limits of a joint at seams, in radians per frame."""

    hard: float  # never exceeded
    soft: float  # only exceeded where the joint was faster before the edit
    min_fade_frames: float  # frames


@dataclass(frozen=True, eq=False)
class FreeRun:
    """A run of free pieces between fixed ones or the ends of the clip, as nodes of the course."""

    course: Course
    allowed_steps: Floats
    pace: PaceLimits
    pieces: Sequence[Piece]
    first: int  # node
    stop: int
    is_left_fixed: bool  # whether a fixed piece is before it
    is_right_fixed: bool

    def solve(self, left: Floats | None, right: Floats | None) -> tuple[Floats, bool]:
        """Return rotations (n, 4) of the nodes that match both sides, and whether all speeds are within the limits."""
        zeros = np.zeros((self.stop - self.first, 3))
        left_vectors, left_farthest = zeros, zeros
        right_vectors, right_farthest = zeros, zeros
        if left is not None:
            left_vectors, left_farthest = self._fade_required(left, is_forward=True, is_alone=right is None)
        if right is not None:
            right_vectors, right_farthest = self._fade_required(right, is_forward=False, is_alone=left is None)
        if self._fits(left_vectors + right_vectors):
            return self._rotate_nodes(left_vectors + right_vectors), True
        farthest = left_farthest + right_farthest
        return self._rotate_nodes(farthest), self._fits(farthest)

    def _fade_required(self, required: Floats, *, is_forward: bool, is_alone: bool) -> tuple[Floats, Floats]:
        """Return rotation vectors (n, 3) of the nodes for one required rotation: faded nearest, and faded farthest.

        The seam to a fixed piece on the other side is checked if no rotation is required there.
        """
        rotation_vectors = np.zeros((self.stop - self.first, 3))
        for share in self._shares(is_forward):
            rotation_vectors = share[:, None] * required
            if self._fits(rotation_vectors, left=is_forward or is_alone, right=is_alone or not is_forward):
                return rotation_vectors, self._farthest_share(is_forward)[:, None] * required
        return rotation_vectors, rotation_vectors

    def _shares(self, is_forward: bool) -> Iterator[Floats]:
        """Yield shares (n,) of the required rotation for the nodes, each fading farther than the one before."""
        for stop in self._candidate_stops(is_forward):
            for slow_only in (False, True):
                share = self._share_until(is_forward, stop, slow_only)
                if share is not None:
                    yield share
        if not (
            self.is_right_fixed if is_forward else self.is_left_fixed
        ):  # at the end of the clip the joint need not return to the old rotation
            for remaining_share in (0.5, 1.0):
                yield remaining_share + (1.0 - remaining_share) * self._farthest_share(is_forward)

    def _farthest_share(self, is_forward: bool) -> Floats:
        share = self._share_until(is_forward, self._last_stop(is_forward), slow_only=False)
        assert share is not None
        return share

    def _last_stop(self, is_forward: bool) -> int:
        return self.stop - (not self.is_right_fixed) if is_forward else self.first - self.is_left_fixed

    def _candidate_stops(self, is_forward: bool) -> Iterator[int]:
        """Yield nodes at which the fade may end: the nearest, ends of pieces and, at growing distances, keys."""
        origin, step = (self.first - 1, 1) if is_forward else (self.stop, -1)
        frames = self.course.frames
        yield origin + step
        node, min_distance = origin + step, 0.0  # the nearest node of each piece; the minimum distance of the next stop
        for piece in self.pieces if is_forward else reversed(self.pieces):
            last_node = node + step * (len(piece.frames) - 1)
            distances = np.abs(frames[np.arange(node, last_node + step, step)] - frames[origin])
            while piece.rotation_vector is None:
                inner = int(np.searchsorted(distances, max(min_distance, self.pace.min_fade_frames)))
                if inner >= len(distances) - 1:
                    break
                min_distance = GROWTH * float(distances[inner])
                yield node + step * inner
            if distances[-1] >= min_distance:
                min_distance = GROWTH * float(distances[-1])
                yield last_node
            node = last_node + step
        yield self._last_stop(is_forward)

    def _share_until(self, is_forward: bool, stop: int, slow_only: bool) -> Floats | None:
        """Return shares (n,) falling from 1 to 0 at ``stop``; with ``slow_only`` only where the joint is slow."""
        start = self.first - self.is_left_fixed
        frames = self.course.frames[start : self.stop + self.is_right_fixed]
        lengths = np.diff(frames).astype(np.float64)
        if slow_only:
            steps = np.linalg.norm(self.course.rotation_vectors[start : start + len(lengths)], axis=1) / lengths
            lengths[steps > SLOW_SHARE * self.pace.soft] = 0.0
        times = np.concatenate(([0.0], np.cumsum(lengths)))
        origin = times[0] if is_forward else times[-1]
        if times[stop - start] == origin:
            return None
        fraction = np.clip((times - origin) / (times[stop - start] - origin), 0.0, 1.0)[self.first - start :]
        return np.asarray(1.0 - fraction * fraction * (3.0 - 2.0 * fraction))[: self.stop - self.first]

    def _rotate_nodes(self, rotation_vectors: Floats) -> Floats:
        rotations = self.course.rotations[self.first : self.stop].copy()
        is_moved = np.flatnonzero(rotation_vectors.any(axis=1))
        rotations[is_moved] = normalise(multiply(exp(rotation_vectors[is_moved]), rotations[is_moved]))
        return rotations

    def _fits(self, rotation_vectors: Floats, *, left: bool = True, right: bool = True) -> bool:
        """Return whether all speeds are within the limits, with or without the seams on both sides."""
        start = self.first - (self.is_left_fixed and left)
        stop = self.stop + (self.is_right_fixed and right)
        rotations = self.course.rotations[start:stop].copy()
        rotations[self.first - start : self.stop - start] = self._rotate_nodes(rotation_vectors)
        new_vectors = self.course.vectors_through(rotations, start)
        steps = np.linalg.norm(new_vectors, axis=1) / np.diff(self.course.frames[start:stop])
        return bool((steps <= self.allowed_steps[start : stop - 1] * SLACK).all())
