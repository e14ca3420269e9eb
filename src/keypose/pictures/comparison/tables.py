"""Medians of a comparison as HTML tables, the best of each column marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from keypose.api.compare import Comparison, MedianRow
from keypose.api.compare.comparison import find_best
from keypose.api.compare.tables import format_number
from keypose.pictures.svg import clean

Measure = Callable[[MedianRow], float | None]
BEST_MARK = "\N{BLACK STAR}"
FEWER_KEYS_MARK = "\N{ASTERISK}"


COLUMNS: Sequence[tuple[str, Measure]] = (
    ("mean mm", lambda each: each.mean_mm),
    ("95 % within mm", lambda each: each.p95_mm),
    ("max mm", lambda each: each.max_mm),
    ("mean °", lambda each: each.mean_deg),
    ("max °", lambda each: each.max_deg),
    ("foot slide mm", lambda each: each.foot_slide_mm),
    ("acceleration at keys", lambda each: each.key_acceleration),
    ("stored values", lambda each: each.stored_values),
    ("% of all", lambda each: each.stored_percent),
    ("choosing ms", lambda each: each.selection_ms),
    ("fitting ms", lambda each: each.fitting_ms),
)
COLUMNS_WITHOUT_BEST = (
    "acceleration at keys",
    "stored values",
    "% of all",
    "foot slide mm",
    "choosing ms",
    "fitting ms",
)


def errors_table(comparison: Comparison) -> str:
    """Return a table of mean and largest error by method pair and budget."""
    percents = comparison.removed_percent
    medians = {(median.method, median.inbetweens, median.removed_percent): median for median in comparison.medians()}
    best = {
        (percent, column): find_best(
            [
                medians[(*method_pair, percent)]
                for method_pair in comparison.method_pairs
                if (*method_pair, percent) in medians
            ],
            measure,
        )
        for percent in percents
        for column, measure in _ERRORS
    }
    top = "".join(f'<th scope="colgroup" colspan="2" class="number">{percent:g} % removed</th>' for percent in percents)
    names = "".join(f'<th scope="col" class="number">{name}</th>' for _ in percents for name, _ in _ERRORS)
    rows = []
    for pair in comparison.method_pairs:
        cells = []
        for percent in percents:
            median_row = medians.get((*pair, percent))
            cells += [_cell(median_row, of, best[percent, name]) for name, of in _ERRORS]
        rows.append(_row(pair, cells))
    return _table(
        f"median over {len(comparison.clips)} clips" if len(comparison.clips) > 1 else "one clip",
        f'<tr><th rowspan="2" scope="col">method</th><th rowspan="2" scope="col">in-betweens</th>{top}</tr>'
        f"<tr>{names}</tr>",
        rows,
    )


def budget_table(comparison: Comparison, percent: float) -> str:
    """Return a table of all measures by method pair at one budget."""
    medians = [median for median in comparison.medians() if median.removed_percent == percent]
    best = {name: None if name in COLUMNS_WITHOUT_BEST else find_best(medians, measure) for name, measure in COLUMNS}
    heads = "".join(f'<th scope="col" class="number">{escape(name)}</th>' for name, _ in COLUMNS)
    rows = [
        _row((each.method, each.inbetweens), [_cell(each, of, best[name]) for name, of in COLUMNS]) for each in medians
    ]
    original = next((each.original_foot_slide_mm for each in medians if each.original_foot_slide_mm is not None), None)
    slide = "" if original is None else f"; feet of the original slide by {format_number(original)} mm"
    head = f'<tr><th scope="col">method</th><th scope="col">in-betweens</th>{heads}</tr>'
    return _table(f"{percent:g} % of the frames removed{slide}", head, rows, "compared figures")


def time_table(comparison: Comparison) -> str:
    """Return a table of seconds on one core: selecting keys for all budgets, fitting those of one."""
    medians: dict[tuple[str, str], list[MedianRow]] = {}
    for median in comparison.medians():
        medians.setdefault((median.method, median.inbetweens), []).append(median)
    rows = []
    for method_pair, rows_of_pair in medians.items():
        rows.append(
            _row(
                method_pair,
                [
                    _mean_seconds_cell(each.selection_s for each in rows_of_pair),
                    _mean_seconds_cell(each.fitting_s for each in rows_of_pair),
                ],
            )
        )
    head = (
        '<tr><th scope="col">method</th><th scope="col">in-betweens</th>'
        '<th scope="col" class="number">choosing, s</th><th scope="col" class="number">fitting, s</th></tr>'
    )
    return _table("seconds for one clip: the median over clips, the mean over budgets", head, rows)


def _mean_seconds_cell(budget_values: Iterable[float | None]) -> str:
    """Return a cell with the mean over budgets."""
    values = [value for value in budget_values if value is not None]
    return f'<td class="number">{f"{sum(values) / len(values):.3f}" if values else "–"}</td>'


_ERRORS: Sequence[tuple[str, Measure]] = (COLUMNS[0], COLUMNS[2])


def _cell(median: MedianRow | None, measure: Measure, best: MedianRow | None) -> str:
    value = None if median is None else measure(median)
    if median is None or value is None:
        return '<td class="number"><span aria-label="none">–</span></td>'
    fewer_mark = (
        f'<span title="some clips have fewer keys">{FEWER_KEYS_MARK}</span>' if median.n_exact < median.n_clips else ""
    )
    if median is best:
        best_mark = f'<span title="best">{BEST_MARK}</span>'
        return f'<td class="number best"><strong>{format_number(value)}</strong> {best_mark}{fewer_mark}</td>'
    return f'<td class="number">{format_number(value)}{fewer_mark}</td>'


def _row(method_pair: tuple[str, str], cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{_escape(method_pair[0])}</th><td>{_escape(method_pair[1])}</td>{"".join(cells)}</tr>'


def _table(caption: str, head: str, rows: Sequence[str], css_class: str = "compared") -> str:
    return (f'<div class="wide"><table class="{css_class}"><caption>{_escape(caption)}</caption><thead>{head}</thead>'
            f"<tbody>{''.join(rows)}</tbody></table></div>\n")  # fmt: skip


def _escape(text: str) -> str:
    return escape(clean(text))
