"""Read AMC, the motion file of an Acclaim pair: for each frame its number, then a line of values per bone.

In nearly every file all frames have the layout of the first one. Such a file is checked as one table of word positions,
and its numbers are parsed in bulk. Any other file is read line by line, which takes about 25 times as long, accepts
comments and blank lines, and reports the line of every fault.
"""

from __future__ import annotations

import io
import math
from array import array
from dataclasses import dataclass

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.errors import FormatError, format_count
from keypose.formats.acclaim.asf import BOM, NUMBER, AcclaimSkeleton, warn_unknown
from keypose.formats.base import Source

_FRAME_DIGITS = 9
_NOT_FINITE = (b"nan", b"inf", b"infinity")


@dataclass(frozen=True, eq=False)
class AmcFrames:
    """The values of an AMC file, unchanged."""

    values: Floats  # (T, C)
    columns: dict[int, int]  # joint -> the first of its columns, one for each dof
    first_frame: int  # the number of the first frame in the file
    degrees: bool | None  # None: not stated


@dataclass(frozen=True)
class _Body:
    """The text of the file and where its frames begin."""

    text: bytes  # of the whole file, with "\n" after every line
    start: int
    line: int
    degrees: bool | None


def read_frames(source: Source, asf: AcclaimSkeleton) -> AmcFrames:
    """Read all frames of an AMC file and check them against its skeleton."""
    body = _read_header(source)
    return _read_regular(source, asf, body) or _read_lines(source, asf, body)


