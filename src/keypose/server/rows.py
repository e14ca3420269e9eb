"""Nouns of the library as types of the API."""

from __future__ import annotations

from collections.abc import Iterable

from keypose.library.nouns import Clip
from keypose.library.nouns import Facets as LibraryFacets
from keypose.library.searching.hits import Hit
from keypose.server.schema.clips import ClipRow, DurationCount, Facets, HitRow, PartCount, Span, TagCount


def row(clip: Clip) -> ClipRow:
    """A clip, as lists show it."""
    return ClipRow.model_validate(clip)


def rows(clips: Iterable[Clip]) -> tuple[ClipRow, ...]:
    """Several."""
    return tuple(map(row, clips))


def tag_counts(tags: Iterable[tuple[str, int]]) -> tuple[TagCount, ...]:
    """Tags and how many clips have them."""
    return tuple(TagCount(tag=tag, count=count) for tag, count in tags)


def facets(found: LibraryFacets) -> Facets:
    """By what one may choose."""
    return Facets(
        tags=tag_counts(found.tags),
        durations=tuple(DurationCount(least_s=a, most_s=b, count=count) for a, b, count in found.durations),
        parts=tuple(PartCount(part=part, count=count) for part, count in found.parts),
    )


def hit(found: Hit) -> HitRow:
    """One result of a search, with its reasons."""
    return HitRow(
        clip=row(found.clip),
        score=found.score,
        start=found.start,
        end=found.end,
        start_s=found.start_s,
        end_s=found.end_s,
        query_start_s=found.query_start_s,
        query_end_s=found.query_end_s,
        mirrored=found.mirrored,
        also=found.also,
        says=found.says,
        spans=tuple(
            Span(query_start_s=a.query_start_s, query_end_s=a.query_end_s, start_s=a.start_s, end_s=a.end_s)
            for a in found.why.spans
        ),
    )
