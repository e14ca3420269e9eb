"""The library: its clips, their names and tags, and the trash."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query

import keypose
from keypose.anatomy import recognise
from keypose.clip_edit.export import PICTURES, STRIPS
from keypose.clip_edit.selection_spec import RESERVED_OPTIONS, CurveSpec
from keypose.formats import FORMATS
from keypose.formats.base import Extra
from keypose.library.library import Library
from keypose.library.records import Clip
from keypose.library.records import Facets as LibraryFacets
from keypose.methods import METHODS
from keypose.options import ExtremesOptions, FeatureOptions
from keypose.options.clip_edit import describe_options
from keypose.options.pictures import MAX_POSES
from keypose.server.app_state import AppStateDep
from keypose.server.schema import ClipHash
from keypose.server.schema.clips import (
    ActionCount,
    BodyPartCount,
    ClipList,
    ClipPage,
    ClipRow,
    ClipsRequest,
    DurationCount,
    Facets,
    FormatRow,
    ImportFormatRow,
    LibraryInfo,
    Limits,
    ListQuery,
    MethodRow,
    QueueInfo,
    RenameRequest,
    TagCount,
    TagsRequest,
    TrashPage,
    TrashQuery,
    TrashResponse,
    TrashRow,
)
from keypose.server.workers.pool import TaskWeight
from keypose.server.workers.upload_worker import library_argument
from keypose.server.workers.worker_context import find_clip

# A figure with every body part that a joint group may hold.
_FIGURE = (
    ("Hips", -1), ("Spine", 0), ("Neck", 1), ("Head", 2),
    *((f"{side}{joint}", parent) for side, first in (("Left", 4), ("Right", 11)) for joint, parent in (
        ("Shoulder", 1), ("Arm", first), ("ForeArm", first + 1), ("Hand", first + 2), ("HandIndex1", first + 3),
        ("HandIndex2", first + 4), ("HandIndex3", first + 5))),
    *((f"{side}{joint}", parent) for side, first in (("Left", 18), ("Right", 22)) for joint, parent in (
        ("UpLeg", 0), ("Leg", first), ("Foot", first + 1), ("ToeBase", first + 2))),
)  # fmt: skip

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
        feature_options=tuple(each for each in describe_options(FeatureOptions) if each.name != "max_keys"),
        extremes_options=describe_options(ExtremesOptions),
        curve_options=describe_options(CurveSpec),
        joint_groups=joint_groups(),
        formats=format_rows(),
        import_formats=import_format_rows(),
        limits=Limits(
            max_upload_bytes=state.settings.max_upload_bytes,
            max_uploads=state.settings.max_uploads,
            max_strip_poses=MAX_POSES,
        ),
    )


@router.get("/api/queue")
async def get_queue(state: AppStateDep) -> QueueInfo:
    """Return how many exports, comparisons and selections run and wait: they take turns."""
    return QueueInfo.model_validate(state.workers.queue_length(TaskWeight.HEAVY))


@router.get("/api/clips")
async def get_clips(state: AppStateDep, query: Annotated[ListQuery, Query()]) -> ClipPage:
    """Return a page of the matching clips, and the facets of all matching clips."""
    filters: dict[str, Any] = {
        "words": query.text.strip() or None if query.text else None,
        "tags": tuple(query.tag),
        "min_duration_s": query.min_duration_s,
        "max_duration_s": query.max_duration_s,
        "body_part": query.body_part or None,
        "action": query.action or None,
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
        actions=tuple(ActionCount(action=kind, count=count) for kind, count in library_facets.actions),
    )


@cache
def method_rows() -> tuple[MethodRow, ...]:
    """Return the selection methods."""
    return tuple(
        MethodRow(
            name=method.name,
            summary=method.summary,
            paper=method.paper,
            has_own_count=method.has_own_count,
            takes_pins="pins" in method.options,
            joints=method.joints,
            options=tuple(each for each in method.option_descriptions if each.name not in RESERVED_OPTIONS),
        )
        for method in METHODS.values()
    )


@cache
def joint_groups() -> tuple[str, ...]:
    """Return the names of all joint groups."""
    names, parents = zip(*_FIGURE, strict=True)
    return tuple(recognise(names, parents).groups)


@cache
def format_rows() -> tuple[FormatRow, ...]:
    """Return the export formats."""
    motions = [
        FormatRow(
            suffix=suffix,
            label=format_.name,
            variant=format_.variants.get(suffix, ""),
            purpose=format_.purpose,
            content="swings" if format_.write is None else "motion",
            keeps_keys=format_.keeps_keys,
            keys_as_metadata=format_.keys_as_metadata,
            stores_residual=format_.stores_residual,
            has_tolerance=format_.has_tolerance,
            blender_needs_addon=format_.blender_needs_addon,
            install_command=_install_command(format_.extra),
        )
        for format_ in FORMATS
        if format_.write is not None or format_.write_swings is not None
        for suffix in format_.suffixes
    ]
    pictures = [
        FormatRow(
            suffix=picture.suffix,
            label=picture.name,
            content="strip" if picture.suffix in STRIPS else "report",
            install_command=None,
        )
        for picture in PICTURES.values()
    ]
    return (*motions, *pictures)


@cache
def import_format_rows() -> tuple[ImportFormatRow, ...]:
    """Return the formats of files that can be added."""
    return tuple(
        ImportFormatRow(
            label=format_.name, suffixes=format_.all_suffixes, install_command=_install_command(format_.extra)
        )
        for format_ in FORMATS
    )


def _install_command(extra: Extra | None) -> str | None:
    return None if extra is None or extra.find_python() else extra.install_command
