"""From bytes to everything that a new clip consists of: the work of an ingest, in this process or in workers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from keypose.arrays import Frozen
from keypose.errors import FileError, FormatError
from keypose.formats import Limits
from keypose.formats.base import LoadOptions
from keypose.library.analysis import Analysis, analyse
from keypose.library.load_options import DEFAULT_LOAD_OPTIONS
from keypose.library.source_file import FileContent, SourceFile, apply_tolerance, read_source_file, unzip_content

NEEDS_OTHER_FILE = "needs another file beside it, expected bytes that can be read alone"


@dataclass(frozen=True, eq=False)
class PreparedClip(Frozen):
    """A new clip without its metadata."""

    data: bytes  # to store
    hash: str
    suffix: str
    analysis: Analysis
    tolerance_mm: float | None = None
    notes: tuple[str, ...] = ()  # of the reader
    conversion_note: str = ""  # why the stored bytes are not the original ones


@dataclass(frozen=True)
class PrepareJob:
    """A file to prepare. It contains the bytes, so that a worker needs no access to our disk."""

    data: bytes
    path: str  # for messages, and where other files of it are
    placeholder: str  # a path without other files; if ``path`` is the same, none is read
    limits: Limits
    tolerance_mm: float | None
    options: LoadOptions = DEFAULT_LOAD_OPTIONS


def prepare_clip(source: SourceFile, tolerance_mm: float | None) -> PreparedClip:
    """Return the analysis of a source file with the bytes to store."""
    stored = apply_tolerance(source, tolerance_mm)
    return PreparedClip(
        stored.content.data,
        stored.content.hash,
        stored.suffix,
        analyse(source.motion),
        stored.tolerance_mm,
        source.motion.notes,
        source.conversion_note,
    )


def read_source(
    content: FileContent, path: Path, placeholder: Path, limits: Limits, options: LoadOptions = DEFAULT_LOAD_OPTIONS
) -> SourceFile:
    """Read the motion; if ``path`` is the placeholder, a file that needs others is a FormatError."""
    try:
        return read_source_file(content, path, placeholder, limits, options)
    except FormatError:
        raise
    except FileError:
        if path != placeholder:
            raise
        raise FormatError(path, NEEDS_OTHER_FILE) from None


def run_prepare_job(job: PrepareJob) -> PreparedClip:
    """Prepare the clip of a job; bytes that are stored unchanged are left out, as the sender has them."""
    path = Path(job.path)
    content = unzip_content(job.data, path, job.limits)
    prepared = prepare_clip(
        read_source(content, path, Path(job.placeholder), job.limits, job.options), job.tolerance_mm
    )
    return replace(prepared, data=b"") if prepared.data is job.data else prepared
