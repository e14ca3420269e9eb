"""Writes analyses as rows, with checksums, and selects the clips that can be searched."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.library.analysis import ANALYSIS_VERSION, Analysis
from keypose.library.analysis_reader import POSES, SWING_TABLE, TRACK, WINDOW_ARRAYS, ClipIds, Rows, split_into_batches
from keypose.library.array_codec import encode_arrays
from keypose.library.body_part_facets import find_moving_body_parts
from keypose.library.db import Dialect
from keypose.library.descriptors import Windows
from keypose.library.extra import sa
from keypose.library.rankers.swing_table import BODY_PARTS, SwingTable
from keypose.library.search_vectors import build_search_vectors
from keypose.library.tables import (
    analyses,
    body_part_facets,
    clips,
    descriptors,
    is_not_in_trash,
    key_poses,
    swings,
    trash,
)

_CHECKSUM_COLUMNS: dict[sa.Table, tuple[str, ...]] = {  # written for each clip, and covered by the checksum
    analyses: ("version", "strip"),
    key_poses: ("frame",),
    swings: ("body_part", "start_s", "end_s", "axis_left", "axis_up", "axis_forward", "angle_rad"),
    descriptors: ("name", "data"),
}

CHECKSUM_PREFIX_DIGITS = 16  # enough to detect a change

# Searchable clips: analysed by this version and not in the trash.
_IS_SEARCHABLE = (analyses.c.version == ANALYSIS_VERSION, is_not_in_trash(analyses.c.clip_id))
_HAS_UNSEARCHABLE = sa.select(
    sa.or_(
        sa.exists(sa.select(trash.c.clip_id)),
        *(sa.select(of(analyses.c.version)).scalar_subquery() != ANALYSIS_VERSION for of in (sa.func.min, sa.func.max)),
    )
)  # fast: the index on versions gives minimum and maximum


def write_analysis(connection: sa.Connection, dialect: Dialect, clip_id: int, analysis: Analysis) -> None:
    """Replace the stored analysis of a clip; the caller must call ``rows.finalize_clip`` afterwards."""
    rows: dict[sa.Table, Rows] = {
        key_poses: [(frame,) for frame in analysis.key_frames],
        swings: _swing_rows(analysis.swing_table),
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
    """Replace the facet rows of a clip. They follow from its swings and are not part of the checksum."""
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
    """Return rows of table ``swings``, with 0.0 for -0.0, which databases do not keep."""
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


def load_versions(connection: sa.Connection) -> dict[int, int]:
    """Return the version of each analysis by clip id."""
    return {row.clip_id: row.version for row in connection.execute(sa.select(analyses.c.clip_id, analyses.c.version))}


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

    Fetched as one aggregated text, as fetching thousands of rows takes much longer.
    """
    pair = sa.cast(analyses.c.clip_id, sa.String) + ":" + sa.func.substr(analyses.c.checksum, 1, CHECKSUM_PREFIX_DIGITS)
    text = connection.execute(sa.select(sa.func.aggregate_strings(pair, ",")).where(*_IS_SEARCHABLE)).scalar_one()
    pairs = (each.partition(":") for each in (text or "").split(",") if each)
    return {int(clip_id): checksum for clip_id, _, checksum in pairs}


def restrict_to_searchable(connection: sa.Connection, clip_query: Any) -> Any:
    """Return a query for the searchable clips among ``clip_query`` (None: all); unchanged if all are searchable."""
    if not connection.execute(_HAS_UNSEARCHABLE).scalar_one():
        return clip_query
    searchable = sa.select(analyses.c.clip_id).where(*_IS_SEARCHABLE)
    return searchable if clip_query is None else searchable.where(analyses.c.clip_id.in_(clip_query))


def is_searchable(connection: sa.Connection, clip_id: int) -> bool:
    """Return whether searches include a clip."""
    return (
        connection.execute(sa.select(analyses.c.clip_id).where(analyses.c.clip_id == clip_id, *_IS_SEARCHABLE)).first()
        is not None
    )
