"""Pieces beside edited ones adapt, so that nothing jumps.

Where an edited piece leaves the joint elsewhere than it was, what follows has to be taken along. A gap that is wide
enough takes it up. If not, the curve behind is turned by a share of the difference that falls smoothly from 1 to 0
until the end of the next piece or, where that would make it turn too fast, until that of one farther behind; pieces
are fitted anew to their turned ends. The same goes backwards for what comes before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Bools, Floats
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.editing.fading import SLACK, Pace, Run
from keypose.swings.editing.pieces import NO_TURN, Course, Piece, course_of
from keypose.swings.track import Track

PATIENT_ROUNDS = 10  # of closing seams: a single key between two of them is pulled at from both sides
MOST_ROUNDS = 500


def adapted(track: Track, before: Sequence[Piece], row: Sequence[Piece], pace: Pace) -> tuple[list[Piece], bool]:
    """``row`` with free pieces turned and fitted anew to fixed ones; and whether some had to turn faster than usual.

    ``track`` and its pieces ``before`` are what was there; free pieces of ``row`` still lie on that curve.
    """
    course = course_of(row)
    nodes = np.cumsum([0, *(len(piece.frames) for piece in row)]).tolist()
    allowed = _allowed(course, row, before, pace)
    rotations, hurried = course.rotations.copy(), False
    for first, behind in _free_runs(row):
        left = _demand(track, row[first - 1], end=True) if first > 0 else None
        right = _demand(track, row[behind], end=False) if behind < len(row) else None
        if left is None and right is None:
            continue
        some = nodes[first], nodes[behind]
        run = Run(course, allowed, pace, row[first:behind], *some, first > 0, behind < len(row))
        turned, fits = run.solved(left, right)
        rotations[nodes[first] : nodes[behind]] = turned
        hurried |= not fits
    _close_seams(course, rotations, _touched(row, before, rotations, course), allowed, row)
    return _refitted(row, nodes, course, rotations), hurried


def _demand(track: Track, piece: Piece, *, end: bool) -> Floats | None:
    """The turn (3,), in the parent's frame, that a fixed piece asks of those behind or before it.

    That is how far its end or start is off what was played at that frame; None: not at all.
    """
    at = piece.end if end else piece.start
    was = track.sample(np.array([float(at)]))[0]
    turn = log(multiply(piece.rotations[-1 if end else 0], conjugate(was)))
    return turn if np.linalg.norm(turn) > NO_TURN else None


def _free_runs(row: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Each first and one behind the last of free pieces in a row."""
    first = 0
    for i, piece in enumerate(row):
        if piece.fixed:
            if i > first:
                yield first, i
            first = i + 1
    if first < len(row):
        yield first, len(row)


def _steps_by_frame(old: Course, last: int) -> Floats:
    """How far the joint turned from each frame to the next (T,) before the edit; at least until frame ``last``."""
    steps = np.zeros(max(last, int(old.frames.max(initial=0))) + 1)
    if len(old.turns):
        steps[old.frames[0] : old.frames[-1]] = np.repeat(old.steps(), np.diff(old.frames))
    return steps


def _allowed(course: Course, row: Sequence[Piece], before: Sequence[Piece], pace: Pace) -> Floats:
    """How far each turn may go in a frame (N - 1,): as fast as usual, or as it was before, then or at this seam."""
    old = course_of(before)
    were, seams = _steps_by_frame(old, int(course.frames.max(initial=0))), old.steps()[old.bridges]
    allowed = np.maximum(course.steps(), pace.usual)
    for k, one, other in zip(np.flatnonzero(course.bridges).tolist(), row, row[1:], strict=False):
        fastest = float(were[course.frames[k] : course.frames[k + 1]].max(initial=0.0))
        if one.place >= 0 and other.place == one.place + 1:
            fastest = max(fastest, float(seams[one.place]))
        allowed[k] = min(pace.limit, max(pace.usual, fastest))
    return allowed


def _touched(row: Sequence[Piece], before: Sequence[Piece], rotations: Floats, course: Course) -> Bools:
    """(N - 1,) the bridges that are not what they were."""
    touched = np.zeros(len(course.turns), bool)
    moved = (rotations != course.rotations).any(axis=1)
    node = 0
    for one, other in pairwise(row):
        node += len(one.frames)
        same = all(piece.place >= 0 and piece is before[piece.place] for piece in (one, other))
        touched[node - 1] = not same or other.place != one.place + 1 or moved[node - 1] or moved[node]
    return touched


def _close_seams(course: Course, rotations: Floats, touched: Bools, allowed: Floats, row: Sequence[Piece]) -> None:
    """Where a bridge still goes too fast, the nodes at its ends are moved towards each other.

    Beside a fixed piece the free one goes all the way; two of a kind go halves. So do all where that does not do: a
    free one between two fixed ones that are too far from each other.
    """
    fixed = np.repeat([piece.fixed for piece in row], [len(piece.frames) for piece in row])
    most = allowed * np.diff(course.frames)  # how far each bridge may turn in all
    for attempt in range(MOST_ROUNDS):
        seams = np.flatnonzero(touched)
        angles = np.linalg.norm(log(multiply(conjugate(rotations[seams]), rotations[seams + 1])), axis=1)
        over = seams[angles > most[seams] * SLACK].tolist()
        if not over:
            return
        for a in over:
            b = a + 1
            turn = log(multiply(conjugate(rotations[a]), rotations[b]))
            angle = float(np.linalg.norm(turn))
            if angle <= most[a]:
                continue
            way = turn / angle * (angle - most[a])
            share = 0.5 if fixed[a] == fixed[b] or attempt >= PATIENT_ROUNDS else float(fixed[b])
            rotations[a] = normalise(multiply(rotations[a], exp(share * way)))
            rotations[b] = normalise(multiply(rotations[b], exp((share - 1.0) * way)))
            for beside in (a - 1, b):  # where a single key was moved, the bridge on its other side is another one too
                if 0 <= beside < len(touched):
                    touched[beside] |= course.bridges[beside]


def _refitted(row: Sequence[Piece], nodes: list[int], course: Course, rotations: Floats) -> list[Piece]:
    """The pieces through their new nodes; those whose nodes did not move are the very ones."""
    turns = course.turns_through(rotations)
    after = []
    for piece, first, behind in zip(row, nodes[:-1], nodes[1:], strict=True):
        moved = bool((rotations[first:behind] != course.rotations[first:behind]).any())
        turn = piece.turn if piece.turn is None else turns[first]
        after.append(replace(piece, rotations=rotations[first:behind], turn=turn) if moved else piece)
    return after
