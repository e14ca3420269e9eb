"""Bytes to the frames of a motion, bit for bit, and to the numbers of the BVH file that it came from."""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import GREATEST_NUMBER, Floats
from keypose.errors import ModelError
from keypose.model import Pose, Skeleton
from keypose.storage.groups import CodingError, group_count, group_frames
from keypose.storage.lossless.layout import Layout
from keypose.storage.lossless.plan import Column, plan_of
from keypose.storage.lossless.spelling import Spelling, Wholes
from keypose.storage.lossless.stream import Kind, NumbersIn
from keypose.storage.lossless.table import LONGEST_WORD, ChannelTable


class LosslessDecoder:
    """Reads the groups of one clip, in any order."""

    def __init__(self, skeleton: Skeleton, fps: float, n_frames: int, clip: bytes) -> None:
        """``clip`` is what all groups share. Raises ``CodingError`` where no encoder can have written it."""
        numbers = NumbersIn(clip)
        self._n_frames, self._group_frames, self._n_groups = n_frames, group_frames(fps), group_count(n_frames, fps)
        self.frame_time = _word(numbers)  # of the BVH file whose numbers are kept; none: empty
        self._apart = numbers.take(Kind.APART)
        joints = [(numbers.take(Kind.MOVING, 0, 7), bool(numbers.take(Kind.FREE))) for _ in skeleton.names]
        moving = tuple((bool(m & 1), bool(m & 2), bool(m & 4)) for m, _ in joints)
        self._layout = Layout(skeleton, moving, tuple(free for _, free in joints))
        self._order, self._columns = _columns(numbers, self._layout.sets, self._apart)
        numbers.finish()
        self._plan = plan_of(self._columns)
        self._alike: dict[Spelling, list[int]] = {}
        for c, column in enumerate(self._columns):
            self._alike.setdefault(column.spelling, []).append(c)
        if self.frame_time and any(self._layout.free):
            raise CodingError("the numbers of a BVH file, but none for some joint")

    def group(self, g: int, pose: bytes, body: bytes, next_pose: bytes | None) -> tuple[Floats, Floats]:
        """Translations (n, J, 3) and rotations (n, J, 4) of group ``g``, from its ``body`` alone."""
        if pose:
            raise CodingError("a pose apart from its group, where there can be none")
        return self._poses(self._values(g, body))

    def reference_pose(self) -> Pose | None:
        """The pose that is kept apart from the movement."""
        if not self._apart:
            return None
        translations, rotations = self._poses(self._apart_values())
        try:
            return Pose(translations[0], rotations[0])
        except ModelError as error:
            raise CodingError(str(error)) from None

    def channels(self, bodies: tuple[bytes, ...]) -> ChannelTable | None:
        """The numbers of the BVH file that the motion came from, from the bodies of all groups; None: not kept."""
        if not self.frame_time:
            return None
        values = [self._apart_values(), *(self._values(g, body) for g, body in enumerate(bodies))]
        try:
            return ChannelTable(self._layout.channels(np.concatenate(values)), self.frame_time, self._apart)
        except ModelError as error:
            raise CodingError(str(error)) from None

    def _apart_values(self) -> Floats:
        wholes = np.array([column.apart for column in self._columns], np.int64)
        return self._spelt(wholes.reshape(len(self._columns), self._apart))

    def _values(self, g: int, body: bytes) -> Floats:
        """The numbers (n, C) of group ``g``, as the file or the motion had them."""
        rest = self._n_frames - g * self._group_frames
        count = rest if g == self._n_groups - 1 else self._group_frames
        try:
            coded = _core.lossless_decode(self._plan, body, count)
        except ValueError as error:
            raise CodingError(str(error)) from None
        wholes = np.empty((len(self._columns), count), np.int64)
        wholes[:] = np.array([column.constant or 0 for column in self._columns], np.int64)[:, None]
        wholes[[c for c, column in enumerate(self._columns) if column.constant is None]] = coded
        return self._spelt(wholes)

    def _spelt(self, wholes: Wholes) -> Floats:
        """The numbers (n, C) in the order of the layout from whole ones (C, n) in that of coding."""
        values = np.empty(wholes.shape[::-1])
        for spelling, columns in self._alike.items():
            values[:, [self._order[c] for c in columns]] = spelling.values(wholes[columns]).T
        if not (np.abs(values) <= GREATEST_NUMBER).all():  # nor NaN
            raise CodingError(f"a number beyond {GREATEST_NUMBER:g}")
        return values

    def _poses(self, values: Floats) -> tuple[Floats, Floats]:
        translations, rotations = self._layout.poses(values)
        if (np.abs(np.einsum("...k,...k->...", rotations, rotations) - 1.0) > 1e-11).any():
            raise CodingError("a rotation that is no unit quaternion")
        return translations, rotations


def _word(numbers: NumbersIn) -> str:
    word = bytearray()
    while letter := numbers.take(Kind.LETTER, 0, 127):
        word.append(letter)
        if len(word) > LONGEST_WORD:
            raise CodingError("an endless frame time")
    return word.decode()


def _columns(numbers: NumbersIn, sets: list[list[int]], apart: int) -> tuple[list[int], list[Column]]:
    """The columns in the order of coding, and where each stands among all."""
    order: list[int] = []
    columns: list[Column] = []
    coded = 0
    for own in sets:
        waiting = list(own)
        while waiting:
            order.append(waiting.pop(numbers.take(Kind.ORDER, 0, len(waiting) - 1) if len(waiting) > 1 else 0))
            columns.append(Column.read(numbers, coded, apart))
            coded += columns[-1].constant is None
    return order, columns
