"""The library: what is in it, and what is said about clips."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

import keypose
from keypose.library.library import Library
from keypose.server.offers import formats, groups, methods
from keypose.server.rows import facets, row, rows, tag_counts
from keypose.server.running import Here
from keypose.server.schema.base import MOST_CLIPS, ClipHash, Seconds, Text
from keypose.server.schema.clips import (
    ClipPage,
    ClipRow,
    ClipRows,
    LibraryFacts,
    Limits,
    Removed,
    RemovedClips,
    RemovedRow,
    Renamed,
    SomeClips,
    Sort,
    Tagged,
)
from keypose.server.work.desk import clip_of
from keypose.server.work.uploading import shell_name

router = APIRouter(tags=["library"])


@router.get("/api/library")
async def get_library(here: Here) -> LibraryFacts:
    """How much there is, and what can be done with it."""
    stats = await here.reads(lambda library: library.stats())
    return LibraryFacts(
        name=here.name,
        shell_name=shell_name(here.settings.library),
        version=keypose.__version__,
        clips=stats.clips,
        duration_s=stats.duration_s,
        bytes=stats.bytes,
        tags=tag_counts(stats.tags),
        methods=methods(),
        groups=groups(),
        formats=formats(),
        limits=Limits(upload_bytes=here.settings.upload_bytes, uploads_at_once=here.settings.uploads_at_once),
    )


@router.get("/api/clips")
async def get_clips(
    here: Here,
    words: Annotated[
        Text | None, Query(description="Each must be in the names or tags, or begin a word there.")
    ] = None,
    tag: Annotated[list[Text], Query(max_length=50, description="It has all of them.")] = [],  # noqa: B006
    least_duration_s: Seconds | None = None,
    most_duration_s: Seconds | None = None,
    part: Annotated[Text | None, Query(description="A part of the body that swings.")] = None,
    sort: Sort = "name",
    skip: Annotated[int, Query(ge=0, le=1 << 31)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_CLIPS)] = 60,
) -> ClipPage:
    """Some of the clips, and what all that were found have."""
    asked: dict[str, Any] = {
        "words": words.strip() or None if words else None,
        "tags": tuple(tag),
        "least_duration_s": least_duration_s,
        "most_duration_s": most_duration_s,
        "part": part or None,
    }

    def page(library: Library) -> ClipPage:
        return ClipPage(
            total=library.count(**asked),
            skip=skip,
            clips=rows(library.clips(**asked, sort=sort, limit=limit, skip=skip)),
            facets=facets(library.facets(**asked)),
        )

    return await here.reads(page)


@router.patch("/api/clips/{clip}")
async def rename_clip(here: Here, clip: ClipHash, told: Renamed) -> ClipRow:
    """Gives a clip another name."""

    def rename(library: Library) -> ClipRow:
        clip_of(library, clip)
        return row(library.rename(clip, told.name))

    return await here.writes(rename)


@router.post("/api/clips/tag")
async def tag_clips(here: Here, told: Tagged) -> ClipRows:
    """Gives tags to clips, and takes others from them."""

    def tag(library: Library) -> ClipRows:
        some = dict.fromkeys(told.clips)
        for each in some:
            clip_of(library, each)
        return ClipRows(clips=rows(library.retag(some, add=told.add, remove=told.remove)))

    return await here.writes(tag)


@router.post("/api/clips/remove")
async def remove_clips(here: Here, told: SomeClips) -> Removed:
    """Throws clips away: they are in no list and no search, and can be restored for 30 days."""

    def remove(library: Library) -> Removed:
        for each in told.clips:
            clip_of(library, each)
        return Removed(removed=tuple(clip.hash for clip in library.throw_away(*told.clips)))

    return await here.writes(remove)


@router.get("/api/removed")
async def get_removed(
    here: Here,
    skip: Annotated[int, Query(ge=0, le=1 << 31)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST_CLIPS)] = 60,
) -> RemovedClips:
    """Some of the clips that were thrown away and can be restored, the last one first."""
    gone = await here.reads(lambda library: library.thrown_away())
    some = gone[skip : skip + limit]
    return RemovedClips(
        total=len(gone),
        days=here.settings.bin_days,
        clips=tuple(RemovedRow(**row(clip).model_dump(), removed_at=since) for clip, since in some),
    )


@router.post("/api/clips/restore")
async def restore_clips(here: Here, told: SomeClips) -> ClipRows:
    """Brings back what was thrown away; clips that are there stay."""

    def restore(library: Library) -> ClipRows:
        found = [clip_of(library, each) for each in told.clips]
        gone = {clip.hash for clip, _ in library.thrown_away()}
        library.restore(*(clip.hash for clip in found if clip.hash in gone))
        return ClipRows(clips=rows(found))

    return await here.writes(restore)
