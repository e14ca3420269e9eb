"""The keys of a clip as a table, with the error curve, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.batch.keys import ClipKeys, KeysWanted
from keypose.cli import plot as plots
from keypose.cli.clip_view import duration
from keypose.cli.columns import BETWEEN, Column
from keypose.cli.output import printable

ROWS_SHOWN = 2_000
CURVE_BEYOND = 3  # times as many keys as were chosen are plotted, so that one sees what more would bring,
CURVE_AT_LEAST = 30  # and no fewer than these
CLIFFS_NAMED = 8
NEEDLESS = ("source", "cost", "rank", "without mm")  # on a narrow terminal, in this order
EXPLAINED = {
    "source": "source: the frame's number in the file",
    "rank": "rank: in which order the method took the keys; where it takes none, by the error without the key",
    "cost": "cost: what was left to do then; where the method takes none in order, of the span up to the next key",
    "off mm": "off: largest error of {kind} in-betweens up to the next key",
    "without mm": "without: that error if the key is left out",
}


def view(clip: ClipKeys, wanted: KeysWanted, width: int, *, legend: bool, plot: bool, plain: bool) -> Group:
    """Everything that is said of one clip."""
    columns = _columns_that_fit(clip, width)
    parts: list[RenderableType] = [Text(printable(clip.path), style="bold", overflow="fold"), _table(columns)]
    if len(clip.frames) > ROWS_SHOWN:
        parts.append(Text(f"and {len(clip.frames) - ROWS_SHOWN} more keys; --json has all"))
    kind = _kind_of_inbetweens(wanted)
    if legend:
        parts += [Text(line.format(kind=kind), style="dim") for line in _legend(columns)]
    parts += [Text(""), Text(_summary(clip, wanted)), Text(_error(clip, kind))]
    if plot:
        parts += _curve(clip, width, plots.PLAIN if plain else plots.BRAILLE)
    return Group(*parts)


def _columns_that_fit(clip: ClipKeys, width: int) -> list[Column]:
    columns = [column for column in _columns(clip) if column.cells]
    for heading in NEEDLESS:
        if sum(column.width + BETWEEN for column in columns) <= width:
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


def _columns(clip: ClipKeys) -> list[Column]:
    """Each column of the table; those that a clip or its method has not are empty."""
    frames = clip.frames[:ROWS_SHOWN]
    rank = {frame: place for place, frame in enumerate(_ranked(clip), 1)}
    return [
        Column("key", [str(n) for n in range(1, len(frames) + 1)]),
        Column("frame", [str(frame) for frame in frames]),
        Column("source", [str(frame + clip.first_frame) for frame in frames] if clip.first_frame else []),
        Column("time s", [f"{frame / clip.fps:.3f}" for frame in frames]),
        Column("rank", [str(rank[frame]) for frame in frames] if rank else []),
        Column("cost", _costs(clip, frames, rank)),
        Column("off mm", _alike(clip.span_mm or (), nothing_last=clip.frames[-1] == clip.stop - 1)),
        Column("without mm", _alike(clip.without_mm or ())),
    ]


def _costs(clip: ClipKeys, frames: Sequence[int], rank: Mapping[int, int]) -> list[str]:
    """Of each key: what was left when the method took it, or what the span up to the next key costs."""
    if clip.order is not None:
        cost = dict(zip(clip.counts, clip.costs, strict=True))
        return [_cost(cost.get(rank[frame])) for frame in frames]
    if clip.span_cost is None:
        return []
    return [_cost(cost) for cost in (*clip.span_cost, None)][: len(frames)]


def _ranked(clip: ClipKeys) -> Sequence[int]:
    """The keys by importance: as the method took them, else by the error without each; none where neither is known."""
    if clip.order is not None:
        return clip.order
    worth = dict(zip(clip.frames, clip.without_mm or (), strict=False))
    return sorted(worth, key=lambda frame: (-worth[frame], frame))


def _legend(columns: Sequence[Column]) -> list[str]:
    """What the headings mean."""
    return [EXPLAINED[column.heading] for column in columns if column.heading in EXPLAINED]


def _summary(clip: ClipKeys, wanted: KeysWanted) -> str:
    keys, frames = len(clip.frames), clip.stop - clip.start
    part = f" ({clip.start} to {clip.stop - 1} of {clip.n_frames})" if frames < clip.n_frames else ""
    how = {
        "keys": "",
        "tolerance": f"; the fewest within {wanted.tolerance_mm:g} mm" if wanted.tolerance_mm is not None else "",
        "auto": "; where the error curve says to stop"
        + ("" if wanted.auto else " (--keys or --tolerance-mm: another)"),
        "own": f"; {clip.method}'s own number (--keys or --tolerance-mm: another)",
    }[clip.by]
    counted = f"{_counted(keys, 'key')} of {_counted(frames, 'frame')}{part}"
    return (f"{counted}, compression {100 * (1 - keys / frames):.1f} %, by {clip.method}; "
            f"{duration(frames / clip.fps)} at {clip.fps:.6g} fps{how}")  # fmt: skip


def _kind_of_inbetweens(wanted: KeysWanted) -> str:
    """Errors are those of straight in-betweens, unless the keys are chosen by others."""
    by_curves = wanted.options.get("cost") == "inbetween" and wanted.options.get("interpolation", "bezier") == "bezier"
    return "fitted" if by_curves else "straight"


def _error(clip: ClipKeys, kind: str) -> str:
    if clip.error is None:
        return "no error in mm: the figure has no height"
    error = clip.error
    return (f"{kind} in-betweens are off by {_mm(error.mean_mm)} mm on average, 95 % within {_mm(error.p95_mm)} mm, "
            f"{_mm(error.max_mm)} mm at most (on a figure of 1.7 m)")  # fmt: skip


def _curve(clip: ClipKeys, width: int, signs: plots.Signs) -> list[RenderableType]:
    """The part of the error curve around the keys that were chosen."""
    chosen = len(clip.frames)
    last = max(CURVE_BEYOND * chosen, CURVE_AT_LEAST)
    shown = [(count, cost) for count, cost in zip(clip.counts, clip.costs, strict=True) if count <= last]
    counts, costs = [count for count, _ in shown], [cost for _, cost in shown]
    drawn = plots.curve(counts, costs, chosen, clip.cliffs, width, signs)
    if drawn is None:
        return []
    legend = Text.assemble((signs.chosen, "bold green"), f" {_counted(chosen, 'key')}: cost {_cost(clip.cost)}")
    cliffs = [str(keys) for keys in clip.cliffs if keys <= counts[-1]][:CLIFFS_NAMED]
    if cliffs:
        legend.append("   ").append(signs.cliff, "cyan").append(f" cliffs, strongest first: {', '.join(cliffs)} keys")
    return [Text(""), Text("cost against number of keys, on a logarithmic scale"), drawn, legend]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _alike(values: Sequence[float], *, nothing_last: bool = False) -> list[str]:
    """Millimetres with the same number of decimals; a dash where nothing follows the last key."""
    decimals = 1 if max(values, default=0.0) >= 10 else 2
    cells = [f"{value:.{decimals}f}" for value in values]
    if cells and nothing_last:
        cells[-1] = "-"
    return cells[:ROWS_SHOWN]


def _mm(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def _cost(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
