"""Compare methods on many clips in parallel; finished clips are cached, so that an interrupted run can resume."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import keypose
from keypose.api.compare import CompareOptions, Comparison, Row
from keypose.api.compare.clip import OnProgress, compute_digest, measure_motion
from keypose.api.compare.settings import build_compare_options, is_complete
from keypose.api.compare.tables import COLUMN_TYPES, parse_row
from keypose.api.method_input import FrameRange
from keypose.batch.file_discovery import load_clip
from keypose.batch.plan import make_folder
from keypose.batch.pool import Failure, default_jobs, map_clips
from keypose.errors import FileError, FormatError, FormatWarning, KeyposeError, ModelError, OptionError
from keypose.formats import Limits
from keypose.formats.base import read_bytes, warn_caller, write_atomically
from keypose.model import Motion, list_notes
from keypose.options import LoadOptions
from keypose.validation import check_callback, check_int, check_items

CLIPS_PER_JOB = 4  # compensates CLIPS_PER_WORKER of ``default_jobs``, as here a worker is worth starting for one clip
Clip = Motion | str | PathLike[str]

LAYOUT = 1  # version of these files and of the meaning of their figures
SUFFIX = ".clip.json.gz"


@dataclass(frozen=True)
class CompareJob:
    """A clip, how to read it, what to compare on it, and the cache of finished clips."""

    clip: Path | Motion
    settings: CompareOptions = field(default_factory=CompareOptions)
    load_options: LoadOptions = field(default_factory=LoadOptions)
    cache: CompareCache | None = None
    target: Path = Path()  # the result file of all clips, if any

    @property
    def source(self) -> Path:
        """Return the file, or the name of a motion that has no file."""
        return Path(self.clip.name) if isinstance(self.clip, Motion) else self.clip


@dataclass(frozen=True)
class CompareResult:
    """The measurements of one clip."""

    rows: tuple[Row, ...]
    cache_key: str  # empty without a cache
    is_cached: bool  # measured by an earlier run
    notes: tuple[str, ...]


def compare_clip(job: CompareJob, on_progress: OnProgress | None = None) -> CompareResult:
    """Load, trim, resample and compare one clip, or return its cached rows; ``on_progress`` gets the finished share."""
    motion = job.clip if isinstance(job.clip, Motion) else load_clip(job.clip, job.load_options)
    source = "" if isinstance(job.clip, Motion) else str(job.clip)
    part = job.settings.trim(motion)
    notes = list_notes(motion)
    if job.settings.is_slower(part.fps):
        notes += (f"{part.fps:g} fps, slower than {job.settings.fps:g}: compared at its own rate",)
    if job.cache is None:
        rows = measure_motion(part, job.settings, source=source, source_fps=motion.fps, on_progress=on_progress)
        return CompareResult(rows, "", False, notes)
    digest = compute_digest(part)
    key = job.cache.build_key(digest, job.settings)
    cached_rows = job.cache.load_rows(key)
    if cached_rows is not None and is_complete(cached_rows, part, digest, job.settings):
        renamed_rows = tuple(replace(row, clip=part.name, source=source, source_fps=motion.fps) for row in cached_rows)
        return CompareResult(renamed_rows, key, True, notes)
    new_rows = measure_motion(part, job.settings, source=source, source_fps=motion.fps, on_progress=on_progress)
    try:
        job.cache.save_rows(key, new_rows)
    except FileError as error:  # as measuring is slow, the rows are returned without being cached
        source_name = job.source.name if isinstance(job.source, Motion) else str(job.source)
        problem = f"compared, but not cached for another run: {error}"
        warn_caller(FormatWarning(problem, code="not_cached", subject=source_name, value=error.path))
    return CompareResult(new_rows, key, False, notes)


def default_compare_jobs(n_clips: int) -> int:
    """Return how many workers to start: one per clip, at most one per core."""
    return default_jobs(CLIPS_PER_JOB * n_clips)


def compare(
    motions: Clip | Iterable[Clip],
    methods: str | Sequence[str] | None = None,
    *,
    removed_percent: float | Sequence[float] = (80.0, 90.0, 95.0, 97.5),
    inbetweens: str | Sequence[str] = ("linear", "fitted"),
    curves: bool = True,
    fps: float | None = None,
    frames: FrameRange = None,
    jobs: int = 1,
    cache_folder: str | PathLike[str] | None = None,
    on_clip: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare methods on the same clips at the same budgets: errors, foot slide, stored values and time.

    ``motions``: one or several Motions or paths of motion files. ``methods``: names of ``kp.methods()``,
    ``"salient-inbetween"`` (the keys that ``unbake`` chooses) and the references ``"per-curve"`` and ``"pca"``, which
    may store as many values as fitted keys; None: all. ``inbetweens``: ``"linear"``, ``"fitted"`` and ``"polished"``
    (as ``unbake`` writes them). ``removed_percent``: the budgets, in percent of the frames; ``curves`` adds budgets
    from 1 to 25 % of the frames. ``fps`` is the maximum rate: slower clips are compared at their own rate, see
    ``Comparison.slower_clips``. ``frames``: a range (start, stop) at the clip's own rate.

    With ``jobs`` above 1 clips are compared in that many processes. Finished clips are cached in ``cache_folder``: an
    interrupted run resumes from there, and unchanged clips are not measured again. ``on_clip`` is called with the
    number of finished clips and of all clips. A clip that cannot be read or compared raises a KeyposeError.
    """
    check_callback("on_clip", on_clip)
    settings = build_compare_options(methods, removed_percent, inbetweens, curves=curves, fps=fps, frames=frames)
    clips = _parse_clips(motions)
    cache = None if cache_folder is None else CompareCache(_parse_cache_folder(cache_folder))
    compare_jobs = [CompareJob(clip, settings, cache=cache) for clip in clips]
    results: dict[int, CompareResult] = {}
    with closing(map_clips(compare_clip, compare_jobs, check_int("jobs", jobs, min_value=1))) as outcomes:
        for outcome in outcomes:
            if outcome.value is None:
                raise _build_error(compare_jobs[outcome.index].source, outcome.failure)
            results[outcome.index] = outcome.value
            for warning in outcome.warnings:
                warn_caller(warning)
            if on_clip is not None:
                on_clip(len(results), len(compare_jobs))
    return Comparison(tuple(row for index in range(len(compare_jobs)) for row in results[index].rows), settings)


