"""The columns that are stored, and the exact conversion between their doubles and integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keypose import _core
from keypose.arrays import Floats, Ints
from keypose.model import Skeleton
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import AXES

Integers = NDArray[np.int64]

DECIMAL, SINGLE, DOUBLE, SCALED = range(4)  # decimals, float32 bits, float64 bits, multiples of a scale
MAX_DECIMALS = 22  # powers of ten up to this exponent are exact doubles
MAX_INTEGER = 1 << 51  # doubles distinguish neighbouring decimals below it
MAX_MULTIPLE = 1 << 31
MAX_SCALES = 4  # tried
_POWERS_OF_TEN = np.array([float(f"1e{d}") for d in range(MAX_DECIMALS + 1)])


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of a motion: for each joint its moving coordinates, then its angles or its quaternion.

    The angles are those of the rotation channels of the joint, in their order, from which the BVH reader computes
    quaternions. For rotations that are not computed from such angles, they are the four components of the quaternion.
    """

    skeleton: Skeleton
    is_moving: tuple[tuple[bool, bool, bool], ...]  # by joint and axis: has a column; else constant at its offset
    is_free: tuple[bool, ...]  # by joint: its rotations are stored as quaternions

    @cached_property
    def column_sets(self) -> list[list[int]]:
        """Return the non-empty sets of related columns: a joint's coordinates, or its angles or quaternion."""
        counts = []
        for j in range(self.skeleton.n_joints):
            counts += [sum(self.is_moving[j]), 4 if self.is_free[j] else len(self.rotation_axes[j])]
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
            for axis in np.flatnonzero(self.is_moving[j]):
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


@dataclass(frozen=True)
class NumberFormat:
    """A monotonic conversion of one column's doubles to integers.

    ``signed_zeros``: the column contains -0.0; the integers of negative decimals or multiples are one less, as -1
    represents -0.0.
    """

    kind: int
    decimals: int = 0
    scale: float = 1.0  # the numbers are multiples of it
    signed_zeros: bool = False

    def to_integers(self, values: Floats) -> Integers:
        """Return the integers of ``values``."""
        if self.kind in (DECIMAL, SCALED):
            scaled = values * _POWERS_OF_TEN[self.decimals] if self.kind == DECIMAL else values / self.scale
            integers: Integers = np.rint(scaled).astype(np.int64)
            return integers - np.signbit(values) if self.signed_zeros else integers
        bits = values.astype(np.float32).view(np.int32) if self.kind == SINGLE else values.view(np.int64)
        ordered = np.where(bits < 0, ~(bits & np.iinfo(bits.dtype).max), bits)
        return ordered.astype(np.int64)

    def to_floats(self, integers: Integers) -> Floats:
        """Return the doubles of ``integers``."""
        if self.kind in (DECIMAL, SCALED):
            scaled = (integers + (integers < 0) if self.signed_zeros else integers).astype(np.float64)
            with np.errstate(over="ignore"):  # overflow only occurs with invalid data
                values = scaled / _POWERS_OF_TEN[self.decimals] if self.kind == DECIMAL else scaled * self.scale
            return np.copysign(values, np.where(integers < 0, -1.0, 1.0)) if self.signed_zeros else values
        ordered = integers.astype(np.int32) if self.kind == SINGLE else integers
        bits = np.where(ordered < 0, ~ordered | np.iinfo(ordered.dtype).min, ordered)
        with np.errstate(invalid="ignore"):  # signalling NaNs only come from invalid data
            return bits.view(np.float32).astype(np.float64) if self.kind == SINGLE else bits.view(np.float64)


def same_bits(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Return where two arrays of doubles agree in every bit."""
    return np.asarray(np.ascontiguousarray(a).view(np.int64) == np.ascontiguousarray(b).view(np.int64))


def choose_number_formats(columns: Floats) -> list[NumberFormat]:
    """Return the simplest exact format of each of ``columns`` (C, N)."""
    formats: dict[int, NumberFormat] = {}
    remaining = np.arange(len(columns))
    for decimals in range(MAX_DECIMALS + 1):
        for c in remaining[_are_decimal(columns[remaining], decimals)].tolist():
            formats[c] = NumberFormat(DECIMAL, decimals, signed_zeros=_has_negative_zero(columns[c]))
        remaining = np.array([c for c in remaining.tolist() if c not in formats], int)
        if not len(remaining):
            break
    not_single = [c for c in remaining.tolist() if not _is_exact(NumberFormat(SINGLE), columns[c])]
    scales = _common_scales(columns[not_single])
    for c in remaining.tolist():
        scaled_formats = [
            NumberFormat(SCALED, scale=scale, signed_zeros=_has_negative_zero(columns[c])) for scale in scales
        ]
        candidates = scaled_formats if c in not_single else [NumberFormat(SINGLE)]
        formats[c] = next(
            (candidate for candidate in candidates if _is_exact(candidate, columns[c])), NumberFormat(DOUBLE)
        )
    return [formats[c] for c in range(len(columns))]


def _is_exact(number_format: NumberFormat, column: Floats) -> bool:
    with np.errstate(all="ignore"):
        return bool(same_bits(number_format.to_floats(number_format.to_integers(column)), column).all())


def _has_negative_zero(column: Floats) -> bool:
    return bool(np.signbit(column[column == 0]).any())


def _common_scales(columns: Floats) -> list[float]:
    """Return candidate scales: columns (C, N) may be multiples of them, as in C3D files; the most common first."""
    votes: dict[float, int] = {}
    for column in columns:
        sizes = np.unique(np.abs(column))
        steps = np.diff(sizes)
        min_step = float(steps.min()) if len(steps) else 0.0
        if not 0 < float(sizes[-1]) < MAX_MULTIPLE * min_step:
            continue
        scale = float(sizes[-1] / np.rint(sizes[-1] / min_step))
        votes[scale] = votes.get(scale, 0) + 1
    return sorted(votes, key=lambda scale: -votes[scale])[:MAX_SCALES]


def _are_decimal(columns: Floats, decimals: int) -> NDArray[np.bool_]:
    """Return which of the columns (C, N) are exact with that number of decimals."""
    fit = np.ones(len(columns), bool)
    for start in range(0, columns.shape[1], 1024):  # few frames are enough to exclude most columns
        block = columns[fit, start : start + 1024]
        scaled = block * _POWERS_OF_TEN[decimals]
        fit[fit] = ((np.abs(scaled) < MAX_INTEGER) & (np.rint(scaled) / _POWERS_OF_TEN[decimals] == block)).all(axis=1)
        if not fit.any():
            break
    return fit
