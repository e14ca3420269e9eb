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
from typing import NamedTuple

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise
from keypose.swings.edit.pieces import MIN_FRAMES, ZERO_ANGLE, Course, Piece, build_course, build_track, cut_piece
from keypose.swings.track import Track

FIXED_ROUNDS = 10  # rounds of closing seams in which fixed pieces do not move
MAX_ROUNDS = 500

SLACK = 1 + 1e-9  # of limits, for rounding errors
MIN_FADE_S = 0.2  # minimum duration of a fade over keys, which could otherwise change too fast
SLOW_SHARE = 0.75  # of the soft limit; a difference can be added where the speed is lower
GROWTH = 1.2  # minimum growth of the distance from one candidate to the next
RETURN_STEPS = (1.0, 2.0, 4.0, 8.0)  # times that are tried, relative to the requested one
SAME_ANGLE = np.deg2rad(0.05)  # a joint that is nearer to its old curve has returned


class Adaptation(NamedTuple):
    """Pieces that were adapted to edited ones."""

    row: list[Piece]
    is_too_fast: bool  # whether some exceed the allowed speed
    edges: tuple[int, ...]  # frames at which the joint is back on its old curve


def adapt_and_return(
    track: Track,
    old_row: Sequence[Piece],
    row: Sequence[Piece],
    pace: PaceLimits,
    n_frames: int,
    return_frames: int | None,
) -> Adaptation:
    """Return ``row`` with free pieces adapted, so that the joint is on its old curve ``return_frames`` before and after
    edited pieces, or as soon after that as its speed allows.

    ``track`` and its pieces ``old_row`` are those before the edit. None: without a limit.
    """
    first_row, is_too_fast = adapt_neighbours(track, old_row, row, pace)
    if return_frames is None:
        return Adaptation(first_row, is_too_fast, ())
    first_track = build_track(track, first_row)
    for step in RETURN_STEPS:
        zones = edited_zones(old_row, row, round(step * return_frames), n_frames)
        edges = [edge for edge in _zone_edges(zones) if not any(p.is_fixed and p.start <= edge <= p.end for p in row)]
        displacement = find_displacement(track, first_track, zones, n_frames)
        if not displacement.any():
            return Adaptation(first_row, is_too_fast, tuple(edges))
        displaced_edges = [edge for edge in edges if displacement[edge]]
        for some_edges in (displaced_edges, *([edges] if edges != displaced_edges else [])):
            anchored_row = list(row)
            for edge in some_edges:
                is_after = any(edge == end + 1 for _, end in zones)
                anchored_row = _insert_return(track, anchored_row, edge, is_after=is_after)
            new_row, is_new_too_fast = adapt_neighbours(track, old_row, anchored_row, pace, is_trial=not is_too_fast)
            if (
                is_new_too_fast <= is_too_fast
                and not find_displacement(track, build_track(track, new_row), zones, n_frames).any()
                and _n_changed(row, new_row) <= _n_changed(row, first_row)
            ):
                return Adaptation(new_row, is_new_too_fast, tuple(edges))
    return Adaptation(first_row, is_too_fast, ())


def _n_changed(row: Sequence[Piece], new_row: Sequence[Piece]) -> int:
    """Return how many edited pieces of ``row`` had to be changed in ``new_row``."""
    fixed = [piece for piece in row if piece.is_fixed]
    new_fixed = [piece for piece in new_row if piece.is_fixed and not piece.is_return]
    return sum((old.rotations != new.rotations).any() for old, new in zip(fixed, new_fixed, strict=True))


def edited_zones(old_row: Sequence[Piece], row: Sequence[Piece], margin: int, n_frames: int) -> list[tuple[int, int]]:
    """Return first and last frames of the spans within ``margin`` frames of edited, deleted and inserted pieces.

    The first and the last frame of the clip are in none of them.
    """
    remaining = {piece.old_index for piece in row}
    spans = [(piece.start, piece.end) for piece in old_row if piece.rest is None and piece.old_index not in remaining]
    for piece in row:
        if piece.is_fixed:
            spans.append((piece.start, piece.end))
            if piece.old_index >= 0:
                spans.append((old_row[piece.old_index].start, old_row[piece.old_index].end))
    zones: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        first, last = max(1, start - margin), min(n_frames - 2, end + margin)
        if zones and first <= zones[-1][1] + 1:
            zones[-1] = (zones[-1][0], max(zones[-1][1], last))
        else:
            zones.append((first, last))
    return zones


def _zone_edges(zones: Sequence[tuple[int, int]]) -> list[int]:
    return sorted({frame for first, last in zones for frame in (first - 1, last + 1)})


def find_displacement(track: Track, new_track: Track, zones: Sequence[tuple[int, int]], n_frames: int) -> Floats:
    """Return the angles (T,) by which a joint differs from its old curve outside of ``zones``; 0 if negligible."""
    displacement = np.zeros(n_frames)
    is_outside = np.ones(n_frames, bool)
    for first, last in zones:
        is_outside[first : last + 1] = False
    frames = np.flatnonzero(is_outside)
    old_rotations, new_rotations = (each.sample(frames.astype(np.float64)) for each in (track, new_track))
    changed = np.flatnonzero((old_rotations != new_rotations).any(axis=1))
    angles = angle_between(old_rotations[changed], new_rotations[changed])
    displacement[frames[changed]] = np.where(angles > SAME_ANGLE, angles, 0.0)
    return displacement


def _insert_return(track: Track, row: Sequence[Piece], frame: int, *, is_after: bool) -> list[Piece]:
    """Return ``row`` with a node of the old curve at ``frame``, after or before an edited piece.

    A swing or keyed span across that frame is divided, and the part farther from the edited piece does not change.
    """
    index = sum(piece.end < frame for piece in row)
    piece = row[index] if index < len(row) else None
    if piece is None or piece.start > frame:
        node = np.array([frame], np.int32)
        key = Piece(node, track.sample(node.astype(np.float64)), None, is_fixed=True, is_return=True)
        return [*row[:index], key, *row[index:]]
    start, end = piece.start, piece.end
    if is_after:
        cut = min(frame, end - MIN_FRAMES + 1)
        ranges = ((start, cut - 1), (cut, end))
    else:
        cut = max(frame, start + MIN_FRAMES - 1)
        ranges = ((start, cut), (cut + 1, end))
    if piece.is_fixed:
        return list(row)
    if min(last - first for first, last in ranges) < MIN_FRAMES - 1:
        return [*row[:index], replace(piece, is_fixed=True, is_return=True), *row[index + 1 :]]
    parts = [
        replace(cut_piece(track, piece, *span), is_return=True, is_fixed=is_after == bool(number))
        for number, span in enumerate(ranges)
    ]
    return [*row[:index], *parts, *row[index + 1 :]]


def adapt_neighbours(
    track: Track, old_row: Sequence[Piece], row: Sequence[Piece], pace: PaceLimits, *, is_trial: bool = False
) -> tuple[list[Piece], bool]:
    """Return ``row`` with free pieces refitted to fixed ones; and whether some exceed the allowed speed.

    ``track`` and its pieces ``old_row`` are those before the edit; free pieces of ``row`` are still on that curve. A
    trial ends without a result if the speed is exceeded.
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
        if too_fast and is_trial:
            return list(row), True
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
        if left is not None and right is not None and all(piece.rest is not None for piece in self.pieces):
            # going back to a rest only to leave it again would be an additional movement
            farthest = self._farthest_share(True)[:, None] * left + self._farthest_share(False)[:, None] * right
            if self._fits(farthest):
                return self._rotate_nodes(farthest), True
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
