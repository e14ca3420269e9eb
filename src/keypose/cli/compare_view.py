"""Print a comparison: one line per method and kind of in-betweens, the best of each column marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.api.compare import Comparison, MedianRow
from keypose.api.compare.comparison import find_best
from keypose.api.compare.tables import format_number
from keypose.cli.output import escape_unprintable

MAX_NOTES = 6
DETAILED_PERCENT = 90.0  # percentage removed whose details are printed, else the first one
BEST = "<"
LEGEND = (
    f"mean/max mm on a figure of 1.7 m; {BEST} least of those with exactly as many keys; * fewer keys on some clips; "
    "references have no keys, but as many stored values as fitted keys"
)
Figure = Callable[[MedianRow], float | None]


DETAILS: Sequence[tuple[str, Figure]] = (
    ("95 % mm", lambda each: each.p95_mm),
    ("mean °", lambda each: each.mean_deg),
    ("max °", lambda each: each.max_deg),
    ("slide mm", lambda each: each.foot_slide_mm),
    ("values", lambda each: each.stored_values),
    ("choosing ms", lambda each: each.selection_ms),
    ("fitting ms", lambda each: each.fitting_ms),
)


def build_view(comparison: Comparison, width: int) -> Group:
    """Return errors at every percentage removed, then details at one of them."""
    renderables: list[RenderableType] = []
    if comparison.removed_percent:
        renderables += [_title(comparison), _errors(comparison), Text(LEGEND, style="dim"), Text("")]
        percents = comparison.removed_percent
        percent = DETAILED_PERCENT if DETAILED_PERCENT in percents else percents[0]
        renderables += [Text(f"the rest, at {percent:g} % removed", style="bold"), _details(comparison, percent)]
    notes = comparison.notes
    for note in notes[:MAX_NOTES]:
        renderables.append(Text(escape_unprintable(note), style="dim"))
    if len(notes) > MAX_NOTES:
        renderables.append(Text(f"and {len(notes) - MAX_NOTES} more remarks; --json has all", style="dim"))
    return Group(*renderables)


def _title(comparison: Comparison) -> Text:
    clips = comparison.clips
    if len(clips) > 1:
        return Text(f"{len(clips)} clips: medians, by percent of the frames removed", style="bold")
    first = comparison.rows[0]
    title = f"{first.clip}: {first.frames} frames at {first.fps:.6g} fps, by percent of the frames removed"
    return Text(escape_unprintable(title), style="bold")


def _errors(comparison: Comparison) -> Table:
    middles = comparison.medians()
    by = {(each.method, each.inbetweens, each.removed_percent): each for each in middles}
    grid = _grid()
    percents = comparison.removed_percent
    best = {}
    for percent in percents:
        some = [each for each in middles if each.removed_percent == percent]
        best[percent] = find_best(some, lambda each: each.mean_mm), find_best(some, lambda each: each.max_mm)
        grid.add_column(f"{percent:g} %", justify="right", no_wrap=True)
    for row_key in comparison.method_pairs:
        cells = [_mean_and_max(by.get((*row_key, percent)), *best[percent]) for percent in percents]
        grid.add_row(*row_key, *cells)
    return grid


def _mean_and_max(middle: MedianRow | None, best_mean: MedianRow | None, best_max: MedianRow | None) -> Text:
    if middle is None or middle.mean_mm is None:
        return Text("-")
    mean, largest = (
        (f"{BEST if middle is best else ''}{format_number(value)}", "bold green" if middle is best else "")
        for value, best in ((middle.mean_mm, best_mean), (middle.max_mm, best_max))
    )
    return Text.assemble(mean, "/", largest, "*" if middle.n_exact < middle.n_clips else "")


def _details(comparison: Comparison, percent: float) -> Table:
    grid = _grid()
    for name, _ in DETAILS:
        grid.add_column(name, justify="right", no_wrap=True)
    for each in comparison.medians():
        if each.removed_percent == percent:
            grid.add_row(each.method, each.inbetweens, *(format_number(of(each)) for _, of in DETAILS))
    return grid


def _grid() -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("method", no_wrap=True, style="cyan")
    grid.add_column("between", no_wrap=True)
    return grid
