"""What is kept about the frames of clips, read: what search compares, and what is shown."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from keypose.errors import FormatError, ModelError
from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.covariance import KINDS
from keypose.library.extra import sa
from keypose.library.packing import PackingError, unpacked
from keypose.library.parts import PartTrack
from keypose.library.rankers.sheets import PARTS, Sheet
from keypose.library.rows import BLOCK
from keypose.library.tables import analyses, clips, descriptors, key_poses, schema, swings

POSES, SHEET, TRACK = "poses", "sheet", "track"  # names of rows of `descriptors` that are no descriptors of clips
LONGEST_STRIP = 16 << 20  # bytes of SVG
DESCRIPTORS = {"clip", *KINDS}  # a description has all of them
_PART = {part: k for k, part in enumerate(PARTS)}
OF_WINDOWS = ("vectors", "starts_s", "ends_s", "weights", "usual")

Numbers = Sequence[int]
Item = TypeVar("Item")
Rows = list[tuple[Any, ...]]


def _windows(arrays: Mapping[str, NDArray[Any]]) -> Windows:
    vectors, starts_s, ends_s, weights, usual = (arrays[what] for what in OF_WINDOWS)
    n = len(vectors)
    sound = (
        vectors.dtype == weights.dtype == np.float32
        and vectors.ndim == 2
        and all(each.shape == (n,) for each in (starts_s, ends_s, weights))
        and usual.shape == (2,)
    )
    if not sound:
        raise PackingError("arrays that do not fit together")
    return Windows(vectors, starts_s, ends_s, weights, (float(usual[0]), float(usual[1])))


# What search reads: of the clips of some numbers, by number; clips that are gone or have no such thing are left out.


def descriptions_of(connection: sa.Connection, numbers: Numbers) -> dict[int, Description]:
    """Descriptions; clips without a recognisable body have none."""
    found: defaultdict[int, tuple[dict[str, Windows], dict[str, Windows]]] = defaultdict(lambda: ({}, {}))
    others = descriptors.c.name.not_in((POSES, SHEET, TRACK))
    for number, name, arrays in _read(connection, numbers, others):
        windows = _sound(connection, number, _windows, arrays)
        found[number][0 if arrays.get("whole") else 1][name] = windows
    for number, both in found.items():
        lacking = DESCRIPTORS - both[0].keys() - both[1].keys()
        if lacking:
            _damaged(connection, number, f"no {', '.join(sorted(lacking))}")
    return {number: Description(*both) for number, both in found.items()}


def poses_of(connection: sa.Connection, numbers: Numbers) -> dict[int, Windows]:
    """Poses to search by; clips without a recognisable body have none."""
    return {
        number: _sound(connection, number, _windows, arrays)
        for number, _, arrays in _read(connection, numbers, descriptors.c.name == POSES)
    }


def tracks_of(connection: sa.Connection, numbers: Numbers) -> dict[int, PartTrack]:
    """Tracks to search parts by; clips without a recognisable body have none."""
    return {
        number: _sound(connection, number, _track, arrays)
        for number, _, arrays in _read(connection, numbers, descriptors.c.name == TRACK)
    }


def _track(arrays: Mapping[str, NDArray[Any]]) -> PartTrack:
    return PartTrack(arrays["vectors"], float(arrays["duration_s"]))


def sheets_of(connection: sa.Connection, numbers: Numbers) -> dict[int, Sheet]:
    """Swings as sheets; that of a clip without a recognisable body is empty."""
    rows = _swings_by_clip(connection, numbers)
    return {
        number: _sound(connection, number, _sheet, arrays, rows[number])
        for number, _, arrays in _read(connection, numbers, descriptors.c.name == SHEET)
    }


def _sheet(arrays: Mapping[str, NDArray[Any]], rows: Rows) -> Sheet:
    in_order = sorted((_PART[part], *numbers) for part, *numbers in rows)
    values = np.array([numbers for _, *numbers in in_order], np.float64).reshape(len(in_order), 6)
    parts = np.array([part for part, *_ in in_order], np.int32)
    present = arrays["present"]
    if present.shape != (len(PARTS),):
        raise PackingError("a sheet of other parts of the body")
    return Sheet(float(arrays["duration_s"]), present, parts, values[:, 0], values[:, 1], values[:, 2:5], values[:, 5])


def sheet_of(connection: sa.Connection, number: int) -> Sheet:
    """The swings of one clip, as a sheet."""
    found = sheets_of(connection, [number]).get(number)
    return _damaged(connection, number, "no sheet of swings") if found is None else found


def strip_of(connection: sa.Connection, number: int) -> str:
    """The strip of a clip as SVG; "" for one that cannot be drawn."""
    data = connection.execute(sa.select(analyses.c.strip).where(analyses.c.clip == number)).scalar()
    if not isinstance(data, bytes):
        _damaged(connection, number, "no strip")
    unpacking = zlib.decompressobj()
    try:
        svg = unpacking.decompress(data, LONGEST_STRIP)
        if not unpacking.eof:
            _damaged(connection, number, "its strip goes on")
        return svg.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        _damaged(connection, number, str(error))


def key_frames_of(connection: sa.Connection, number: int) -> tuple[int, ...]:
    """The frames of the key poses, rising."""
    chosen = sa.select(key_poses.c.frame).where(key_poses.c.clip == number).order_by(key_poses.c.frame)
    frames = tuple(connection.scalars(chosen))
    if not frames or not all(isinstance(frame, int) for frame in frames):
        _damaged(connection, number, "no key poses")
    return frames


def changes_of(connection: sa.Connection) -> int:
    """A number that grows with every change of what searches answer."""
    changes = connection.execute(sa.select(schema.c.changes)).scalar_one()
    if not isinstance(changes, int):
        where = connection.engine.url.database or "the library"
        raise FormatError(where, f"{changes!r:.60} changes, expected a number: rebuild() makes it sound")
    return changes


def blocks(numbers: Numbers) -> Iterable[list[int]]:
    """Numbers, as many at a time as a database takes in one question."""
    return (list(numbers[first : first + BLOCK]) for first in range(0, len(numbers), BLOCK))


def _read(
    connection: sa.Connection, numbers: Numbers, which: sa.ColumnElement[bool]
) -> Iterable[tuple[int, str, dict[str, NDArray[Any]]]]:
    columns = (descriptors.c.clip, descriptors.c.name, descriptors.c.data)
    for some in blocks(numbers):
        for number, name, data in connection.execute(sa.select(*columns).where(columns[0].in_(some), which)):
            yield number, name, _sound(connection, number, unpacked, data)


def _swings_by_clip(connection: sa.Connection, numbers: Numbers) -> defaultdict[int, Rows]:
    found: defaultdict[int, Rows] = defaultdict(list)
    for some in blocks(numbers):
        for number, *row in connection.execute(sa.select(swings).where(swings.c.clip.in_(some))):
            found[number].append(tuple(row))
    return found


def _sound(connection: sa.Connection, number: int, read: Callable[..., Item], *arguments: Any) -> Item:
    try:
        return read(*arguments)
    except (PackingError, ModelError, KeyError, TypeError, ValueError) as error:
        _damaged(connection, number, str(error))


def _damaged(connection: sa.Connection, number: int, says: str) -> NoReturn:
    where = connection.engine.url.database or "the library"
    name = connection.execute(sa.select(clips.c.name).where(clips.c.id == number)).scalar() or f"clip {number}"
    raise FormatError(where, f"what is kept about the frames of {name} is damaged ({says}), expected an analysis: "
                             "rebuild() makes it anew")  # fmt: skip
