"""The page of a comparison: what was found, as tables and curves, and how to find it again."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import keypose
from keypose.pictures.comparison import tables
from keypose.pictures.comparison.curves import MEASURES, error_curves, value_curves
from keypose.pictures.page import Section, code, facts, figure, folded, notes, page, written
from keypose.verbs.comparing import CONTENDERS, REFERENCES, Comparison

MOST_CLIPS = 200  # whose own tables stand in the page; the table of rows has all
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
HONEST = (
    "Keys are for editing; small files are the storage format's business. A key with fitted curves stores three "
    "numbers for each that a plain pose has: on this scale plain poses, a third as many keys with curves, and curves "
    "with keys of their own usually come close."
)
NAMES = {"linear": "straight", "fitted": "fitted", "polished": "polished"}


def comparison_page(
    comparison: Comparison,
    *,
    title: str = "Methods compared",
    command: str = "",
    failed: Sequence[tuple[str, str]] = (),
) -> str:
    """A self-contained HTML page: tables, curves, clip by clip, and the settings that reproduce it.

    ``command`` is the line that was typed, shown among the settings; ``failed`` are the files that could not be
    compared, and why not.
    """
    sections = [_errors(comparison)] + ([_left_out(failed)] if failed else [])
    sections += [*_curves(comparison), _every_figure(comparison), _times(comparison)]
    sections += [_clips(comparison)] if len(comparison.clips) > 1 else []
    sections.append(_settings(comparison, command))
    return page(
        title, sections, lead=_lead(comparison, len(failed)), styles=(STYLE,), foot=f"keypose {keypose.__version__}"
    )


def _lead(comparison: Comparison, n_failed: int) -> str:
    clips = comparison.clips
    first = comparison.rows[0]
    rates = sorted({row.fps for row in comparison})
    measured = sum(row.has_figures for row in comparison)
    lengths = {row.identity: row.frames / row.fps for row in comparison}
    told = [
        ("clips", first.clip if len(clips) == 1 else f"{len(clips):,}"),
        *([("left out", f"{n_failed:,}, see below")] if n_failed else []),
        ("length", f"{sum(lengths.values()):,.1f} s"),
        ("frames a second", ", ".join(f"{rate:g}" for rate in rates[:6])),
        ("measurements", f"{measured:,}"),
    ]
    return (
        facts(told)
        + (
            "<p>Every method gets the same frames and the same number of keys. Errors are distances of joints in "
            "millimetres on a figure of 1.7 m, over all frames; straight in-betweens turn evenly, fitted ones are "
            "cubics.</p>\n"
        )
        + _slower(comparison)
    )


def _slower(comparison: Comparison) -> str:
    """Which clips are not at the rate that was asked for."""
    slower = comparison.slower
    if not slower or comparison.settings is None:
        return ""
    told = [f"{clip.name}: {fps:g} fps" for clip, fps in slower.items()]
    return (f"<p>Slower than {comparison.settings.fps:g} frames a second, and compared at the own rate, since frames "
            f"that were made up between others would be easy to leave out:</p>\n{notes(told)}")  # fmt: skip


def _left_out(failed: Sequence[tuple[str, str]]) -> Section:
    told = [why if why.startswith(file) else f"{file}: {why}" for file, why in failed]
    said = "<p>These could not be compared, and are in none of the figures.</p>\n"
    return Section("left-out", "Left out", said + notes(told, MOST_CLIPS))


def _errors(comparison: Comparison) -> Section:
    marks = (f"<p class=quiet>{tables.MARK} least of those with exactly as many keys. References have no keys: they "
             f"get as many stored values as keys with fitted curves. {tables.FEWER} some clips have fewer keys than "
             f"were asked for.</p>\n")  # fmt: skip
    return Section("errors", "Errors", tables.errors_table(comparison) + marks)


def _curves(comparison: Comparison) -> list[Section]:
    """What can be drawn: nothing where there is one budget only."""
    parts = []
    for inbetweens in dict.fromkeys(row.inbetweens for row in comparison if row.kind != "reference"):
        drawn = [(measure, error_curves(comparison, inbetweens, measure)) for measure in MEASURES]
        body = "".join(
            figure(
                picture, f"curve-{inbetweens}-{measure.column.replace('_', '-')}", _caption(comparison, measure.words)
            )
            for measure, picture in drawn
            if picture is not None
        )
        if body:
            parts.append(Section(f"curves-{inbetweens}", f"{NAMES[inbetweens].capitalize()} in-betweens", body))
    sections = [Section("curves", "More keys, less error", "", tuple(parts))] if parts else []
    values = [(measure, value_curves(comparison, measure)) for measure in MEASURES]
    body = "".join(
        figure(picture, f"values-{measure.column.replace('_', '-')}", _caption(comparison, measure.words))
        for measure, picture in values
        if picture is not None
    )
    if body:
        sections.append(
            Section("values", "At equal numbers of stored values", f"<p>{written(HONEST, 1000)}</p>\n{body}")
        )
    return sections


def _caption(comparison: Comparison, words: str) -> str:
    many = len(comparison.clips) > 1
    return words.capitalize() + (
        f", median over {len(comparison.clips)} clips; between measurements curves are straight on these scales"
        if many
        else ""
    )


def _every_figure(comparison: Comparison) -> Section:
    parts = [tables.budget_table(comparison, percent) for percent in comparison.removed_percent]
    said = "<p class=quiet>Acceleration at keys is measured against the original's: far above 1 the motion jerks.</p>\n"
    return Section("figures", "Every figure", "".join(parts) + said)


def _times(comparison: Comparison) -> Section:
    said = ("<p>Keys are chosen once for all budgets, on one core. With several clips at a time on few cores "
            "all take longer.</p>\n")  # fmt: skip
    return Section("time", "Time", said + tables.time_table(comparison))


def _clips(comparison: Comparison) -> Section:
    shown = []
    for clip, one in islice(comparison.by_clip().items(), MOST_CLIPS):
        first = one.rows[0]
        what = f"{clip.name}: {first.frames:,} frames at {first.fps:g} fps, {first.joints:,} joints"
        shown.append(folded(what, facts([("file", clip.source)] if clip.source else []) + tables.errors_table(one)))
    more = len(comparison.clips) - MOST_CLIPS
    left = f"<p>And {more:,} more clips: the table of rows has all.</p>\n" if more > 0 else ""
    return Section("clips", "Clip by clip", "".join(shown) + left)


def _settings(comparison: Comparison, command: str) -> Section:
    body = code(command) if command else ""
    if comparison.settings is None:
        body += "<p>Read from a table of rows, which does not say how they were measured.</p>\n"
    else:
        body += code(_python(comparison))
    known = {**CONTENDERS, **REFERENCES}
    ways = [(name, known[name].summary) for name in dict.fromkeys(row.method for row in comparison) if name in known]
    body += facts(ways)
    remarks = comparison.notes
    body += folded(f"{len(remarks)} remarks on budgets that could not be met", notes(remarks)) if remarks else ""
    return Section("settings", "How to get this again", body)


def _python(comparison: Comparison) -> str:
    told = comparison.settings
    assert told is not None
    sources = [clip.source for clip in comparison.clips]
    files = _listed(sources) if all(sources) else "motions"
    given = {
        "removed_percent": told.removed_percent,
        "inbetweens": told.inbetweens,
        "curves": told.curves,
        "fps": told.fps,
        "frames": told.frames,
    }
    options = "".join(f",\n    {name}={value!r}" for name, value in given.items())
    ways = [*told.methods, *told.references]
    return f"import keypose as kp\n\nkp.compare(\n    {files},\n    {ways!r}{options},\n)"


def _listed(sources: Sequence[str]) -> str:
    return repr(list(sources)) if len(sources) <= 12 else f"{list(sources[:12])!r}  # and {len(sources) - 12} more"
