"""Where search takes what it ranks from: all of a library in memory, or what the index of a database finds near."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Frozen
from keypose.library.descriptors import Description, Gallery
from keypose.library.descriptors.noun import Singles
from keypose.library.extra import sa
from keypose.library.parts import PartGallery, PartTrack
from keypose.library.rankers.sheets import Sheet

Numbers = NDArray[np.int64]  # of clips: what the database calls them
Chosen = sa.Select[Any] | sa.TextualSelect | None  # the numbers of the clips that may be found; None: all


@dataclass(frozen=True, eq=False)
class Wholes(Frozen):
    """Clips that a search for whole clips ranks, C of them."""

    ids: Numbers  # (C,)
    galleries: Mapping[str, Gallery]  # each of these clips, in their order; empty where there is no clip
    among: Bools | None = None  # (C,) which of them may be found; None: all


@dataclass(frozen=True, eq=False)
class Parts(Frozen):
    """Clips that a search for parts ranks, C of them."""

    ids: Numbers  # (C,)
    gallery: PartGallery | None  # of these clips, in their order; None: there is no clip
    among: Bools | None = None  # (C,) which of them may be found; None: all


@dataclass(frozen=True, eq=False)
class PoseFound(Frozen):
    """One stored pose that is near to one that was asked for."""

    clip: int  # its number
    time_s: float
    distance: float  # Euclidean, between scaled vectors
    way: int  # which of the asked poses it is near to
    vector: Singles  # (D,) as stored, not scaled


class Shelf(Protocol):
    """What search asks for. Clips without a recognisable body are on no shelf.

    Every method works on the connection of its caller, reads only, and may be called from several threads at once.
    ``keep``: at least so many of the nearest clips must be among what is given, where there are as many; giving all is
    allowed. Candidates are those that may be found: with an index, ``chosen`` goes into its query. In what order clips
    are given does not matter.
    """

    def whole(self, connection: sa.Connection, ways: Sequence[Description], chosen: Chosen, keep: int) -> Wholes:
        """Clips near to any of ``ways``: the query, and it mirrored."""

    def parts(self, connection: sa.Connection, ways: Sequence[PartTrack], chosen: Chosen, keep: int) -> Parts:
        """Clips that may hold something near to any of ``ways``."""

    def poses(
        self,
        connection: sa.Connection,
        ways: Sequence[Singles],
        scales: Floats,
        chosen: Chosen,
        limit: int,
        apart_s: float = math.inf,
    ) -> tuple[PoseFound, ...]:
        """The ``limit`` nearest poses, the nearest first, those of one clip at least ``apart_s`` from each other.

        So by default the nearest pose of each of the nearest clips. ``ways`` (D,) and stored vectors are multiplied by
        ``scales`` (D,) before they are compared: 0 leaves a number out. Of equal ones the lowest number of a clip, then
        the earliest. ``spread_out`` thins what was found so.
        """

    def sheets(self, connection: sa.Connection, chosen: Chosen) -> tuple[Numbers, tuple[Sheet, ...]]:
        """The swings of all clips that may be found."""

    def descriptions(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Description]:
        """What is stored of these clips; those that are gone, or have no body, are left out."""

    def tracks(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, PartTrack]:
        """The same for tracks."""

    def some_sheets(self, connection: sa.Connection, ids: Sequence[int]) -> dict[int, Sheet]:
        """The same for swings; also of clips without a body, which have none."""


def spread_out(found: Iterable[PoseFound], limit: int, apart_s: float) -> tuple[PoseFound, ...]:
    """The first ``limit`` of ``found``, the nearest first, each ``apart_s`` from all before it in the same clip."""
    kept: list[PoseFound] = []
    times: dict[int, list[float]] = {}
    for pose in found:
        taken = times.setdefault(pose.clip, [])
        if all(abs(pose.time_s - time) >= apart_s for time in taken):
            taken.append(pose.time_s)
            kept.append(pose)
            if len(kept) == limit:
                break
    return tuple(kept)
