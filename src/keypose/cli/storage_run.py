"""Run ``keypose compress`` and ``keypose restore``: progress, failures, and results as text or JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from keypose.batch import Outcome
from keypose.batch.compress import CompressJob, CompressResult, compress_clip
from keypose.batch.file_discovery import ClipFile, ClipFiles, discover_clips, stem
from keypose.batch.plan import ExistingPolicy, Plan, Target, looks_like_file, plan_file, plan_folder
from keypose.batch.restore import RestoreJob, RestoreResult, restore_clip
from keypose.cli import output, storage_view
from keypose.cli.clip_view import common_folder, format_accuracy, format_paths
from keypose.cli.output import UsageError, format_bytes, format_duration
from keypose.cli.runner import RunResult, run_write_jobs
from keypose.errors import FileError, KeyposeError, format_count
from keypose.formats import open_kps

SUFFIX = ".kps"
LOSSLESS = "lossless"


def compress(
    work: Sequence[CompressJob],
    skipped: Sequence[Target],
    tolerance_mm: float | None,
    n_workers: int,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Compress all files and print results; return the exit code.

    ``tolerance_mm`` is the requested tolerance, None: lossless; ``skipped`` files may have another one.
    """
    existing_files = [read_existing(t, tolerance_mm) for t in skipped]
    run_result = run_write_jobs(
        "Compressing",
        compress_clip,
        work,
        skipped,
        n_workers,
        json=json,
        quiet=quiet,
        function_with_progress=compress_clip,
    )
    if json:
        document = run_result.document("compressed", _compressed_document)
        document["skipped"] = [
            each | existing_file.document()
            for each, existing_file in zip(document["skipped"], existing_files, strict=True)
        ]
        output.print_json(document | {"total": _total_document(run_result)})
    elif not quiet:
        _print_compressed(run_result)
        for text in difference_messages(existing_files):
            output.print_warning(text)
    return _finish(run_result, json=json)


def _print_compressed(run_result: RunResult[CompressJob, CompressResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        output.print_renderable(storage_view.build_block(*results[0], run_result.seconds))
        for part in run_result.skipped_phrases:
            output.print_line(part)
        return
    if results:
        output.print_renderable(storage_view.build_table(results, output.stdout_console().width))
    phrases = run_result.count_phrases("compressed") + _warning_phrases(run_result.outcomes)
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))
    if results:
        for line in storage_view.summary_lines(results, run_result.seconds):
            output.print_line(line)


def _finish(run_result: RunResult[Any, Any], *, json: bool) -> int:
    """Print failures and what an interruption left; return the exit code."""
    if run_result.interrupted and len(run_result.work) == 1 and not run_result.outcomes and not json:
        output.print_note(f"interrupted; {run_result.work[0].target} was not written")
    return run_result.finish(json=json)


def _warning_phrases(outcomes: Sequence[Outcome[Any]]) -> list[str]:
    """Return the number of clips with warnings as a phrase; empty if none."""
    n_clips = sum(bool(outcome.warnings) for outcome in outcomes)
    return [f"{format_count(n_clips, 'clip')} with warnings"] if n_clips else []


def _compressed_document(job: CompressJob, result: CompressResult) -> dict[str, Any]:
    """Return one clip as JSON fields."""
    return {
        "tolerance_mm": None if result.lossless or not result.has_frames else job.tolerance_mm,
        "lossless": result.lossless,
        "source_tolerance_mm": result.source_tolerance_mm,
        "n_frames": result.n_frames,
        "fps": result.fps,
        "duration_s": result.duration_s,
        "n_joints": result.n_joints,
        "n_groups": result.n_groups,
        "source_bytes": result.source_bytes,
        "raw_bytes": result.raw_bytes,
        "bytes": result.bytes,
        "ratio": result.source_bytes / result.bytes,
        "raw_ratio": result.raw_bytes / result.bytes,
        "verified": result.verified,
        "largest_error": None if result.error is None else asdict(result.error),
        "keys": result.keys,
        "swings": result.swings,
        "companion_bytes": result.companion_bytes,
        "notes": result.notes,
    }


