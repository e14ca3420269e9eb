"""The public class of a library of clips. Its methods delegate to the modules of this package."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Self, Unpack, overload

from keypose.errors import OptionError, format_value
from keypose.formats import Limits
from keypose.formats.base import check_limits
from keypose.library import clip_export, clip_insert, listing, metadata, verification
from keypose.library.analysis_rows import load_actions, load_key_frames, load_strip, load_swing_table
from keypose.library.blobs import open_blobs
from keypose.library.clip_insert import parse_load_options
from keypose.library.ingest import ReportCollector
from keypose.library.ingest.run import IngestKeywords, OnProgress, ingest
from keypose.library.listing import Filters
from keypose.library.rebuild import OnRebuildProgress, rebuild_library
from keypose.library.records import Clip, Draft, Facets, Fault, IngestCounts, IngestReport, Stats
from keypose.library.rows import clean_tags, clip_exists, find_clip
from keypose.library.salvage import repair_file
from keypose.library.search.candidate_source import CandidateSource
from keypose.library.search.hits import Hit
from keypose.library.search.memory_index import MemoryIndex
from keypose.library.search.search import compute_pose_vector, open_candidate_source, search, search_part, search_pose
from keypose.library.search.swing_overlap import SwingTable
from keypose.library.store import Database, Store
from keypose.model import Motion
from keypose.options import Gaps, LoadOptions, ReferencePose
from keypose.options.library import AddKeywords, IngestOptions, Ranker, Sort
from keypose.pictures.svg import Picture, parse_size
from keypose.validation import check_bool, check_callback, check_number

BUSY_S = 30.0


class Library:
    """A library of clips: a database in SQLite, ``clips.db``, and blobs in the folder ``clips.db.blobs`` beside it.

    The database may also be in PostgreSQL, ``postgresql://user@host/database``, with ``blobs`` in a folder or at the
    URL of an object store. The location of the blobs is recorded when the library is created; afterwards ``blobs`` is
    optional.

    When a method returns, its changes are on disk; a killed process leaves no partial clip. Any number of processes may
    read and write at once; writers wait for each other up to ``busy_s`` seconds. ``create=False`` opens existing
    libraries only. Clips are referred to by name or by hash; eight digits of it are sufficient.

    Searches take a motion, or the name of a clip of the library, which is then excluded from the hits, and return at
    most ``limit`` hits. All searches and lists take the same filters: ``words``, each a prefix of a word in the clip's
    names or tags; ``tags``, all of which it must have; ``min_duration_s`` and ``max_duration_s``, both inclusive;
    ``skeleton``, the hash of its rig; and ``action``, a kind of action such as ``"kick"``. ``joints`` are the body
    parts to compare, such as ``"arms"`` or ``"left_leg"``. With ``mirrored``, clips may also match with left and right
    exchanged; with ``deduplicate``, copies of one take are one hit; with ``multiple``, one clip has several hits.
    """

    def __init__(
        self,
        location: str | PathLike[str],
        *,
        blobs: str | PathLike[str] | None = None,
        create: bool = True,
        busy_s: float = BUSY_S,
        limits: Limits | None = None,
    ) -> None:
        allowed = check_limits(limits)
        can_create, wait_s = check_bool("create", create), check_number("busy_s", busy_s, min_value=0.0)
        database = Database(location, create=can_create, busy_s=wait_s, blobs=blobs)
        self.location = database.dialect.location
        try:
            self._store = Store(database, open_blobs(database.blob_location, database.dialect, allowed.bytes), allowed)
            self._store.check_owner()
        except BaseException:
            database.close()
            raise

    @classmethod
    def repair_file(
        cls, location: str | PathLike[str], *, blobs: str | PathLike[str] | None = None, busy_s: float = BUSY_S
    ) -> tuple[Fault, ...]:
        """Replace the SQLite file of a library that cannot be opened, as it is damaged, and return what was lost.

        What can be read is copied into a new file, and the damaged one is kept beside it; call ``rebuild`` then. A file
        that can be opened is left as it is.
        """
        return tuple(repair_file(location, blobs, check_number("busy_s", busy_s, min_value=0.0)))

    @cached_property
    def _candidate_source(self) -> CandidateSource:
        """The source of the clips that searches compare; created by the first search."""
        return open_candidate_source(self._store.database.dialect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; there are no pending writes."""
        self._store.database.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"

    # Reading: lists do not contain clips in the trash

    def __len__(self) -> int:
        return listing.count_clips(self._store, Filters())

    def __iter__(self) -> Iterator[Clip]:
        return iter(self.clips())

    def __contains__(self, clip: object) -> bool:
        """Return whether there is a clip of this name or hash; for a ``Clip``, whether it still exists."""
        with self._store.database.begin_read() as connection:
            return clip_exists(connection, clip.hash if isinstance(clip, Clip) else clip)

    def clip(self, clip: str) -> Clip:
        """Return the clip of this name or hash; a clip in the trash is found by its full hash only."""
        with self._store.database.begin_read() as connection:
            return find_clip(connection, clip)[1]

    def get(self, clip: str) -> Motion:
        """Return the motion of a clip, read from its checked bytes."""
        found_clip = self.clip(clip)
        return replace(self._store.load_motion(found_clip), name=found_clip.name)

    def original(self, clip: str) -> bytes:
        """Return the stored bytes of a clip, checked."""
        return self._store.read_bytes(self.clip(clip))

    def clips(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
        action: str | None = None,
        sort: Sort = "name",
        limit: int | None = None,
        skip: int = 0,
    ) -> tuple[Clip, ...]:
        """Return clips that meet the filters; ``body_part`` is a limb that swings widely, such as ``"left_leg"``.

        ``sort``: by ``"name"``, those whose name equals ``words`` first; or ``"newest"``, ``"longest"`` or
        ``"shortest"`` first. ``skip`` clips are left out at the start, and at most ``limit`` are returned.
        """
        filters = Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, body_part, action)
        return listing.list_clips(self._store, filters, sort, limit, skip, words)

    def clips_named(self, name: str) -> tuple[Clip, ...]:
        """Return the clips of exactly this name: there may be several."""
        return listing.find_by_name(self._store, name)

    def count(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
        action: str | None = None,
    ) -> int:
        """Return the number of clips that ``clips`` would return."""
        filters = Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, body_part, action)
        return listing.count_clips(self._store, filters)

    def facets(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        body_part: str | None = None,
        action: str | None = None,
    ) -> Facets:
        """Return counts of tags, durations, moving body parts and actions of the clips that ``clips`` would return."""
        filters = Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, body_part, action)
        return listing.facets(self._store, filters)

    def tags(self) -> tuple[tuple[str, int], ...]:
        """Return all tags with their numbers of clips, the most used first."""
        with self._store.database.begin_read() as connection:
            return listing.count_tags(connection, Filters().list_query(self._store.database.dialect))

    def stats(self) -> Stats:
        """Return totals of the library."""
        return listing.stats(self._store)

    def list_trash(self) -> tuple[tuple[Clip, datetime], ...]:
        """Return the clips in the trash and when they were moved there (UTC), the latest first."""
        return metadata.list_trash(self._store)

    def draft(self, clip: str) -> Draft | None:
        """Return the draft of a clip, or None."""
        return metadata.load_draft(self._store, clip)

    # Adding

    @overload
    def add(self, content: bytes | Motion, *, name: str | None = None, **options: Unpack[AddKeywords]) -> Clip: ...

    @overload
    def add(  # type: ignore[overload-overlap]  # a str is a path, although it is iterable too
        self, content: str | PathLike[str], *, name: str | None = None, **options: Unpack[IngestKeywords]
    ) -> Clip | IngestReport: ...

    @overload
    def add(self, content: Iterable[str | PathLike[str]], **options: Unpack[IngestKeywords]) -> IngestReport: ...

    def add(
        self,
        content: str | PathLike[str] | bytes | Motion | Iterable[str | PathLike[str]],
        *,
        name: str | None = None,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        tolerance_mm: float | None = None,
        jobs: int | None = None,
        engine: str | None = None,
        on_progress: OnProgress | None = None,
        tag_folders: bool = False,
        reference_pose: ReferencePose = LoadOptions.reference_pose,
        asf: str | PathLike[str] | None = None,
        gaps: Gaps = LoadOptions.gaps,
        animation: str | int | None = None,
        fps: float | None = None,
    ) -> Clip | IngestReport:
        """Add a file, the bytes of one (then with a ``name``) or a motion, and return the clip.

        The same content is one clip, gzipped or not: if it is added again under another name, the clip gets that as a
        further name, and its tags are extended. Source, licence and note are only set if they are empty; ``describe``
        changes them. ``source`` is the path by default. Bytes are stored unchanged; a motion, and a file that needs
        others beside it (AMC, some glTF), as lossless ``.kps``. ``tolerance_mm``: store as ``.kps`` within this
        tolerance, on a figure of 1.7 m; adding the same content again without it stores the original bytes.

        ``reference_pose``, ``asf``, ``gaps``, ``animation`` and ``fps`` are those of ``load``. A file that reads
        differently with them becomes a separate clip, stored as lossless ``.kps``: another animation than the first is
        named ``Fox: Walk``.

        A folder, or several files and folders, are ingested by ``jobs`` processes (None: one per core) or by a Dask
        cluster, ``engine="dask://host:8786"``; the result is a report of added and existing clips and of failures.
        ``on_progress`` is called for each file once it is durable. An interrupted ingest continues when started again.
        ``tag_folders``: names of the folders below the given one become tags.
        """
        options = IngestOptions(clean_tags(tags), source, licence, note, tolerance_mm, jobs, engine, tag_folders)
        load_options = parse_load_options(reference_pose, asf, gaps, animation, fps)
        check_callback("on_progress", on_progress)
        if isinstance(content, Motion | bytes) or (isinstance(content, str | PathLike) and not _is_folder(content)):
            return clip_insert.add(self._store, content, name, options, load_options)
        if isinstance(content, str | PathLike):
            content = (content,)
        elif not isinstance(content, Iterable):
            raise OptionError(f"{type(content).__name__} to add", expected="a path, bytes or a Motion")
        if name is not None:
            raise OptionError(
                "for many files", option="name", value=name, expected="none: each is named after its file"
            )
        collector = ReportCollector(on_progress)
        ingest(self._store, content, options, load_options, collector.add)
        return collector.report

    def ingest(
        self,
        paths: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        tolerance_mm: float | None = None,
        jobs: int | None = None,
        engine: str | None = None,
        on_progress: OnProgress | None = None,
        tag_folders: bool = False,
        reference_pose: ReferencePose = LoadOptions.reference_pose,
        asf: str | PathLike[str] | None = None,
        gaps: Gaps = LoadOptions.gaps,
        animation: str | int | None = None,
        fps: float | None = None,
    ) -> IngestCounts:
        """Ingest like ``add`` with a folder or several files; clips are only passed to ``on_progress``, and counted.

        Therefore memory does not grow with the number of clips.
        """
        options = IngestOptions(clean_tags(tags), source, licence, note, tolerance_mm, jobs, engine, tag_folders)
        load_options = parse_load_options(reference_pose, asf, gaps, animation, fps)
        sources = (paths,) if isinstance(paths, str | PathLike) else paths
        return ingest(self._store, sources, options, load_options, on_progress)

    # Trash

    def trash(self, *clips: str) -> tuple[Clip, ...]:
        """Move clips to the trash, out of all lists and searches, until ``restore``: all or none.

        Their bytes are not deleted. Adding the same content again also restores them.
        """
        return metadata.move_to_trash(self._store, clips)

    def restore(self, *clips: str) -> tuple[Clip, ...]:
        """Restore clips from the trash, by name or hash: all or none."""
        return metadata.restore(self._store, clips)

    def empty_trash(self, older_than_days: float = 30.0) -> tuple[Clip, ...]:
        """Delete clips that have been in the trash for longer, with their bytes; return them."""
        return metadata.empty_trash(self._store, older_than_days)

    def remove(self, clip: str) -> Clip:
        """Delete a clip and its bytes permanently; return its record."""
        return metadata.delete_clip(self._store, clip)

    # Metadata

    def rename(self, clip: str, name: str) -> Clip:
        """Rename a clip; its old name still finds it."""
        return metadata.rename(self._store, clip, name)

    def describe(
        self, clip: str, *, source: str | None = None, licence: str | None = None, note: str | None = None
    ) -> Clip:
        """Change ``source``, ``licence`` and ``note`` of a clip; None leaves a field as it is, "" clears it."""
        return metadata.describe(self._store, clip, {"source": source, "licence": licence, "note": note})

    def tag(self, clip: str, *tag_names: str) -> Clip:
        """Add tags to a clip; they are stored in lower case."""
        return metadata.retag(self._store, [clip], tag_names, ())[0]

    def untag(self, clip: str, *tag_names: str) -> Clip:
        """Remove tags from a clip; missing tags are no error."""
        return metadata.retag(self._store, [clip], (), tag_names)[0]

    def retag(self, clips: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[Clip, ...]:
        """Add and remove tags of several clips: all or none; return each clip once, in order."""
        if isinstance(clips, str):
            raise OptionError(option="clips", value=clips, expected=f"several clips: [{format_value(clips)}]")
        return metadata.retag(self._store, clips, add, remove)

    # Drafts

    def save_draft(self, clip: str, data: str, *, revision: int | None = None) -> Draft:
        """Save the draft of a clip, text of at most 4 MiB, replacing the one that was read.

        ``revision`` is that of the draft that was read, None if there was none; if it has changed since, Conflict is
        raised and nothing is written.
        """
        return metadata.save_draft(self._store, clip, data, revision)

    def delete_draft(self, clip: str) -> None:
        """Delete the draft of a clip; no error if there is none."""
        metadata.delete_draft(self._store, clip)

    # The whole library

    def export(self, folder: str | PathLike[str], clips: Iterable[Clip] | None = None) -> tuple[Path, ...]:
        """Write the bytes of ``clips`` (None: all) as files named after them.

        An existing file with the same bytes is not written, one with other bytes is an error.
        """
        return clip_export.export(self._store, self.clips() if clips is None else clips, folder)

    def verify(self, *, fix: bool = False, drop_orphans: bool = False) -> tuple[Fault, ...]:
        """Check every row and all bytes, and return the faults; none: the library is intact.

        ``fix`` removes temporary files of killed processes and rebuilds wrong or missing indexes. Damaged bytes are
        repaired by adding their file again. Orphan blobs, such as those added after a backup of the database, are not
        removed: ``rebuild`` inserts them as clips, and only ``drop_orphans`` removes them. Others may write in the
        meantime.
        """
        can_fix, can_drop = check_bool("fix", fix), check_bool("drop_orphans", drop_orphans)
        return tuple(verification.verify(self._store, self.location, fix=can_fix, drop_orphans=can_drop))

    def rebuild(self, *, jobs: int | None = None, on_progress: OnRebuildProgress | None = None) -> tuple[Fault, ...]:
        """Recompute everything that is derived from the bytes, and return faults for clips that cannot be read.

        This also recovers a lost database: open a new one in its place; its clips are named by their hashes until their
        files are added again. ``jobs`` processes read the clips (None: one per core); ``on_progress`` is called after
        each.
        """
        return tuple(rebuild_library(self._store, jobs, on_progress))

    # Search

    def search(
        self,
        query: Motion | str,
        *,
        limit: int = 10,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        ranker: Ranker = "descriptors",
        deduplicate: bool = True,
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        action: str | None = None,
    ) -> tuple[Hit, ...]:
        """Return clips that resemble ``query``, nearest first. ``ranker="swings"`` compares swings (Chia 2009)."""
        return search(
            self._store,
            self._candidate_source,
            query,
            limit=limit,
            filters=Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, action=action),
            joints=joints,
            mirrored=mirrored,
            ranker=ranker,
            deduplicate=deduplicate,
        )

    def search_part(
        self,
        query: Motion | str,
        start: int,
        end: int,
        *,
        limit: int = 10,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        multiple: bool = False,
        deduplicate: bool = True,
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        action: str | None = None,
    ) -> tuple[Hit, ...]:
        """Return where the frames ``query[start:end]`` occur: one span per clip, or ``multiple``."""
        return search_part(
            self._store,
            self._candidate_source,
            query,
            start,
            end,
            limit=limit,
            filters=Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, action=action),
            joints=joints,
            mirrored=mirrored,
            multiple=multiple,
            deduplicate=deduplicate,
        )

    def search_pose(
        self,
        query: Motion | str,
        frame: int = 0,
        *,
        limit: int = 10,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        multiple: bool = False,
        deduplicate: bool = True,
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        action: str | None = None,
        pose_vector: Sequence[float] | None = None,
    ) -> tuple[Hit, ...]:
        """Return clips with a pose like that of ``frame``; a motion of one frame is a posed figure.

        ``pose_vector``: the result of method ``pose_vector`` for that frame, possibly computed in another process; then
        no blob is read.
        """
        return search_pose(
            self._store,
            self._candidate_source,
            query,
            frame,
            limit=limit,
            filters=Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton, action=action),
            joints=joints,
            mirrored=mirrored,
            multiple=multiple,
            deduplicate=deduplicate,
            pose_vector=pose_vector,
        )

    def pose_vector(self, query: Motion | str, frame: int = 0) -> tuple[float, ...]:
        """Return the vector that ``search_pose`` compares.

        It has the positions of joints relative to the hips, and the height of the hips above the floor.
        """
        return compute_pose_vector(self._store, query, frame)

    def prepare_search(self) -> None:
        """Load the search indexes into memory, so that the first search is as fast as later ones.

        For a database with its own vector index nothing is loaded.
        """
        if isinstance(self._candidate_source, MemoryIndex):
            with self._store.database.begin_read() as connection:
                self._candidate_source.load(connection)

    # Analysis of clips

    def key_frames(self, clip: str) -> tuple[int, ...]:
        """Return the frames of the key poses of a clip."""
        with self._store.database.begin_read() as connection:
            return load_key_frames(connection, find_clip(connection, clip)[0])

    def swings(self, clip: str) -> SwingTable:
        """Return the swings of a clip by body part; empty without a recognisable body."""
        with self._store.database.begin_read() as connection:
            clip_id = find_clip(connection, clip)[0]
            return load_swing_table(connection, clip_id)

    def actions(self, clip: str) -> dict[str, int]:
        """Return how many actions of each kind a clip has, such as ``{"step": 4, "kick": 1}``."""
        with self._store.database.begin_read() as connection:
            return load_actions(connection, find_clip(connection, clip)[0])

    def strip(self, clip: str) -> Picture | None:
        """Return the key poses of a clip side by side, less important ones more transparent; None if it has too many
        joints to draw."""
        with self._store.database.begin_read() as connection:
            clip_id, found_clip = find_clip(connection, clip)
            svg, keys = load_strip(connection, clip_id), load_key_frames(connection, clip_id)
        return Picture(svg, *parse_size(svg), f"{found_clip.name}: {len(keys)} key poses") if svg else None


def _is_folder(path: str | PathLike[str]) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises for names that are too long
