"""Types of the library: clips, facets, trash, uploads and search."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AliasPath, BaseModel, ConfigDict, Field

from keypose.clip_edit.clip_editor import JointDetails, SwingBar
from keypose.formats.gltf.character import CharacterContents
from keypose.options.clip_edit import OptionDescription
from keypose.options.library import ListOptions, Ranker, SearchOptions, Sort
from keypose.server.schema import (
    MAX_CLIPS,
    MAX_SKIP,
    ClipHash,
    Finite,
    RequestModel,
    ResponseModel,
    Text,
    option_field,
)

MAX_LIST_SKIP = 1 << 31
Tags = Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=50)]
ClipHashes = Annotated[tuple[ClipHash, ...], Field(fail_fast=True, min_length=1, max_length=10_000)]


class ClipRow(ResponseModel):
    """A clip in a list."""

    hash: ClipHash
    name: str
    tags: tuple[str, ...]
    fps: float
    n_frames: int
    duration_s: float
    suffix: str
    bytes: int
    added_at: datetime


class TagCount(ResponseModel):
    """A tag with its number of clips."""

    tag: str
    count: int


class DurationCount(ResponseModel):
    """Number of clips with a duration from ``min_s`` to below ``max_s``."""

    min_s: float
    max_s: float | None = Field(description="None: no limit.")
    count: int


class BodyPartCount(ResponseModel):
    """Number of clips in which a body part swings."""

    body_part: str
    count: int


class ActionCount(ResponseModel):
    """Number of clips with an action of a kind."""

    action: str
    count: int


class Facets(ResponseModel):
    """Properties of the matching clips, with counts."""

    tags: tuple[TagCount, ...]
    durations: tuple[DurationCount, ...]
    body_parts: tuple[BodyPartCount, ...]
    actions: tuple[ActionCount, ...] = Field(description="The most frequent first.")


class ClipPage(ResponseModel):
    """A page of the matching clips."""

    total: int
    skip: int
    clips: tuple[ClipRow, ...]
    facets: Facets


class MethodRow(ResponseModel):
    """A selection method."""

    name: str
    summary: str
    paper: str
    has_own_count: bool
    takes_pins: bool
    joints: str = Field(description="The group of joints that it sees by default; all: every joint.")
    options: tuple[OptionDescription, ...]


class FormatRow(ResponseModel):
    """An export format."""

    suffix: str
    label: str
    variant: str = Field(default="", description="How it differs from other formats with this label.")
    purpose: str = Field(default="", description="A sentence about what it is for.")
    content: Literal["motion", "swings", "strip", "report"]
    keeps_keys: bool = Field(
        default=False, description="Stores keys and the curves between them instead of every frame."
    )
    keys_as_metadata: bool = Field(default=False, description="Stores every frame, and which of them are keys.")
    stores_residual: bool = Field(default=False, description="Stores the captured detail beside the keys.")
    has_tolerance: bool = Field(default=False, description="Stores frames within a maximum error, or lossless.")
    blender_needs_addon: bool = Field(
        default=False, description="Blender's own import drops the tangents of its curves."
    )
    install_command: str | None = Field(
        description="Command that installs what the format needs; None: nothing is missing."
    )


class ImportFormatRow(ResponseModel):
    """A format of files that can be added."""

    label: str
    suffixes: tuple[str, ...]
    install_command: str | None = Field(
        description="Command that installs what reading it needs; None: nothing is missing."
    )


class Limits(ResponseModel):
    """Limits of uploads and pictures."""

    max_upload_bytes: int
    max_uploads: int
    max_strip_poses: int


class LibraryInfo(ResponseModel):
    """Totals of the library, and what the server offers."""

    name: str
    library_argument: str = Field(description="Argument of --library in a shell, in the folder of the library.")
    version: str
    n_clips: int
    duration_s: float
    bytes: int
    tags: tuple[TagCount, ...]
    methods: tuple[MethodRow, ...]
    feature_options: tuple[OptionDescription, ...] = Field(description="What every method sees of the motion.")
    extremes_options: tuple[OptionDescription, ...] = Field(description="Whether keys are moved to extremes.")
    curve_options: tuple[OptionDescription, ...] = Field(description="How curves are fitted through keys.")
    joint_groups: tuple[str, ...] = Field(description="Names that joints and weights may refer to.")
    formats: tuple[FormatRow, ...]
    import_formats: tuple[ImportFormatRow, ...]
    limits: Limits


class QueueInfo(ResponseModel):
    """Numbers of exports, comparisons and selections."""

    running: int
    waiting: int


class ClipDetails(ClipRow):
    """A clip with its metadata, joints, contacts and swings."""

    other_names: tuple[str, ...]
    source: str
    licence: str
    note: str
    tolerance_mm: float | None
    key_frames: tuple[int, ...]
    has_body: bool
    joints: tuple[JointDetails, ...]
    joint_groups: dict[str, tuple[int, ...]] = Field(description="Joint indices by group.")
    contacts: dict[str, tuple[tuple[int, int], ...]] = Field(
        description="First and last frame of each contact, by foot."
    )
    swings: tuple[SwingBar, ...]
    character: CharacterContents | None = Field(
        description="What the clip's file has that an export into it keeps; None: the file has no more than the motion."
    )
    actions: dict[str, int] = Field(description="Number of actions by kind.")
    notes: tuple[str, ...]


class RenameRequest(RequestModel):
    """The new name of a clip."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


