"""Motion that arrives frame by frame: lines of BVH or JSON become curves, in order and without gaps.

A stream starts with a header, unless the skeleton is known: that of a BVH file up to "Frame Time", or a JSON object
with ``fps`` and either ``hierarchy`` (the header of a BVH file as text) or ``columns`` (pairs of a joint and a
channel). Each line after it is a frame: a row of numbers as in a BVH file, a JSON list, or a JSON object with
``values`` and the number ``frame``. The object ``{"end": true}`` ends the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from keypose import _core
from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import FormatError, OptionError, format_count, format_value
from keypose.features import JointNames, resolve_joints
from keypose.formats import bvh
from keypose.formats.base import Source, read_bytes
from keypose.limits import Limits
from keypose.model import Column, Skeleton
from keypose.options import MAX_FPS, MIN_FPS
from keypose.rotations import to_euler, unwrap_euler

MAX_LINE_BYTES = 1 << 20
MAX_HEADER_BYTES = 16 << 20
MAX_LINES_BEFORE = 1000  # blank lines before a header
MAX_COLUMNS = 30_000
MAX_FRAME_NUMBER = 1 << 53
MAX_EARLY = 8  # frames that wait for an earlier one
MAX_GAP_S = 1.0  # longer gaps are not filled: a new take starts


class Row(NamedTuple):
    """The numbers of one frame, as they were sent."""

    number: int | None  # that the sender gave it
    values: Floats


@dataclass(frozen=True)
class StreamHeader:
    """What the numbers of a stream are."""

    fps: float
    n_values: int  # of a row
    columns: tuple[Column, ...]  # the curves of the joints that are followed
    skeleton: Skeleton | None = None  # None: the numbers of a row are the curves
    joints: tuple[int, ...] = ()

    @property
    def n_joints(self) -> int:
        """The number of joints that are followed."""
        return len({column.joint for column in self.columns})

    @staticmethod
    def from_skeleton(skeleton: Skeleton, fps: float, joints: JointNames) -> StreamHeader:
        """Return the header of rows of channels; the curves are the Euler angles of ``joints`` in degrees."""
        indices = tuple(resolve_joints(skeleton, joints).tolist())
        columns = tuple(
            Column(skeleton.names[j], f"{axis}rotation") for j in indices for axis in skeleton.rotation_orders[j]
        )
        return StreamHeader(fps, sum(map(len, skeleton.channels)), columns, skeleton, indices)


def read_skeleton_file(path: Path) -> tuple[Skeleton, float]:
    """Return the skeleton and the frames per second of a BVH file, which need not have rows."""
    source = Source(path, read_bytes(path, Limits()))
    if not bvh.FORMAT.sniff(source.data):
        raise source.error("no BVH file", code="unknown_format", expected="one, as its channels say what a row holds")
    return bvh.read_header(source)


class RowCurves:
    """Turns rows into curves: Euler angles (D,) in degrees without jumps, as ``Features`` of kind "euler"."""

    def __init__(self, header: StreamHeader) -> None:
        self._skeleton = header.skeleton
        self._joints = np.array(header.joints, np.int32)
        orders = () if header.skeleton is None else np.array(header.skeleton.rotation_orders)[self._joints]
        self._by_order = {str(order): np.flatnonzero(np.array(orders) == order) for order in set(orders)}
        self._previous: Floats | None = None  # angles (1, J, 3) in radians

    def curves(self, row: Floats) -> Floats:
        """Return the curves at the next row."""
        if self._skeleton is None:
            return row
        _, rotations = bvh.poses_from_rows(row[None], self._skeleton)
        angles = np.empty((1, len(self._joints), 3))
        for order, places in self._by_order.items():
            angles[:, places] = to_euler(rotations[:, self._joints[places]], order)
        if self._previous is not None:
            angles = unwrap_euler(np.concatenate((self._previous, angles)))[1:]
        self._previous = angles
        return np.rad2deg(angles).reshape(-1)


class StreamParser:
    """Parses the lines of a stream; ``name`` is its name in messages, ``fps`` replaces the rate of a header."""

    def __init__(
        self,
        name: str,
        joints: JointNames,
        fps: float | None = None,
        skeleton: tuple[Skeleton, float] | None = None,
        max_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self.name = name
        self._max_bytes = max_bytes
        self._joints = joints
        self._fps = fps
        self._bvh_lines: list[bytes] = []
        self._n_bytes = 0
        self.header = None if skeleton is None else self._header_of(*skeleton)
        self.has_ended = False  # whether the sender ended the stream

    def parse(self, text: bytes, line: int) -> Row | None:
        """Return the frame in the line of that number; None if it is blank, part of the header or the end.

        Raise FormatError if it is bad. Without a header, all lines are bad.
        """
        text = text.strip()
        if not text and not self._bvh_lines:
            return None
        if len(text) > self._max_bytes:
            self._fail(line, "too long", code="limit", expected=f"at most {self._max_bytes} bytes")
        if not self._bvh_lines and text.startswith((b"{", b"[")):
            return self._parse_json(text, line)
        if self.header is None:
            self._read_bvh_header(text, line)
            return None
        return Row(None, self._parse_bvh_row(text, line))

    def finish(self, line: int) -> None:
        """Raise FormatError if the stream ends within its header."""
        if self.header is None and self._bvh_lines:
            self._fail(line, "the stream ends here", code="truncated", expected="the line 'Frame Time:' of the header")

    def _header_of(self, skeleton: Skeleton, fps: float) -> StreamHeader:
        return StreamHeader.from_skeleton(skeleton, self._fps or fps, self._joints)

    def _read_bvh_header(self, text: bytes, line: int) -> None:
        if not self._bvh_lines and not bvh.FORMAT.sniff(text):
            hint = "--skeleton names the BVH file of a stream without a header"
            self._fail(line, "no header", code="missing_data", expected="'HIERARCHY' or {\"fps\": ...}", hint=hint)
        if not self._bvh_lines:
            self._bvh_lines = [b""] * min(line - 1, MAX_LINES_BEFORE)  # so that errors name the lines of the stream
            self._n_bytes = 0
        self._bvh_lines.append(text)
        self._n_bytes += len(text) + 1
        is_last = text[:5].lower() == b"frame" and text[5:].lstrip()[:4].lower() == b"time"
        if not is_last and self._n_bytes <= MAX_HEADER_BYTES:
            return
        lines, self._bvh_lines = self._bvh_lines, []
        if not is_last:
            self._fail(line, f"a header of more than {MAX_HEADER_BYTES} bytes", code="limit")
        self.header = self._header_of(*bvh.read_header(Source(Path(self.name), b"\n".join((*lines, b"")))))

    def _parse_bvh_row(self, text: bytes, line: int) -> Floats:
        assert self.header is not None
        n = self.header.n_values
        values, _, n_truncated, fault, _, column, byte = _core.parse_rows(text + b"\n", 0, n, 1, 2)
        if n_truncated or fault == "wrong count":
            self._fail_count(line, n_truncated or column)
        if fault:
            token = text[byte : byte + 40].split()[0].decode("latin-1")
            self._fail(line, f"{token!r} is {fault}", code="bad_number", value=token, expected="a finite number")
        return self._check_values(values[0], line)

    def _parse_json(self, text: bytes, line: int) -> Row | None:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            problem = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
            self._fail(line, f"no JSON: {problem}", code="syntax")
        if isinstance(document, dict) and document.get("end") is True:
            self.has_ended = True
            return None
        if self.header is None:
            self.header = self._read_json_header(document, line)
            return None
        number = None
        if isinstance(document, dict):
            if "values" not in document:
                self._fail(line, "no 'values'", code="missing_data", expected='{"frame": 0, "values": [...]}')
            number = document.get("frame")
            if number is not None and not (type(number) is int and 0 <= number <= MAX_FRAME_NUMBER):
                problem = f"{format_value(number)} as 'frame'"
                self._fail(line, problem, code="bad_number", value=number, expected="a whole number from 0")
            document = document["values"]
        if not isinstance(document, list):
            self._fail(line, "no list of numbers", code="syntax", expected=f"one of {self.header.n_values}")
        if len(document) != self.header.n_values:
            self._fail_count(line, len(document))
        for value in document:
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_MAGNITUDE:
                problem = f"{format_value(value)} in 'values'"
                self._fail(line, problem, code="bad_number", value=value, expected="finite numbers")
        return Row(number, np.array(document, np.float64))

    def _read_json_header(self, document: Any, line: int) -> StreamHeader:
        if not isinstance(document, dict) or not {"hierarchy", "columns"} & document.keys():
            expected = 'a header: {"fps": 120, "columns": [["jaw", "open"], ...]}, or one with "hierarchy"'
            self._fail(line, "no header", code="missing_data", expected=expected)
        fps = document.get("fps")
        if fps is not None and (isinstance(fps, bool) or not isinstance(fps, int | float)):
            self._fail(line, f"{format_value(fps)} as 'fps'", code="bad_number", value=fps, expected="a number")
        if "hierarchy" in document:
            text = str(document["hierarchy"])
            if "MOTION" not in text.upper():
                text += "\nMOTION\nFrames: 0\nFrame Time: 0.01\n"
                fps = self._check_fps(fps, line)
            skeleton, header_fps = bvh.read_header(Source(Path(f"{self.name}, hierarchy"), text.encode()))
            return self._header_of(skeleton, fps or header_fps)
        columns = document["columns"]
        is_list = isinstance(columns, list) and 0 < len(columns) <= MAX_COLUMNS
        if not is_list or not all(isinstance(c, list) and len(c) == 2 and all(map(_is_name, c)) for c in columns):
            expected = f"1 to {MAX_COLUMNS} pairs of a joint and a channel"
            self._fail(line, "'columns' of another form", code="syntax", expected=expected)
        if self._joints != "body":
            hint = "leave it out: the columns of the header are followed"
            raise OptionError(option="joints", value=self._joints, expected="a skeleton", hint=hint)
        return StreamHeader(
            self._check_fps(fps, line), len(columns), tuple(Column(joint, channel) for joint, channel in columns)
        )

    def _check_fps(self, fps: float | None, line: int) -> float:
        rate = self._fps or fps
        if rate is None or not MIN_FPS <= rate <= MAX_FPS:
            expected = f"{MIN_FPS:g} to {MAX_FPS:g}"
            problem = "no 'fps'" if rate is None else f"{format_value(rate)} as 'fps'"
            self._fail(line, problem, code="bad_number", value=rate, expected=expected, hint="--fps gives it, too")
        return float(rate)

    def _check_values(self, values: Floats, line: int) -> Floats:
        if not np.abs(values).max() <= MAX_MAGNITUDE:
            value = float(values[np.abs(values).argmax()])
            self._fail(line, f"{value:g}", code="bad_number", value=value, expected=f"at most {MAX_MAGNITUDE:g}")
        return values

    def _fail_count(self, line: int, found: int) -> NoReturn:
        assert self.header is not None
        expected = str(self.header.n_values)
        self._fail(line, format_count(found, "number"), code="inconsistent", value=found, expected=expected)

    def _fail(self, line: int, problem: str, **fields: Any) -> NoReturn:
        raise FormatError(self.name, problem, line=line, **fields)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1000


class OrderedRow(NamedTuple):
    """A row at its place in time."""

    number: int
    values: Floats
    n_missing: int  # frames before it that did not arrive
    is_new_take: bool


class FrameOrder:
    """Puts rows into the order of their numbers. Rows without numbers are numbered as they come.

    A row that comes early waits until the missing ones arrive or ``MAX_EARLY`` rows wait. A row that comes too late is
    dropped. After a gap of more than ``MAX_GAP_S``, or if all rows come late, as when the sender starts again, a new
    take begins.
    """

    def __init__(self, fps: float) -> None:
        self._max_missing = max(1, round(MAX_GAP_S * fps))
        self._next: int | None = None  # number of the next row; None before the first
        self._next_unnumbered = 0
        self._early: dict[int, Floats] = {}
        self._n_late_in_a_row = 0
        self.n_dropped = 0

    def add(self, row: Row) -> Iterator[OrderedRow]:
        """Yield the rows that are next, now that ``row`` is here."""
        number = self._next_unnumbered if row.number is None else row.number
        self._next_unnumbered = number + 1
        if row.number is None:
            yield self._place(number, row.values)
        elif self._next is not None and number < self._next:
            self.n_dropped += 1
            self._n_late_in_a_row += 1
            if self._n_late_in_a_row > MAX_EARLY:
                self._early = {}
                yield self._place(number, row.values, is_new_take=True)
        elif number in self._early:
            self.n_dropped += 1
        else:
            self._next = number if self._next is None else self._next
            self._early[number] = row.values
            yield from self._take_next(MAX_EARLY)

    def skip(self) -> None:
        """Count a row that cannot be read. Its frame is missing, if the rows have no numbers."""
        self._next_unnumbered += 1

    def finish(self) -> Iterator[OrderedRow]:
        """Yield the rows that wait; drop those after a long gap, as a single row is no take."""
        for row in self._take_next(0):
            if row.is_new_take:
                self.n_dropped += 1 + len(self._early)
                return
            yield row

    def _take_next(self, max_early: int) -> Iterator[OrderedRow]:
        while self._early and (self._next in self._early or len(self._early) > max_early):
            number = min(self._early)
            yield self._place(number, self._early.pop(number))

    def _place(self, number: int, values: Floats, *, is_new_take: bool = False) -> OrderedRow:
        n_missing = number - (number if self._next is None else self._next)
        is_new_take = is_new_take or n_missing > self._max_missing
        self._next = number + 1
        self._n_late_in_a_row = 0
        return OrderedRow(number, values, 0 if is_new_take else n_missing, is_new_take)
