"""Ingest of many files: prepared by worker processes or machines, written by one process.

``engine.py`` chooses the workers, ``run.py`` distributes jobs, writes their results and collects the report.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Unpack

from keypose.batch.file_discovery import discover_clips
from keypose.errors import FileError, OptionError
from keypose.library.analysis import check_tolerance_mm
from keypose.library.ingest.run import IngestMetadata, IngestRun, InputFile, OnProgress, ReportCollector, choose_engine
from keypose.library.load_options import LoadKeywords, build_load_options
from keypose.library.records import IngestCounts
from keypose.library.rows import clean_note, clean_tags
from keypose.library.store import Store
from keypose.validation import check_bool

__all__ = ["ReportCollector", "ingest"]


def ingest(
    store: Store,
    sources: Iterable[str | PathLike[str]],
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
    """Ingest files, all motion files in and below folders, and matches of patterns.

    Unreadable files are skipped and reported. Existing content is not analysed again, so an interrupted ingest
    continues when it is started again; only files that need others (AMC, glTF with buffers) are read again.
    ``on_progress`` is called for each file after it is durable; clips are not collected, so memory does not grow with
    their number.

    ``load_options`` are keywords of ``load``. With any of them all files are read again, and a file that reads
    differently than without them becomes a separate clip. ``tag_folders``: names of the folders below the given one
    become tags.

    ``jobs`` processes of this machine do the work (None: one per core), or the cluster ``engine``
    (``dask://host:8786``), whose workers receive the bytes and need no access to our disk.
    """
    fields = {"licence": clean_note("licence", licence), "note": clean_note("note", note)}
    if source is not None:
        fields["source"] = clean_note("source", source)
    tolerance = check_tolerance_mm(tolerance_mm)
    options = build_load_options(**load_options)
    animation = "" if options.animation is None else str(options.animation)
    metadata = IngestMetadata(clean_tags(tags), fields, check_bool("tag_folders", tag_folders), animation)
    chosen_engine = choose_engine(jobs, engine)
    files, problems = _find_files(sources)
    run = IngestRun(store, chosen_engine, metadata, tolerance, options, on_progress, len(files) + len(problems))
    for name, error in problems:
        run.report_failure(Path(name), str(error))
    return run.run(files)


def _find_files(sources: Iterable[str | PathLike[str]]) -> tuple[list[InputFile], list[tuple[str, FileError]]]:
    """Return the files, each once, and the sources that matched nothing, with their errors."""
    files_by_path: dict[str, InputFile] = {}
    problems: list[tuple[str, FileError]] = []
    for source in sources:
        try:
            name = os.fspath(source)
        except TypeError:
            raise OptionError(f"{type(source).__name__} to add, expected paths of files and folders") from None
        inputs = discover_clips([name])
        problems += [(name, problem) for problem in inputs.problems]
        for file in inputs.files:
            files_by_path.setdefault(os.path.abspath(file.path), InputFile(file.path, file.relative))  # noqa: PTH100 - links stay
    return list(files_by_path.values()), problems
