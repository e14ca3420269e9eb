"""A difference that fades over a row of free pieces, as near to where it arises as it can without haste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import exp, multiply, normalise
from keypose.swings.editing.pieces import Course, Piece

SLACK = 1 + 1e-9  # of bounds, for rounding
LEAST_FADE_S = 0.2  # over keys, which could else give way in a rush
SLOW = 0.75  # of the usual pace: where a joint turns no faster, something can be added
FARTHER = 1.2  # times as far each try reaches, at least


@dataclass(frozen=True)
class Pace:
    """How fast a joint may turn at seams, in radians per frame."""

    limit: float  # never more
    usual: float  # nor more than this, unless it was faster there before
    least_fade: float  # frames


@dataclass(frozen=True, eq=False)
class Run:
    """Free pieces between fixed ones or the ends of the clip, as nodes of the course."""

    course: Course
    allowed: Floats
    pace: Pace
    pieces: Sequence[Piece]
    first: int  # node
    behind: int
    is_left_fixed: bool  # whether a fixed piece is before it
    is_right_fixed: bool

    def solved(self, left: Floats | None, right: Floats | None) -> tuple[Floats, bool]:
        """Rotations (n, 4) of its nodes that meet the demands of both sides, and whether nothing turns too fast."""
        none = np.zeros((self.behind - self.first, 3))
        by_left, left_most = none, none
        by_right, right_most = none, none
        if left is not None:
            by_left, left_most = self._least(left, forth=True, alone=right is None)
        if right is not None:
            by_right, right_most = self._least(right, forth=False, alone=left is None)
        if self._fits(by_left + by_right):
            return self._turned(by_left + by_right), True
        farthest = left_most + right_most
        return self._turned(farthest), self._fits(farthest)

    def _least(self, turn: Floats, *, forth: bool, alone: bool) -> tuple[Floats, Floats]:
        """Turns (n, 3) of the nodes that meet a demand: those that reach least far, and those that reach farthest.

        The seam to a fixed piece on the other side is looked at if it asks for nothing itself.
        """
        turns = np.zeros((self.behind - self.first, 3))
        for share in self._shares(forth):
            turns = share[:, None] * turn
            if self._fits(turns, left=forth or alone, right=alone or not forth):
                return turns, self._farthest(forth)[:, None] * turn
        return turns, turns

    def _shares(self, forth: bool) -> Iterator[Floats]:
        """Shares (n,) of a demand that the nodes take, each reaching farther than the one before."""
        for stop in self._stops(forth):
            for slow_only in (False, True):
                share = self._share(forth, stop, slow_only)
                if share is not None:
                    yield share
        if not (self.is_right_fixed if forth else self.is_left_fixed):  # nothing is there: it need not come back
            for rest in (0.5, 1.0):
                yield rest + (1.0 - rest) * self._farthest(forth)

    def _farthest(self, forth: bool) -> Floats:
        share = self._share(forth, self._last_stop(forth), slow_only=False)
        assert share is not None
        return share

    def _last_stop(self, forth: bool) -> int:
        return self.behind - (not self.is_right_fixed) if forth else self.first - self.is_left_fixed

    def _stops(self, forth: bool) -> Iterator[int]:
        """Nodes at which nothing is left of a demand: the nearest, ends of pieces and, farther and farther, keys."""
        at, step = (self.first - 1, 1) if forth else (self.behind, -1)
        frames = self.course.frames
        yield at + step
        node, reached = at + step, 0.0  # the nearest node of each piece; how far the next stop is at least
        for piece in self.pieces if forth else reversed(self.pieces):
            last = node + step * (len(piece.frames) - 1)
            far = np.abs(frames[np.arange(node, last + step, step)] - frames[at])
            while piece.turn is None:
                inner = int(np.searchsorted(far, max(reached, self.pace.least_fade)))
                if inner >= len(far) - 1:
                    break
                reached = FARTHER * float(far[inner])
                yield node + step * inner
            if far[-1] >= reached:
                reached = FARTHER * float(far[-1])
                yield last
            node = last + step
        yield self._last_stop(forth)

    def _share(self, forth: bool, stop: int, slow_only: bool) -> Floats | None:
        """(n,) 1 beside the demand and 0 from ``stop`` on; or falling only where the joint turns slowly."""
        start = self.first - self.is_left_fixed
        frames = self.course.frames[start : self.behind + self.is_right_fixed]
        lasts = np.diff(frames).astype(np.float64)
        if slow_only:
            steps = np.linalg.norm(self.course.turns[start : start + len(lasts)], axis=1) / lasts
            lasts[steps > SLOW * self.pace.usual] = 0.0
        times = np.concatenate(([0.0], np.cumsum(lasts)))
        at = times[0] if forth else times[-1]
        if times[stop - start] == at:
            return None
        way = np.clip((times - at) / (times[stop - start] - at), 0.0, 1.0)[self.first - start :]
        return np.asarray(1.0 - way * way * (3.0 - 2.0 * way))[: self.behind - self.first]

    def _turned(self, turns: Floats) -> Floats:
        rotations = self.course.rotations[self.first : self.behind].copy()
        moved = np.flatnonzero(turns.any(axis=1))
        rotations[moved] = normalise(multiply(exp(turns[moved]), rotations[moved]))
        return rotations

    def _fits(self, turns: Floats, *, left: bool = True, right: bool = True) -> bool:
        """Whether nothing turns too fast, the seams to the fixed pieces on both sides included or not."""
        start = self.first - (self.is_left_fixed and left)
        stop = self.behind + (self.is_right_fixed and right)
        rotations = self.course.rotations[start:stop].copy()
        rotations[self.first - start : self.behind - start] = self._turned(turns)
        new = self.course.turns_through(rotations, start)
        steps = np.linalg.norm(new, axis=1) / np.diff(self.course.frames[start:stop])
        return bool((steps <= self.allowed[start : stop - 1] * SLACK).all())
