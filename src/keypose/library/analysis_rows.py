"""Analyses of clips as rows: written with checksums, read for search and pictures; their arrays as bytes and back."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import freeze
from keypose.errors import FormatError, ModelError
from keypose.library.analysis import ANALYSIS_VERSION, FACET_ACTIONS, Analysis, find_moving_body_parts
from keypose.library.db import Dialect
from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.clip_vector import KINDS
from keypose.library.extra import sa
from keypose.library.records import rebuild_hint
from keypose.library.rows import MAX_IDS_PER_QUERY
from keypose.library.search.part_gallery import PartTrack
from keypose.library.search.swing_overlap import BODY_PARTS, SwingTable
from keypose.library.search_vectors import build_search_vectors
from keypose.library.tables import (
    actions,
    analyses,
    body_part_facets,
    clips,
    descriptors,
    is_not_in_trash,
    key_poses,
    swings,
    trash,
)

# Layout: magic, number of arrays; for each array the length of its name, dtype, number of dimensions, name, shape; then
# the data, little-endian, each array aligned to 8 bytes; last the CRC-32 of everything before.
MAGIC = b"KPA1"
DTYPES = ("<f8", "<f4", "<f2", "<i4", "<i8", "|i1", "|u1", "|b1")
MAX_ARRAYS = 255
MAX_NAME_BYTES = 255
MAX_DIMENSIONS = 8
_HEADER = struct.Struct("<4sB")
_ARRAY = struct.Struct("<BBB")
_CHECK = struct.Struct("<I")
_ALIGNMENT = 8

# Columns that are written for each clip and included in the checksum.
_CHECKSUM_COLUMNS: dict[sa.Table, tuple[str, ...]] = {
    analyses: ("version", "strip"),
    key_poses: ("frame",),
    swings: ("body_part", "start_s", "end_s", "axis_left", "axis_up", "axis_forward", "angle_rad"),
    actions: ("kind", "count"),
    descriptors: ("name", "data"),
}

CHECKSUM_PREFIX_DIGITS = 16  # enough to detect a change

# Searchable clips are analysed by this version and not in the trash.
IS_SEARCHABLE = (analyses.c.version == ANALYSIS_VERSION, is_not_in_trash(analyses.c.clip_id))
_HAS_UNSEARCHABLE = sa.select(
    sa.or_(
        sa.exists(sa.select(trash.c.clip_id)),
        *(sa.select(of(analyses.c.version)).scalar_subquery() != ANALYSIS_VERSION for of in (sa.func.min, sa.func.max)),
    )
)  # fast, as minimum and maximum are in the index on versions

POSES, SWING_TABLE, TRACK = (
    "poses",
    "swing_table",
    "track",
)  # names in table `descriptors` besides descriptors of clips
MAX_STRIP_BYTES = 16 << 20  # of SVG, decompressed
DESCRIPTOR_NAMES = {"clip", *KINDS}  # every description has all of them
_BODY_PART_INDEX = {part: k for k, part in enumerate(BODY_PARTS)}
WINDOW_ARRAYS = ("vectors", "starts_s", "ends_s", "weights", "background_distance")

ClipIds = Sequence[int]
Item = TypeVar("Item")
Rows = list[tuple[Any, ...]]


def write_analysis(connection: sa.Connection, dialect: Dialect, clip_id: int, analysis: Analysis) -> None:
    """Replace the stored analysis of a clip; the caller must call ``rows.finalize_clip`` afterwards."""
    rows: dict[sa.Table, Rows] = {
        key_poses: [(frame,) for frame in analysis.key_frames],
        swings: _swing_rows(analysis.swing_table),
        actions: list(analysis.actions.items()),
        descriptors: list(_descriptor_rows(analysis).items()),
        analyses: [(analysis.version, zlib.compress(analysis.strip.encode()))],
    }
    checksum = _checksum(rows)
    for table, values in rows.items():
        connection.execute(sa.delete(table).where(table.c.clip_id == clip_id))
        named_rows = [{"clip_id": clip_id, **dict(zip(_CHECKSUM_COLUMNS[table], row, strict=True))} for row in values]
        if named_rows:
            connection.execute(
                sa.insert(table),
                [{**row, "checksum": checksum} for row in named_rows] if table is analyses else named_rows,
            )
    _write_body_parts(connection, clip_id, find_moving_body_parts((part, angle) for part, *_, angle in rows[swings]))
    if dialect.has_vector_index:
        dialect.index_vectors(
            connection, clip_id, build_search_vectors(analysis.description, analysis.track, analysis.poses)
        )


def _write_body_parts(connection: sa.Connection, clip_id: int, body_parts: frozenset[str]) -> None:
    """Replace the facet rows of a clip. They are derived from its swings and not part of the checksum."""
    connection.execute(sa.delete(body_part_facets).where(body_part_facets.c.clip_id == clip_id))
    if body_parts:
        connection.execute(
            sa.insert(body_part_facets), [{"body_part": part, "clip_id": clip_id} for part in sorted(body_parts)]
        )


def has_consistent_body_parts(connection: sa.Connection, clip_id: int) -> bool:
    """Return whether the facet rows of a clip agree with its swings."""
    stored = set(
        connection.scalars(sa.select(body_part_facets.c.body_part).where(body_part_facets.c.clip_id == clip_id))
    )
    rows = connection.execute(sa.select(swings.c.body_part, swings.c.angle_rad).where(swings.c.clip_id == clip_id))
    return stored == find_moving_body_parts((part, angle) for part, angle in rows)


def _swing_rows(swing_table: SwingTable) -> Rows:
    """Return rows of table ``swings``, with 0.0 for -0.0, which databases do not preserve."""
    body_parts = [BODY_PARTS[part] for part in swing_table.body_parts.tolist()]
    values = np.column_stack((swing_table.starts_s, swing_table.ends_s, swing_table.axes, swing_table.angles)) + 0.0
    return [(part, *row) for part, row in zip(body_parts, values.tolist(), strict=True)]


def _descriptor_rows(analysis: Analysis) -> dict[str, bytes]:
    rows = {
        SWING_TABLE: encode_arrays(
            {"present": analysis.swing_table.present, "duration_s": np.array(analysis.swing_table.duration_s)}
        )
    }
    if analysis.description is not None:
        clip_descriptors = analysis.description.clip
        for name, windows in analysis.description.all.items():
            rows[name] = encode_arrays({**_window_arrays(windows), "whole": np.array(name in clip_descriptors)})
    if analysis.track is not None:
        track = analysis.track
        rows[TRACK] = encode_arrays({"vectors": track.vectors, "duration_s": np.array(track.duration_s)})
    if analysis.poses is not None:
        rows[POSES] = encode_arrays(_window_arrays(analysis.poses))
    return rows


def _window_arrays(windows: Windows) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(getattr(windows, name)) for name in WINDOW_ARRAYS}


def load_checksums(connection: sa.Connection) -> dict[int, str]:
    """Return the stored checksum of each analysis by clip id."""
    return {row.clip_id: row.checksum for row in connection.execute(sa.select(analyses.c.clip_id, analyses.c.checksum))}


def compute_checksums(connection: sa.Connection, clip_ids: ClipIds) -> dict[int, str]:
    """Return the checksums of the rows that are stored now, by clip id, for comparison with the stored checksums."""
    rows_by_clip: dict[int, dict[sa.Table, Rows]] = {
        clip_id: {table: [] for table in _CHECKSUM_COLUMNS} for clip_id in clip_ids
    }
    for batch in split_into_batches(clip_ids):
        for table, columns in _CHECKSUM_COLUMNS.items():
            statement = sa.select(table.c.clip_id, *(table.c[column] for column in columns)).where(
                table.c.clip_id.in_(batch)
            )
            for clip_id, *row in connection.execute(statement):
                if clip_id in rows_by_clip:  # a damaged index finds rows of other clips
                    rows_by_clip[clip_id][table].append(tuple(row))
    return {clip_id: _checksum(rows) for clip_id, rows in rows_by_clip.items()}


def _checksum(rows: Mapping[sa.Table, Rows]) -> str:
    hasher = hashlib.sha256()
    for table in _CHECKSUM_COLUMNS:
        lines = sorted(repr([_hashable(value) for value in row]) for row in rows[table])
        hasher.update(f"{table.name}\n{lines}\n".encode())
    return hasher.hexdigest()


def _hashable(value: object) -> object:
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value


def ids_without_analysis(connection: sa.Connection) -> set[int]:
    """Return the ids of clips without an analysis."""
    return set(connection.scalars(sa.select(clips.c.id).where(clips.c.id.not_in(sa.select(analyses.c.clip_id)))))


def load_searchable_checksums(connection: sa.Connection) -> dict[int, str]:
    """Return the first digits of the checksums of searchable clips, by clip id.

    They are fetched as one aggregated text, as fetching thousands of rows takes much longer.
    """
    pair = sa.cast(analyses.c.clip_id, sa.String) + ":" + sa.func.substr(analyses.c.checksum, 1, CHECKSUM_PREFIX_DIGITS)
    text = connection.execute(sa.select(sa.func.aggregate_strings(pair, ",")).where(*IS_SEARCHABLE)).scalar_one()
    pairs = (each.partition(":") for each in (text or "").split(",") if each)
    return {int(clip_id): checksum for clip_id, _, checksum in pairs}


def restrict_to_searchable(connection: sa.Connection, clip_query: Any) -> Any:
    """Return a query for the searchable clips among ``clip_query`` (None: all); unchanged if all are searchable."""
    if not connection.execute(_HAS_UNSEARCHABLE).scalar_one():
        return clip_query
    searchable = sa.select(analyses.c.clip_id).where(*IS_SEARCHABLE)
    return searchable if clip_query is None else searchable.where(analyses.c.clip_id.in_(clip_query))


# Data for search, by clip id; the result does not contain missing clips and clips without such data.


def load_descriptions(connection: sa.Connection, clip_ids: ClipIds) -> dict[int, Description]:
    """Return descriptions by clip id; clips without a recognisable body have none."""
    windows_by_clip: defaultdict[int, tuple[dict[str, Windows], dict[str, Windows]]] = defaultdict(lambda: ({}, {}))
    is_descriptor = descriptors.c.name.not_in((POSES, SWING_TABLE, TRACK))
    for clip_id, name, arrays in _read_arrays(connection, clip_ids, is_descriptor):
        windows = _decode(connection, clip_id, _build_windows, arrays)
        windows_by_clip[clip_id][0 if arrays.get("whole") else 1][name] = windows
    for clip_id, both in windows_by_clip.items():
        missing = DESCRIPTOR_NAMES - both[0].keys() - both[1].keys()
        if missing:
            _raise_damaged(connection, clip_id, f"no {', '.join(sorted(missing))}")
    return {clip_id: Description(*both) for clip_id, both in windows_by_clip.items()}


def _build_windows(arrays: Mapping[str, NDArray[Any]]) -> Windows:
    vectors, starts_s, ends_s, weights, background_distance = (arrays[name] for name in WINDOW_ARRAYS)
    n = len(vectors)
    is_valid = (
        vectors.dtype == weights.dtype == np.float32
        and vectors.ndim == 2
        and all(each.shape == (n,) for each in (starts_s, ends_s, weights))
        and background_distance.shape == (2,)
    )
    if not is_valid:
        raise ArrayCodecError("arrays that do not fit together")
    return Windows(vectors, starts_s, ends_s, weights, (float(background_distance[0]), float(background_distance[1])))


def load_poses(connection: sa.Connection, clip_ids: ClipIds) -> dict[int, Windows]:
    """Return the sampled poses by clip id; clips without a recognisable body have none."""
    return {
        clip_id: _decode(connection, clip_id, _build_windows, arrays)
        for clip_id, _, arrays in _read_arrays(connection, clip_ids, descriptors.c.name == POSES)
    }


def load_tracks(connection: sa.Connection, clip_ids: ClipIds) -> dict[int, PartTrack]:
    """Return the tracks for part search by clip id; clips without a recognisable body have none."""
    return {
        clip_id: _decode(connection, clip_id, _build_track, arrays)
        for clip_id, _, arrays in _read_arrays(connection, clip_ids, descriptors.c.name == TRACK)
    }


def _build_track(arrays: Mapping[str, NDArray[Any]]) -> PartTrack:
    return PartTrack(arrays["vectors"], float(arrays["duration_s"]))


def load_swing_tables(connection: sa.Connection, clip_ids: ClipIds) -> dict[int, SwingTable]:
    """Return swing tables by clip id; that of a clip without a recognisable body is empty."""
    rows = _load_swing_rows(connection, clip_ids)
    return {
        clip_id: _decode(connection, clip_id, _build_swing_table, arrays, rows[clip_id])
        for clip_id, _, arrays in _read_arrays(connection, clip_ids, descriptors.c.name == SWING_TABLE)
    }


def _build_swing_table(arrays: Mapping[str, NDArray[Any]], rows: Rows) -> SwingTable:
    sorted_rows = sorted((_BODY_PART_INDEX[part], *values) for part, *values in rows)
    values = np.array([values for _, *values in sorted_rows], np.float64).reshape(len(sorted_rows), 6)
    body_parts = np.array([part for part, *_ in sorted_rows], np.int32)
    present = arrays["present"]
    if present.shape != (len(BODY_PARTS),):
        raise ArrayCodecError("a swing table of other body parts")
    return SwingTable(
        float(arrays["duration_s"]), present, body_parts, values[:, 0], values[:, 1], values[:, 2:5], values[:, 5]
    )


def load_swing_table(connection: sa.Connection, clip_id: int) -> SwingTable:
    """Return the swing table of one clip."""
    swing_table = load_swing_tables(connection, [clip_id]).get(clip_id)
    return _raise_damaged(connection, clip_id, "no swing table") if swing_table is None else swing_table


def load_actions(connection: sa.Connection, clip_id: int) -> dict[str, int]:
    """Return how many actions of each kind a clip has."""
    rows = connection.execute(sa.select(actions.c.kind, actions.c["count"]).where(actions.c.clip_id == clip_id))
    counts = {row[0]: row[1] for row in rows}
    if not counts.keys() <= set(FACET_ACTIONS) or not all(isinstance(n, int) and n > 0 for n in counts.values()):
        _raise_damaged(connection, clip_id, "its actions")
    return {kind: counts[kind] for kind in FACET_ACTIONS if kind in counts}


def load_strip(connection: sa.Connection, clip_id: int) -> str:
    """Return the strip of a clip as SVG; "" if it cannot be drawn."""
    data = connection.execute(sa.select(analyses.c.strip).where(analyses.c.clip_id == clip_id)).scalar()
    if not isinstance(data, bytes):
        _raise_damaged(connection, clip_id, "no strip")
    decompressor = zlib.decompressobj()
    try:
        svg = decompressor.decompress(data, MAX_STRIP_BYTES)
        if not decompressor.eof:
            _raise_damaged(connection, clip_id, "its strip goes on")
        return svg.decode()
    except (zlib.error, UnicodeDecodeError) as error:
        _raise_damaged(connection, clip_id, str(error))


def load_key_frames(connection: sa.Connection, clip_id: int) -> tuple[int, ...]:
    """Return the frames of the key poses, ascending."""
    statement = sa.select(key_poses.c.frame).where(key_poses.c.clip_id == clip_id).order_by(key_poses.c.frame)
    frames = tuple(connection.scalars(statement))
    if not frames or not all(isinstance(frame, int) for frame in frames):
        _raise_damaged(connection, clip_id, "no key poses")
    return frames


def split_into_batches(clip_ids: ClipIds) -> Iterable[list[int]]:
    """Yield ids in batches that fit into one SQL statement."""
    return (list(clip_ids[first : first + MAX_IDS_PER_QUERY]) for first in range(0, len(clip_ids), MAX_IDS_PER_QUERY))


def _read_arrays(
    connection: sa.Connection, clip_ids: ClipIds, condition: sa.ColumnElement[bool]
) -> Iterable[tuple[int, str, dict[str, NDArray[Any]]]]:
    columns = (descriptors.c.clip_id, descriptors.c.name, descriptors.c.data)
    for batch in split_into_batches(clip_ids):
        for clip_id, name, data in connection.execute(sa.select(*columns).where(columns[0].in_(batch), condition)):
            yield clip_id, name, _decode(connection, clip_id, decode_arrays, data)


def _load_swing_rows(connection: sa.Connection, clip_ids: ClipIds) -> defaultdict[int, Rows]:
    rows_by_clip: defaultdict[int, Rows] = defaultdict(list)
    for batch in split_into_batches(clip_ids):
        for clip_id, *row in connection.execute(sa.select(swings).where(swings.c.clip_id.in_(batch))):
            rows_by_clip[clip_id].append(tuple(row))
    return rows_by_clip


def _decode(connection: sa.Connection, clip_id: int, decode: Callable[..., Item], *arguments: Any) -> Item:
    try:
        return decode(*arguments)
    except (ArrayCodecError, ModelError, KeyError, TypeError, ValueError) as error:
        _raise_damaged(connection, clip_id, str(error))


def _raise_damaged(connection: sa.Connection, clip_id: int, problem: str) -> NoReturn:
    location = connection.engine.url.database or "the library"
    name = connection.execute(sa.select(clips.c.name).where(clips.c.id == clip_id)).scalar() or f"clip {clip_id}"
    raise FormatError(
        location,
        f"what is stored about the frames of {name} is damaged ({problem})",
        code="needs_rebuild",
        expected="an analysis",
        hint=rebuild_hint("analyses it again"),
    )


class ArrayCodecError(ValueError):
    """Bytes that ``encode_arrays`` did not write, or arrays that it cannot write."""


def encode_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return ``arrays``, of DTYPES only, as bytes; decoding restores every bit."""
    if len(arrays) > MAX_ARRAYS:
        raise ArrayCodecError(f"{len(arrays)} arrays, expected at most {MAX_ARRAYS}")
    header_parts, data_parts = [_HEADER.pack(MAGIC, len(arrays))], []
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str
        name_bytes = name.encode()
        if dtype not in DTYPES or len(name_bytes) > MAX_NAME_BYTES or array.ndim > MAX_DIMENSIONS:
            raise ArrayCodecError(
                f"array {name[:40]!r} of {array.dtype} {array.shape}, expected one of {', '.join(DTYPES)}"
            )
        header_parts += [
            _ARRAY.pack(len(name_bytes), DTYPES.index(dtype), array.ndim),
            name_bytes,
            struct.pack(f"<{array.ndim}Q", *array.shape),
        ]
        data = array.astype(dtype, copy=False).tobytes()
        data_parts += [data, bytes(-len(data) % _ALIGNMENT)]
    header = b"".join(header_parts)
    payload = b"".join((header, bytes(-len(header) % _ALIGNMENT), *data_parts))
    return payload + _CHECK.pack(zlib.crc32(payload))