def _total_document(run_result: RunResult[CompressJob, CompressResult]) -> dict[str, Any] | None:
    """Return the totals as a JSON document; None without any clip."""
    results = run_result.results
    if not results:
        return None
    total = storage_view.compute_total(results)
    worst = total.worst
    return {
        "clips": len(results),
        "duration_s": total.duration_s,
        "source_bytes": total.source_bytes,
        "raw_bytes": total.raw_bytes,
        "bytes": total.bytes,
        "ratio": total.source_bytes / total.bytes,
        "raw_ratio": total.raw_bytes / total.bytes,
        "verified": total.verified,
        "largest_error": None if worst is None else {"source": str(worst[0]), **asdict(worst[1])},
        "motion_s_per_s": total.duration_s / run_result.seconds,
    }


def restore(work: Sequence[RestoreJob], skipped: Sequence[Target], n_workers: int, *, json: bool, quiet: bool) -> int:
    """Restore all files and print results; return the exit code."""
    run_result = run_write_jobs("Restoring", restore_clip, work, skipped, n_workers, json=json, quiet=quiet)
    if json:
        output.print_json(run_result.document("restored", _restored_document))
    elif not quiet:
        _print_restored(run_result)
    return _finish(run_result, json=json)


def _print_restored(run_result: RunResult[RestoreJob, RestoreResult]) -> None:
    run_result.print_notes(lambda result: result.notes)
    results = run_result.results
    if len(run_result.work) == 1 and results:
        job, result = results[0]
        start = "" if job.is_whole_clip else f" from {result.start_s:.2f} s on"
        output.print_line(
            f"{job.target}: {format_count(result.n_frames, 'frame')}{start} at "
            f"{result.fps:.6g} fps, {format_bytes(result.bytes)}, "
            f"{format_accuracy(result)}, in {run_result.seconds:.2f} s"
        )
        for kind, path in (("keys", result.keys_file), ("swings", result.swings_file)):
            if path is not None:
                output.print_line(f"{path}: its {kind}")
        for part in run_result.skipped_phrases:
            output.print_line(part)
        return
    phrases = run_result.count_phrases("restored") + _warning_phrases(run_result.outcomes)
    if n_with_notes := sum(bool(result.notes) for _, result in results):
        phrases.append(f"{n_with_notes} with notes")
    if results:
        seconds = sum(result.n_frames / result.fps for _, result in results)
        folder = common_folder([str(job.target) for job, _ in results]) or "."
        phrases.append(
            f"{format_duration(seconds)} of motion, to {folder}: "
            f"{format_bytes(sum(result.bytes for _, result in results))}"
        )
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))


def _restored_document(job: RestoreJob, result: RestoreResult) -> dict[str, Any]:
    """Return one file as JSON fields."""
    return asdict(result)


def is_kps(path: Path) -> bool:
    """Return whether the name is that of a compressed file."""
    return path.name.lower().endswith(SUFFIX)


def select_uncompressed(inputs: ClipFiles, names: Sequence[str]) -> ClipFiles:
    """Return the inputs to compress; compressed ones only if named explicitly."""
    return _filter_inputs(
        inputs, names, lambda path: not is_kps(path), "no motion files that are not compressed already"
    )


def select_compressed(inputs: ClipFiles, names: Sequence[str]) -> ClipFiles:
    """Return the inputs to restore: .kps files of folders, and all files named explicitly."""
    return _filter_inputs(inputs, names, is_kps, f"no names that end in {SUFFIX}, as keypose compress writes them")


def _filter_inputs(
    inputs: ClipFiles, names: Sequence[str], predicate: Callable[[Path], bool], problem: str
) -> ClipFiles:
    named_paths = {str(Path(name)) for name in names if name}
    files = tuple(file for file in inputs.files if predicate(file.path) or str(file.path) in named_paths)
    if inputs.files and not files:
        return replace(inputs, files=(), problems=(*inputs.problems, FileError(problem, path=names[0])))
    return replace(inputs, files=files)


