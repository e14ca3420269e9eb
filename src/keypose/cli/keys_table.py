"""``keypose keys --table``: print the keys of each joint as the table of Matsuda & Kondo, or write it as CSV."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.text import Text

from keypose.api.compare.tables import write_csv_table
from keypose.batch import Outcome
from keypose.batch.file_discovery import ClipFiles
from keypose.batch.keys import RefineTableJob, RefineTableResult, compute_clip_table
from keypose.cli import messages, output
from keypose.cli.key_options import KeyCountFlags, SelectFlags
from keypose.cli.options import check_output_file
from keypose.cli.output import Column, UsageError, conflict_error, escape_unprintable
from keypose.cli.runner import collect_results, print_results, run_read_jobs
from keypose.errors import OptionError, format_count
from keypose.methods import METHODS
from keypose.methods.refine import RefineTable

METHOD = "refine"
WHOLE_BODY_OPTIONS = ("max_keys", "extremes_first", "leading")
MAX_AXES = 3
OPTIONAL_HEADINGS = ("max error", "frames", "overlap", "keys per axis")  # dropped in this order on a narrow terminal
LEGENDS = {
    "frames": "frames, keys: at 30 frames a second, at which the method works",
    "overlap": "overlap: keys of any axis; keys: of these, the ones that remain after reduction",
    "max error": "max error: largest error of the joint's curves with these keys, as a share of their amplitude",
}
CSV_COLUMNS = (
    *("file", "joint", "n_frames"),
    *(f"keys_axis_{axis}" for axis in range(1, MAX_AXES + 1)),
    *("overlap", "keys", "removed_ratio"),
    *(f"max_error_ratio_axis_{axis}" for axis in range(1, MAX_AXES + 1)),
)


def check_table_options(select: SelectFlags, count: KeyCountFlags) -> None:
    """Raise UsageError for options that keys per joint do not have."""
    if select.method != METHOD:
        raise UsageError(
            f"shows the keys of each joint, which {select.method} does not select",
            option="table",
            value=True,
            expected=f"--method {METHOD} with it",
        )
    for name in (*count.typed_options(), *(each for each in WHOLE_BODY_OPTIONS if each in select.typed_options())):
        raise conflict_error("table", f"--{name.replace('_', '-')}")


def check_csv_path(csv: Path | None, inputs: ClipFiles, *, has_table: bool, overwrite: bool) -> None:
    """Raise an error if the table cannot be written to ``csv``, before any work is done."""
    if csv is None:
        if overwrite:
            raise UsageError("has nothing to replace", option="overwrite", value=True, expected="--csv FILE with it")
        return
    if not has_table:
        raise UsageError("says where the table goes", option="csv", value=str(csv), expected="--table with it")
    if csv.suffix.lower() != ".csv":
        raise OptionError(option="csv", value=csv, expected="a name that ends in .csv")
    if os.path.realpath(csv) in {os.path.realpath(file.path) for file in inputs.files}:
        raise OptionError("is an input file", path=csv, expected="another name for the table")
    check_output_file(csv, "the name of a file", overwrite=overwrite)


def run(
    work: Sequence[RefineTableJob],
    inputs: ClipFiles,
    n_workers: int,
    *,
    json: bool,
    csv: Path | None,
    overwrite: bool,
    is_single_file: bool,
) -> int:
    """Compute the tables of all clips, print them and write them to ``csv``; return the exit code."""
    outcomes = run_read_jobs("Choosing", compute_clip_table, work, n_workers, json=json)
    results = [outcome.value for outcome in outcomes if outcome.value is not None]
    if csv is not None and results:
        write_csv_table(CSV_COLUMNS, _csv_rows(results), csv, overwrite=overwrite)
    return print_results(
        work,
        outcomes,
        inputs.problems,
        lambda: [_document(work[o.index], o) for o in outcomes],
        lambda: _print_tables(collect_results(work, outcomes)),
        json=json,
        is_single_file=is_single_file,
    )


def build_view(clip: RefineTableResult, job: RefineTableJob, width: int, *, legend: bool) -> Group:
    """Return the table of one clip."""
    heading, *others = clip.table.columns().items()
    names, columns = Column(*heading), [Column(*column, right_aligned=True) for column in others]
    columns = output.drop_optional_columns(names, columns, width, OPTIONAL_HEADINGS)
    table = output.build_table(names, columns, width)
    lines = [text for name, text in LEGENDS.items() if legend and name in {column.heading for column in columns}]
    threshold = job.options.get("threshold", METHODS[METHOD].options["threshold"])
    part = f" ({clip.start} to {clip.stop - 1} of {clip.n_frames})" if clip.stop - clip.start < clip.n_frames else ""
    summary = (
        f"keys of {format_count(len(clip.table.rows), 'joint')} by {METHOD}, threshold {threshold:g}, "
        f"from {format_count(clip.stop - clip.start, 'frame')}{part} at {clip.fps:.6g} fps"
    )
    return Group(
        Text(escape_unprintable(clip.path), style="bold", overflow="fold"),
        table,
        *(Text(line, style="dim") for line in lines),
        Text(""),
        Text(summary),
        Text(clip.table.describe_errors()),
    )


def _print_tables(clips: Sequence[tuple[RefineTableJob, RefineTableResult]]) -> None:
    for n, (job, clip) in enumerate(clips):
        if n:
            output.print_line("")
        width = output.stdout_console().width
        output.print_renderable(build_view(clip, job, width, legend=n == len(clips) - 1))


def _document(job: RefineTableJob, outcome: Outcome[RefineTableResult]) -> dict[str, Any]:
    """Return the table of one clip, or its failure, as a JSON document."""
    warnings = messages.render_warnings(outcome.warnings)
    clip = outcome.value
    if clip is None:
        assert outcome.failure is not None
        return {"file": str(job.path), **messages.failure_document(outcome.failure), "warnings": warnings}
    return {
        "file": clip.path,
        "method": METHOD,
        "options": dict(job.options),
        "n_frames": clip.n_frames,
        "fps": clip.fps,
        "range": [clip.start, clip.stop],
        "joints": [
            {
                "joint": row.joint,
                "n_frames": row.n_frames,
                "keys_per_axis": list(row.keys_per_axis),
                "overlap": row.overlap,
                "keys": row.keys,
                "removed_ratio": row.removed_ratio,
                "frames": list(row.key_frames),
                "max_error_ratios": list(row.max_error_ratios),
            }
            for row in clip.table.rows
        ],
        "mean": _mean_document(clip.table),
        "notes": list(clip.notes),
        "warnings": warnings,
    }


def _mean_document(table: RefineTable) -> dict[str, Any]:
    return {
        "keys_per_axis": list(table.mean_keys_per_axis),
        "overlap": table.mean_overlap,
        "keys": table.mean_keys,
        "overlap_ratio": table.mean_overlap_ratio,
        "removed_ratio": table.mean_removed_ratio,
        "median_error_ratio": table.median_error_ratio,
        "p90_error_ratio": table.p90_error_ratio,
    }


def _csv_rows(clips: Sequence[RefineTableResult]) -> Iterator[tuple[object, ...]]:
    for clip in clips:
        for row in clip.table.rows:
            counts, errors = (_pad(values) for values in (row.keys_per_axis, row.max_error_ratios))
            yield clip.path, row.joint, row.n_frames, *counts, row.overlap, row.keys, row.removed_ratio, *errors


def _pad(values: Collection[float | None]) -> tuple[float | None, ...]:
    return (*values, *(None,) * (MAX_AXES - len(values)))
