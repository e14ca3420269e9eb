"""Files and folders into a library."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Unpack

from keypose.batch.inputs import expand
from keypose.errors import FileError, OptionError
from keypose.library.ingest.engine import engine_of
from keypose.library.ingest.run import OnProgress, Run
from keypose.library.ingest.saying import Given, Saying
from keypose.library.material import checked_within
from keypose.library.nouns import Tally
from keypose.library.reading import Reading, options_of
from keypose.library.store import Store
from keypose.library.wording import clean_note, clean_tags
from keypose.options import flag


def ingest(
    store: Store,
    sources: Iterable[str | PathLike[str]],
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
    """Takes in files, all motion files in and below folders, and what patterns match.

    A file that cannot be read is skipped and reported. Content that is there already is not analysed again, so an
    ingest that was broken off goes on when it is started again; only files that need others beside them (AMC, glTF with
    buffers) are read anew. ``on_progress`` is told of each file after it is safe on the disk; nothing else remembers
    its clip, so that memory does not grow with them.

    ``reading`` are keywords of ``load``. With any of them all files are read anew, and one that is read otherwise than
    without is a clip of its own. ``tag_folders``: the names of the folders below the one that was given are tags.

    ``jobs`` processes of this machine do the work (None: one for each core), or the cluster ``engine``
    (``dask://host:8786``), whose workers get the bytes and need no disk of ours.
    """
    said = {"licence": clean_note("licence", licence), "note": clean_note("note", note)}
    if source is not None:
        said["source"] = clean_note("source", source)
    tolerance = checked_within(within_mm)
    options = options_of(**reading)
    animation = "" if options.animation is None else str(options.animation)
    saying = Saying(clean_tags(tags), said, flag("tag_folders", tag_folders), animation)
    by = engine_of(jobs, engine)
    files, problems = _files(sources)
    run = Run(store, by, saying, tolerance, options, on_progress, len(files) + len(problems))
    for name, error in problems:
        run.failed(Path(name), str(error))
    return run.take_in(files)


def _files(sources: Iterable[str | PathLike[str]]) -> tuple[list[Given], list[tuple[str, FileError]]]:
    """The files that are meant, each once, and what was asked for in vain."""
    found: dict[str, Given] = {}
    problems: list[tuple[str, FileError]] = []
    for one in sources:
        try:
            name = os.fspath(one)
        except TypeError:
            raise OptionError(f"{type(one).__name__} to add, expected paths of files and folders") from None
        inputs = expand([name])
        problems += [(name, problem) for problem in inputs.problems]
        for file in inputs.files:
            found.setdefault(os.path.abspath(file.path), Given(file.path, file.relative))  # noqa: PTH100 - links stay
    return list(found.values()), problems
