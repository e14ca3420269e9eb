"""``keypose keys``: choose the key poses of motion files and print them as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.batch import Outcome
from keypose.batch.file_discovery import discover_clips
from keypose.batch.keys import KeysJob, KeysResult, RefineTableJob, select_clip_keys
from keypose.cli import keys_table, messages, output
from keypose.cli import plot as plots
from keypose.cli.clip_view import score_document
from keypose.cli.key_options import DEFAULT_COUNT, DEFAULT_SELECT, KeyCountFlags, SelectFlags, Set
from keypose.cli.options import (
    DEFAULT_LOAD,
    Files,
    Jobs,
    Json,
    LoadFlags,
    Range,
    Repair,
    check_key_count,
    parse_range,
    resolve_jobs,
)
from keypose.cli.output import COLUMN_GAP, Column, escape_unprintable, format_duration, missing_argument_error
from keypose.cli.runner import collect_results, print_results, run_read_jobs
from keypose.errors import FileError, format_count

MAX_ROWS = 2_000
CURVE_FACTOR = 3  # the curve is plotted up to this multiple of the number of keys,
MIN_CURVE_KEYS = 30  # and at least up to this number
MAX_CLIFFS = 8
MAX_EXTREME_PARTS = 2
OPTIONAL_HEADINGS = ("source", "cost", "extreme", "rank", "without mm")  # dropped in this order on a narrow terminal
LEGENDS = {
    "source": "source: number of the frame in the file",
    "rank": "rank: keys by their importance; 1 has the largest error without the key",
    "cost": "cost: cost of the span up to the next key",
    "max mm": "max: largest error of {kind} in-betweens up to the next key",
    "without mm": "without: largest error from the previous to the next key if this key is removed",
    "extreme": "extreme: parts of the body at the end of their travel, the most prominent first",
}
ORDERED_LEGENDS = LEGENDS | {
    "rank": "rank: order in which the method added the keys",
    "cost": "cost: remaining cost when the method had added the key",
}


def keys(
    *files: Files,
    count: KeyCountFlags = DEFAULT_COUNT,
    range_: Range = None,
    select: SelectFlags = DEFAULT_SELECT,
    set_: Set = (),
    no_plot: Annotated[bool, Parameter(negative="", help="Do not plot the error curve.")] = False,
    table: Annotated[
        bool,
        Parameter(negative="", help="Show the keys of each joint instead, as Matsuda and Kondo do; with refine."),
    ] = False,
    csv: Annotated[Path | None, Parameter(help="Write this table as a CSV file, too.")] = None,
    overwrite: Annotated[
        bool, Parameter(negative="--no-overwrite", help="Replace the CSV file if it exists. Default: refuse.")
    ] = False,
    repair: Repair = False,
    load: LoadFlags = DEFAULT_LOAD,
    jobs: Jobs = None,
    json: Json = False,
) -> int:
    """Choose the key poses of motion files.

    Shows each key with its frame, time and importance, and a plot of the error
    for every number of keys. Set the number of keys with --keys, --tolerance-mm
    or --auto; the default is the method's own number, or --auto. Frames count
    from 0, as in keypose info.

    For example:
      keypose keys walk.bvh --keys 12
      keypose keys walk.bvh --tolerance-mm 5 --pin 30,88 --pin contacts
      keypose keys walk.bvh --range 100:400 --joints hands,head
      keypose keys walk.bvh --method farthest --keys 8 --weight hands=3
      keypose keys walk.bvh --method refine --threshold 0.2 --table
      keypose keys walk.bvh --json > walk-keys.json
    """
    if not files:
        raise missing_argument_error("no file named", "at least one file, folder or pattern")
    check_key_count(count)
    options = select.parse(set_)
    load_options = load.load_options()
    frames = parse_range(range_)
    if table:
        keys_table.check_table_options(select, count)
    inputs = discover_clips(files)
    keys_table.check_csv_path(csv, inputs, has_table=table, overwrite=overwrite)
    if table:
        table_work = [RefineTableJob(file.path, load_options, frames, options) for file in inputs.files]
        return keys_table.run(
            table_work, inputs, resolve_jobs(jobs, len(table_work)), json=json, csv=csv, overwrite=overwrite,
            is_single_file=_is_single_file(files, table_work),
        )  # fmt: skip
    work = [
        KeysJob(
            file.path, load_options, select.method, count.keys, count.tolerance_mm, count.auto, frames, options, repair
        )
        for file in inputs.files
    ]
    return run(
        work,
        inputs.problems,
        resolve_jobs(jobs, len(work)),
        json=json,
        plot=not no_plot,
        is_single_file=_is_single_file(files, work),
    )


def _is_single_file(files: Sequence[str], work: Sequence[KeysJob | RefineTableJob]) -> bool:
    return len(files) == 1 and [str(job.path) for job in work] == [str(Path(files[0]))]


def run(
    work: Sequence[KeysJob],
    problems: Sequence[FileError],
    n_workers: int,
    *,
    json: bool,
    plot: bool,
    is_single_file: bool,
) -> int:
    """Choose the keys of all clips and print them; return the exit code."""
    outcomes = run_read_jobs("Choosing", select_clip_keys, work, n_workers, json=json)
    return print_results(
        work,
        outcomes,
        problems,
        lambda: [_document(work[o.index], o) for o in outcomes],
        lambda: _print_clips(collect_results(work, outcomes), plot=plot),
        json=json,
        is_single_file=is_single_file,
    )


def build_view(clip: KeysResult, job: KeysJob, width: int, *, legend: bool, plot: bool, plain: bool) -> Group:
    """Return table, summary, errors and plot of one clip."""
    columns = _fit_columns(clip, width)
    renderables: list[RenderableType] = [
        Text(escape_unprintable(clip.path), style="bold", overflow="fold"),
        _table(columns),
    ]
    if len(clip.frames) > MAX_ROWS:
        renderables.append(Text(f"and {len(clip.frames) - MAX_ROWS} more keys; --json has all"))
    kind = _inbetween_kind(clip, job)
    if legend:
        legends = LEGENDS if clip.order is None else ORDERED_LEGENDS
        lines = [legends[column.heading] for column in columns if column.heading in legends]
        renderables += [Text(line.format(kind=kind), style="dim") for line in lines]
    renderables += [Text(""), Text(_summary(clip, job)), Text(_error_line(clip, kind))]
    if plot:
        renderables += _error_curve(clip, width, plots.PLAIN if plain else plots.BRAILLE)
    return Group(*renderables)


def _print_clips(clips: Sequence[tuple[KeysJob, KeysResult]], *, plot: bool) -> None:
    out = output.stdout_console()
    for n, (job, clip) in enumerate(clips):
        if n:
            output.print_line("")
        plain, is_last = not out.encoding.startswith("utf"), n == len(clips) - 1
        output.print_renderable(build_view(clip, job, out.width, legend=is_last, plot=plot, plain=plain))


def _document(job: KeysJob, outcome: Outcome[KeysResult]) -> dict[str, Any]:
    """Return the keys of one clip, or its failure, as a JSON document."""
    clip = outcome.value
    if clip is None:
        return messages.failed_file_document(job.path, outcome)
    budget = {"keys": job.keys, "tolerance_mm": job.tolerance_mm, "auto": job.auto or None}
    return {
        "file": clip.path,
        "method": clip.method,
        "options": {name: value for name, value in budget.items() if value is not None} | dict(job.options),
        "chosen_by": clip.count_source,
        "n_frames": clip.n_frames,
        "fps": clip.fps,
        "first_frame": clip.first_frame,
        "range": [clip.start, clip.stop],
        "frames": list(clip.frames),
        "times_s": [frame / clip.fps for frame in clip.frames],
        "order": None if clip.order is None else list(clip.order),
        "cost": clip.cost,
        "cost_unit": clip.cost_unit or None,
        "curve": [{"keys": keys, "cost": cost} for keys, cost in zip(clip.counts, clip.costs, strict=True)],
        "cliffs": list(clip.cliffs),
        "score": score_document(clip.score),
        "span_cost": clip.span_costs,
        "span_mm": clip.span_mm,
        "without_mm": clip.without_mm,
        "extreme_parts": clip.extreme_parts,
        "notes": list(clip.notes),
        "warnings": messages.render_warnings(outcome.warnings),
    }


def _fit_columns(clip: KeysResult, width: int) -> list[Column]:
    columns = [column for column in _columns(clip) if column.cells]
    for heading in OPTIONAL_HEADINGS:
        if sum(column.width + COLUMN_GAP for column in columns) <= width:
            break
        columns = [column for column in columns if column.heading != heading]
    return columns


def _table(columns: Sequence[Column]) -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        style = "cyan" if column.heading == "frame" else None
        grid.add_column(column.heading, no_wrap=True, justify="right", style=style)
    for cells in zip(*(column.cells for column in columns), strict=True):
        grid.add_row(*map(Text, cells))
    return grid


def _columns(clip: KeysResult) -> list[Column]:
    """Return all columns; those that do not apply to the clip or its method have no cells."""
    frames = clip.frames[:MAX_ROWS]
    rank = {frame: place for place, frame in enumerate(_frames_by_rank(clip), 1)}
    return [
        Column("key", [str(n) for n in range(1, len(frames) + 1)]),
        Column("frame", [str(frame) for frame in frames]),
        Column("source", [str(frame + clip.first_frame) for frame in frames] if clip.first_frame else []),
        Column("time s", [f"{frame / clip.fps:.3f}" for frame in frames]),
        Column("rank", [str(rank[frame]) for frame in frames] if rank else []),
        Column("cost", _cost_cells(clip, frames, rank)),
        Column("max mm", _format_mm_cells(clip.span_mm or (), last_is_empty=clip.frames[-1] == clip.stop - 1)),
        Column("without mm", _format_mm_cells(clip.without_mm or ())),
        Column("extreme", _extreme_cells(clip)),
    ]


def _extreme_cells(clip: KeysResult) -> list[str]:
    """Return the most prominent parts at the end of their travel, by key; none if there are none at any key."""
    parts_by_key = clip.extreme_parts[:MAX_ROWS]
    if not any(parts_by_key):
        return []
    return [",".join(parts[:MAX_EXTREME_PARTS]) or "-" for parts in parts_by_key]


def _cost_cells(clip: KeysResult, frames: Sequence[int], rank: Mapping[int, int]) -> list[str]:
    """Return the cost of each key: the remaining cost when the method added it, or the cost of the span after it."""
    if clip.order is not None:
        cost = dict(zip(clip.counts, clip.costs, strict=True))
        return [_format_cost(cost.get(rank[frame])) for frame in frames]
    if clip.span_costs is None:
        return []
    return [_format_cost(cost) for cost in (*clip.span_costs, None)][: len(frames)]


def _frames_by_rank(clip: KeysResult) -> Sequence[int]:
    """Return the keys by importance: in the method's order, else by the error without each; empty if unknown."""
    if clip.order is not None:
        return clip.order
    worth = dict(zip(clip.frames, clip.without_mm or (), strict=False))
    return sorted(worth, key=lambda frame: (-worth[frame], frame))