def decode_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays, read-only views of ``data``; ArrayCodecError if the bytes are damaged."""
    if not isinstance(data, bytes) or len(data) < _HEADER.size + _CHECK.size:
        raise ArrayCodecError("no packed arrays")
    payload = memoryview(data)[: -_CHECK.size]
    magic, count = _HEADER.unpack_from(payload)
    if magic != MAGIC or _CHECK.unpack_from(data, len(payload))[0] != zlib.crc32(payload):
        raise ArrayCodecError("damaged arrays")
    try:
        shapes, offset = _read_header(payload, count)
        offset += -offset % _ALIGNMENT
        return {
            name: _read_array(data, kind, shape, at)
            for name, kind, shape, at in _locate_arrays(shapes, offset, len(payload))
        }
    except (struct.error, IndexError, UnicodeDecodeError):
        raise ArrayCodecError("damaged arrays") from None


def _read_header(payload: memoryview, count: int) -> tuple[list[tuple[str, str, tuple[int, ...]]], int]:
    descriptions, offset = [], _HEADER.size
    for _ in range(count):
        length, dtype, dimensions = _ARRAY.unpack_from(payload, offset)
        offset += _ARRAY.size
        name = bytes(payload[offset : offset + length]).decode()
        shape = struct.unpack_from(f"<{dimensions}Q", payload, offset + length)
        offset += length + 8 * dimensions
        descriptions.append((name, DTYPES[dtype], shape))
    return descriptions, offset


def _locate_arrays(
    shapes: list[tuple[str, str, tuple[int, ...]]], offset: int, end: int
) -> list[tuple[str, str, tuple[int, ...], int]]:
    """Return the offset of each array; the arrays must end exactly at ``end``."""
    located = []
    for name, dtype, shape in shapes:
        located.append((name, dtype, shape, offset))
        size = math.prod(shape) * int(dtype[-1])
        offset += size + -size % _ALIGNMENT
    if offset != end:
        raise ArrayCodecError("damaged arrays")
    return located


def _read_array(data: bytes, dtype: str, shape: tuple[int, ...], offset: int) -> NDArray[Any]:
    flat = np.frombuffer(data, np.dtype(dtype), math.prod(shape), offset)
    return freeze(flat.reshape(shape).astype(flat.dtype.newbyteorder("="), copy=False))
