"""The public class of a library of clips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

from keypose.formats import Limits
from keypose.library.analysis_reader import load_key_frames, load_strip, load_swing_table
from keypose.library.filters import Filters
from keypose.library.library_base import BUSY_S
from keypose.library.library_editor import LibraryEditor
from keypose.library.rankers.swing_table import SwingTable
from keypose.library.rows import find_clip
from keypose.library.search.hits import Hit
from keypose.library.search.memory_index import MemoryIndex
from keypose.library.search.search import compute_pose_vector, search, search_part, search_pose
from keypose.library.search.source_factory import open_candidate_source
from keypose.model import Motion
from keypose.pictures.picture import Picture, parse_size


class Library(LibraryEditor):
    """A library of clips: a database in SQLite, ``clips.db``, and blobs in the folder ``clips.db.blobs`` beside it.

    Or in PostgreSQL, ``postgresql://user@host/database``, with ``blobs`` in a folder or at the URL of an object store.
    The location of the blobs is recorded when the library is created; afterwards ``blobs`` is optional.

    When a method returns, its changes are on disk; a killed process leaves no partial clip. Any number of processes may
    read and write at once; writers wait for each other up to ``busy_s`` seconds. ``create=False`` opens existing
    libraries only. Clips are referred to by name or by hash, of which eight digits are enough.

    Searches take a motion, or the name of a clip of the library, which is then excluded from the hits. All take the
    same filters: ``words``, each a prefix of a word in the clip's names or tags; ``tags``, all of which it must have;
    its duration; and the hash of its ``skeleton``. ``joints`` are the body parts that matter, such as ``"arms"`` or
    ``"left_leg"``. With ``mirrored``, clips that match with left and right exchanged count too; with ``deduplicate``,
    copies of one take are one hit.
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
        super().__init__(location, blobs=blobs, create=create, busy_s=busy_s, limits=limits)
        self._candidate_source = open_candidate_source(self._store.database.dialect)

    def search(
        self,
        query: Motion | str,
        *,
        limit: int = 10,
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        ranker: str = "descriptors",
        deduplicate: bool = True,
    ) -> tuple[Hit, ...]:
        """Return clips that resemble ``query``, nearest first. ``ranker="swings"`` compares swings (Chia 2009)."""
        return search(
            self._store,
            self._candidate_source,
            query,
            limit=limit,
            filters=Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton),
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
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        multiple: bool = False,
        deduplicate: bool = True,
    ) -> tuple[Hit, ...]:
        """Return where the frames ``query[start:end]`` occur: one span per clip, or ``multiple``."""
        return search_part(
            self._store,
            self._candidate_source,
            query,
            start,
            end,
            limit=limit,
            filters=Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton),
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
        words: str | None = None,
        tags: Iterable[str] = (),
        min_duration_s: float | None = None,
        max_duration_s: float | None = None,
        skeleton: str | None = None,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        multiple: bool = False,
        deduplicate: bool = True,
        pose_vector: Sequence[float] | None = None,
    ) -> tuple[Hit, ...]:
        """Return clips with a pose like that of ``frame``; a motion of one frame is a posed figure.

        ``pose_vector``: the result of method ``pose_vector`` for that frame, perhaps from another process; then no blob
        is read.
        """
        return search_pose(
            self._store,
            self._candidate_source,
            query,
            frame,
            limit=limit,
            filters=Filters.parse(words, tags, min_duration_s, max_duration_s, skeleton),
            joints=joints,
            mirrored=mirrored,
            multiple=multiple,
            deduplicate=deduplicate,
            pose_vector=pose_vector,
        )

    def pose_vector(self, query: Motion | str, frame: int = 0) -> tuple[float, ...]:
        """Return the vector that ``search_pose`` compares.

        Joints relative to the hips, and their height above the floor.
        """
        return compute_pose_vector(self._store, query, frame)

    def prepare_search(self) -> None:
        """Load the search indexes into memory, so that the first search is as fast as later ones.

        Nothing to do for a database with its own vector index.
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

    def strip(self, clip: str) -> Picture | None:
        """Return the key poses of a clip side by side; None if it has too many joints to draw."""
        with self._store.database.begin_read() as connection:
            clip_id, found_clip = find_clip(connection, clip)
            svg, keys = load_strip(connection, clip_id), load_key_frames(connection, clip_id)
        return Picture(svg, *parse_size(svg), f"{found_clip.name}: {len(keys)} key poses") if svg else None
