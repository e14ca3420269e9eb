"""Taking clips in: one, or many."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike
from typing import Unpack, overload

from keypose.errors import OptionError
from keypose.formats.base import ReadOptions
from keypose.library import adding
from keypose.library.ingest import Gathering, ingest
from keypose.library.ingest.run import OnProgress
from keypose.library.ingest.saying import source_of
from keypose.library.looking import Looking
from keypose.library.material import checked_within
from keypose.library.nouns import Clip, Ingested, Tally
from keypose.library.reading import AS_IS, Reading, options_of
from keypose.library.said import Words, about, name_of
from keypose.library.wording import clean_name, clean_tags
from keypose.model import Motion


class TakingIn(Looking):
    """A library that can be added to."""

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
        **reading: Unpack[Reading],
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
        tag_folders: bool = False,
        **reading: Unpack[Reading],
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
        tag_folders: bool = False,
        **reading: Unpack[Reading],
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
        tag_folders: bool = False,
        **reading: Unpack[Reading],
    ) -> Clip | Ingested:
        """Puts in a file, the bytes of one (then with a ``name``), or a motion, and gives the clip.

        The same content is one clip, packed by gzip or not: put in again under another name, that name is recorded
        and tags are added; source, licence and note stay where there are such: ``describe`` changes them. ``source`` is
        the file by default. Bytes are kept as they came; a motion, and a file that needs others beside it (AMC, some
        glTF), as ``.kps`` without loss. ``within_mm``: kept as ``.kps`` within this tolerance instead, on a figure of
        1.7 m; the clip is the same, and added again without it, its bytes are kept.

        ``reading`` are keywords of ``load``: ``reference_pose``, ``asf``, ``gaps``, ``animation``, ``fps``. What is
        read otherwise than without them is a clip of its own, kept as ``.kps`` without loss: another animation than
        the first is named ``Fox: Walk``.

        A folder, or several files and folders, are ingested by ``jobs`` processes (None: one for each core) or by a
        Dask cluster, ``engine="dask://host:8786"``: then the answer says what is new, what was known, and which files
        could not be read. ``on_progress`` is told of each file when it is safe. Broken off, it goes on when it is
        started again. ``tag_folders``: the names of the folders below the one that was given are tags.
        """
        if isinstance(what, Motion | bytes):
            return self._add_one(what, name, tags, source, licence, note, within_mm, options_of(**reading))
        if isinstance(what, str | PathLike):
            if not os.path.isdir(what):  # noqa: PTH112 - Path.is_dir raises for names that are too long
                return self._add_one(what, name, tags, source, licence, note, within_mm, options_of(**reading))
            what = (what,)
        elif not isinstance(what, Iterable):
            raise OptionError(f"{type(what).__name__} to add, expected a path, bytes or a Motion")
        if name is not None:
            raise OptionError(f"name={name!r} for many files, expected none: each is named after its file")
        gathered = Gathering(on_progress)
        self.ingest(
            what,
            tags=tags,
            source=source,
            licence=licence,
            note=note,
            within_mm=within_mm,
            jobs=jobs,
            engine=engine,
            on_progress=gathered.hear,
            tag_folders=tag_folders,
            **reading,
        )
        return gathered.ingested

    def ingest(
        self,
        what: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        within_mm: float | None = None,
        jobs: int | None = None,
        engine: str | None = None,
        on_progress: OnProgress | None = None,
        tag_folders: bool = False,
        **reading: Unpack[Reading],
    ) -> Tally:
        """What ``add`` does with a folder or several files; clips are told to ``on_progress`` alone, and counted.

        So memory does not grow with the number of clips.
        """
        return ingest(
            self._store,
            (what,) if isinstance(what, str | PathLike) else what,
            tags=tags,
            source=source,
            licence=licence,
            note=note,
            within_mm=within_mm,
            jobs=jobs,
            engine=engine,
            on_progress=on_progress,
            tag_folders=tag_folders,
            **reading,
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
        options: ReadOptions,
    ) -> Clip:
        tagged, within = clean_tags(tags), checked_within(within_mm)
        if isinstance(what, Motion):
            if options != AS_IS:
                raise OptionError("how to read a Motion, expected nothing: it was read already")
            words = Words(clean_name(name or what.name or "clip"), tagged, about(source or "", licence, note))
            return adding.add_motion(self._store, what, words, within)
        if isinstance(what, bytes):
            if name is None:
                raise OptionError("name=None, expected a name, as bytes have none")
            words = Words(clean_name(name), tagged, about(source or "", licence, note))
            return adding.add_bytes(self._store, what, words, within, options)
        path, default = name_of(what)
        remarks = about(source_of(path) if source is None else source, licence, note)
        if name is None:
            words = Words(default, tagged, remarks, "" if options.animation is None else str(options.animation))
        else:
            words = Words(clean_name(name), tagged, remarks)
        return adding.add_file(self._store, path, words, within, options)
