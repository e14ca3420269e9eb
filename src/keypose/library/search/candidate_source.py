"""The source of candidates for ranking: an index in memory, or the index of a database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen
from keypose.library.descriptors import Description, Gallery
from keypose.library.descriptors.description import Singles
from keypose.library.extra import sa
from keypose.library.search.part_gallery import PartGallery, PartTrack
from keypose.library.search.swing_overlap import SwingTable

ClipIds = NDArray[np.int64]  # column clips.id
ClipQuery = sa.Select[Any] | sa.TextualSelect | None  # for the ids of the clips to search; None: all


@dataclass(frozen=True, eq=False)
class ClipCandidates(Frozen):
    """The C clips that a search for whole clips ranks."""

    clip_ids: ClipIds  # (C,)
    galleries: Mapping[str, Gallery]  # of these clips, in their order; empty without clips
    is_allowed: Bools | None = None  # (C,) which of them may be found; None: all


@dataclass(frozen=True, eq=False)
class PartCandidates(Frozen):
    """The C clips that a part search ranks."""

    clip_ids: ClipIds  # (C,)
    gallery: PartGallery | None  # of these clips, in their order; None without clips
    is_allowed: Bools | None = None  # (C,) which of them may be found; None: all


@dataclass(frozen=True, eq=False)
class PoseMatch(Frozen):
    """A stored pose near a pose of the query."""

    clip_id: int
    time_s: float
    distance: float  # Euclidean, between scaled vectors
    variant: int  # index of the nearest variant
    vector: Singles  # (D,) as stored, not scaled


class CandidateSource(Protocol):
    """The source of stored data for search. Clips without a recognisable body are not included.

    Every method reads in the transaction of its caller and may be called from several threads at once.
    ``n_candidates`` is the minimum number of nearest clips to return if there are; all may be returned. Only clips of
    ``clip_query`` are searched; a database applies it in its own query. The order of the result is arbitrary.
    """

    def clip_candidates(
        self, connection: sa.Connection, variants: Sequence[Description], clip_query: ClipQuery, n_candidates: int
    ) -> ClipCandidates:
        """Return clips near any of ``variants``: the query, and its mirror image."""

    def part_candidates(
        self, connection: sa.Connection, variants: Sequence[PartTrack], clip_query: ClipQuery, n_candidates: int
    ) -> PartCandidates:
        """Return clips that may contain a span near any of ``variants``."""

    def nearest_poses(
        self,
        connection: sa.Connection,
        variants: Sequence[Singles],
        scales: Floats,
        clip_query: ClipQuery,
        limit: int,
        min_gap_s: float = math.inf,
    ) -> tuple[PoseMatch, ...]:
        """Return the ``limit`` nearest poses, nearest first, those of one clip at least ``min_gap_s`` apart.

        By default these are the nearest pose of each of the nearest clips. ``variants`` (D,) and stored vectors are
        multiplied by ``scales`` (D,) before comparison: 0 ignores a number. Of equally near poses the one with the
        lowest clip id is first, then the earliest. ``select_spaced`` applies ``min_gap_s``.
        """

    def swing_tables(self, connection: sa.Connection, clip_query: ClipQuery) -> tuple[ClipIds, tuple[SwingTable, ...]]:
        """Return ids and swing tables of all clips that may be found."""

    def descriptions(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, Description]:
        """Return the descriptions of these clips, without missing ones and clips without a body."""

    def tracks(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, PartTrack]:
        """Return the tracks of these clips."""

    def swing_tables_by_id(self, connection: sa.Connection, clip_ids: Sequence[int]) -> dict[int, SwingTable]:
        """Return the swing tables of these clips; those of clips without a body are empty."""


def select_spaced(poses: Iterable[PoseMatch], limit: int, min_gap_s: float) -> tuple[PoseMatch, ...]:
    """Return the first ``limit`` of ``poses``, nearest first, at least ``min_gap_s`` apart within a clip."""
    selected: list[PoseMatch] = []
    times: dict[int, list[float]] = {}
    for pose in poses:
        times_of_clip = times.setdefault(pose.clip_id, [])
        if all(abs(pose.time_s - time) >= min_gap_s for time in times_of_clip):
            times_of_clip.append(pose.time_s)
            selected.append(pose)
            if len(selected) == limit:
                break
    return tuple(selected)
