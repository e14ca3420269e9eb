"""HTML page of a comparison: tables, curves and the settings to reproduce it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import islice

import keypose
from keypose.api.compare import COMPARED_METHODS, REFERENCES, Comparison, MedianRow
from keypose.api.compare.comparison import find_best
from keypose.api.compare.tables import format_number
from keypose.errors import format_count
from keypose.pictures.comparison.curves import MEASURES, plot_error_curves, plot_value_curves
from keypose.pictures.page import Section, code, details, escape_text, facts, figure, notes, page
from keypose.validation import clean_line

MAX_CLIPS = 200  # clips with separate tables in the page; the CSV table has all clips
STYLE = """.compared .best,.compared th,.compared td{white-space:nowrap}
.compared .number{white-space:nowrap;padding-left:.9rem;padding-right:0}
.compared tbody tr:nth-child(even){background:var(--kp-panel)}
.compared thead th[colspan]{border-bottom-color:var(--kp-muted)}
.compared.figures thead th{white-space:normal;overflow-wrap:normal;max-width:6.5rem}
@media print{
.compared{font-size:7.5pt}
.compared th,.compared td{padding-left:0;padding-right:.5rem}
.compared .number{padding-left:.35rem;padding-right:0}
#clips:not(:has(details[open])){display:none}
}
"""
STORAGE_NOTE = (
    "Keys are for editing; small files are the storage format's business. A key with fitted curves stores three "
    "numbers for each that a plain pose has: on this scale plain poses, a third as many keys with curves, and curves "
    "with keys of their own usually come close."
)
INBETWEEN_NAMES = {"linear": "straight", "fitted": "fitted", "polished": "polished"}

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

_ERRORS: Sequence[tuple[str, Measure]] = (COLUMNS[0], COLUMNS[2])


def comparison_page(
    comparison: Comparison,
    *,
    title: str = "Methods compared",
    command: str = "",
    failures: Sequence[tuple[str, str]] = (),
) -> str:
    """Return a self-contained HTML page: tables, curves, results by clip and settings.

    ``command`` is the command line, shown in the settings; ``failures`` are the files that could not be compared, with
    reasons.
    """
    sections = [_errors_section(comparison)] + ([_failures_section(failures)] if failures else [])
    sections += [*_curve_sections(comparison), _all_measures_section(comparison), _times_section(comparison)]
    sections += [_clips_section(comparison)] if len(comparison.clips) > 1 else []
    sections.append(_settings_section(comparison, command))
    return page(
        title,
        sections,
        intro=_render_intro(comparison, len(failures)),
        styles=(STYLE,),
        footer=f"keypose {keypose.__version__}",
    )


def _render_intro(comparison: Comparison, n_failures: int) -> str:
    clips = comparison.clips
    first = comparison.rows[0]
    rates = sorted({row.fps for row in comparison})
    n_measurements = sum(row.has_values for row in comparison)
    lengths = {row.identity: row.frames / row.fps for row in comparison}
    pairs = [
        ("clips", first.clip if len(clips) == 1 else f"{len(clips):,}"),
        *([("left out", f"{n_failures:,}, see below")] if n_failures else []),
        ("length", f"{sum(lengths.values()):,.1f} s"),
        ("frames a second", ", ".join(f"{rate:g}" for rate in rates[:6])),
        ("measurements", f"{n_measurements:,}"),
    ]
    return (
        facts(pairs)
        + (
            "<p>Every method gets the same frames and the same number of keys. Errors are distances of joints in "
            "millimetres on a figure of 1.7 m, over all frames; straight in-betweens turn evenly, fitted ones are "
            "cubics.</p>\n"
        )
        + _slower_clips_note(comparison)
    )


def _slower_clips_note(comparison: Comparison) -> str:
    """Return a paragraph on clips with a lower frame rate than requested."""
    slower_clips = comparison.slower_clips
    if not slower_clips or comparison.settings is None:
        return ""
    texts = [f"{clip.name}: {fps:g} fps" for clip, fps in slower_clips.items()]
    return (f"<p>Slower than {comparison.settings.fps:g} frames a second, and compared at the own rate, since frames "
            f"that were made up between others would be easy to leave out:</p>\n{notes(texts)}")  # fmt: skip


def _failures_section(failures: Sequence[tuple[str, str]]) -> Section:
    texts = [why if why.startswith(file) else f"{file}: {why}" for file, why in failures]
    intro = "<p>These could not be compared, and are in none of the figures.</p>\n"
    return Section("left-out", "Left out", intro + notes(texts, MAX_CLIPS))


def _errors_section(comparison: Comparison) -> Section:
    marks = (f"<p class=quiet>{BEST_MARK} lowest of those with exactly as many keys. References have no keys: "
             f"they get as many stored values as keys with fitted curves. {FEWER_KEYS_MARK} some clips have "
             f"fewer keys than requested.</p>\n")  # fmt: skip
    return Section("errors", "Errors", errors_table(comparison) + marks)


def _curve_sections(comparison: Comparison) -> list[Section]:
    """Return the sections of curves; empty if there is only one budget."""
    subsections = []
    for inbetweens in dict.fromkeys(row.inbetweens for row in comparison if row.kind != "reference"):
        pictures = [(measure, plot_error_curves(comparison, inbetweens, measure)) for measure in MEASURES]
        body = "".join(
            figure(
                picture, f"curve-{inbetweens}-{measure.column.replace('_', '-')}", _caption(comparison, measure.label)
            )
            for measure, picture in pictures
            if picture is not None
        )
        if body:
            subsections.append(
                Section(f"curves-{inbetweens}", f"{INBETWEEN_NAMES[inbetweens].capitalize()} in-betweens", body)
            )
    sections = [Section("curves", "More keys, less error", "", tuple(subsections))] if subsections else []
    value_pictures = [(measure, plot_value_curves(comparison, measure)) for measure in MEASURES]
    body = "".join(
        figure(picture, f"values-{measure.column.replace('_', '-')}", _caption(comparison, measure.label))
        for measure, picture in value_pictures
        if picture is not None
    )
    if body:
        sections.append(
            Section("values", "At equal numbers of stored values", f"<p>{escape_text(STORAGE_NOTE, 1000)}</p>\n{body}")
        )
    return sections


def _caption(comparison: Comparison, label: str) -> str:
    has_many_clips = len(comparison.clips) > 1
    return label.capitalize() + (
        f", median over {format_count(len(comparison.clips), 'clip')}; between "
        "measurements curves are straight on these scales"
        if has_many_clips
        else ""
    )


def _all_measures_section(comparison: Comparison) -> Section:
    tables_html = [budget_table(comparison, percent) for percent in comparison.removed_percent]
    note = "<p class=quiet>Acceleration at keys is measured against the original's: far above 1 the motion jerks.</p>\n"
    return Section("figures", "Every figure", "".join(tables_html) + note)


def _times_section(comparison: Comparison) -> Section:
    intro = ("<p>Keys are chosen once for all budgets, on one core. With several clips at a time on few cores "
            "all take longer.</p>\n")  # fmt: skip
    return Section("time", "Time", intro + time_table(comparison))


def _clips_section(comparison: Comparison) -> Section:
    blocks = []
    for clip, clip_comparison in islice(comparison.by_clip().items(), MAX_CLIPS):
        first = clip_comparison.rows[0]
        summary = (
            f"{clip.name}: {format_count(first.frames, 'frame', ',')} at {first.fps:g} "
            f"fps, {format_count(first.joints, 'joint', ',')}"
        )
        blocks.append(
            details(summary, facts([("file", clip.source)] if clip.source else []) + errors_table(clip_comparison))
        )
    more = len(comparison.clips) - MAX_CLIPS
    omission = f"<p>And {format_count(more, 'more clip', ',')}: the table of rows has all.</p>\n" if more > 0 else ""
    return Section("clips", "Clip by clip", "".join(blocks) + omission)


def _settings_section(comparison: Comparison, command: str) -> Section:
    body = code(command) if command else ""
    if comparison.settings is None:
        body += "<p>Read from a table of rows, which does not say how they were measured.</p>\n"
    else:
        body += code(_python_call(comparison))
    all_methods = {**COMPARED_METHODS, **REFERENCES}
    summaries = [
        (name, all_methods[name].summary)
        for name in dict.fromkeys(row.method for row in comparison)
        if name in all_methods
    ]
    body += facts(summaries)
    remarks = comparison.notes
    body += details(f"{len(remarks)} remarks on budgets that could not be met", notes(remarks)) if remarks else ""
    return Section("settings", "How to reproduce this", body)


def _python_call(comparison: Comparison) -> str:
    settings = comparison.settings
    assert settings is not None
    sources = [clip.source for clip in comparison.clips]
    files = _format_sources(sources) if all(sources) else "motions"
    keywords = {
        "removed_percent": settings.removed_percent,
        "inbetweens": settings.inbetweens,
        "curves": settings.curves,
        "fps": settings.fps,
        "frames": settings.frames,
    }
    options = "".join(f",\n    {name}={value!r}" for name, value in keywords.items())
    methods = [*settings.methods, *settings.references]
    return f"import keypose as kp\n\nkp.compare(\n    {files},\n    {methods!r}{options},\n)"


def _format_sources(sources: Sequence[str]) -> str:
    return repr(list(sources)) if len(sources) <= 12 else f"{list(sources[:12])!r}  # and {len(sources) - 12} more"


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
    return escape(clean_line(text))


def comparison_card(comparison: Comparison) -> str:
    """Return HTML with medians of mean and largest error: no script, no external resources."""
    return (f'<div style="font:13px/1.5 system-ui,sans-serif">{errors_table(comparison)}'
            f'<div style="opacity:0.65">mm on a figure of 1.7 m; {BEST_MARK} least of those with exactly '
            f"as many keys</div></div>")  # fmt: skip
