"""Clips of the library: rows, pages of them, all about one."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from keypose.server.schema.base import MOST_CLIPS, MOST_SKIPPED, ClipHash, Finite, Said, Text, Told

Sort = Literal["name", "newest", "longest", "shortest"]


class ClipRow(Said):
    """One clip, as a list shows it."""

    hash: ClipHash
    name: str
    tags: tuple[str, ...]
    fps: float
    n_frames: int
    duration_s: float
    suffix: str
    bytes: int
    added_at: datetime


class TagCount(Said):
    """A tag, and how many clips have it."""

    tag: str
    count: int


class DurationCount(Said):
    """How many clips last from ``least_s`` up to below ``most_s``."""

    least_s: float
    most_s: float | None = Field(description="None: without end.")
    count: int


class PartCount(Said):
    """How many clips there are in which a part of the body swings."""

    part: str
    count: int


class Facets(Said):
    """What the clips that were found have, each with its count."""

    tags: tuple[TagCount, ...]
    durations: tuple[DurationCount, ...]
    parts: tuple[PartCount, ...]


class ClipPage(Said):
    """Some of the clips that were asked for."""

    total: int
    skip: int
    clips: tuple[ClipRow, ...]
    facets: Facets


class MethodRow(Said):
    """A method that chooses keys."""

    name: str
    summary: str
    paper: str
    has_own_count: bool
    options: tuple[str, ...]


class FormatRow(Said):
    """A kind of file that a clip can be taken away as."""

    suffix: str
    label: str
    needs: str | None = Field(description="What must be installed first; None: nothing.")


class Limits(Said):
    """How much is taken."""

    upload_bytes: int
    uploads_at_once: int


class LibraryFacts(Said):
    """How much there is, and what can be done."""

    name: str
    shell_name: str = Field(description="What --library is told in a shell, in the folder of the library.")
    version: str
    clips: int
    duration_s: float
    bytes: int
    tags: tuple[TagCount, ...]
    methods: tuple[MethodRow, ...]
    groups: tuple[str, ...] = Field(description="Names of parts of the body that joints and weights may be given by.")
    formats: tuple[FormatRow, ...]
    limits: Limits


class Joint(Said):
    """One joint of a skeleton."""

    name: str
    parent: int = Field(description="-1: a root.")
    part: str | None = Field(description="The part of the body; None: not recognised.")


class SwingBar(Said):
    """One swing of a joint."""

    joint: str
    index: int = Field(description="Its place among the joint's swings.")
    start: int
    end: int
    angle_deg: float


class ClipFacts(ClipRow):
    """All about one clip."""

    also_named: tuple[str, ...]
    source: str
    licence: str
    note: str
    within_mm: float | None
    key_frames: tuple[int, ...]
    has_body: bool
    joints: tuple[Joint, ...]
    groups: dict[str, tuple[int, ...]] = Field(description="Joints by part of the body.")
    contacts: dict[str, tuple[tuple[int, int], ...]] = Field(description="First and last frames of each foot's stands.")
    swings: tuple[SwingBar, ...]
    notes: tuple[str, ...]


class Renamed(Told):
    """What a clip is to be called."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


Clips = Annotated[tuple[ClipHash, ...], Field(fail_fast=True, min_length=1, max_length=10_000)]


class Tagged(Told):
    """Tags to give to clips and to take from them."""

    clips: Clips
    add: Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=50)] = ()
    remove: Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=50)] = ()


class SomeClips(Told):
    """Clips to do something with."""

    clips: Clips


class ClipRows(Said):
    """Clips, after something was done with them."""

    clips: tuple[ClipRow, ...]


class Removed(Said):
    """Clips that are gone from lists and searches."""

    removed: tuple[ClipHash, ...]


class RemovedRow(ClipRow):
    """A clip that was thrown away."""

    removed_at: datetime


class RemovedClips(Said):
    """Some of the clips that can be restored, the last one first."""

    total: int
    days: float = Field(description="How long they can be, since they were removed.")
    clips: tuple[RemovedRow, ...]


class Uploaded(Said):
    """What became of a file."""

    clip: ClipRow
    known: bool = Field(description="Its content was there already.")
    notes: tuple[str, ...] = Field(description="What was not quite right with the file, and was repaired.")


class SearchTold(Told):
    """A search by example: a whole clip; a part, with ``start`` and ``end``; a pose, with ``frame``."""

    clip: ClipHash
    start: Annotated[int, Field(ge=0)] | None = None
    end: Annotated[int, Field(ge=1)] | None = None
    frame: Annotated[int, Field(ge=0)] | None = None
    words: Text | None = None
    tags: Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=50)] = ()
    least_duration_s: Finite | None = None
    most_duration_s: Finite | None = None
    joints: Annotated[tuple[Text, ...], Field(fail_fast=True, max_length=100)] | None = None
    mirrored: bool = True
    ranker: Literal["descriptors", "swings"] = "descriptors"
    several: bool = False
    fold: bool = True
    skip: Annotated[int, Field(ge=0, le=MOST_SKIPPED)] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_CLIPS)] = 24


class Span(Said):
    """Stretches of query and clip that are alike, in seconds."""

    query_start_s: float
    query_end_s: float
    start_s: float
    end_s: float


class HitRow(Said):
    """One clip that was found, where, and why."""

    clip: ClipRow
    score: float
    start: int
    end: int
    start_s: float
    end_s: float
    query_start_s: float
    query_end_s: float
    mirrored: bool
    also: tuple[str, ...]
    says: str
    spans: tuple[Span, ...]


class Hits(Said):
    """What a search found, the best first."""

    hits: tuple[HitRow, ...]
    more: bool = Field(description="Whether there are hits behind these.")
    took_ms: float
