"""Bars and legend of a timeline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import runs
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX
from keypose.pictures.chart.layout import EDGE_PX
from keypose.pictures.chart.scale import Scale
from keypose.pictures.svg import fit_text, number, text_element, text_width
from keypose.pictures.theme import STEPS, Theme
from keypose.swings.timeline import Bar, ContactBar, Row

ANGLES = (0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0)  # degrees at which each shade starts
SWING_SHARE = 0.72  # heights of bars as shares of a row
REST_SHARE = 0.12
CONTACT_SHARE = 0.36
MIN_BAR_PX = 1.0  # minimum width of a bar
SWING_GAP_PX = 0.7  # removed from the end of each swing, to separate it from the next one
MAX_BARS_PER_PX = 0.5  # with more, only the largest swing of each px is drawn
BOX_PX = 26.0  # width of each shade in the legend
ANGLE_TEXT = "angle of a swing"
GAP_TEXT = "blank: bridged from one to the next"


def find_shade(angle_deg: float) -> int:
    """Return the index of the shade of a swing by ``angle_deg``."""
    return int(np.searchsorted(ANGLES, angle_deg, side="right")) - 1


def draw_bars(rows: Sequence[tuple[Row, float]], frames: Scale, row_px: float, theme: Theme) -> str:
    """Return all bars as SVG, one path for each shade and kind, since there may be many bars."""
    paths: dict[str, list[str]] = {}
    for row, y in rows:
        for kind, start, width in _bar_spans(row, frames):
            paths.setdefault(kind, []).append(f"M{number(start)} {number(y)}h{number(width)}")
    styles = {f"heat{step}": (theme[f"heat{step}"], SWING_SHARE, "") for step in range(STEPS)}
    styles["rest"] = (theme["muted"], REST_SHARE, "")
    styles["keys"] = (theme["muted"], SWING_SHARE, ' stroke-dasharray="1 2"')
    return "".join(
        f'<path data-bars="{kind}" d="{"".join(paths[kind])}" stroke="{colour}" '
        f'stroke-width="{number(max(share * row_px, 1.0))}" fill="none"{dash}/>'
        for kind, (colour, share, dash) in styles.items()
        if kind in paths
    )


def _bar_spans(row: Row, frames: Scale) -> list[tuple[str, float, float]]:
    """Return kind or shade, start and width in px of each bar."""
    length = frames.end_px - frames.start_px
    if len(row.bars) > MAX_BARS_PER_PX * length:
        return _bar_spans_by_px(row, frames)
    spans = []
    for bar in row.bars:
        start, end = frames.px((bar.start, bar.end)).tolist()
        width = end - start - (SWING_GAP_PX if bar.kind == "swing" else 0.0)
        spans.append((_kind(bar), start, max(width, MIN_BAR_PX)))
    return spans


def _bar_spans_by_px(row: Row, frames: Scale) -> list[tuple[str, float, float]]:
    """Return the bars of a crowded row: per px the largest swing, else keys, else rest; neighbours merged."""
    kinds = ["rest", "keys", *(f"heat{step}" for step in range(STEPS))]
    columns = np.full(int(frames.end_px - frames.start_px) + 1, -1)
    ends = np.floor(frames.px([(bar.start, bar.end) for bar in row.bars]) - frames.start_px).astype(int)
    for bar, (first, last) in zip(row.bars, ends.tolist(), strict=True):
        columns[first : last + 1] = np.maximum(columns[first : last + 1], kinds.index(_kind(bar)))
    spans = []
    for n, kind in enumerate(kinds):
        spans += [(kind, frames.start_px + start, float(stop - start)) for start, stop in runs(columns == n)]
    return spans


def _kind(bar: Bar) -> str:
    return bar.kind if bar.angle_deg is None else f"heat{find_shade(bar.angle_deg)}"


def draw_contacts(contacts: Sequence[ContactBar], y: float, frames: Scale, row_px: float, theme: Theme) -> str:
    """Return the contacts of one foot as SVG."""
    if not contacts:
        return ""
    ends = [frames.px((contact.start, contact.end)).tolist() for contact in contacts]
    path = "".join(f"M{number(a)} {number(y)}h{number(max(b - a, MIN_BAR_PX))}" for a, b in ends)
    return (f'<path data-bars="contact" d="{path}" stroke="{theme["contact"]}" '
            f'stroke-width="{number(CONTACT_SHARE * row_px)}" fill="none"/>')  # fmt: skip


def draw_legend(
    rows: Sequence[Row], feet: bool, n_keys: int, omission_note: str, width: float, theme: Theme
) -> tuple[str, float]:
    """Return a legend of the shades and signs that occur, with ``omission_note`` below, and its height in px.

    It is drawn from y = 0 downwards.
    """
    kinds = {bar.kind for row in rows for bar in row.bars}
    elements, x, y = [], EDGE_PX, 10.0
    if "swing" in kinds:
        box = min(BOX_PX, (width - 2 * EDGE_PX) / STEPS)
        elements.append(_draw_shades(x, y, box, theme))
        x += STEPS * box + 6
        if x + text_width(ANGLE_TEXT, TEXT_PX) > width:
            x, y = EDGE_PX, y + 28.0
        elements.append(text_element(x, y, ANGLE_TEXT, TEXT_PX, theme["ink"]))
        x += text_width(ANGLE_TEXT, TEXT_PX) + 14
    hatch = ' stroke-dasharray="1 2"'
    key = f"{n_keys:,} key{'s' * (n_keys != 1)}"
    signs = (
        ("rest", "rest" in kinds, _draw_line(theme["muted"], 2.0)),
        ("kept by keys", "keys" in kinds, _draw_line(theme["muted"], 10.0, hatch)),
        ("foot on the ground", feet, _draw_line(theme["contact"], 5.0)),
        (key, n_keys > 0, f'<path d="M7.5 -9h7l-3.5 6zm3.5 6v6" fill="{theme["key"]}" stroke="{theme["key"]}"/>'),
    )
    row_px = 28.0 if "swing" in kinds else 18.0
    for text, occurs, sign in signs:
        if not occurs:
            continue
        if x + 28 + text_width(text, TEXT_PX) > width and x > EDGE_PX:
            x, y, row_px = EDGE_PX, y + row_px, 18.0
        elements.append(f'<g transform="translate({number(x)} {number(y)})">{sign}</g>')
        elements.append(text_element(x + 28, y, text, TEXT_PX, theme["ink"]))
        x += 28 + text_width(text, TEXT_PX) + 14
    if "swing" in kinds:
        if x + text_width(GAP_TEXT, TEXT_PX) > width - EDGE_PX and x > EDGE_PX:
            x, y, row_px = EDGE_PX, y + row_px, 18.0
        elements.append(text_element(x, y, fit_text(GAP_TEXT, width - x, TEXT_PX), TEXT_PX, theme["muted"]))
    y += row_px
    for line in _wrap_text(omission_note, width - 2 * EDGE_PX):
        elements.append(text_element(EDGE_PX, y, line, TEXT_PX, theme["muted"]))
        y += ROW_PX
    return "".join(elements), y


def _wrap_text(text: str, width: float) -> list[str]:
    """Split ``text`` into lines of at most ``width`` px."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, TEXT_PX) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _draw_shades(left: float, y: float, box: float, theme: Theme) -> str:
    """Draw a box for each shade with the angle at which it starts below it, if there is space."""
    elements, next_free_x = [], left
    for step, angle in enumerate(ANGLES):
        x, text = left + step * box, f"{angle:g}°" + "+" * (step == STEPS - 1)
        elements.append(f'<rect x="{number(x)}" y="{number(y - 9)}" width="{number(box)}" height="10" '
                     f'fill="{theme[f"heat{step}"]}"/>')  # fmt: skip
        wide = text_width(text, TEXT_PX - 1)
        if x >= next_free_x and x + wide <= left + STEPS * box + EDGE_PX:
            elements.append(text_element(x, y + 13, text, TEXT_PX - 1, theme["muted"]))
            next_free_x = x + wide
    return "".join(elements)


def _draw_line(colour: str, thick: float, dash: str = "") -> str:
    return f'<path d="M0 -4h22" stroke="{colour}" stroke-width="{thick:g}"{dash}/>'
