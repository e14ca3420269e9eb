"""Adding clips to a library."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike
from typing import Unpack, overload

from keypose.errors import OptionError
from keypose.formats.base import LoadOptions
from keypose.library import clip_insert
from keypose.library.ingest import ReportCollector, ingest
from keypose.library.ingest.file_metadata import default_source
from keypose.library.ingest.run import OnProgress
from keypose.library.library_reader import LibraryReader
from keypose.library.load_options import DEFAULT_LOAD_OPTIONS, LoadKeywords, build_load_options
from keypose.library.metadata import ClipMetadata, clean_fields, default_name
from keypose.library.records import Clip, IngestCounts, IngestReport
from keypose.library.source_file import check_tolerance_mm
from keypose.library.text_normalization import clean_name, clean_tags
from keypose.model import Motion


class LibraryIngest(LibraryReader):
    """A library that clips can be added to."""

    @overload
    def add(
        self,
        content: bytes | Motion,
        *,
        name: str | None = None,
        tags: Iterable[str] = (),
        source: str | None = None,
        licence: str = "",
        note: str = "",
        tolerance_mm: float | None = None,
        **load_options: Unpack[LoadKeywords],
    ) -> Clip: ...

    @overload
    def add(  # type: ignore[overload-overlap]  # a text is a path, though texts could be gone through too
        self,
        content: str | PathLike[str],
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
        **load_options: Unpack[LoadKeywords],
    ) -> Clip | IngestReport: ...

    @overload
    def add(
        self,
        content: Iterable[str | PathLike[str]],
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
        **load_options: Unpack[LoadKeywords],
    ) -> IngestReport: ...

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
        **load_options: Unpack[LoadKeywords],
    ) -> Clip | IngestReport:
        """Add a file, the bytes of one (then with a ``name``) or a motion, and return the clip.

        The same content is one clip, gzipped or not: added again under another name, it gets that as a further name,
        and its tags are extended; source, licence and note stay where they are set: ``describe`` changes them.
        ``source`` is the path by default. Bytes are stored unchanged; a motion, and a file that needs others beside it
        (AMC, some glTF), as lossless ``.kps``. ``tolerance_mm``: store as ``.kps`` within this tolerance, on a figure
        of 1.7 m; adding the same content again without it stores the original bytes.

        ``load_options`` are keywords of ``load``: ``reference_pose``, ``asf``, ``gaps``, ``animation``, ``fps``. A file
        that reads differently with them becomes a separate clip, stored as lossless ``.kps``: another animation than
        the first is named ``Fox: Walk``.

        A folder, or several files and folders, are ingested by ``jobs`` processes (None: one per core) or by a Dask
        cluster, ``engine="dask://host:8786"``; the result is a report of added and existing clips and of failures.
        ``on_progress`` is called for each file once it is durable. An interrupted ingest continues when started again.
        ``tag_folders``: names of the folders below the given one become tags.
        """
        if isinstance(content, Motion | bytes):
            return self._add_one(
                content, name, tags, source, licence, note, tolerance_mm, build_load_options(**load_options)
            )
        if isinstance(content, str | PathLike):
            if not os.path.isdir(content):  # noqa: PTH112 - Path.is_dir raises for names that are too long
                return self._add_one(
                    content, name, tags, source, licence, note, tolerance_mm, build_load_options(**load_options)
                )
            content = (content,)
        elif not isinstance(content, Iterable):
            raise OptionError(f"{type(content).__name__} to add, expected a path, bytes or a Motion")
        if name is not None:
            raise OptionError(f"name={name!r} for many files, expected none: each is named after its file")
        collector = ReportCollector(on_progress)
        self.ingest(
            content,
            tags=tags,
            source=source,
            licence=licence,
            note=note,
            tolerance_mm=tolerance_mm,
            jobs=jobs,
            engine=engine,
            on_progress=collector.add,
            tag_folders=tag_folders,
            **load_options,
        )
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
        **load_options: Unpack[LoadKeywords],
    ) -> IngestCounts:
        """Ingest like ``add`` with a folder or several files; clips are only passed to ``on_progress``, and counted.

        So memory does not grow with the number of clips.
        """
        return ingest(
            self._store,
            (paths,) if isinstance(paths, str | PathLike) else paths,
            tags=tags,
            source=source,
            licence=licence,
            note=note,
            tolerance_mm=tolerance_mm,
            jobs=jobs,
            engine=engine,
            on_progress=on_progress,
            tag_folders=tag_folders,
            **load_options,
        )

    def _add_one(
        self,
        content: str | PathLike[str] | bytes | Motion,
        name: str | None,
        tags: Iterable[str],
        source: str | None,
        licence: str,
        note: str,
        tolerance_mm: float | None,
        options: LoadOptions,
    ) -> Clip:
        clean_tag_names, checked_tolerance_mm = clean_tags(tags), check_tolerance_mm(tolerance_mm)
        if isinstance(content, Motion):
            if options != DEFAULT_LOAD_OPTIONS:
                raise OptionError("how to read a Motion, expected nothing: it was read already")
            metadata = ClipMetadata(
                clean_name(name or content.name or "clip"), clean_tag_names, clean_fields(source or "", licence, note)
            )
            return clip_insert.add_motion(self._store, content, metadata, checked_tolerance_mm)
        if isinstance(content, bytes):
            if name is None:
                raise OptionError("name=None, expected a name, as bytes have none")
            metadata = ClipMetadata(clean_name(name), clean_tag_names, clean_fields(source or "", licence, note))
            return clip_insert.add_bytes(self._store, content, metadata, checked_tolerance_mm, options)
        path, file_name = default_name(content)
        fields = clean_fields(default_source(path) if source is None else source, licence, note)
        if name is None:
            metadata = ClipMetadata(
                file_name, clean_tag_names, fields, "" if options.animation is None else str(options.animation)
            )
        else:
            metadata = ClipMetadata(clean_name(name), clean_tag_names, fields)
        return clip_insert.add_file(self._store, path, metadata, checked_tolerance_mm, options)
