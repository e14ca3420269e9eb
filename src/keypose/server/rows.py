"""Conversion of library records to API types."""

from __future__ import annotations

from collections.abc import Iterable

from keypose.library.records import Clip
from keypose.library.records import Facets as LibraryFacets
from keypose.library.search.hits import Hit
from keypose.server.schema.clips import BodyPartCount, ClipRow, DurationCount, Facets, HitRow, Span, TagCount


def clip_row(clip: Clip) -> ClipRow:
    """Return the row of a clip."""
    return ClipRow.model_validate(clip)


def clip_rows(clips: Iterable[Clip]) -> tuple[ClipRow, ...]:
    """Return the rows of clips."""
    return tuple(map(clip_row, clips))


def tag_counts(tags: Iterable[tuple[str, int]]) -> tuple[TagCount, ...]:
    """Return tags with their numbers of clips."""
    return tuple(TagCount(tag=tag, count=count) for tag, count in tags)


def facet_counts(library_facets: LibraryFacets) -> Facets:
    """Return the facets with their numbers of clips."""
    return Facets(
        tags=tag_counts(library_facets.tags),
        durations=tuple(
            DurationCount(min_s=min_s, max_s=max_s, count=count) for min_s, max_s, count in library_facets.durations
        ),
        body_parts=tuple(BodyPartCount(body_part=part, count=count) for part, count in library_facets.body_parts),
    )


def hit_row(hit: Hit) -> HitRow:
    """Return the row of a search hit."""
    return HitRow(
        clip=clip_row(hit.clip),
        score=hit.score,
        start=hit.start,
        end=hit.end,
        start_s=hit.start_s,
        end_s=hit.end_s,
        query_start_s=hit.query_start_s,
        query_end_s=hit.query_end_s,
        mirrored=hit.mirrored,
        duplicates=hit.duplicates,
        explanation=hit.explanation,
        spans=tuple(
            Span(query_start_s=span.query_start_s, query_end_s=span.query_end_s, start_s=span.start_s, end_s=span.end_s)
            for span in hit.details.spans
        ),
    )
