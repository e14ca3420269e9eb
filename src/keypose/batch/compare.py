"""Methods compared on many clips, in parallel; finished clips are kept, so that a run goes on where one stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path

from keypose.batch.compare_kept import Kept
from keypose.batch.pool import Failure, default_jobs, map_clips
from keypose.batch.reading import Reading
from keypose.errors import FileError, KeyposeError, OptionError
from keypose.formats.base import warn_caller
from keypose.model import Motion
from keypose.options import shown, whole
from keypose.verbs.comparing import Comparison, Row, Settings
from keypose.verbs.comparing.asked import are_all_of
from keypose.verbs.comparing.clip import Told, digest_of, measured
from keypose.verbs.comparing.settings import REMOVED_PERCENT, settings_of
from keypose.verbs.frames import FrameRange

CLIPS_PER_JOB = 4  # what ``default_jobs`` takes a worker to be worth; here one clip is
Clip = Motion | str | PathLike[str]


@dataclass(frozen=True)
class Comparing:
    """Which clip, how to read it, what to compare on it, and where finished clips are kept."""

    clip: Path | Motion
    settings: Settings = field(default_factory=Settings)
    reading: Reading = field(default_factory=Reading)
    kept: Kept | None = None
    target: Path = Path()  # the file that all clips together become, where there is one

    @property
    def source(self) -> Path:
        """The file; of a motion that comes from none, its name."""
        return Path(self.clip.name) if isinstance(self.clip, Motion) else self.clip


@dataclass(frozen=True)
class ComparedClip:
    """What was measured on one clip."""

    rows: tuple[Row, ...]
    key: str  # under which it is kept
    was_kept: bool  # measured by an earlier run
    notes: tuple[str, ...]


def compare_clip(job: Comparing, told: Told | None = None) -> ComparedClip:
    """Reads, cuts, resamples and compares one clip, unless it was before; ``told`` hears which part is done."""
    motion = job.clip if isinstance(job.clip, Motion) else job.reading.load(job.clip)
    source = "" if isinstance(job.clip, Motion) else str(job.clip)
    part = job.settings.part_of(motion)
    notes = motion.notes
    if job.settings.is_slower(part.fps):
        notes += (f"{part.fps:g} fps, slower than {job.settings.fps:g}: compared at its own rate",)
    if job.kept is None:
        rows = measured(part, job.settings, source=source, source_fps=motion.fps, told=told)
        return ComparedClip(rows, "", False, notes)
    digest = digest_of(part)
    key = job.kept.key(digest, job.settings)
    known = job.kept.rows(key)
    if known is not None and are_all_of(known, part, digest, job.settings):
        named = tuple(replace(row, clip=part.name, source=source, source_fps=motion.fps) for row in known)
        return ComparedClip(named, key, True, notes)
    found = measured(part, job.settings, source=source, source_fps=motion.fps, told=told)
    try:
        job.kept.keep(key, found)
    except FileError as error:  # measuring it took long: better not kept than lost
        warn_caller(f"{job.source}: compared, but not kept for another run: {error}")
    return ComparedClip(found, key, False, notes)


def jobs_for(clips: int) -> int:
    """How many workers are worth starting: one for each core and clip."""
    return default_jobs(CLIPS_PER_JOB * clips)


def compare(
    motions: Clip | Iterable[Clip],
    methods: str | Sequence[str] | None = None,
    *,
    removed_percent: float | Sequence[float] = REMOVED_PERCENT,
    inbetweens: str | Sequence[str] = ("linear", "fitted"),
    curves: bool = True,
    fps: float | None = None,
    frames: FrameRange = None,
    jobs: int = 1,
    keep_in: str | PathLike[str] | None = None,
    on_clip: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Every method on the same clips at the same budgets: errors, foot slide, stored values and time.

    ``motions`` are Motions or paths of motion files, one or several. ``methods`` are names of ``kp.methods()``,
    ``"salient-inbetween"`` (the keys that ``unbake`` chooses) and the references ``"per-curve"`` and ``"pca"``, which
    get as many stored values as fitted keys; None is all. ``inbetweens``: ``"linear"``, ``"fitted"`` and ``"polished"``
    (as ``unbake`` writes them). ``curves`` adds budgets from 1 to 25 % of the frames. ``fps`` is the
    greatest rate: a slower clip stays at its own, see ``Comparison.slower``. ``frames``: of a part (start, stop) at the
    clip's own rate.

    With ``jobs`` above 1 clips are compared in as many processes; a script then begins its work under
    ``if __name__ == "__main__":``. ``keep_in`` is a folder for finished clips: a run that was stopped goes on from
    there, and clips that have not changed are not measured again. ``on_clip`` hears how many clips of how many are
    done. A clip that cannot be read or compared is an error.
    """
    settings = settings_of(methods, removed_percent, inbetweens, curves=curves, fps=fps, frames=frames)
    clips = _clips(motions)
    kept = None if keep_in is None else Kept(_folder(keep_in))
    work = [Comparing(clip, settings, kept=kept) for clip in clips]
    found: dict[int, ComparedClip] = {}
    with closing(map_clips(compare_clip, work, whole("jobs", jobs, least=1))) as outcomes:
        for outcome in outcomes:
            if outcome.value is None:
                raise _error(work[outcome.index].source, outcome.failure)
            found[outcome.index] = outcome.value
            for text in outcome.warnings:
                warn_caller(text)
            if on_clip is not None:
                on_clip(len(found), len(work))
    return Comparison(tuple(row for index in range(len(work)) for row in found[index].rows), settings)


def _folder(keep_in: str | PathLike[str]) -> Path:
    folder = Path(keep_in) if isinstance(keep_in, str | os.PathLike) else None
    if folder is None or "\0" in str(folder):
        raise OptionError(f"keep_in={shown(keep_in)}, expected the name of a folder")
    return folder


def _clips(motions: Clip | Iterable[Clip]) -> list[Path | Motion]:
    several = [motions] if isinstance(motions, Motion | str | os.PathLike) else motions
    if not isinstance(several, Iterable):
        raise OptionError(f"{type(several).__name__}, expected Motions or paths of motion files")
    several = list(several)
    if not several:
        raise OptionError("no motion, expected at least one Motion or path")
    for each in several:
        if not isinstance(each, Motion | str | os.PathLike):
            raise OptionError(f"{type(each).__name__}, expected Motions or paths of motion files")
    return [each if isinstance(each, Motion) else Path(fspath(each)) for each in several]


def _error(path: Path, failure: Failure | None) -> Exception:
    """What the failure of one clip is to whoever asked for all."""
    assert failure is not None
    if failure.is_bug:
        return RuntimeError(f"{path}: {failure.kind}: {failure.message}\n{failure.traceback}")
    named = failure.message.startswith(str(path))
    return KeyposeError(failure.message if named else f"{path}: {failure.message}")
