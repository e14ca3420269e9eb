"""The columns that are stored: the numbers of a skeleton's poses that can change."""

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
    """The columns of a motion: for each joint its moving coordinates, then its angles or its quaternion.

    The angles are those of the joint's rotation channels, in their order, from which the BVH reader computes
    quaternions; a joint whose rotations do not come from such angles has the four components of its quaternions.
    """

    skeleton: Skeleton
    moving: tuple[tuple[bool, bool, bool], ...]  # by joint and axis: has a column; else constant at its offset
    is_free: tuple[bool, ...]  # by joint: its rotations are stored as quaternions

    @cached_property
    def column_sets(self) -> list[list[int]]:
        """Return the non-empty sets of related columns: a joint's coordinates, or its angles or quaternion."""
        counts = []
        for j in range(self.skeleton.n_joints):
            counts += [sum(self.moving[j]), 4 if self.is_free[j] else len(self.rotation_axes[j])]
        ends = np.cumsum(counts).tolist()
        return [list(range(end - count, end)) for end, count in zip(ends, counts, strict=True) if count]

    @cached_property
    def rotation_axes(self) -> list[list[int]]:
        """Return the axes of the rotation channels of each joint, in order."""
        return [[AXES.index(c[0]) for c in own if c in ROTATION_CHANNELS] for own in self.skeleton.channels]

    @property
    def n_columns(self) -> int:
        """Return the number of columns."""
        return sum(map(len, self.column_sets))

    @cached_property
    def _column_tables(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the columns of positions (J, 3), angles (J, 3) with their axes, and quaternions (J, 4); -1: absent."""
        joints = self.skeleton.n_joints
        positions, angles, axes = np.full((3, joints, 3), -1, np.int32)
        quaternions = np.full((joints, 4), -1, np.int32)
        column = 0
        for j in range(joints):
            for axis in np.flatnonzero(self.moving[j]):
                positions[j, axis] = column
                column += 1
            n_columns = 4 if self.is_free[j] else len(self.rotation_axes[j])
            if self.is_free[j]:
                quaternions[j] = range(column, column + 4)
            else:
                angles[j, :n_columns], axes[j, :n_columns] = range(column, column + n_columns), self.rotation_axes[j]
            column += n_columns
        return positions, angles, axes, quaternions

    def poses(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the translations (N, J, 3) and rotations (N, J, 4) of the columns' ``values`` (N, C)."""
        positions, angles, axes, quaternions = self._column_tables
        offsets = self.skeleton.offsets
        translations, rotations = _core.poses_from_channels(values, positions, angles, axes, offsets)
        for j in np.flatnonzero(self.is_free):
            rotations[:, j] = values[:, quaternions[j]]
        return translations, rotations

    @cached_property
    def channel_columns(self) -> list[int]:
        """Return the column of each of the skeleton's channels, in file order; -1: constant at the joint's offset."""
        positions, angle_columns, _, _ = self._column_tables
        columns: list[int] = []
        for j, joint_channels in enumerate(self.skeleton.channels):
            angles = iter(angle_columns[j].tolist())
            columns += [
                int(positions[j, AXES.index(c[0])]) if c in POSITION_CHANNELS else next(angles) for c in joint_channels
            ]
        return columns

    def channels(self, values: Floats) -> Floats:
        """Return the values (N, channels) of the skeleton's channels; no joint may be stored as quaternions."""
        offsets = [
            self.skeleton.offsets[j, AXES.index(channel[0])] if channel in POSITION_CHANNELS else 0.0
            for j, own in enumerate(self.skeleton.channels)
            for channel in own
        ]
        result = np.tile(np.array(offsets, float), (len(values), 1))
        moving = np.array(self.channel_columns, int) >= 0
        result[:, moving] = values[:, np.array(self.channel_columns, int)[moving]]
        return result


def channel_layout(skeleton: Skeleton) -> Layout:
    """Return the layout in which every column is a channel of the skeleton."""
    moving = [tuple(channel in own for channel in POSITION_CHANNELS) for own in skeleton.channels]
    return Layout(skeleton, tuple((x, y, z) for x, y, z in moving), (False,) * skeleton.n_joints)
