"""Reads stored analyses: the data that search compares, and pictures."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from keypose.errors import FormatError, ModelError
from keypose.library.array_codec import ArrayCodecError, decode_arrays
from keypose.library.descriptors import Description, Windows
from keypose.library.descriptors.covariance import KINDS
from keypose.library.extra import sa
from keypose.library.part_search import PartTrack
from keypose.library.rankers.swing_table import BODY_PARTS, SwingTable
from keypose.library.rows import MAX_IDS_PER_QUERY
from keypose.library.tables import analyses, clips, descriptors, key_poses, library_info, swings

POSES, SWING_TABLE, TRACK = (
    "poses",
    "swing_table",
    "track",
)  # names in table `descriptors` beside descriptors of clips
MAX_STRIP_BYTES = 16 << 20  # of SVG, decompressed
DESCRIPTOR_NAMES = {"clip", *KINDS}  # every description has all of them
_BODY_PART_INDEX = {part: k for k, part in enumerate(BODY_PARTS)}
WINDOW_ARRAYS = ("vectors", "starts_s", "ends_s", "weights", "background_distance")

ClipIds = Sequence[int]
Item = TypeVar("Item")
Rows = list[tuple[Any, ...]]


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


# Data for search, by clip id; clips that are missing or lack it are left out.


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


def load_change_count(connection: sa.Connection) -> int:
    """Return the change counter of the library, which grows with every write that can change search results."""
    changes = connection.execute(sa.select(library_info.c.changes)).scalar_one()
    if not isinstance(changes, int):
        location = connection.engine.url.database or "the library"
        raise FormatError(location, f"{changes!r:.60} changes, expected a number: rebuild() makes it sound")
    return changes


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
    raise FormatError(location, f"what is kept about the frames of {name} is damaged ({problem}), expected an "
                                "analysis: rebuild() makes it anew")  # fmt: skip