def _read_header(source: Source) -> _Body:
    """Read the lines before the first frame: comments and keywords."""
    text = source.data.removeprefix(BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    degrees = None
    unknown: list[tuple[str, int]] = []
    start, line = 0, 0
    for line, raw in enumerate(io.BytesIO(text), 1):
        words = _words(raw)
        if words and _is_frame_number(words):
            warn_unknown(source, unknown)
            return _Body(text, start + raw.index(words[0]), line, degrees)
        if words and words[0].upper() in (b":DEGREES", b":RADIANS"):
            degrees = words[0].upper() == b":DEGREES"
        elif words and words[0].startswith(b":"):
            if words[0].upper() != b":FULLY-SPECIFIED":
                unknown.append((words[0].decode("latin-1"), line))
        elif words:
            raise source.error(
                f"{_quote(words[0])}",
                code="syntax",
                line=line,
                expected=":FULLY-SPECIFIED, :DEGREES, :RADIANS or a frame number",
            )
        start += len(raw)
    raise source.error(
        "no frames", code="missing_data", line=max(line, 1), expected="a frame number on a line of its own"
    )


def _read_regular(source: Source, asf: AcclaimSkeleton, body: _Body) -> AmcFrames | None:
    """Read all frames at once if each has exactly the layout of the first one and they are in order; else None."""
    layout = _first_layout(asf, body)
    if layout is None or body.text.find(b"#", body.start) >= 0:
        return None
    widths = [len(asf.dof[joint]) for joint in layout]
    names = [_bone_name(asf, joint) for joint in layout]
    lines = 1 + len(layout)
    heads = np.cumsum([0, 1, *(1 + width for width in widths)])[:-1]  # which words of a frame start a line
    letters = np.frombuffer(body.text + b"\n" * (1 + max(map(len, names), default=0)), np.uint8)[body.start :]
    blank = letters <= ord(" ")
    words = np.concatenate(([0], np.flatnonzero(blank[:-1] & ~blank[1:]) + 1))  # where words start
    frames, remainder = divmod(len(words), lines + sum(widths))
    if remainder:
        return None
    words = words.reshape(frames, -1)
    line_ends = np.flatnonzero(letters == ord("\n"))[: frames * lines]
    starts = np.concatenate(([0], line_ends[:-1] + 1))
    if len(starts) != frames * lines or (words[:, heads].reshape(-1) != starts).any():
        return None
    source.check_size(frames, asf.skeleton.n_joints)
    rows = letters.copy()
    for name, head in zip(names, heads[1:].tolist(), strict=True):
        at = words[:, head, None] + np.arange(len(name))
        if (letters[at] != np.frombuffer(name, np.uint8)).any() or not blank[at[:, -1] + 1].all():
            return None
        rows[at] = ord(" ")
    rows[line_ends] = ord(" ")
    rows[line_ends[lines - 1 :: lines]] = ord("\n")
    numbers, glued, truncated, fault, *_ = _core.parse_rows(rows.tobytes(), 0, 1 + sum(widths), frames, frames + 1)
    if glued or truncated or fault or len(numbers) != frames:
        return None
    first = int(numbers[0, 0])
    if (numbers[:, 0] != np.arange(first, first + frames)).any():
        return None
    columns = np.cumsum([1, *widths])[:-1].tolist()
    return AmcFrames(numbers, dict(zip(layout, columns, strict=True)), first, body.degrees)


def _first_layout(asf: AcclaimSkeleton, body: _Body) -> list[int] | None:
    """Return the joints in the order of the first frame, if it has every moving joint once and no other name."""
    joints = {_bone_name(asf, joint): joint for joint in range(asf.skeleton.n_joints)}
    stream = io.BytesIO(body.text)
    stream.seek(body.start)
    stream.readline()
    layout: list[int] = []
    for raw in stream:
        words = _words(raw)
        if words and _is_frame_number(words):
            break
        joint = joints.pop(words[0], None) if words else None
        if joint is None:
            return None
        layout.append(joint)
    return None if any(asf.dof[joint] for joint in joints.values()) else layout


def _read_lines(source: Source, asf: AcclaimSkeleton, body: _Body) -> AmcFrames:
    """Read line by line; an incomplete last frame is dropped with a warning."""
    reader = _LineReader(source, asf)
    cut_line = 0 if body.text.endswith(b"\n") else body.text.count(b"\n") + 1  # the last line, if it has no line end
    stream = io.BytesIO(body.text)
    stream.seek(body.start)
    for line, raw in enumerate(stream, body.line):
        words = _words(raw)
        if not words:
            continue
        reader.refuse_not_finite(words, line)
        source.check_size(reader.frames + 1, asf.skeleton.n_joints)
        try:
            reader.read(words, line)
        except FormatError:
            if line != cut_line or not reader.frames:
                raise
            reader.cut_line = line
    return reader.finish(body.degrees)


class _LineReader:
    """Collects frames from lines that may come in any order within a frame."""

    def __init__(self, source: Source, asf: AcclaimSkeleton) -> None:
        self.source, self.asf = source, asf
        self.joints = {_bone_name(asf, joint): joint for joint in range(asf.skeleton.n_joints)}
        self.moving_joints = [joint for joint in self.joints.values() if asf.dof[joint]]
        self.values = array("d")
        self.frames = 0  # complete ones
        self.first = 0  # the number of the first frame
        self.line = 0  # where the frame being read started, 0 before the first one
        self.open_values: dict[int, list[float]] = {}  # of the frame being read, by joint
        self.layout: list[int] = []  # the joints in the order of the first frame
        self.cut_line = 0  # the last line, if it is incomplete

    @property
    def number(self) -> int:
        """The number that the frame being read must have."""
        return self.first + self.frames

    def read(self, words: list[bytes], line: int) -> None:
        """Read one line: a frame number or the values of a bone."""
        if not _is_frame_number(words):
            self._read_bone(words, line)
            return
        number = int(words[0])
        if self.line:
            self._close_frame()
            self.open_values = {}
            if number != self.number:
                raise self.source.error(
                    f"frame {number} after frame {self.number - 1}",
                    code="inconsistent",
                    line=line,
                    value=number,
                    expected=f"{self.number}",
                )
        else:
            self.first = number
        self.line, self.open_values = line, {}

    def _read_bone(self, words: list[bytes], line: int) -> None:
        frame, bone = f"frame {self.number}", _quote(words[0])
        joint = self.joints.get(words[0])
        if joint is None:
            raise self.source.error(
                f"{frame} moves {bone}, but there is no such bone in {self.asf.path.name}",
                code="inconsistent",
                line=line,
            )
        if joint in self.open_values:
            raise self.source.error(f"{frame} has a second line for bone {bone}", code="inconsistent", line=line)
        if len(words) - 1 != len(self.asf.dof[joint]):
            raise self.source.error(
                f"{frame} has {format_count(len(words) - 1, 'value')} for bone {bone}",
                code="inconsistent",
                line=line,
                value=len(words) - 1,
                expected=self._expected_values(joint),
            )
        numbers = []
        for word, dof in zip(words[1:], self.asf.dof[joint], strict=True):
            text = word.decode("latin-1")
            value = float(text) if NUMBER.fullmatch(text) else math.nan
            if not math.isfinite(value):
                raise self.source.error(
                    _quote(word),
                    code="bad_number",
                    line=line,
                    subject=f"{frame}, {dof} of {bone}",
                    value=text,
                    expected="a finite number",
                )
            numbers.append(value)
        self.open_values[joint] = numbers

    def refuse_not_finite(self, words: list[bytes], line: int) -> None:
        """Raise FormatError for NaN and infinity, which cannot result from a truncated line."""
        bad_word = next((word for word in words[1:] if word.lower().lstrip(b"+-") in _NOT_FINITE), None)
        if bad_word is not None:
            raise self.source.error(
                _quote(bad_word),
                code="bad_number",
                line=line,
                subject=f"frame {self.number}, bone {_quote(words[0])}",
                value=bad_word.decode("latin-1"),
                expected="a finite number",
            )

    def _close_frame(self) -> None:
        missing = next((joint for joint in self.moving_joints if joint not in self.open_values), None)
        if missing is not None:
            name = self.asf.skeleton.names[missing]
            raise self.source.error(
                f"frame {self.number} has no values for bone {name!r}",
                code="missing_data",
                line=self.line,
                expected=self._expected_values(missing),
            )
        for joint in self.moving_joints:
            self.values.extend(self.open_values[joint])
        self.layout = self.layout or list(self.open_values)
        self.frames += 1

    def finish(self, degrees: bool | None) -> AmcFrames:
        """Return all frames; drop an incomplete last one with a warning."""
        try:
            self._close_frame()
        except FormatError:
            if not self.frames or list(self.open_values) != self.layout[: len(self.open_values)]:
                raise
            self.source.warn(
                f"frame {self.number} is incomplete (truncated file?) and is left out",
                code="incomplete_frame",
                value=self.number,
            )
        else:
            if self.cut_line:
                self.source.warn(
                    "the last line is incomplete and is left out", code="incomplete_frame", line=self.cut_line
                )
        starts = np.cumsum([0, *(len(self.asf.dof[joint]) for joint in self.moving_joints)]).tolist()
        table = np.frombuffer(self.values, np.float64).reshape(self.frames, starts[-1])
        columns = dict(zip(self.moving_joints, starts[:-1], strict=True))
        return AmcFrames(table, columns, self.first, degrees)

    def _expected_values(self, joint: int) -> str:
        dof = self.asf.dof[joint]
        return f"{len(dof)} ({' '.join(dof) or 'it does not move'}) by {self.asf.path.name}"


def _bone_name(asf: AcclaimSkeleton, joint: int) -> bytes:
    return asf.skeleton.names[joint].encode("utf-8", "surrogateescape")


def _words(raw: bytes) -> list[bytes]:
    return raw.split(b"#", 1)[0].split()


def _is_frame_number(words: list[bytes]) -> bool:
    return len(words) == 1 and words[0].isdigit() and len(words[0]) <= _FRAME_DIGITS


def _quote(word: bytes) -> str:
    return repr(word[:40].decode("utf-8", "surrogateescape"))
