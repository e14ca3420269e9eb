"""A library of clips: kept safely, found by words, by example, by a part of one, by a pose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

from keypose.formats import Limits
from keypose.library.analyses import key_frames_of, sheet_of, strip_of
from keypose.library.catalogue import Catalogue
from keypose.library.filters import Filters
from keypose.library.opened import BUSY_S
from keypose.library.rankers.sheets import Sheet
from keypose.library.rows import find
from keypose.library.searching.hits import Hit
from keypose.library.searching.memory_shelf import MemoryShelf
from keypose.library.searching.search import numbers_of_pose, search, search_part, search_pose
from keypose.library.searching.shelves import shelf_of
from keypose.model import Motion
from keypose.pictures.picture import Picture, size_of


class Library(Catalogue):
    """Clips in a file of SQLite, ``clips.db``, and their bytes in the folder ``clips.db.blobs`` beside it.

    Or in PostgreSQL, ``postgresql://user@host/database``, with their bytes in ``blobs``: a folder, or a URL of an
    object store. Where the bytes of a new library go is recorded in it; later ``blobs`` may be left out.

    What a method has returned from is on the disk; a process that is killed leaves no clip half-visible. Any number
    of processes may read and write at once; writers wait for each other, up to ``busy_s`` seconds. ``create=False``
    asks for a library that is there. Clips are called by name or by hash, of which eight digits are enough.

    Searches take a motion, or the name of a clip that is in the library and then not among the hits. All take the same
    filters: ``words``, of which each must be in a clip's names or tags, or begin a word there; ``tags``, of which it
    has all; its duration; and the hash of its ``skeleton``. ``joints`` are parts of the body that matter, such as
    ``"arms"`` or ``"left_leg"``. With ``mirrored``, what is alike with left and right exchanged counts too; with
    ``fold``, copies of one take are one hit.
    """

    def __init__(
        self,
        where: str | PathLike[str],
        *,
        blobs: str | PathLike[str] | None = None,
        create: bool = True,
        busy_s: float = BUSY_S,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(where, blobs=blobs, create=create, busy_s=busy_s, limits=limits)
        self._shelf = shelf_of(self._store.database.dialect)

    def search(
        self,
        query: Motion | str,
        *,
        limit: int = 10,
        words: str | None = None,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        ranker: str = "descriptors",
        fold: bool = True,
    ) -> tuple[Hit, ...]:
        """Whole clips that are like ``query``, the nearest first. ``ranker="swings"`` compares swings (Chia 2009)."""
        return search(
            self._store,
            self._shelf,
            query,
            limit=limit,
            filters=Filters.of(words, tags, least_duration_s, most_duration_s, skeleton),
            joints=joints,
            mirrored=mirrored,
            ranker=ranker,
            fold=fold,
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
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        several: bool = False,
        fold: bool = True,
    ) -> tuple[Hit, ...]:
        """Where in which clips the frames ``query[start:end]`` happen: once in a clip, or ``several`` times."""
        return search_part(
            self._store,
            self._shelf,
            query,
            start,
            end,
            limit=limit,
            filters=Filters.of(words, tags, least_duration_s, most_duration_s, skeleton),
            joints=joints,
            mirrored=mirrored,
            several=several,
            fold=fold,
        )

    def search_pose(
        self,
        query: Motion | str,
        frame: int = 0,
        *,
        limit: int = 10,
        words: str | None = None,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        skeleton: str | None = None,
        joints: str | Sequence[str] | None = None,
        mirrored: bool = True,
        several: bool = False,
        fold: bool = True,
        numbers: Sequence[float] | None = None,
    ) -> tuple[Hit, ...]:
        """Clips with a pose like that of a ``frame``; a motion of one frame is a posed figure.

        ``numbers``: what ``pose_numbers`` says of that frame, perhaps in another process; then no bytes are read here.
        """
        return search_pose(
            self._store,
            self._shelf,
            query,
            frame,
            limit=limit,
            filters=Filters.of(words, tags, least_duration_s, most_duration_s, skeleton),
            joints=joints,
            mirrored=mirrored,
            several=several,
            fold=fold,
            numbers=numbers,
        )

    def pose_numbers(self, query: Motion | str, frame: int = 0) -> tuple[float, ...]:
        """What ``search_pose`` compares of a ``frame``: joints seen from the hips, and their height above the floor."""
        return numbers_of_pose(self._store, query, frame)

    def prepare_search(self) -> None:
        """Reads what searches hold in memory, so that the first is as quick as the others.

        A database with an index of its own has nothing to prepare.
        """
        if isinstance(self._shelf, MemoryShelf):
            with self._store.database.reading() as connection:
                self._shelf.load(connection)

    # What is known about the frames of a clip

    def key_frames(self, clip: str) -> tuple[int, ...]:
        """The frames of the key poses of a clip."""
        with self._store.database.reading() as connection:
            return key_frames_of(connection, find(connection, clip)[0])

    def swings(self, clip: str) -> Sheet:
        """How the parts of the body swing in a clip; none where there is no body."""
        with self._store.database.reading() as connection:
            number = find(connection, clip)[0]
            return sheet_of(connection, number)

    def strip(self, clip: str) -> Picture | None:
        """The key poses of a clip side by side; None where it has too many joints to be drawn."""
        with self._store.database.reading() as connection:
            number, found = find(connection, clip)
            svg, keys = strip_of(connection, number), key_frames_of(connection, number)
        return Picture(svg, *size_of(svg), f"{found.name}: {len(keys)} key poses") if svg else None