def _summary(clip: KeysResult, job: KeysJob) -> str:
    keys, frames = len(clip.frames), clip.stop - clip.start
    part = f" ({clip.start} to {clip.stop - 1} of {clip.n_frames})" if frames < clip.n_frames else ""
    selection_note = {
        "keys": "",
        "tolerance": f"; the fewest within {job.tolerance_mm:g} mm" if job.tolerance_mm is not None else "",
        "auto": "; for fitted curves within 1 % of the figure"
        + ("" if job.auto else " (change it with --keys or --tolerance-mm)"),
        "own": f"; {clip.method}'s own number (change it with --keys or --tolerance-mm)",
    }[clip.count_source]
    counts = f"{format_count(keys, 'key')} of {format_count(frames, 'frame')}{part}"
    return (
        f"{counts}, {100 * (1 - keys / frames):.1f} % removed, by {clip.method}; "
        f"{format_duration(frames / clip.fps)} at {clip.fps:.6g} fps{selection_note}"
    )


def _inbetween_kind(clip: KeysResult, job: KeysJob) -> str:
    """Return which in-betweens errors refer to: "straight", or "fitted" if the keys were chosen by fitted curves."""
    if clip.count_source == "auto":
        return "fitted"
    by_curves = job.options.get("cost") == "inbetween" and job.options.get("interpolation", "bezier") == "bezier"
    return "fitted" if by_curves else "straight"


