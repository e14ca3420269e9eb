"""Analyses of clips as rows, and back: what search reads."""

from __future__ import annotations

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from keypose.errors import FormatError, ModelError
from keypose.library.analysis import Analysis
from keypose.library.descriptors import Description, Windows
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.packing import PackingError, packed, unpacked
from keypose.library.parts import PartTrack
from keypose.library.rankers.sheets import PARTS, Sheet
from keypose.library.rows import BLOCK
from keypose.library.searching.near import indexed
from keypose.library.tables import analyses, clips, descriptors, key_poses, schema, swings

POSES, SHEET, TRACK = "poses", "sheet", "track"  # names of rows of `descriptors` that are no descriptors of clips
LONGEST_STRIP = 16 << 20  # bytes of SVG
_SEALED: dict[sa.Table, tuple[str, ...]] = {  # what is written for each clip, and sealed
    analyses: ("version", "strip"),
    key_poses: ("frame",),
    swings: ("part", "start_s", "end_s", "axis_left", "axis_up", "axis_forward", "angle_rad"),
    descriptors: ("name", "data"),
}
_PART = {part: k for k, part in enumerate(PARTS)}
_OF_WINDOWS = ("vectors", "starts_s", "ends_s", "weights", "usual")

Numbers = Sequence[int]
Item = TypeVar("Item")
Rows = list[tuple[Any, ...]]


def write_analysis(connection: sa.Connection, dialect: Dialect, number: int, analysis: Analysis) -> None:
    """Puts an analysis in the place of the one that a clip has, if it has any; ``rows.settle`` must follow."""
    rows: dict[sa.Table, Rows] = {
        key_poses: [(frame,) for frame in analysis.key_frames],
        swings: _swing_rows(analysis.sheet),
        descriptors: list(_descriptor_rows(analysis).items()),
        analyses: [(analysis.version, zlib.compress(analysis.strip.encode()))],
    }
    seal = _seal(rows)
    for table, values in rows.items():
        connection.execute(sa.delete(table).where(table.c.clip == number))
        named = [{"clip": number, **dict(zip(_SEALED[table], row, strict=True))} for row in values]
        if named:
            connection.execute(
                sa.insert(table), [{**row, "seal": seal} for row in named] if table is analyses else named
            )
    if dialect.has_vector_index:
        dialect.index_vectors(connection, number, indexed(analysis.description, analysis.track, analysis.poses))


def _swing_rows(sheet: Sheet) -> Rows:
    """Without any -0.0, of which databases make 0.0."""
    parts = [PARTS[part] for part in sheet.parts.tolist()]
    numbers = np.column_stack((sheet.starts_s, sheet.ends_s, sheet.axes, sheet.angles)) + 0.0
    return [(part, *row) for part, row in zip(parts, numbers.tolist(), strict=True)]


def _descriptor_rows(analysis: Analysis) -> dict[str, bytes]:
    rows = {SHEET: packed({"present": analysis.sheet.present, "duration_s": np.array(analysis.sheet.duration_s)})}
    if analysis.description is not None:
        whole = analysis.description.clip
        for name, windows in analysis.description.all.items():
            rows[name] = packed({**_of_windows(windows), "whole": np.array(name in whole)})
    if analysis.track is not None:
        track = analysis.track
        rows[TRACK] = packed({"vectors": track.vectors, "duration_s": np.array(track.duration_s)})
    if analysis.poses is not None:
        rows[POSES] = packed(_of_windows(analysis.poses))
    return rows


def _of_windows(windows: Windows) -> dict[str, NDArray[Any]]:
    return {what: np.asarray(getattr(windows, what)) for what in _OF_WINDOWS}


def _windows(arrays: Mapping[str, NDArray[Any]]) -> Windows:
    vectors, starts_s, ends_s, weights, usual = (arrays[what] for what in _OF_WINDOWS)
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
    return int(connection.execute(sa.select(schema.c.changes)).scalar_one())


def kept_seals(connection: sa.Connection) -> dict[int, str]:
    """The seal of each clip that has an analysis: another one when what is known of its frames has changed."""
    return {row.clip: row.seal for row in connection.execute(sa.select(analyses.c.clip, analyses.c.seal))}


def versions_of(connection: sa.Connection) -> dict[int, int]:
    """By which version each clip was analysed; those that were not are left out."""
    return {row.clip: row.version for row in connection.execute(sa.select(analyses.c.clip, analyses.c.version))}


def seals_now(connection: sa.Connection, numbers: Numbers) -> dict[int, str]:
    """The seals of what is there: one number for all rows of an analysis, whatever is in them."""
    found: dict[int, dict[sa.Table, Rows]] = {number: {table: [] for table in _SEALED} for number in numbers}
    for some in _blocks(numbers):
        for table, columns in _SEALED.items():
            chosen = sa.select(table.c.clip, *(table.c[column] for column in columns)).where(table.c.clip.in_(some))
            for number, *row in connection.execute(chosen):
                found[number][table].append(tuple(row))
    return {number: _seal(rows) for number, rows in found.items()}


def _seal(rows: Mapping[sa.Table, Rows]) -> str:
    sealed = hashlib.sha256()
    for table in _SEALED:
        lines = sorted(repr([_digest(value) for value in row]) for row in rows[table])
        sealed.update(f"{table.name}\n{lines}\n".encode())
    return sealed.hexdigest()


def _digest(value: object) -> object:
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value


def clips_without(connection: sa.Connection) -> set[int]:
    """The numbers of clips that have no analysis."""
    return set(connection.scalars(sa.select(clips.c.id).where(clips.c.id.not_in(sa.select(analyses.c.clip)))))


def _blocks(numbers: Numbers) -> Iterable[list[int]]:
    return (list(numbers[first : first + BLOCK]) for first in range(0, len(numbers), BLOCK))


def _read(
    connection: sa.Connection, numbers: Numbers, which: sa.ColumnElement[bool]
) -> Iterable[tuple[int, str, dict[str, NDArray[Any]]]]:
    columns = (descriptors.c.clip, descriptors.c.name, descriptors.c.data)
    for some in _blocks(numbers):
        for number, name, data in connection.execute(sa.select(*columns).where(columns[0].in_(some), which)):
            yield number, name, _sound(connection, number, unpacked, data)


def _swings_by_clip(connection: sa.Connection, numbers: Numbers) -> defaultdict[int, Rows]:
    found: defaultdict[int, Rows] = defaultdict(list)
    for some in _blocks(numbers):
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
    raise FormatError(where, f"what is kept about the frames of clip {number} is damaged ({says}), expected an "
                             f"analysis: rebuild() makes it anew")  # fmt: skip
