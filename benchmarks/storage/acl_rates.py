"""Choose the bits of each track in each segment: as few as the error of the points allows."""

from __future__ import annotations

import numpy as np
from benchmarks.storage.acl_tracks import ANIMATED, RAW_RATE, Array, Ints, Ranges, Segments, xyz_to_quaternion
from benchmarks.storage.figure import SHELL_MM, Figure, apply_parent, joints_first, point_errors_mm, rotation_matrices

import keypose as kp

HALVINGS = 6  # number of halvings of the octaves -8 to 8 around the initial rates
OCTAVES = 8.0


class RateSearch:
    """Search for the lowest rates: first steps proportional to the reach of each track, then bits removed one by one.

    All segments are independent and processed together. When a joint changes, only its descendants are evaluated
    again, in the segments that are tried.
    """

    def __init__(self, motion: kp.Motion, values: Array, kinds: Ints, segments: Segments, tolerance_mm: float):
        self.figure, self.values, self.mm = Figure.build(motion), values, motion.mm_per_unit
        self.segments, self.tolerance_mm = segments, tolerance_mm
        self.n_joints = motion.n_joints
        self.raw = [*joints_first(motion.rotations), *values[self.n_joints :]]  # values stored as raw numbers
        self.n_segments = len(segments.starts)
        self.of_frame = segments.frame_segments
        self.tracks = np.flatnonzero(kinds == ANIMATED).tolist()
        self.ranges = [Ranges.build(values[k], segments) for k in self.tracks]
        self.descendants = _descendants(self.figure.parents)
        self.reach_mm = np.array([self._max_reach_mm(k) for k in self.tracks])

    def rates(self) -> Ints:
        """Return the bits (tracks, S) of each of the three numbers of a track; ``RAW_RATE``: raw 32-bit numbers.

        One more bit for the root may save several in other tracks; this is tried, and used if it saves bits.
        """
        rates = self._initial_rates()
        self._remove_bits(rates)
        roots = [i for i, k in enumerate(self.tracks) if self.figure.parents[k % self.n_joints] < 0]
        other = rates.copy()
        other[roots] = np.minimum(other[roots] + 1, RAW_RATE)
        self._decode_all(other)
        self._remove_bits(other)
        better = (self._decode_all(other) <= self.tolerance_mm) & (other.sum(axis=0) < rates.sum(axis=0))
        return np.where(better, other, rates)

    def _remove_bits(self, rates: Ints) -> None:
        """Remove bits from each track in turn, in place, while the error stays within the tolerance."""
        is_open = rates > 0
        while is_open.any():
            for i in range(len(self.tracks)):
                segments = np.flatnonzero(is_open[i])
                if len(segments):
                    is_within = self._try_rates(i, segments, rates[i, segments] - 1)
                    rates[i, segments[is_within]] -= 1
                    is_open[i, segments[~is_within]] = (
                        False  # other tracks only become coarser, so later attempts would also fail
                    )
            is_open &= rates > 0

    def _max_reach_mm(self, k: int) -> float:
        """Return the largest movement of points in mm per unit of a track (sine of half an angle, or a length)."""
        if k >= self.n_joints:
            return self.mm
        offsets = self.figure.world_positions[self.descendants[k]] - self.figure.world_positions[k]
        return 2.0 * max(SHELL_MM, float(np.linalg.norm(offsets, axis=-1).max()))

    def _initial_rates(self) -> Ints:
        """Return the coarsest proportional rates within the tolerance."""
        low, high = np.full(self.n_segments, -OCTAVES), np.full(self.n_segments, OCTAVES)
        for _ in range(HALVINGS):
            octaves = (low + high) / 2
            good = self._decode_all(self._proportional_rates(octaves)) <= self.tolerance_mm
            low, high = np.where(good, low, octaves), np.where(good, octaves, high)
        rates = self._proportional_rates(high)
        rates[:, self._decode_all(rates) > self.tolerance_mm] = RAW_RATE
        self._decode_all(rates)
        return rates

    def _proportional_rates(self, octaves: Array) -> Ints:
        """Return rates at which a step of any track moves points by about the tolerance; finer by ``octaves`` (S,)."""
        every = np.arange(self.n_segments)
        widths = np.array([ranges.width(every).max(axis=1) for ranges in self.ranges]).reshape(-1, self.n_segments)
        steps = widths * self.reach_mm[:, None] / self.tolerance_mm * 2.0**octaves
        return np.clip(np.ceil(np.log2(steps + 1)), 0, RAW_RATE).astype(np.int64)

    def _decode_all(self, rates: Ints) -> Array:
        """Decode all tracks at these rates into the state; return the largest error of each segment."""
        values = self.values.copy()
        for i, k in enumerate(self.tracks):
            values[k] = self.ranges[i].round_trip(values[k], self.of_frame, rates[i, self.of_frame])
        quaternions = xyz_to_quaternion(values[: self.n_joints])
        for i, k in enumerate(self.tracks):
            is_raw = rates[i, self.of_frame] == RAW_RATE
            if k < self.n_joints and is_raw.any():
                quaternions[k, is_raw] = np.float32(self.raw[k][is_raw])
        self.local_rotations = rotation_matrices(quaternions)
        self.local_positions = self.mm * values[self.n_joints :]
        self.world_positions, self.world_rotations = (
            np.empty(self.local_positions.shape),
            np.empty(self.local_rotations.shape),
        )
        max_errors = np.zeros(len(self.of_frame))
        for j, parent in enumerate(self.figure.parents):
            local = self.local_positions[j], self.local_rotations[j]
            self.world_positions[j], self.world_rotations[j] = (
                local
                if parent < 0
                else apply_parent(self.world_positions[parent], self.world_rotations[parent], *local)
            )
            max_errors = np.maximum(
                max_errors, self._joint_errors_mm(j, slice(None), self.world_positions[j], self.world_rotations[j])
            )
        return self.segments.max_per_segment(max_errors)

    def _try_rates(self, i: int, segments: Ints, rates: Ints) -> np.ndarray:
        """Try rates of one track in ``segments``; apply those within the tolerance and return which they are."""
        k = self.tracks[i]
        joint = k % self.n_joints
        rate_of = np.full(self.n_segments, -1)
        rate_of[segments] = rates
        frames = np.flatnonzero(rate_of[self.of_frame] >= 0)
        segment = self.of_frame[frames]
        values = self.ranges[i].round_trip(self.values[k, frames], segment, rate_of[segment])
        is_rotation = k < self.n_joints
        local = {
            joint: (
                self.local_positions[joint, frames] if is_rotation else self.mm * values,
                rotation_matrices(xyz_to_quaternion(values)) if is_rotation else self.local_rotations[joint, frames],
            )
        }
        world, max_errors = self._update_descendants(joint, local, frames)
        edges = np.flatnonzero(np.diff(segment, prepend=-1))
        is_within = np.maximum.reduceat(max_errors, edges) <= self.tolerance_mm
        is_accepted = np.repeat(is_within, self.segments.lengths[segments])
        accepted_frames = frames[is_accepted]
        self.local_positions[joint, accepted_frames], self.local_rotations[joint, accepted_frames] = (
            local[joint][0][is_accepted],
            local[joint][1][is_accepted],
        )
        for j, (positions, rotations) in world.items():
            self.world_positions[j, accepted_frames], self.world_rotations[j, accepted_frames] = (
                positions[is_accepted],
                rotations[is_accepted],
            )
        return is_within

    def _update_descendants(
        self, joint: int, changed: dict[int, tuple[Array, Array]], frames: Ints
    ) -> tuple[dict[int, tuple[Array, Array]], Array]:
        """Return world transforms of a changed joint and its descendants, and the largest errors (N,)."""
        world: dict[int, tuple[Array, Array]] = {}
        max_errors = np.zeros(len(frames))
        for j in self.descendants[joint]:
            local = changed.get(j) or (self.local_positions[j, frames], self.local_rotations[j, frames])
            parent = self.figure.parents[j]
            if parent >= 0:
                above = world.get(parent) or (
                    self.world_positions[parent, frames],
                    self.world_rotations[parent, frames],
                )
                local = apply_parent(*above, *local)
            world[j] = local
            max_errors = np.maximum(max_errors, self._joint_errors_mm(j, frames, *local))
        return world, max_errors

    def _joint_errors_mm(self, j: int, frames: Ints | slice, positions: Array, rotations: Array) -> Array:
        figure = self.figure
        return point_errors_mm(
            positions - figure.world_positions[j, frames],
            rotations - figure.world_rotations[j, frames],
            figure.ends[j],
        )


def _descendants(parents: tuple[int, ...]) -> list[list[int]]:
    """Return each joint with its descendants, parents first."""
    descendants: list[list[int]] = [[] for _ in parents]
    for j in range(len(parents)):
        ancestor = j
        while ancestor >= 0:
            descendants[ancestor].append(j)
            ancestor = parents[ancestor]
    return descendants
