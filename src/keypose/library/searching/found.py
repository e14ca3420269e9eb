"""From what a ranking finds to hits: where in the clip, which frames, and what else is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from keypose.library.analyses import sheets_of
from keypose.library.extra import sa
from keypose.library.nouns import Clip
from keypose.library.rankers.swings import Agreement, overlap
from keypose.library.rows import clips_numbered
from keypose.library.searching.asking import Asked
from keypose.library.searching.body_parts import swung_parts
from keypose.library.searching.hits import Hit, SpanPair, Why


@dataclass(frozen=True, eq=False)
class Found:
    """A stretch of a clip that is like a stretch of the query."""

    number: int  # of the clip
    score: float
    start_s: float
    end_s: float  # infinite: the end of the clip
    query_start_s: float
    query_end_s: float
    mirrored: bool
    spans: tuple[SpanPair, ...] = ()
    centimetres: float | None = None


@dataclass(frozen=True, eq=False)
class Look:
    """Which swings agree, when somebody asks."""

    asked: Asked
    found: Found
    joints: Sequence[str] | None = None  # parts of the query's body that matter; None: all

    def __call__(self) -> tuple[Agreement, ...]:
        """Reads the swings of both; a clip that is gone has none."""
        found = self.found
        with self.asked.store.database.reading() as connection:
            query = self.asked.sheet(connection)
            there = sheets_of(connection, [found.number]).get(found.number)
        if there is None:
            return ()
        meant = query if self.joints is None else query.only(swung_parts(self.joints))
        ours = meant.part(found.query_start_s, found.query_end_s)
        theirs = there.part(found.start_s, found.end_s)
        match = overlap(ours.mirrored() if found.mirrored else ours, theirs, mirrored=False)
        return tuple(_moved(each, found) for each in match.agreeing)


def _moved(pair: Agreement, found: Found) -> Agreement:
    """Times from the starts of the clips, not of the stretches."""
    return replace(
        pair,
        query_start_s=pair.query_start_s + found.query_start_s,
        query_end_s=pair.query_end_s + found.query_start_s,
        start_s=pair.start_s + found.start_s,
        end_s=pair.end_s + found.start_s,
    )


def hits_of(
    connection: sa.Connection,
    asked: Asked,
    found: Sequence[Found],
    copies: Mapping[int, Sequence[int]],
    joints: Sequence[str] | None = None,
) -> tuple[Hit, ...]:
    """Hits, in the order of ``found``; ``copies`` are the numbers of clips that are folded into one of them.

    Clips that are gone are left out. Only what the parts ``joints`` of the query do is said to agree.
    """
    numbers = {*(each.number for each in found), *(copy for group in copies.values() for copy in group)}
    there = clips_numbered(connection, sorted(numbers))
    return tuple(
        _hit(asked, each, there[each.number], [there[n] for n in copies.get(each.number, ()) if n in there], joints)
        for each in found
        if each.number in there
    )


def _hit(asked: Asked, found: Found, clip: Clip, also: Sequence[Clip], joints: Sequence[str] | None) -> Hit:
    start, end = frames_between(clip, found.start_s, found.end_s)
    placed = replace(found, start_s=start / clip.fps, end_s=end / clip.fps)
    look = Look(asked, placed, joints) if found.centimetres is None else None
    return Hit(
        clip,
        score=found.score,
        start=start,
        end=end,
        start_s=placed.start_s,
        end_s=placed.end_s,
        query_start_s=found.query_start_s,
        query_end_s=found.query_end_s,
        mirrored=found.mirrored,
        also=tuple(copy.name for copy in also),
        also_hashes=tuple(copy.hash for copy in also),
        why=Why(found.spans, found.centimetres, look),
    )


def frames_between(clip: Clip, start_s: float, end_s: float) -> tuple[int, int]:
    """The frames of a clip between two times, at least one, as a slice counts them."""
    start = min(max(round(start_s * clip.fps), 0), clip.n_frames - 1)
    return start, min(max(round(min(end_s, clip.duration_s) * clip.fps), start + 1), clip.n_frames)
