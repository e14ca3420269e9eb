"""Fade a difference over a run of free pieces, over as few frames as the speed limits allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from keypose.arrays import Floats
from keypose.rotations import exp, multiply, normalise
from keypose.swings.edit.pieces import Course, Piece

SLACK = 1 + 1e-9  # of bounds, for rounding
MIN_FADE_S = 0.2  # over keys, which could otherwise change too fast
SLOW_SHARE = 0.75  # of the soft limit: below that speed a difference can be added
GROWTH = 1.2  # of the distance from one candidate to the next, at least


@dataclass(frozen=True)
class PaceLimits:
    """Speed limits of a joint at seams, in radians per frame."""

    hard: float  # never more
    soft: float  # exceeded only where it was faster before
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

        The seam to a fixed piece on the other side is checked if nothing is required there.
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
        ):  # end of the clip: no need to return to the old rotation
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
