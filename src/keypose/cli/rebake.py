"""``keypose rebake``: add the captured detail back to edited animations."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Group
from rich.text import Text

from keypose.batch import Failure, Outcome
from keypose.batch.file_discovery import discover_clips
from keypose.batch.plan import Target
from keypose.batch.rebake import (
    RebakeJob,
    RebakeResult,
    find_detail_conflict,
    find_detail_sources,
    may_have_detail,
    rebake_clip,
)
from keypose.cli import messages, output
from keypose.cli.clip_view import common_folder, score_document
from keypose.cli.options import (
    DEFAULT_EDIT_LOAD,
    DEFAULT_INTO,
    EditLoadFlags,
    Flags,
    IntoFlags,
    resolve_jobs,
    with_flags,
)
from keypose.cli.output import (
    Column,
    UsageError,
    escape_unprintable,
    format_bytes,
    format_duration,
    labelled_rows,
    missing_argument_error,
)
from keypose.cli.runner import DEFAULT_WRITE, RunResult, TargetFormat, WriteFlags, build_plan, run_write_jobs
from keypose.cli.unbake import format_mm
from keypose.errors import format_count
from keypose.options import MAX_RESIDUAL, RebakeOptions

if TYPE_CHECKING:
    from keypose.batch.rebake import DetailSources

OPTIONAL_HEADINGS = ("written", "frames", "before", "mean mm")  # dropped in this order on a narrow terminal
LEGEND = "mm: how far the detail moves joints, on a figure of 1.7 m"


def parse_residual(flag: str, texts: Sequence[str]) -> float:
    """Parse ``0.7`` or ``70%`` into a fraction."""
    (text,) = texts
    percent = text.strip().endswith("%")
    try:
        share = float(text.strip().removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        share = math.nan
    if not math.isfinite(share):
        raise UsageError(option=flag, value=text, expected="a number, such as 0.7 or 70%")
    if share > MAX_RESIDUAL:
        suggestion = "" if percent else f"; did you mean {text.strip()}%?"
        raise UsageError(
            f"is {share:g} times the detail",
            option=flag,
            value=text,
            expected=f"at most {MAX_RESIDUAL:g}",
            hint=f"1 is all of it{suggestion}",
        )
    return share


@with_flags(word_parsers={"residual": parse_residual})
class DetailFlags(Flags, RebakeOptions):
    """How captured detail is added."""


DEFAULT_DETAIL = DetailFlags()


def rebake(
    *paths: Annotated[
        str,
        Parameter(
            name="EDITED OUT",
            help="The edited animation (or several, folders, patterns in quotes), and last the output: a file for one, "
            "a folder for more.",
        ),
    ],
    to: TargetFormat = None,
    from_: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="The .keys.json that unbake wrote, or a folder of them. Default: the detail stored in EDITED "
            "(.blend), or the .keys.json of the same name beside it.",
        ),
    ] = None,
    detail: DetailFlags = DEFAULT_DETAIL,
    into_: IntoFlags = DEFAULT_INTO,
    load: EditLoadFlags = DEFAULT_EDIT_LOAD,
    write: WriteFlags = DEFAULT_WRITE,
) -> int:
    """Add the captured detail back to edited animations.

    After unbake you edit a few keys; the captured detail between them is stored in
    NAME.keys.json. Rebake adds it to the edit in each joint's local frame, so that
    it follows every change, and writes all frames in the format of OUT. Folders
    and several files go into one folder, in the format given by --to.

    For example:
      keypose rebake edited.glb final.glb --from walk.keys.json
      keypose rebake edited.glb final.bvh --from walk.keys.json --residual 1
      keypose rebake walk_v2.blend walk_v2.glb
      keypose rebake edits/ final/ --to glb --from unbaked/
      keypose rebake edited.glb hero2.glb --from hero.keys.json --into hero.glb
    """
    if len(paths) < 2 or not all(paths):
        raise missing_argument_error(
            "", "the edited file, and the output", "keypose rebake EDITED OUT --from NAME.keys.json"
        )
    *names, out = paths
    existing_policy = write.existing_policy()
    load_options, into = load.load_options(), into_.character()
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy, "rebake")
    from_path = None if from_ is None else Path(from_)
    sources = {file.path: find_detail_sources(file, from_path) for file in inputs.files}
    if plan.targets:
        _check_sources([(t.source, sources[t.source]) for t in (*plan.targets, *plan.skipped)])
    overwritten = find_detail_conflict([(t.source, t.target, sources[t.source]) for t in plan.targets])
    if overwritten is not None:
        raise UsageError(f"{overwritten} holds the captured detail", expected="another name for the result")
    work = [
        RebakeJob(t.source, t.target, sources[t.source], detail.residual, detail.timing, load_options, into)
        for t in plan.targets
    ]
    is_single_file = [t.target for t in (*plan.targets, *plan.skipped)] == [Path(out)]
    workers = resolve_jobs(write.jobs, len(work))
    return run(work, plan.skipped, workers, is_single_file=is_single_file, json=write.json, quiet=write.quiet)


def _check_sources(edits: Sequence[tuple[Path, DetailSources]]) -> None:
    """Raise UsageError if no edit has detail; if only some lack it, those fail individually."""
    for path, s in edits:
        is_missing = not os.path.exists(path)  # noqa: PTH110 - Path raises for long names
        if is_missing or s.explicit or s.companion or may_have_detail(path):  # a missing file fails when it is read
            return
    source, sources = edits[0]
    if len(edits) == 1:
        raise UsageError(
            f"{source} contains no captured detail, and there is no {sources.expected}",
            code="missing_argument",
            expected="--from NAME.keys.json, which unbake wrote",
        )
    raise UsageError(
        f"these {len(edits)} files contain no captured detail, and there is no {sources.expected}, nor any other",
        code="missing_argument",
        expected="--from FOLDER with the NAME.keys.json of each, which unbake wrote",
    )


def run(
    work: Sequence[RebakeJob],
    skipped: Sequence[Target],
    n_workers: int,
    *,
    is_single_file: bool,
    json: bool,
    quiet: bool,
) -> int:
    """Rebake all files and print results; return the exit code. ``is_single_file``: one file to one file."""
    run_result = run_write_jobs("Rebaking", rebake_clip, work, skipped, n_workers, json=json, quiet=quiet)
    if json:
        output.print_json(_single_document(run_result) if is_single_file else run_result.document("rebaked", _document))
    elif not quiet:
        run_result.print_notes(lambda result: result.notes)
        run_result.print_summary("rebaked", build_block, build_table, summary_lines)
    if (
        not is_single_file
        or run_result.interrupted
        or not run_result.outcomes
        or run_result.outcomes[0].failure is None
    ):
        return run_result.finish(json=json)
    (job,), failure = run_result.work, run_result.outcomes[0].failure
    return messages.report_failures([(_failed_path(job, failure), failure)], quiet=json)


def _failed_path(job: RebakeJob, failure: Failure) -> Path:
    """Return the file that the error is about: that of the detail, or the edited file."""
    files = (job.detail_sources.explicit, job.detail_sources.companion)
    error_path = None if failure.error is None else failure.error.path
    return next((path for path in files if path is not None and str(path) == error_path), job.source)


def summary_lines(results: Sequence[tuple[RebakeJob, RebakeResult]]) -> list[str]:
    """Return a line with the amount of detail, the output folder and the size of many edits."""
    return [
        f"{_residual_percent(results[0][0])} of the detail added back{_source_suffix(results)}; "
        f"written to {common_folder([str(job.target) for job, _ in results]) or '.'}: "
        f"{format_bytes(sum(result.bytes for _, result in results))}"
    ]


def build_block(job: RebakeJob, result: RebakeResult, seconds: float) -> Group:
    """Return the result of one edit as text."""
    before = "" if result.original_keys is None else f", before the edit {result.original_keys}"
    edit = "read frame by frame" if result.keys is None else f"{format_count(result.keys, 'key')}{before}"
    rows = [
        (
            "edit",
            f"{edit}; {format_count(result.frames, 'frame')}, "
            f"{format_duration(result.frames / result.fps)} at {result.fps:.6g} fps",
        ),
        ("detail", f"{_residual_percent(job)} of that in {result.original}"),
    ]
    if (score := result.score) is not None:
        displacement = f"moves joints by {format_mm(score.mean_mm)} mm on average, {format_mm(score.max_mm)} mm at most"
        rows.append(("", f"{displacement} (on a figure of 1.7 m)"))
    rows.append(("timing", _timing_text(job, result)))
    rows.append(("written", f"{job.target} ({format_bytes(result.bytes)}) in {seconds:.2f} s"))
    return labelled_rows(str(job.source), rows)


def _timing_text(job: RebakeJob, result: RebakeResult) -> str:
    """Return how detail was timed, and why."""
    if job.timing != "auto":
        return f"by {result.timing}, as given"
    if result.timing == "own":
        return "as the edit itself keeps it: moved with its keys"
    if result.timing == "keys":
        verb = "was" if result.n_moved_keys == 1 else "were"
        return f"by keys: {result.n_moved_keys} {verb} moved together with the detail"
    if result.keys is None:
        return "by frames: the edit has no keys of its own that could have been moved"
    if result.original_keys in (None, result.keys):
        return "by frames: no key was moved"
    return (
        f"by frames: {format_count(result.keys, 'key')} now, {result.original_keys} "
        "before, and no moved key was recognised"
    )


def build_table(results: Sequence[tuple[RebakeJob, RebakeResult]], width: int) -> Group:
    """Return a table of edits, one row each."""
    clips = [clip for _, clip in results]
    sources, targets = (
        _relative_paths([str(getattr(job, side)) for job, _ in results]) for side in ("source", "target")
    )
    names = Column("clip", [escape_unprintable(name) for name in sources])
    others = [
        Column("frames", [str(clip.frames) for clip in clips], right_aligned=True),
        Column("keys", [_format_count(clip.keys) for clip in clips], right_aligned=True),
        Column("before", [_format_count(clip.original_keys) for clip in clips], right_aligned=True),
        Column("timing", [clip.timing for clip in clips]),
        Column("mean mm", [_format_figure(getattr(clip.score, "mean_mm", None)) for clip in clips], right_aligned=True),
        Column("max mm", [_format_figure(getattr(clip.score, "max_mm", None)) for clip in clips], right_aligned=True),
        Column("written", [escape_unprintable(name) for name in targets]),
    ]
    visible_columns = output.drop_optional_columns(names, others, width, OPTIONAL_HEADINGS)
    return Group(output.build_table(names, visible_columns, width), Text(LEGEND, style="dim"))


def _relative_paths(paths: Sequence[str]) -> list[str]:
    folder = common_folder(paths)
    return [os.path.relpath(path, folder) if folder else path for path in paths]


def _format_count(keys: int | None) -> str:
    return "-" if keys is None else str(keys)


def _format_figure(value: float | None) -> str:
    return "-" if value is None else format_mm(value)


def _residual_percent(job: RebakeJob) -> str:
    return f"{100 * job.residual:g} %"


def _source_suffix(results: Sequence[tuple[RebakeJob, RebakeResult]]) -> str:
    """Return the file or folder of the detail as the end of a sentence; empty if edits contain their own."""
    if any(result.original == str(job.source) for job, result in results):
        return ""
    files = sorted({result.original for _, result in results})
    return f", from {files[0]}" if len(files) == 1 else f", from {common_folder(files) or '.'}"


def _single_document(run_result: RunResult[RebakeJob, RebakeResult]) -> dict[str, Any]:
    """Return the only result, or its failure, as a JSON document."""
    if run_result.skipped:
        return {
            "source": str(run_result.skipped[0].source),
            "target": str(run_result.skipped[0].target),
            "skipped": True,
        }
    if not run_result.outcomes:
        return {"error": "interrupted", "error_kind": "KeyboardInterrupt"}
    job, outcome = run_result.work[0], run_result.outcomes[0]
    files = {"source": str(job.source), "target": str(job.target)}
    return files | _outcome_document(job, outcome) | {"warnings": messages.render_warnings(outcome.warnings)}


def _outcome_document(job: RebakeJob, outcome: Outcome[RebakeResult]) -> dict[str, Any]:
    if outcome.failure is not None:
        file = job.detail_sources.explicit or job.detail_sources.companion
        return {"from": None if file is None else str(file)} | messages.failure_document(outcome.failure)
    assert outcome.value is not None
    return _document(job, outcome.value) | {"seconds": outcome.seconds}


def _document(job: RebakeJob, result: RebakeResult) -> dict[str, Any]:
    """Return one edit as JSON fields."""
    fields = asdict(result) | {"score": score_document(result.score)}
    return {"from": fields.pop("original"), "residual": job.residual, "requested_timing": job.timing, **fields}
