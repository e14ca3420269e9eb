"""Decode the frames of a motion, and the numbers of the BVH file from which it was read."""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import ModelError
from keypose.model import Pose, Skeleton
from keypose.storage.groups import CodingError, group_count, group_frames
from keypose.storage.lossless.angle_recovery import MAX_FRAME_TIME_LENGTH, ChannelTable
from keypose.storage.lossless.layout import Integers, Layout, NumberFormat
from keypose.storage.lossless.plan import Column, IntegerReader, NumberKind, kernel_plan


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
