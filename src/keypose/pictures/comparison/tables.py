"""Medians of a comparison as HTML tables, the best of each column marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from keypose.pictures.svg import clean
from keypose.verbs.comparing import Comparison, Middle
from keypose.verbs.comparing.noun import best_of
from keypose.verbs.comparing.tables import figure

Figure = Callable[[Middle], float | None]
MARK = "\N{BLACK STAR}"
FEWER = "\N{ASTERISK}"


COLUMNS: Sequence[tuple[str, Figure]] = (
    ("mean mm", lambda each: each.mean_mm),
    ("95 % within mm", lambda each: each.p95_mm),
    ("max mm", lambda each: each.max_mm),
    ("mean °", lambda each: each.mean_deg),
    ("max °", lambda each: each.max_deg),
    ("foot slide mm", lambda each: each.foot_slide_mm),
    ("acceleration at keys", lambda each: each.key_acceleration),
    ("stored values", lambda each: each.stored_values),
    ("% of all", lambda each: each.stored_percent),
    ("choosing ms", lambda each: each.choosing_ms),
    ("fitting ms", lambda each: each.fitting_ms),
)
WITHOUT_BEST = ("acceleration at keys", "stored values", "% of all", "foot slide mm", "choosing ms", "fitting ms")


def errors_table(comparison: Comparison) -> str:
    """Mean and largest error of every way at every budget."""
    percents = comparison.removed_percent
    by = {(each.method, each.inbetweens, each.removed_percent): each for each in comparison.middles()}
    best = {
        (percent, column): best_of([by[(*way, percent)] for way in comparison.ways if (*way, percent) in by], of)
        for percent in percents
        for column, of in _ERRORS
    }
    top = "".join(f'<th scope="colgroup" colspan="2" class="number">{percent:g} % removed</th>' for percent in percents)
    names = "".join(f'<th scope="col" class="number">{name}</th>' for _ in percents for name, _ in _ERRORS)
    rows = []
    for way in comparison.ways:
        cells = []
        for percent in percents:
            middle = by.get((*way, percent))
            cells += [_cell(middle, of, best[percent, name]) for name, of in _ERRORS]
        rows.append(_row(way, cells))
    return _table(
        f"median over {len(comparison.clips)} clips" if len(comparison.clips) > 1 else "one clip",
        f'<tr><th rowspan="2" scope="col">method</th><th rowspan="2" scope="col">in-betweens</th>{top}</tr>'
        f"<tr>{names}</tr>",
        rows,
    )


def budget_table(comparison: Comparison, percent: float) -> str:
    """All figures of every way at one budget."""
    middles = [each for each in comparison.middles() if each.removed_percent == percent]
    best = {name: None if name in WITHOUT_BEST else best_of(middles, of) for name, of in COLUMNS}
    heads = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name, _ in COLUMNS)
    rows = [
        _row((each.method, each.inbetweens), [_cell(each, of, best[name]) for name, of in COLUMNS]) for each in middles
    ]
    original = next((each.original_foot_slide_mm for each in middles if each.original_foot_slide_mm is not None), None)
    slide = "" if original is None else f"; feet of the original slide by {figure(original)} mm"
    head = f'<tr><th scope="col">method</th><th scope="col">in-betweens</th>{heads}</tr>'
    return _table(f"{percent:g} % of the frames removed{slide}", head, rows, "compared figures")


def time_table(comparison: Comparison) -> str:
    """Seconds on one core: of choosing the keys for all budgets, of fitting those of one."""
    seen: dict[tuple[str, str], list[Middle]] = {}
    for each in comparison.middles():
        seen.setdefault((each.method, each.inbetweens), []).append(each)
    rows = []
    for way, some in seen.items():
        rows.append(_row(way, [_seconds(each.choosing_s for each in some), _seconds(each.fitting_s for each in some)]))
    head = (
        '<tr><th scope="col">method</th><th scope="col">in-betweens</th>'
        '<th scope="col" class="number">choosing, s</th><th scope="col" class="number">fitting, s</th></tr>'
    )
    return _table("seconds for one clip: the median over clips, the mean over budgets", head, rows)


def _seconds(of_budgets: Iterable[float | None]) -> str:
    """The mean over budgets."""
    known = [value for value in of_budgets if value is not None]
    return f'<td class="number">{f"{sum(known) / len(known):.3f}" if known else "–"}</td>'


_ERRORS: Sequence[tuple[str, Figure]] = (COLUMNS[0], COLUMNS[2])


def _cell(middle: Middle | None, of: Figure, best: Middle | None) -> str:
    value = None if middle is None else of(middle)
    if middle is None or value is None:
        return '<td class="number"><span aria-label="none">–</span></td>'
    fewer = f'<span title="some clips have fewer keys">{FEWER}</span>' if middle.exact < middle.clips else ""
    if middle is best:
        return f'<td class="number best"><strong>{figure(value)}</strong> <span title="best">{MARK}</span>{fewer}</td>'
    return f'<td class="number">{figure(value)}{fewer}</td>'


def _row(way: tuple[str, str], cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{_text(way[0])}</th><td>{_text(way[1])}</td>{"".join(cells)}</tr>'


def _table(caption: str, head: str, rows: Sequence[str], look: str = "compared") -> str:
    return (f'<div class="wide"><table class="{look}"><caption>{_text(caption)}</caption><thead>{head}</thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>\n")  # fmt: skip


def _text(text: str) -> str:
    return escape(clean(text))
