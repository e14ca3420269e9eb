"""The keys of a clip as a table with the error curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.batch.keys import KeysJob, KeysResult
from keypose.cli import plot as plots
from keypose.cli.clip_view import format_duration
from keypose.cli.columns import COLUMN_GAP, Column
from keypose.cli.output import escape_unprintable

MAX_ROWS = 2_000
CURVE_FACTOR = 3  # the curve is plotted up to this multiple of the number of keys,
MIN_CURVE_KEYS = 30  # and at least up to this number
MAX_CLIFFS = 8
OPTIONAL_HEADINGS = ("source", "cost", "rank", "without mm")  # dropped in this order on a narrow terminal
LEGENDS = {
    "source": "source: the frame's number in the file",
    "rank": "rank: in which order the method took the keys; where it takes none, by the error without the key",
    "cost": "cost: what was left to do then; where the method takes none in order, of the span up to the next key",
    "off mm": "off: largest error of {kind} in-betweens up to the next key",
    "without mm": "without: that error if the key is left out",
}


def build_view(clip: KeysResult, job: KeysJob, width: int, *, legend: bool, plot: bool, plain: bool) -> Group:
    """Return table, summary, errors and plot of one clip."""
    columns = _fit_columns(clip, width)
    renderables: list[RenderableType] = [
        Text(escape_unprintable(clip.path), style="bold", overflow="fold"),
        _table(columns),
    ]
    if len(clip.frames) > MAX_ROWS:
        renderables.append(Text(f"and {len(clip.frames) - MAX_ROWS} more keys; --json has all"))
    kind = _inbetween_kind(job)
    if legend:
        renderables += [Text(line.format(kind=kind), style="dim") for line in _legend(columns)]
    renderables += [Text(""), Text(_summary(clip, job)), Text(_error_line(clip, kind))]
    if plot:
        renderables += _error_curve(clip, width, plots.PLAIN if plain else plots.BRAILLE)
    return Group(*renderables)


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
        Column("off mm", _format_mm_cells(clip.span_mm or (), last_is_empty=clip.frames[-1] == clip.stop - 1)),
        Column("without mm", _format_mm_cells(clip.without_mm or ())),
    ]


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


def _legend(columns: Sequence[Column]) -> list[str]:
    """Return an explanation of each heading."""
    return [LEGENDS[column.heading] for column in columns if column.heading in LEGENDS]


def _summary(clip: KeysResult, job: KeysJob) -> str:
    keys, frames = len(clip.frames), clip.stop - clip.start
    part = f" ({clip.start} to {clip.stop - 1} of {clip.n_frames})" if frames < clip.n_frames else ""
    selection_note = {
        "keys": "",
        "tolerance": f"; the fewest within {job.tolerance_mm:g} mm" if job.tolerance_mm is not None else "",
        "auto": "; where the error curve says to stop" + ("" if job.auto else " (--keys or --tolerance-mm: another)"),
        "own": f"; {clip.method}'s own number (--keys or --tolerance-mm: another)",
    }[clip.count_source]
    counts = f"{_pluralise(keys, 'key')} of {_pluralise(frames, 'frame')}{part}"
    return (
        f"{counts}, compression {100 * (1 - keys / frames):.1f} %, by {clip.method}; "
        f"{format_duration(frames / clip.fps)} at {clip.fps:.6g} fps{selection_note}"
    )


def _inbetween_kind(job: KeysJob) -> str:
    """Return which in-betweens errors refer to: "straight", or "fitted" if the keys were chosen by fitted curves."""
    by_curves = job.options.get("cost") == "inbetween" and job.options.get("interpolation", "bezier") == "bezier"
    return "fitted" if by_curves else "straight"


def _error_line(clip: KeysResult, kind: str) -> str:
    if clip.error is None:
        return "no error in mm: the figure has no height"
    error = clip.error
    return (
        f"{kind} in-betweens are off by {_format_mm(error.mean_mm)} mm on average, "
        f"95 % within {_format_mm(error.p95_mm)} mm, "
        f"{_format_mm(error.max_mm)} mm at most (on a figure of 1.7 m)"
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
        (signs.chosen, "bold green"), f" {_pluralise(chosen, 'key')}: cost {_format_cost(clip.cost)}"
    )
    cliffs = [str(keys) for keys in clip.cliffs if keys <= counts[-1]][:MAX_CLIFFS]
    if cliffs:
        legend.append("   ").append(signs.cliff, "cyan").append(f" cliffs, strongest first: {', '.join(cliffs)} keys")
    return [Text(""), Text("cost against number of keys, on a logarithmic scale"), plot, legend]


def _pluralise(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
