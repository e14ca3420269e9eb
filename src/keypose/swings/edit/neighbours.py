"""Adapt the pieces beside edited ones, so that nothing jumps.

Where an edited piece ends at another rotation than before, the pieces after it must follow. A gap that is wide enough
takes up the difference. If not, the curve after it is rotated by a share of the difference that falls smoothly from 1
to 0 until the end of the next piece or, where that would be too fast, until the end of a later one; pieces are refitted
to their new ends. The same applies backwards to the pieces before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.edit.fade import SLACK, FreeRun, PaceLimits
from keypose.swings.edit.pieces import ZERO_ANGLE, Course, Piece, build_course
from keypose.swings.track import Track

FIXED_ROUNDS = 10  # of closing seams in which fixed pieces do not move
MAX_ROUNDS = 500


def adapt_neighbours(
    track: Track, old_row: Sequence[Piece], row: Sequence[Piece], pace: PaceLimits
) -> tuple[list[Piece], bool]:
    """Return ``row`` with free pieces refitted to fixed ones; and whether some exceed the allowed speed.

    ``track`` and its pieces ``old_row`` are those before the edit; free pieces of ``row`` still lie on that curve.
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

    That is the difference of its end or start from the old rotation at that frame; None: no difference.
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


def _steps_by_frame(old_course: Course, last_frame: int) -> Floats:
    """Return the angles (T,) from each frame to the next before the edit, at least until ``last_frame``."""
    steps = np.zeros(max(last_frame, int(old_course.frames.max(initial=0))) + 1)
    if len(old_course.rotation_vectors):
        steps[old_course.frames[0] : old_course.frames[-1]] = np.repeat(old_course.steps(), np.diff(old_course.frames))
    return steps


def _allowed_steps(course: Course, row: Sequence[Piece], old_row: Sequence[Piece], pace: PaceLimits) -> Floats:
    """Return the allowed angle per frame (N - 1,): the soft limit, or the speed before, at that time or seam."""
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

    Beside a fixed piece only the free one moves; two of a kind move equally. After ``FIXED_ROUNDS`` all move equally:
    for a free piece between two fixed ones that are too far apart.
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
            for bridge in (a - 1, b):  # where a single key moved, the bridge on its other side changed too
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
