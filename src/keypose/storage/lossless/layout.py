"""Which numbers of a skeleton's poses change at all: the columns that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Ints
from keypose.model import Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import AXES


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a motion: for each joint its moving coordinates, then its turns or its quaternion.

    A joint's turns are the angles of its rotation channels, in their order, from which the BVH reader makes
    quaternions; a joint whose rotations come from no such numbers has the four parts of its quaternions instead.
    """

    skeleton: Skeleton
    moving: tuple[tuple[bool, bool, bool], ...]  # by joint and axis: has a column; else it stays at its offset
    free: tuple[bool, ...]  # by joint: its rotations are stored as quaternions

    @cached_property
    def sets(self) -> list[list[int]]:
        """Columns that belong together: a joint's coordinates, a joint's turns or quaternion; without empty ones."""
        counts = []
        for j in range(self.skeleton.n_joints):
            counts += [sum(self.moving[j]), 4 if self.free[j] else len(self.turns[j])]
        ends = np.cumsum(counts).tolist()
        return [list(range(end - count, end)) for end, count in zip(ends, counts, strict=True) if count]

    @cached_property
    def turns(self) -> list[list[int]]:
        """The axes about which the rotation channels of each joint turn, in order."""
        return [[AXES.index(c[0]) for c in own if c in ROTATION_CHANNELS] for own in self.skeleton.channels]

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return sum(map(len, self.sets))

    @cached_property
    def _tables(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The columns of positions (J, 3), of turns (J, 3) and their axes, of quaternions (J, 4); -1 where absent."""
        joints = self.skeleton.n_joints
        positions, turns, axes = np.full((3, joints, 3), -1, np.int32)
        quaternions = np.full((joints, 4), -1, np.int32)
        column = 0
        for j in range(joints):
            for axis in np.flatnonzero(self.moving[j]):
                positions[j, axis] = column
                column += 1
            own = 4 if self.free[j] else len(self.turns[j])
            if self.free[j]:
                quaternions[j] = range(column, column + 4)
            else:
                turns[j, :own], axes[j, :own] = range(column, column + own), self.turns[j]
            column += own
        return positions, turns, axes, quaternions

    def poses(self, values: Floats) -> tuple[Floats, Floats]:
        """Translations (N, J, 3) and rotations (N, J, 4) of the columns' ``values`` (N, C)."""
        positions, turns, axes, quaternions = self._tables
        offsets = self.skeleton.offsets
        translations, rotations = _core.poses_from_channels(values, positions, turns, axes, offsets)
        for j in np.flatnonzero(self.free):
            rotations[:, j] = values[:, quaternions[j]]
        return translations, rotations

    @cached_property
    def channel_columns(self) -> list[int]:
        """The column of each of the skeleton's channels, in file order; -1: it stays at its joint's offset."""
        positions, turns, _, _ = self._tables
        columns: list[int] = []
        for j, own in enumerate(self.skeleton.channels):
            angles = iter(turns[j].tolist())
            columns += [int(positions[j, AXES.index(c[0])]) if c in POSITION_CHANNELS else next(angles) for c in own]
        return columns

    def channels(self, values: Floats) -> Floats:
        """The numbers (N, channels) of the skeleton's channels; no joint is stored as quaternions."""
        offsets = [
            self.skeleton.offsets[j, AXES.index(channel[0])] if channel in POSITION_CHANNELS else 0.0
            for j, own in enumerate(self.skeleton.channels)
            for channel in own
        ]
        numbers = np.tile(np.array(offsets, float), (len(values), 1))
        moving = np.array(self.channel_columns, int) >= 0
        numbers[:, moving] = values[:, np.array(self.channel_columns, int)[moving]]
        return numbers


def channel_layout(skeleton: Skeleton) -> Layout:
    """The layout of which every column is a channel of the skeleton."""
    moving = [tuple(channel in own for channel in POSITION_CHANNELS) for own in skeleton.channels]
    return Layout(skeleton, tuple((x, y, z) for x, y, z in moving), (False,) * skeleton.n_joints)
