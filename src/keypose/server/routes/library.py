"""The library: its clips, their names and tags, and the trash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Query

import keypose
from keypose.library.library import Library
from keypose.library.records import Clip
from keypose.library.records import Facets as LibraryFacets
from keypose.server.app_state import AppStateDep
from keypose.server.capabilities import format_rows, joint_groups, method_rows
from keypose.server.schema import ClipHash
from keypose.server.schema.clips import (
    BodyPartCount,
    ClipList,
    ClipPage,
    ClipRow,
    ClipsRequest,
    DurationCount,
    Facets,
    LibraryInfo,
    Limits,
    ListQuery,
    RenameRequest,
    TagCount,
    TagsRequest,
    TrashPage,
    TrashQuery,
    TrashResponse,
    TrashRow,
)
from keypose.server.workers.upload_worker import library_argument
from keypose.server.workers.worker_context import find_clip

router = APIRouter(tags=["library"])


@router.get("/api/library")
async def get_library(state: AppStateDep) -> LibraryInfo:
    """Return totals of the library, and what the server offers."""
    stats = await state.run_read(lambda library: library.stats())
    return LibraryInfo(
        name=state.library_name,
        library_argument=library_argument(state.settings.library),
        version=keypose.__version__,
        n_clips=stats.clips,
        duration_s=stats.duration_s,
        bytes=stats.bytes,
        tags=tag_counts(stats.tags),
        methods=method_rows(),
        joint_groups=joint_groups(),
        formats=format_rows(),
        limits=Limits(max_upload_bytes=state.settings.max_upload_bytes, max_uploads=state.settings.max_uploads),
    )


@router.get("/api/clips")
async def get_clips(state: AppStateDep, query: Annotated[ListQuery, Query()]) -> ClipPage:
    """Return a page of the matching clips, and the facets of all matching clips."""
    filters: dict[str, Any] = {
        "words": query.text.strip() or None if query.text else None,
        "tags": tuple(query.tag),
        "min_duration_s": query.min_duration_s,
        "max_duration_s": query.max_duration_s,
        "body_part": query.body_part or None,
    }

    def page(library: Library) -> ClipPage:
        return ClipPage(
            total=library.count(**filters),
            skip=query.skip,
            clips=clip_rows(library.clips(**filters, sort=query.sort, limit=query.limit, skip=query.skip)),
            facets=facet_counts(library.facets(**filters)),
        )

    return await state.run_read(page)


@router.patch("/api/clips/{clip}")
async def rename_clip(state: AppStateDep, clip: ClipHash, body: RenameRequest) -> ClipRow:
    """Rename a clip."""

    def rename(library: Library) -> ClipRow:
        find_clip(library, clip)
        return clip_row(library.rename(clip, body.name))

    return await state.run_write(rename)


@router.post("/api/clips/tags")
async def tag_clips(state: AppStateDep, body: TagsRequest) -> ClipList:
    """Add tags to clips and remove others."""

    def retag(library: Library) -> ClipList:
        hashes = dict.fromkeys(body.clips)
        for each in hashes:
            find_clip(library, each)
        return ClipList(clips=clip_rows(library.retag(hashes, add=body.add, remove=body.remove)))

    return await state.run_write(retag)


@router.post("/api/trash")
async def trash_clips(state: AppStateDep, body: ClipsRequest) -> TrashResponse:
    """Move clips to the trash: lists and searches omit them, and they can be restored for 30 days."""

    def trash(library: Library) -> TrashResponse:
        for each in body.clips:
            find_clip(library, each)
        return TrashResponse(hashes=tuple(clip.hash for clip in library.trash(*body.clips)))

    return await state.run_write(trash)


@router.get("/api/trash")
async def get_trash(
    state: AppStateDep,
    query: Annotated[TrashQuery, Query()],
) -> TrashPage:
    """Return a page of the clips in the trash, the latest first."""
    entries = await state.run_read(lambda library: library.list_trash())
    page = entries[query.skip : query.skip + query.limit]
    return TrashPage(
        total=len(entries),
        retention_days=state.settings.trash_days,
        clips=tuple(TrashRow(**clip_row(clip).model_dump(), trashed_at=trashed_at) for clip, trashed_at in page),
    )


@router.post("/api/trash/restore")
async def restore_clips(state: AppStateDep, body: ClipsRequest) -> ClipList:
    """Restore clips from the trash; clips that are not in it are left as they are."""

    def restore(library: Library) -> ClipList:
        clips = [find_clip(library, each) for each in body.clips]
        trashed_hashes = {clip.hash for clip, _ in library.list_trash()}
        library.restore(*(clip.hash for clip in clips if clip.hash in trashed_hashes))
        return ClipList(clips=clip_rows(clips))

    return await state.run_write(restore)


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
