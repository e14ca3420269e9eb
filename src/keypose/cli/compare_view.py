"""A comparison for people: one line for each way, the best of each column marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keypose.cli.output import printable
from keypose.verbs.comparing import Comparison, Middle
from keypose.verbs.comparing.noun import best_of
from keypose.verbs.comparing.tables import figure

NOTES_SHOWN = 6
DETAILED_PERCENT = 90.0  # the budget whose other figures are shown, or the first
BEST = "<"
LEGEND = (
    f"mean/max mm on a figure of 1.7 m; {BEST} least of those with exactly as many keys; * fewer keys on some clips; "
    "references have no keys, but as many stored values as fitted keys"
)
Figure = Callable[[Middle], float | None]


DETAILS: Sequence[tuple[str, Figure]] = (
    ("95 % mm", lambda each: each.p95_mm),
    ("mean °", lambda each: each.mean_deg),
    ("max °", lambda each: each.max_deg),
    ("slide mm", lambda each: each.foot_slide_mm),
    ("values", lambda each: each.stored_values),
    ("choosing ms", lambda each: each.choosing_ms),
    ("fitting ms", lambda each: each.fitting_ms),
)


def view(comparison: Comparison, width: int) -> Group:
    """Errors at every budget, then the other figures at one of them."""
    shown: list[RenderableType] = []
    if comparison.removed_percent:
        shown += [_title(comparison), _errors(comparison), Text(LEGEND, style="dim"), Text("")]
        percents = comparison.removed_percent
        percent = DETAILED_PERCENT if DETAILED_PERCENT in percents else percents[0]
        shown += [Text(f"the rest, at {percent:g} % removed", style="bold"), _details(comparison, percent)]
    notes = comparison.notes
    for note in notes[:NOTES_SHOWN]:
        shown.append(Text(printable(note), style="dim"))
    if len(notes) > NOTES_SHOWN:
        shown.append(Text(f"and {len(notes) - NOTES_SHOWN} more remarks; --json has all", style="dim"))
    return Group(*shown)


def _title(comparison: Comparison) -> Text:
    clips = comparison.clips
    if len(clips) > 1:
        return Text(f"{len(clips)} clips: medians, by percent of the frames removed", style="bold")
    first = comparison.rows[0]
    what = f"{first.clip}: {first.frames} frames at {first.fps:.6g} fps, by percent of the frames removed"
    return Text(printable(what), style="bold")


def _errors(comparison: Comparison) -> Table:
    middles = comparison.middles()
    by = {(each.method, each.inbetweens, each.removed_percent): each for each in middles}
    grid = _grid()
    percents = comparison.removed_percent
    best = {}
    for percent in percents:
        some = [each for each in middles if each.removed_percent == percent]
        best[percent] = best_of(some, lambda each: each.mean_mm), best_of(some, lambda each: each.max_mm)
        grid.add_column(f"{percent:g} %", justify="right", no_wrap=True)
    for way in comparison.ways:
        cells = [_pair(by.get((*way, percent)), *best[percent]) for percent in percents]
        grid.add_row(*way, *cells)
    return grid


def _pair(middle: Middle | None, best_mean: Middle | None, best_max: Middle | None) -> Text:
    if middle is None or middle.mean_mm is None:
        return Text("-")
    mean, largest = (
        (f"{BEST if middle is best else ''}{figure(value)}", "bold green" if middle is best else "")
        for value, best in ((middle.mean_mm, best_mean), (middle.max_mm, best_max))
    )
    return Text.assemble(mean, "/", largest, "*" if middle.exact < middle.clips else "")


def _details(comparison: Comparison, percent: float) -> Table:
    grid = _grid()
    for name, _ in DETAILS:
        grid.add_column(name, justify="right", no_wrap=True)
    for each in comparison.middles():
        if each.removed_percent == percent:
            grid.add_row(each.method, each.inbetweens, *(figure(of(each)) for _, of in DETAILS))
    return grid


def _grid() -> Table:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    grid.add_column("method", no_wrap=True, style="cyan")
    grid.add_column("between", no_wrap=True)
    return grid