class TagsRequest(RequestModel):
    """Tags to add to clips and to remove from them."""

    clips: ClipHashes
    add: Tags = ()
    remove: Tags = ()


class ClipsRequest(RequestModel):
    """Clips by hash."""

    clips: ClipHashes


class ClipList(ResponseModel):
    """Clips after a change."""

    clips: tuple[ClipRow, ...]


class TrashResponse(ResponseModel):
    """Clips that were moved to the trash."""

    hashes: tuple[ClipHash, ...]


class TrashRow(ClipRow):
    """A clip in the trash."""

    trashed_at: datetime


class TrashPage(ResponseModel):
    """A page of the clips in the trash, the latest first."""

    total: int
    retention_days: float = Field(description="Time until clips in the trash are deleted.")
    clips: tuple[TrashRow, ...]


class UploadResponse(ResponseModel):
    """The clip of an uploaded file."""

    clip: ClipRow
    is_duplicate: bool = Field(description="Whether the library had this content already.")
    notes: tuple[str, ...] = Field(description="Problems of the file that were repaired.")


class TrashQuery(BaseModel):
    """Which clips of the trash are listed, as a query string."""

    model_config = ConfigDict(frozen=True)

    skip: int = option_field(ListOptions, "skip", max_value=MAX_LIST_SKIP)
    limit: int = option_field(ListOptions, "limit", default=60, max_value=MAX_CLIPS)


class ListQuery(TrashQuery):
    """Which clips of the library are listed, as a query string."""

    text: Text | None = option_field(ListOptions, "words")
    tag: Annotated[list[Text], Field(max_length=50)] = option_field(ListOptions, "tags", default=[])
    min_duration_s: Finite | None = option_field(ListOptions, "min_duration_s")
    max_duration_s: Finite | None = option_field(ListOptions, "max_duration_s")
    body_part: Text | None = option_field(ListOptions, "body_part")
    action: Text | None = option_field(ListOptions, "action")
    sort: Sort = option_field(ListOptions, "sort")


class SearchRequest(RequestModel):
    """A search by example: a whole clip; a span, with ``start`` and ``end``; a pose, with ``frame``."""

    clip: ClipHash
    start: Annotated[int, Field(ge=0)] | None = None
    end: Annotated[int, Field(ge=1)] | None = None
    frame: Annotated[int, Field(ge=0)] | None = None
    text: Text | None = option_field(SearchOptions, "words")
    tags: Tags = option_field(SearchOptions, "tags")
    min_duration_s: Finite | None = option_field(SearchOptions, "min_duration_s")
    max_duration_s: Finite | None = option_field(SearchOptions, "max_duration_s")
    action: Text | None = option_field(SearchOptions, "action")
    joints: Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=100)] | None = option_field(
        SearchOptions, "joints"
    )
    mirrored: bool = option_field(SearchOptions, "mirrored")
    ranker: Ranker = option_field(SearchOptions, "ranker")
    multiple: bool = option_field(SearchOptions, "multiple")
    deduplicate: bool = option_field(SearchOptions, "deduplicate")
    skip: int = option_field(ListOptions, "skip", max_value=MAX_SKIP)
    limit: int = option_field(SearchOptions, "limit", default=24, max_value=MAX_CLIPS)


class Span(ResponseModel):
    """Spans of query and clip that match, in seconds."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float


class HitRow(ResponseModel):
    """A hit: the clip, the matching span, and what agrees."""

    clip: ClipRow
    score: float
    start: int
    end: int
    start_s: float
    end_s: float
    query_start_s: float
    query_end_s: float
    mirrored: bool
    duplicates: tuple[str, ...]
    body_parts: tuple[str, ...] = Field(
        description="Body parts that swing alike, those with the longest common time first."
    )
    joint_distance_cm: float | None = Field(
        validation_alias=AliasPath("details", "joint_distance_cm"),
        description="Search by pose: mean distance of the joints, on a figure of 1.7 m.",
    )
    spans: tuple[Span, ...] = Field(validation_alias=AliasPath("details", "spans"))


class SearchResponse(ResponseModel):
    """Hits of a search, the best first."""

    hits: tuple[HitRow, ...]
    has_more: bool = Field(description="Whether there are more hits.")
    elapsed_ms: float
