"""Search for whole clips, parts and poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from keypose.library.db import Dialect
from keypose.library.extra import sa
from keypose.library.listing import Filters
from keypose.library.search.candidate_source import CandidateSource
from keypose.library.search.deduplication import group_duplicates
from keypose.library.search.hits import Candidate, Hit, build_hits
from keypose.library.search.memory_index import MemoryIndex, TableReader
from keypose.library.search.pose_search import PoseRanker
from keypose.library.search.query import Query, parse_frame_range, parse_joint_names, parse_pose_vector, parse_query
from keypose.library.search.rankers import EXTRA_CANDIDATES, DescriptorRanker, Ranker, SwingRanker, TrackRanker
from keypose.library.store import Store
from keypose.model import Motion
from keypose.options import check_option_int
from keypose.options.library import SearchOptions
from keypose.validation import check_bool, check_choice, check_int

NO_FILTERS = Filters()
RANKERS = ("descriptors", "swings")
MIN_SCORE = 0.005  # of a hit; a lower score is printed as 0.00


def search(
    store: Store,
    source: CandidateSource,
    query: Motion | str,
    *,
    limit: int = 10,
    filters: Filters = NO_FILTERS,
    joints: str | Sequence[str] | None = None,
    mirrored: bool = True,
    ranker: str = "descriptors",
    deduplicate: bool = True,
) -> tuple[Hit, ...]:
    """Return clips that resemble ``query``, nearest first; a text is a clip of the library, which is excluded.

    ``joints``: only these body parts are compared, at all shifts in time as in ``search_part``. ``ranker="swings"``
    compares swings. ``mirrored``: also match with left and right exchanged. ``deduplicate``: copies of one take are one
    hit.
    """
    names = parse_joint_names(joints)
    try_mirrored = check_bool("mirrored", mirrored)
    parsed_query = parse_query(store, query)
    chosen_ranker: Ranker
    if check_choice("ranker", ranker, RANKERS) == "swings":
        chosen_ranker = SwingRanker(parsed_query, try_mirrored, names)
    elif names is None:
        chosen_ranker = DescriptorRanker(parsed_query, try_mirrored)
    else:
        chosen_ranker = TrackRanker(parsed_query, try_mirrored, names, 0.0, parsed_query.duration_s)
    return run_ranker(
        parsed_query,
        chosen_ranker,
        source,
        filters,
        _check_limit(limit),
        deduplicate=check_bool("deduplicate", deduplicate),
        joints=names,
    )


def search_part(
    store: Store,
    source: CandidateSource,
    query: Motion | str,
    start: int,
    end: int,
    *,
    limit: int = 10,
    filters: Filters = NO_FILTERS,
    joints: str | Sequence[str] | None = None,
    mirrored: bool = True,
    multiple: bool = False,
    deduplicate: bool = True,
) -> tuple[Hit, ...]:
    """Return where the frames ``query[start:end]`` occur, nearest first.

    One span per clip, or ``multiple`` without overlap. A clip of the library as the query is excluded.
    """
    names = parse_joint_names(joints)
    parsed_query = parse_query(store, query)
    first, stop = parse_frame_range(start, end, parsed_query.n_frames)
    fps = parsed_query.fps
    ranker = TrackRanker(
        parsed_query, check_bool("mirrored", mirrored), names, first / fps, stop / fps, check_bool("multiple", multiple)
    )
    return run_ranker(
        parsed_query,
        ranker,
        source,
        filters,
        _check_limit(limit),
        deduplicate=check_bool("deduplicate", deduplicate),
        joints=names,
    )


def search_pose(
    store: Store,
    source: CandidateSource,
    query: Motion | str,
    frame: int,
    *,
    limit: int = 10,
    filters: Filters = NO_FILTERS,
    joints: str | Sequence[str] | None = None,
    mirrored: bool = True,
    multiple: bool = False,
    deduplicate: bool = True,
    pose_vector: Sequence[float] | None = None,
) -> tuple[Hit, ...]:
    """Return poses like that of a ``frame`` of the query, whatever heading and position, nearest first.

    One pose per clip, or ``multiple`` at least a second apart. A clip of the library as the query is excluded.
    ``pose_vector``: the result of ``compute_pose_vector``; then no blob is read.
    """
    names = parse_joint_names(joints)
    parsed_query = parse_query(store, query)
    if pose_vector is not None:
        parsed_query = replace(parsed_query, pose_vector=parse_pose_vector(pose_vector))
    frame_index = check_int("frame", frame, min_value=0, max_value=parsed_query.n_frames - 1)
    ranker = PoseRanker(
        parsed_query, frame_index, check_bool("mirrored", mirrored), names, check_bool("multiple", multiple)
    )
    return run_ranker(
        parsed_query,
        ranker,
        source,
        filters,
        _check_limit(limit),
        deduplicate=check_bool("deduplicate", deduplicate),
        joints=names,
    )


def compute_pose_vector(store: Store, query: Motion | str, frame: int) -> tuple[float, ...]:
    """Return the vector that a search by the pose of a ``frame`` compares."""
    parsed_query = parse_query(store, query)
    frame_index = check_int("frame", frame, min_value=0, max_value=parsed_query.n_frames - 1)
    return tuple(parsed_query.compute_pose_vector(frame_index).tolist())


def _check_limit(limit: int) -> int:
    return check_option_int(SearchOptions, "limit", limit)


def run_ranker(
    query: Query,
    ranker: Ranker,
    source: CandidateSource,
    filters: Filters,
    limit: int,
    *,
    deduplicate: bool,
    joints: tuple[str, ...] | None = None,
) -> tuple[Hit, ...]:
    """Return at most ``limit`` hits of a ranker, with copies merged into the better hit if ``deduplicate``.

    Clips that resemble the query no more than unrelated ones, with a score below ``MIN_SCORE``, are no hits.
    ``joints``: the body parts of the swings in the details of hits.
    """
    clip_query = filters.search_query(query.store.database.dialect)
    n_candidates = limit + EXTRA_CANDIDATES
    with query.store.database.begin_read() as connection:
        while True:
            candidates = ranker.candidates(connection, source, clip_query, n_candidates)
            similar = [each for each in candidates if each.score >= MIN_SCORE]
            others = [each for each in similar if each.clip_id != query.clip_id]
            selected, duplicates = (
                _deduplicate(connection, source, others, limit) if deduplicate else (others[:limit], {})
            )
            if len(selected) == limit or len(similar) < n_candidates:
                return build_hits(
                    connection, source, query, ranker.explain(connection, source, selected), duplicates, joints
                )
            n_candidates *= 4


def _deduplicate(
    connection: sa.Connection, source: CandidateSource, candidates: Sequence[Candidate], limit: int
) -> tuple[list[Candidate], dict[int, tuple[int, ...]]]:
    """Return the first candidates that are no copies, and the ids of the copies of each."""
    groups = group_duplicates(
        (each.clip_id for each in candidates), lambda clip_ids: source.tracks(connection, clip_ids), limit
    )
    duplicates = {clip_id: group for clip_id, group in groups.items() if group}
    return [each for each in candidates if each.clip_id in groups][:limit], duplicates


def open_candidate_source(dialect: Dialect) -> CandidateSource:
    """Return the vector index of the database if it has one, else an index in memory."""
    if not dialect.has_vector_index:
        return MemoryIndex(TableReader())
    from keypose.library.db.postgres import PostgresDialect  # imported here, as it needs an extra
    from keypose.library.search.pgvector_index import PgVectorIndex

    assert isinstance(dialect, PostgresDialect)
    return PgVectorIndex(TableReader(), dialect.vectors)