def _error_line(clip: KeysResult, kind: str) -> str:
    if clip.score is None:
        return "no error in mm: the figure has no height"
    score = clip.score
    in_flip = (
        f" in a flip of the capture, {_format_mm(score.max_outside_flips_mm)} mm outside of flips"
        if score.is_worst_in_flip
        else ""
    )
    return (
        f"{kind} in-betweens are off by {_format_mm(score.mean_mm)} mm on average, "
        f"95 % within {_format_mm(score.p95_mm)} mm, "
        f"{_format_mm(score.max_mm)} mm at most{in_flip} (on a figure of 1.7 m)"
    )


def _error_curve(clip: KeysResult, width: int, signs: plots.Symbols) -> list[RenderableType]:
    """Return a plot of the error curve around the selected number of keys."""
    chosen = len(clip.frames)
    last = max(CURVE_FACTOR * chosen, MIN_CURVE_KEYS)
    points = [(count, cost) for count, cost in zip(clip.counts, clip.costs, strict=True) if count <= last]
    counts, costs = [count for count, _ in points], [cost for _, cost in points]
    plot = plots.plot_curve(counts, costs, chosen, clip.cliffs, width, signs)
    if plot is None:
        return []
    legend = Text.assemble(
        (signs.chosen, "bold green"), f" {format_count(chosen, 'key')}: cost {_format_cost(clip.cost)}"
    )
    cliffs = [str(keys) for keys in clip.cliffs if keys <= counts[-1]][:MAX_CLIFFS]
    if cliffs:
        legend.append("   ").append(signs.cliff, "cyan").append(f" cliffs, strongest first: {', '.join(cliffs)} keys")
    unit = f" in {clip.cost_unit}" if clip.cost_unit else ""
    return [Text(""), Text(f"cost{unit} against number of keys, on a logarithmic scale"), plot, legend]


def _format_mm_cells(values: Sequence[float], *, last_is_empty: bool = False) -> list[str]:
    """Format millimetres with equal decimals; ``last_is_empty`` prints a dash for the last key."""
    decimals = 1 if max(values, default=0.0) >= 10 else 2
    cells = [f"{value:.{decimals}f}" for value in values]
    if cells and last_is_empty:
        cells[-1] = "-"
    return cells[:MAX_ROWS]


def _format_mm(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _format_cost(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
