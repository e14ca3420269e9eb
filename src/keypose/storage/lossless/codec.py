"""Encode and decode motions without loss, with the numbers of the BVH file from which they were read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose import _core
from keypose.arrays import MAX_MAGNITUDE, Bools, Floats
from keypose.errors import ModelError, OptionError
from keypose.model import Motion, Pose, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import AXES
from keypose.storage.groups import LOSSLESS, CodedFrames, CodingError, group_bounds, group_count, group_frames
from keypose.storage.lossless.angle_recovery import MAX_FRAME_TIME_LENGTH, ChannelTable, recover_angles
from keypose.storage.lossless.fit import fit_columns, order_columns
from keypose.storage.lossless.layout import Integers, Layout, NumberFormat, choose_number_formats, same_bits
from keypose.storage.lossless.plan import Column, IntegerReader, NumberKind, kernel_plan


def encode_lossless(motion: Motion, channels: ChannelTable | None = None) -> CodedFrames:
    """Encode the frames of ``motion`` and its reference pose without loss.

    ``channels``: the numbers of the BVH file from which the motion was read; they are then stored, too. Without them,
    the angles are recovered from the motion; joints for which that is impossible are stored as quaternions.
    """
    translations, rotations, n_reference_rows = _frames_with_reference(motion)
    table = None if channels is None else _check_channels(channels, motion, n_reference_rows)
    layout, values = _build_columns(motion.skeleton, translations, rotations, table)
    if not all(same_bits(a, b).all() for a, b in zip(layout.poses(values), (translations, rotations), strict=True)):
        raise OptionError("not the numbers that this motion was read from", subject=motion.name, option="channels")
    number_formats = choose_number_formats(np.ascontiguousarray(values.T))
    integers = np.array([s.to_integers(v) for s, v in zip(number_formats, values.T, strict=True)], np.int64).reshape(
        values.shape[::-1]
    )
    frame_integers = np.ascontiguousarray(integers[:, n_reference_rows:])
    bounds = group_bounds(motion.n_frames, motion.fps)
    order = order_columns(layout.column_sets, frame_integers)
    columns = fit_columns(order, frame_integers, number_formats, _are_angles(layout), bounds)
    flat_order = [c for own in order for c in own]
    columns = [
        replace(column, reference_values=tuple(integers[c, :n_reference_rows].tolist()))
        for c, column in zip(flat_order, columns, strict=True)
    ]
    coded_integers = frame_integers[
        [c for c, column in zip(flat_order, columns, strict=True) if column.constant is None]
    ]
    plan = kernel_plan(columns)
    bodies = tuple(
        _core.lossless_encode(plan, np.ascontiguousarray(coded_integers[:, start:stop])) for start, stop in bounds
    )
    for (start, stop), body in zip(bounds, bodies, strict=True):
        if (_core.lossless_decode(plan, body, stop - start) != coded_integers[:, start:stop]).any():
            raise AssertionError(f"{motion.name}: frames {start} to {stop - 1} are not what was coded")
    return CodedFrames(
        LOSSLESS, _encode_parameters(layout, order, columns, n_reference_rows, channels), (b"",) * len(bounds), bodies
    )


def _frames_with_reference(motion: Motion) -> tuple[Floats, Floats, int]:
    """Return translations and rotations of the reference pose, if any, and all frames; and the number of poses."""
    pose = motion.reference_pose
    if pose is None:
        return motion.translations, motion.rotations, 0
    return (np.concatenate((pose.translations[None], motion.translations)),
            np.concatenate((pose.rotations[None], motion.rotations)), 1)  # fmt: skip


def _check_channels(channels: ChannelTable, motion: Motion, n_reference_rows: int) -> Floats:
    """Return the values of the table; raise ``OptionError`` if its shape does not match the motion."""
    expected = n_reference_rows + motion.n_frames, sum(map(len, motion.skeleton.channels))
    if channels.values.shape != expected or channels.n_reference_rows != n_reference_rows:
        rows, columns = channels.values.shape
        raise OptionError(
            f"{rows} rows of {columns} numbers",
            subject=motion.name,
            option="channels",
            expected=f"{expected[0]} of {expected[1]}: those of the file that the motion was read from",
        )
    return channels.values


def _build_columns(
    skeleton: Skeleton, translations: Floats, rotations: Floats, table: Floats | None
) -> tuple[Layout, Floats]:
    """Return the layout of the columns, and their values (N, C)."""
    offsets = np.broadcast_to(skeleton.offsets, translations.shape)
    moving: Bools = np.asarray(~same_bits(translations, offsets).all(axis=0))
    values: list[Floats] = []
    is_free = []
    column = 0
    for j, joint_channels in enumerate(skeleton.channels):
        values += [translations[:, j, axis] for axis in np.flatnonzero(moving[j])]
        if table is None:
            angles = recover_angles(skeleton, j, np.ascontiguousarray(rotations[:, j]))
        else:
            rotation_columns = [
                column + k for k, channel in enumerate(joint_channels) if channel not in POSITION_CHANNELS
            ]
            angles, column = table[:, rotation_columns], column + len(joint_channels)
        is_free.append(angles is None)
        values += list((rotations[:, j] if angles is None else angles).T)
    layout = Layout(skeleton, tuple((bool(x), bool(y), bool(z)) for x, y, z in moving), tuple(is_free))
    return layout, np.stack(values, axis=1) if values else np.zeros((len(translations), 0))


def _are_angles(layout: Layout) -> Bools:
    """Return which columns are angles in degrees (C,)."""
    are_angles: list[bool] = []
    for moving, free, axes in zip(layout.is_moving, layout.is_free, layout.rotation_axes, strict=True):
        are_angles += [False] * sum(moving) + ([False] * 4 if free else [True] * len(axes))
    return np.array(are_angles, bool)


def _encode_parameters(
    layout: Layout, order: list[list[int]], columns: list[Column], n_reference_rows: int, channels: ChannelTable | None
) -> bytes:
    """Encode the parameters that all groups share."""
    out = _core.IntegerWriter()
    frame_time = channels.frame_time.encode() if channels is not None else b""
    for letter in (*frame_time, 0):
        out.write(NumberKind.LETTER, letter)
    out.write(NumberKind.REFERENCE_ROWS, n_reference_rows)
    for moving, free in zip(layout.is_moving, layout.is_free, strict=True):
        out.write(NumberKind.MOVING, sum(1 << axis for axis in range(len(AXES)) if moving[axis]))
        out.write(NumberKind.FREE, free)
    remaining_columns = iter(columns)
    for column_set in order:
        remaining = sorted(column_set)
        for c in column_set:
            if len(remaining) > 1:
                out.write(NumberKind.ORDER, remaining.index(c))
            remaining.remove(c)
            next(remaining_columns).write(out)
    return out.finish()


class LosslessDecoder:
    """Decodes the groups of one clip, in any order."""

    def __init__(self, skeleton: Skeleton, fps: float, n_frames: int, parameters: bytes) -> None:
        """``parameters`` are the bytes shared by all groups. Raises ``CodingError`` if they are invalid."""
        reader = IntegerReader(parameters)
        self._n_frames, self._group_frames, self._n_groups = n_frames, group_frames(fps), group_count(n_frames, fps)
        self.frame_time = _read_frame_time(reader)  # of the BVH file if its numbers are stored, else empty
        self._n_reference_rows = reader.read(NumberKind.REFERENCE_ROWS)
        joints = [(reader.read(NumberKind.MOVING, 0, 7), bool(reader.read(NumberKind.FREE))) for _ in skeleton.names]
        moving = tuple((bool(m & 1), bool(m & 2), bool(m & 4)) for m, _ in joints)
        self._layout = Layout(skeleton, moving, tuple(free for _, free in joints))
        self._order, self._columns = _read_columns(reader, self._layout.column_sets, self._n_reference_rows)
        reader.finish()
        self._plan = kernel_plan(self._columns)
        self._columns_by_format: dict[NumberFormat, list[int]] = {}
        for c, column in enumerate(self._columns):
            self._columns_by_format.setdefault(column.number_format, []).append(c)
        if self.frame_time and any(self._layout.is_free):
            raise CodingError("the numbers of a BVH file, but none for some joint")

    def decode_group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Return the translations (n, J, 3) and rotations (n, J, 4) of group ``g``, decoded from its ``body``."""
        if pose:
            raise CodingError("a pose apart from its group, where there can be none")
        return self._poses(self._values(g, body))

    def reference_pose(self) -> Pose | None:
        """Return the reference pose, or None."""
        if not self._n_reference_rows:
            return None
        translations, rotations = self._poses(self._reference_values())
        try:
            return Pose(translations[0], rotations[0])
        except ModelError as error:
            raise CodingError(str(error)) from None

    def channels(self, bodies: tuple[bytes, ...]) -> ChannelTable | None:
        """Return the numbers of the BVH file of the motion, from the bodies of all groups; None: not stored."""
        if not self.frame_time:
            return None
        values = [self._reference_values(), *(self._values(g, body) for g, body in enumerate(bodies))]
        try:
            return ChannelTable(self._layout.channels(np.concatenate(values)), self.frame_time, self._n_reference_rows)
        except ModelError as error:
            raise CodingError(str(error)) from None

    def _reference_values(self) -> Floats:
        integers = np.array([column.reference_values for column in self._columns], np.int64)
        return self._to_values(integers.reshape(len(self._columns), self._n_reference_rows))

    def _values(self, g: int, body: bytes) -> Floats:
        """Return the values (n, C) of group ``g``."""
        frames_left = self._n_frames - g * self._group_frames
        count = frames_left if g == self._n_groups - 1 else self._group_frames
        try:
            decoded = _core.lossless_decode(self._plan, body, count)
        except ValueError as error:
            raise CodingError(str(error)) from None
        integers = np.empty((len(self._columns), count), np.int64)
        integers[:] = np.array([column.constant or 0 for column in self._columns], np.int64)[:, None]
        integers[[c for c, column in enumerate(self._columns) if column.constant is None]] = decoded
        return self._to_values(integers)

    def _to_values(self, integers: Integers) -> Floats:
        """Convert integers (C, n) in coding order to values (n, C) in layout order."""
        values = np.empty(integers.shape[::-1])
        for number_format, columns in self._columns_by_format.items():
            values[:, [self._order[c] for c in columns]] = number_format.to_floats(integers[columns]).T
        if not (np.abs(values) <= MAX_MAGNITUDE).all():  # also rejects NaN
            raise CodingError(f"a number beyond {MAX_MAGNITUDE:g}")
        return values

    def _poses(self, values: Floats) -> tuple[Floats, Floats]:
        translations, rotations = self._layout.poses(values)
        if (np.abs(np.einsum("...k,...k->...", rotations, rotations) - 1.0) > 1e-11).any():
            raise CodingError("a rotation that is no unit quaternion")
        return translations, rotations


def _read_frame_time(reader: IntegerReader) -> str:
    word = bytearray()
    while letter := reader.read(NumberKind.LETTER, 0, 127):
        word.append(letter)
        if len(word) > MAX_FRAME_TIME_LENGTH:
            raise CodingError("an endless frame time")
    return word.decode()


def _read_columns(
    reader: IntegerReader, sets: list[list[int]], n_reference_rows: int
) -> tuple[list[int], list[Column]]:
    """Return the layout index of each column in coding order, and the columns."""
    order: list[int] = []
    columns: list[Column] = []
    n_coded = 0
    for column_set in sets:
        remaining = list(column_set)
        while remaining:
            order.append(
                remaining.pop(reader.read(NumberKind.ORDER, 0, len(remaining) - 1) if len(remaining) > 1 else 0)
            )
            columns.append(Column.read(reader, n_coded, n_reference_rows))
            n_coded += columns[-1].constant is None
    return order, columns
