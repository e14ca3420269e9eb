"""Keeping clips: in and out, what is said about them, and whether all of it is sound."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, overload

from keypose.errors import OptionError
from keypose.formats import Limits
from keypose.library import adding, checking, exporting
from keypose.library.blobs import blobs_at
from keypose.library.database import Database
from keypose.library.extra import sa
from keypose.library.ingest import ingest
from keypose.library.ingest.run import OnProgress
from keypose.library.nouns import Clip, Fault, Ingested, Stats
from keypose.library.rows import clips_of, find, settle
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, names, tags
from keypose.library.wording import clean_name, clean_tags, searched_words
from keypose.model import Motion
from keypose.options import number, whole

BUSY_S = 30.0


class Catalogue:
    """The clips of a library, without search by example: what ``Library`` stands on."""

    def __init__(
        self,
        where: str | PathLike[str],
        *,
        blobs: str | PathLike[str] | None = None,
        create: bool = True,
        busy_s: float = BUSY_S,
        limits: Limits | None = None,
    ) -> None:
        database = Database(where, create=create, busy_s=number("busy_s", busy_s, least=0.0), blobs=blobs)
        self.where = database.dialect.where
        try:
            self._store = Store(database, blobs_at(database.place, database.dialect), limits or Limits())
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database; nothing waits to be written."""
        self._store.database.close()

    def __len__(self) -> int:
        with self._store.database.reading() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(clips)).scalar_one())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.where!r})"

    # Clips in and out

    @overload
    def add(
        self,
        what: bytes | Motion,
        *,
        name: str | None = None,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        within_mm: float | None = None,
    ) -> Clip: ...

    @overload
    def add(  # type: ignore[overload-overlap]  # a text is a path, though texts could be gone through too
        self,
        what: str | PathLike[str],
        *,
        name: str | None = None,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        within_mm: float | None = None,
        jobs: int | None = None,
        engine: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Clip | Ingested: ...

    @overload
    def add(
        self,
        what: Iterable[str | PathLike[str]],
        *,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        within_mm: float | None = None,
        jobs: int | None = None,
        engine: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Ingested: ...

    def add(
        self,
        what: str | PathLike[str] | bytes | Motion | Iterable[str | PathLike[str]],
        *,
        name: str | None = None,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        within_mm: float | None = None,
        jobs: int | None = None,
        engine: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Clip | Ingested:
        """Puts in a file, the bytes of one (then with a ``name``), or a motion, and gives the clip.

        The same content is one clip, packed by gzip or not: put in again under another name, that name is recorded
        and tags are added; source, licence and note stay where there are such. ``source`` is the file by default.
        Bytes are kept as they came; a motion, and a file that needs others beside it, as ``.kps`` without loss.
        ``within_mm``: kept as ``.kps`` within this tolerance instead, on a figure of 1.7 m; the clip is the same.

        A folder, or several files and folders, are ingested by ``jobs`` processes (None: one for each core) or by a
        Dask cluster, ``engine="dask://host:8786"``: then the answer says what is new, what was known, and which files
        could not be read. ``on_progress`` is told of each file when it is safe. Broken off, it goes on when it is
        started again.
        """
        if isinstance(what, Motion | bytes):
            return self._add_one(what, name, tags, source, licence, note, within_mm)
        if isinstance(what, str | PathLike):
            if not os.path.isdir(what):  # noqa: PTH112 - Path.is_dir raises for names that are too long
                return self._add_one(what, name, tags, source, licence, note, within_mm)
            what = (what,)
        elif not isinstance(what, Iterable):
            raise OptionError(f"{type(what).__name__} to add, expected a path, bytes or a Motion")
        if name is not None:
            raise OptionError(f"name={name!r} for many files, expected none: each is named after its file")
        return ingest(
            self._store,
            what,
            tags=tags,
            source=source,
            licence=licence,
            note=note,
            within_mm=within_mm,
            jobs=jobs,
            engine=engine,
            on_progress=on_progress,
        )

    def _add_one(
        self,
        what: str | PathLike[str] | bytes | Motion,
        name: str | None,
        tags: Iterable[str],
        source: str | None,
        licence: str,
        note: str,
        within_mm: float | None,
    ) -> Clip:
        tagged = clean_tags(tags)
        if isinstance(what, Motion):
            words = adding.Words(
                clean_name(name or what.name or "clip"), tagged, adding.about(source or "", licence, note)
            )
            return adding.add_motion(self._store, what, words, within_mm)
        if isinstance(what, bytes):
            if name is None:
                raise OptionError("name=None, expected a name, as bytes have none")
            words = adding.Words(clean_name(name), tagged, adding.about(source or "", licence, note))
            return adding.add_bytes(self._store, what, words, within_mm)
        path, default = adding.name_of(what)
        remarks = adding.about(os.fspath(path) if source is None else source, licence, note)
        words = adding.Words(default if name is None else clean_name(name), tagged, remarks)
        return adding.add_file(self._store, path, words, within_mm)

    def get(self, clip: str) -> Motion:
        """The motion of a clip, read from its bytes, which are checked."""
        found = self.clip(clip)
        return replace(self._store.motion(found), name=found.name)

    def original(self, clip: str) -> bytes:
        """The bytes of a clip as they came, checked."""
        return self._store.blobs.read(self.clip(clip).blob)

    def remove(self, clip: str) -> Clip:
        """Forgets a clip and its bytes; gives what it was."""
        with self._store.database.writing() as connection:
            key, found = find(connection, clip)
            self._store.database.dialect.forget_words(connection, key)
            connection.execute(sa.delete(clips).where(clips.c.id == key))
            connection.execute(sa.delete(blobs).where(blobs.c.hash == found.blob))
            self._store.database.dialect.count_change(connection)
        self._store.drop_bytes(found.blob)
        return found

    # Looking

    def clip(self, clip: str) -> Clip:
        """What is known about the clip of that name or hash."""
        with self._store.database.reading() as connection:
            return find(connection, clip)[1]

    def clips(
        self,
        words: str | None = None,
        *,
        tags: Iterable[str] = (),
        least_duration_s: float | None = None,
        most_duration_s: float | None = None,
        limit: int | None = None,
        skip: int = 0,
    ) -> tuple[Clip, ...]:
        """The clips, by name.

        ``words``: each must be in the names or tags, or begin a word there; ``tags``: it must have all of them.
        """
        chosen = sa.select(clips.c.id).order_by(clips.c.name, clips.c.id).offset(whole("skip", skip, least=0))
        if words is not None:
            chosen = chosen.where(clips.c.id.in_(self._store.database.dialect.clips_with(searched_words(words))))
        for tag in clean_tags(tags):
            chosen = chosen.where(_has_tag(tag))
        if least_duration_s is not None:
            chosen = chosen.where(clips.c.duration_s >= number("least_duration_s", least_duration_s, least=0.0))
        if most_duration_s is not None:
            chosen = chosen.where(clips.c.duration_s <= number("most_duration_s", most_duration_s, least=0.0))
        if limit is not None:
            chosen = chosen.limit(whole("limit", limit, least=0))
        with self._store.database.reading() as connection:
            return tuple(clips_of(connection, chosen).values())

    def __iter__(self) -> Iterator[Clip]:
        return iter(self.clips())

    def stats(self) -> Stats:
        """How much there is."""
        n = sa.func.count()
        totals = sa.select(
            n,
            sa.func.coalesce(sa.func.sum(clips.c.duration_s), 0.0),
            sa.func.coalesce(sa.func.sum(clips.c.n_frames), 0),
            sa.func.count(clips.c.skeleton.distinct()),
        ).select_from(clips)
        with self._store.database.reading() as connection:
            count, duration_s, n_frames, skeletons = connection.execute(totals).one()
            size = connection.execute(sa.select(sa.func.coalesce(sa.func.sum(blobs.c.bytes), 0))).scalar_one()
            used = connection.execute(sa.select(tags.c.tag, n).group_by(tags.c.tag).order_by(n.desc(), tags.c.tag))
            counts = tuple((str(tag), int(times)) for tag, times in used)
        return Stats(int(count), float(duration_s), int(n_frames), int(size), int(skeletons), counts)

    # Changing what is said about clips

    def rename(self, clip: str, name: str) -> Clip:
        """Gives a clip another name; other names under which it came stay."""
        new = clean_name(name)
        with self._store.database.writing() as connection:
            key, _ = find(connection, clip)
            connection.execute(sa.update(clips).where(clips.c.id == key).values(name=new))
            connection.execute(sa.delete(names).where(names.c.clip == key, names.c.name == new))
            return settle(connection, self._store.database.dialect, key)

    def tag(self, clip: str, *words: str) -> Clip:
        """Gives tags to a clip; they are kept in lower case."""
        with self._store.database.writing() as connection:
            key, _ = find(connection, clip)
            adding.insert_tags(connection, self._store.database.dialect, key, clean_tags(words))
            return settle(connection, self._store.database.dialect, key)

    def untag(self, clip: str, *words: str) -> Clip:
        """Takes tags from a clip; those that it does not have are no error."""
        with self._store.database.writing() as connection:
            key, _ = find(connection, clip)
            connection.execute(sa.delete(tags).where(tags.c.clip == key, tags.c.tag.in_(clean_tags(words))))
            return settle(connection, self._store.database.dialect, key)

    # The whole

    def export(self, folder: str | PathLike[str], chosen: Iterable[Clip] | None = None) -> tuple[Path, ...]:
        """Writes the bytes of ``chosen`` clips (None: all) as files named after them.

        A file that is there already with the same bytes stays, one with others is an error.
        """
        return exporting.export(self._store, self.clips() if chosen is None else chosen, folder)

    def verify(self, *, fix: bool = False) -> tuple[Fault, ...]:
        """Reads every row and all bytes, and says all that is wrong; nothing: the library is sound.

        ``fix`` removes what killed processes left and makes the index of words anew. Damaged bytes are mended by adding
        their file again.
        """
        return tuple(checking.verify(self._store, self.where, fix=fix))

    def rebuild(self) -> tuple[Fault, ...]:
        """Makes all anew that can be made from the bytes, and says which of them cannot be read.

        A lost database comes back so: open a new one in its place, and its clips are named by their hashes.
        """
        return tuple(checking.rebuild(self._store))


def _has_tag(tag: str) -> sa.ColumnElement[Any]:
    return clips.c.id.in_(sa.select(tags.c.clip).where(tags.c.tag == tag))