def plan_compressed(inputs: ClipFiles, names: Sequence[str], out: str, existing_policy: ExistingPolicy) -> Plan:
    """Plan the output of each file: ``NAME.kps``, or a folder."""
    target = Path(out)
    has_slash = out.endswith(("/", "\\"))
    is_single_file = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    if is_single_file and not has_slash and not os.path.isdir(out):  # noqa: PTH112 - Path raises for long names
        if not is_kps(target):
            raise UsageError(
                path=out,
                expected=f"a name that ends in {SUFFIX}, such as {stem(target.name)}{SUFFIX}",
                hint=f"{out}/ is a folder",
            )
        return plan_file(inputs.files[0], target, existing_policy)
    if os.path.isfile(out):  # noqa: PTH113
        raise UsageError(
            f"the last name, {out}, is an existing file",
            expected="a folder for the results, such as: keypose compress IN... out/",
        )
    if looks_like_file(target) and not has_slash:
        raise UsageError(f"{out} is the name of a file, but several results need a folder", hint=f"{out}/ makes it one")
    return plan_folder(inputs.files, target, SUFFIX, existing_policy)


def find_originals(files: Sequence[ClipFile], against: Path) -> list[Path]:
    """Return the original of each compressed file: ``against``, or the file of the same stem in that folder.

    A missing original gets a path that does not exist, and fails when it is read.
    """
    if not against.is_dir():
        return [against] * len(files)
    paths = _paths_by_stem(against)
    return [paths.get(_relative_stem(file), against / f"{_relative_stem(file)}.bvh") for file in files]


def find_uncompressed(files: Sequence[ClipFile], against: Path) -> list[Path]:
    """Return the originals in a folder that have no compressed file of the same stem."""
    stems = {_relative_stem(file) for file in files}
    return [path for place, path in _paths_by_stem(against).items() if place not in stems]


def _paths_by_stem(folder: Path) -> dict[Path, Path]:
    return {_relative_stem(file): file.path for file in discover_clips([str(folder)]).files if not is_kps(file.path)}


def _relative_stem(file: ClipFile) -> Path:
    """Return the path of a file relative to its folder, without suffix."""
    return file.relative.with_name(stem(file.relative.name))


@dataclass(frozen=True)
class ExistingFile:
    """A compressed file that exists already."""

    path: Path
    tolerance_mm: float | None
    lossless: bool
    difference: str  # from the requested tolerance; empty: none

    def document(self) -> dict[str, Any]:
        """Return JSON fields."""
        return {"tolerance_mm": self.tolerance_mm, "lossless": self.lossless, "matches_options": not self.difference}


def read_existing(target: Target, tolerance_mm: float | None) -> ExistingFile:
    """Read the header of an existing file; ``tolerance_mm`` is the requested tolerance, None: lossless."""
    try:
        with open_kps(target.target) as stored:
            found_tolerance_mm, lossless, has_frames = stored.tolerance_mm, stored.lossless, stored.has_frames
    except (KeyposeError, OSError):
        return ExistingFile(target.target, None, lossless=False, difference="not to be read")
    # a file is also lossless if exact numbers take no more bytes than the tolerance would
    matches = not has_frames or lossless or found_tolerance_mm == tolerance_mm
    return ExistingFile(
        target.target,
        found_tolerance_mm,
        lossless,
        "" if matches else f"{_format_tolerance(found_tolerance_mm)}, not {_format_tolerance(tolerance_mm)}",
    )


def _format_tolerance(tolerance_mm: float | None) -> str:
    return LOSSLESS if tolerance_mm is None else f"within {tolerance_mm:g} mm"


def difference_messages(files: Iterable[ExistingFile]) -> list[str]:
    """Return a sentence for each difference between skipped files and the requested tolerance."""
    paths_by_difference: dict[str, list[Path]] = {}
    for each in files:
        if each.difference:
            paths_by_difference.setdefault(each.difference, []).append(each.path)
    return [
        f"{len(paths)} of those skipped {'is' if len(paths) == 1 else 'are'} {unlike}: {format_paths(paths)}; "
        f"--overwrite instead of --skip-existing compresses {'it' if len(paths) == 1 else 'them'} again"
        for unlike, paths in paths_by_difference.items()
    ]
