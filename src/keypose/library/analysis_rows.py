"""Analyses of clips as rows: written whole, sealed, and counted by version."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.library.analyses import OF_WINDOWS, POSES, SHEET, TRACK, Numbers, Rows, blocks
from keypose.library.analysis import ANALYSIS_VERSION, Analysis
from keypose.library.descriptors import Windows
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.limbs import limbs_that_swing
from keypose.library.near import indexed
from keypose.library.packing import packed
from keypose.library.rankers.sheets import PARTS, Sheet
from keypose.library.tables import analyses, clips, descriptors, is_there, key_poses, swinging, swings, thrown_away

_SEALED: dict[sa.Table, tuple[str, ...]] = {  # what is written for each clip, and sealed
    analyses: ("version", "strip"),
    key_poses: ("frame",),
    swings: ("part", "start_s", "end_s", "axis_left", "axis_up", "axis_forward", "angle_rad"),
    descriptors: ("name", "data"),
}

SEEN_OF_SEALS = 16  # digits: enough to see that one has changed

# Those that are searched: not of another version, until rebuild(), nor thrown away, until they are restored.
_SEARCHED = (analyses.c.version == ANALYSIS_VERSION, is_there(analyses.c.clip))
_IS_ANY_NOT = sa.select(
    sa.or_(
        sa.exists(sa.select(thrown_away.c.clip)),
        *(sa.select(of(analyses.c.version)).scalar_subquery() != ANALYSIS_VERSION for of in (sa.func.min, sa.func.max)),
    )
)  # quick: the index on versions knows the least and the greatest


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
    _write_swinging(connection, number, limbs_that_swing((part, angle) for part, *_, angle in rows[swings]))
    if dialect.has_vector_index:
        dialect.index_vectors(connection, number, indexed(analysis.description, analysis.track, analysis.poses))


def _write_swinging(connection: sa.Connection, number: int, limbs: frozenset[str]) -> None:
    """What lists are filtered by; it can be made of the swings at any time, and is not sealed."""
    connection.execute(sa.delete(swinging).where(swinging.c.clip == number))
    if limbs:
        connection.execute(sa.insert(swinging), [{"limb": limb, "clip": number} for limb in sorted(limbs)])


def is_swinging_whole(connection: sa.Connection, number: int) -> bool:
    """Whether the limbs that lists are filtered by are those that swing."""
    listed = set(connection.scalars(sa.select(swinging.c.limb).where(swinging.c.clip == number)))
    rows = connection.execute(sa.select(swings.c.part, swings.c.angle_rad).where(swings.c.clip == number))
    return listed == limbs_that_swing((part, angle) for part, angle in rows)


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
    return {what: np.asarray(getattr(windows, what)) for what in OF_WINDOWS}


def kept_seals(connection: sa.Connection) -> dict[int, str]:
    """The seal of each clip that has an analysis: another one when what is known of its frames has changed."""
    return {row.clip: row.seal for row in connection.execute(sa.select(analyses.c.clip, analyses.c.seal))}


def versions_of(connection: sa.Connection) -> dict[int, int]:
    """By which version each clip was analysed; those that were not are left out."""
    return {row.clip: row.version for row in connection.execute(sa.select(analyses.c.clip, analyses.c.version))}


def seals_now(connection: sa.Connection, numbers: Numbers) -> dict[int, str]:
    """The seals of what is there: one number for all rows of an analysis, whatever is in them."""
    found: dict[int, dict[sa.Table, Rows]] = {number: {table: [] for table in _SEALED} for number in numbers}
    for some in blocks(numbers):
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


def searched_seals(connection: sa.Connection) -> dict[int, str]:
    """The beginnings of the seals of the clips that are searched.

    All in one text: to fetch thousands of rows takes much longer.
    """
    pair = sa.cast(analyses.c.clip, sa.String) + ":" + sa.func.substr(analyses.c.seal, 1, SEEN_OF_SEALS)
    told = connection.execute(sa.select(sa.func.aggregate_strings(pair, ",")).where(*_SEARCHED)).scalar_one()
    pairs = (each.partition(":") for each in (told or "").split(",") if each)
    return {int(number): seal for number, _, seal in pairs}


def searched_of(connection: sa.Connection, chosen: Any) -> Any:
    """A question for those of the ``chosen`` clips (None: all) that are searched; the same one where all clips are."""
    if not connection.execute(_IS_ANY_NOT).scalar_one():
        return chosen
    some = sa.select(analyses.c.clip).where(*_SEARCHED)
    return some if chosen is None else some.where(analyses.c.clip.in_(chosen))


def is_searched(connection: sa.Connection, number: int) -> bool:
    """Whether a clip is searched."""
    return (
        connection.execute(sa.select(analyses.c.clip).where(analyses.c.clip == number, *_SEARCHED)).first() is not None
    )