def _parse_cache_folder(cache_folder: str | PathLike[str]) -> Path:
    try:
        if b"\0" not in os.fsencode(cache_folder):
            return Path(cache_folder)
    except (TypeError, UnicodeEncodeError):
        pass
    raise OptionError(option="cache_folder", value=cache_folder, expected="the name of a folder")


def _parse_clips(motions: Clip | Iterable[Clip]) -> list[Path | Motion]:
    is_single = isinstance(motions, Motion | str | os.PathLike)
    expected = "Motions or paths of motion files"
    clips = (motions,) if is_single else check_items("motions", motions, expected)
    if not clips:
        raise OptionError("no motion", option="motions", expected="at least one Motion or path")
    for clip in clips:
        if not isinstance(clip, Motion | str | os.PathLike):
            raise OptionError(option="motions", value=clip, expected=expected)
    return [each if isinstance(each, Motion) else Path(fspath(each)) for each in clips]


def _build_error(path: Path, failure: Failure | None) -> Exception:
    """Return the exception that the failure of one clip raises in the caller."""
    assert failure is not None
    if failure.is_bug:
        return RuntimeError(f"{path}: {failure.kind}: {failure.message}\n{failure.traceback}")
    error = KeyposeError(failure.message) if failure.error is None else KeyposeError.from_error(failure.error)
    return error if error.path is not None else error.with_fields(path=str(path))


@dataclass(frozen=True)
class CompareCache:
    """A folder of finished clips. Damaged entries, and those of other settings or versions, are ignored."""

    folder: Path

    def build_key(self, digest: str, settings: CompareOptions) -> str:
        """Return the hash of everything on which the figures depend: frames, settings, program version."""
        parts = (LAYOUT, keypose.__version__, list(COLUMN_TYPES), digest, asdict(settings))
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def load_rows(self, key: str) -> tuple[Row, ...] | None:
        """Return the rows cached under ``key``; None if they are missing or damaged."""
        try:
            document = json.loads(read_bytes(self._path(key), Limits()))
            values = document["rows"]
            if document["checksum"] != _checksum(key, values):
                return None
            return tuple(parse_row(dict(zip(COLUMN_TYPES, row, strict=True))) for row in values) or None
        except (FileError, FormatError, ModelError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def save_rows(self, key: str, rows: tuple[Row, ...]) -> None:
        """Cache the rows of a clip, atomically."""
        make_folder(self.folder)
        values = [list(astuple(row)) for row in rows]
        document = {"checksum": _checksum(key, values), "rows": values}
        write_atomically(self._path(key), gzip.compress(json.dumps(document, allow_nan=False).encode(), 6, mtime=0))

    def prune(self, keys: Collection[str]) -> None:
        """Remove cache files of earlier runs with a key that is not in ``keys``; other files are not removed."""
        current_names = {self._path(key).name for key in keys}
        with suppress(OSError):
            for file in self.folder.glob(f"{'[0-9a-f]' * 64}{SUFFIX}"):
                if file.name not in current_names:
                    file.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"


def _checksum(key: str, values: list[list[Any]]) -> str:
    return hashlib.sha256((key + json.dumps(values)).encode()).hexdigest()
