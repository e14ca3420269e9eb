"""The bars of a timeline and what they mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keypose.arrays import runs
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX
from keypose.pictures.chart.layout import EDGE_PX
from keypose.pictures.chart.scale import Scale
from keypose.pictures.svg import fitting, number, text_width, words
from keypose.pictures.theme import STEPS, Theme
from keypose.swings.timeline import Bar, Row, Standing

ANGLES = (0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0)  # degrees at which each shade begins
THICK = 0.72  # of a row: swings,
THIN = 0.12  # rests,
FEET = 0.36  # and feet on the ground
LEAST_PX = 1.0  # width of any bar
APART_PX = 0.7  # taken off the end of each swing, so that one sees where the next one starts
CROWDED = 0.5  # bars to a px above which only the widest swing of each px is drawn
BOX_PX = 26.0  # of each shade in the legend
ANGLE_TEXT = "angle of a swing"
BRIDGED_TEXT = "blank: bridged from one to the next"


def shade_of(angle_deg: float) -> int:
    """Which shade a swing by that angle has."""
    return int(np.searchsorted(ANGLES, angle_deg, side="right")) - 1


def draw_bars(rows: Sequence[tuple[Row, float]], frames: Scale, row_px: float, theme: Theme) -> str:
    """All bars, one path for each shade and kind: there may be many of them."""
    paths: dict[str, list[str]] = {}
    for row, y in rows:
        for kind, start, wide in _places(row, frames):
            paths.setdefault(kind, []).append(f"M{number(start)} {number(y)}h{number(wide)}")
    looks = {f"heat{step}": (theme[f"heat{step}"], THICK, "") for step in range(STEPS)}
    looks["rest"] = (theme["muted"], THIN, "")
    looks["keys"] = (theme["muted"], THICK, ' stroke-dasharray="1 2"')
    return "".join(
        f'<path data-bars="{kind}" d="{"".join(paths[kind])}" stroke="{colour}" '
        f'stroke-width="{number(max(part * row_px, 1.0))}" fill="none"{dash}/>'
        for kind, (colour, part, dash) in looks.items()
        if kind in paths
    )


def _places(row: Row, frames: Scale) -> list[tuple[str, float, float]]:
    """Kind or shade, start and width of each bar in px."""
    length = frames.end_px - frames.start_px
    if len(row.bars) > CROWDED * length:
        return _by_px(row, frames)
    found = []
    for bar in row.bars:
        start, end = frames.px((bar.start, bar.end)).tolist()
        wide = end - start - (APART_PX if bar.kind == "swing" else 0.0)
        found.append((_kind(bar), start, max(wide, LEAST_PX)))
    return found


def _by_px(row: Row, frames: Scale) -> list[tuple[str, float, float]]:
    """Px by px the widest swing, else keys, else rest; neighbours of one kind are one bar."""
    kinds = ["rest", "keys", *(f"heat{step}" for step in range(STEPS))]
    columns = np.full(int(frames.end_px - frames.start_px) + 1, -1)
    ends = np.floor(frames.px([(bar.start, bar.end) for bar in row.bars]) - frames.start_px).astype(int)
    for bar, (first, last) in zip(row.bars, ends.tolist(), strict=True):
        columns[first : last + 1] = np.maximum(columns[first : last + 1], kinds.index(_kind(bar)))
    found = []
    for n, kind in enumerate(kinds):
        found += [(kind, frames.start_px + start, float(stop - start)) for start, stop in runs(columns == n)]
    return found


def _kind(bar: Bar) -> str:
    return bar.kind if bar.angle_deg is None else f"heat{shade_of(bar.angle_deg)}"


def draw_standings(standings: Sequence[Standing], y: float, frames: Scale, row_px: float, theme: Theme) -> str:
    """When one foot is on the ground."""
    if not standings:
        return ""
    ends = [frames.px((standing.start, standing.end)).tolist() for standing in standings]
    path = "".join(f"M{number(a)} {number(y)}h{number(max(b - a, LEAST_PX))}" for a, b in ends)
    return (f'<path data-bars="contact" d="{path}" stroke="{theme["contact"]}" '
            f'stroke-width="{number(FEET * row_px)}" fill="none"/>')  # fmt: skip


def legend(
    rows: Sequence[Row], feet: bool, n_keys: int, left_out: str, width: float, theme: Theme
) -> tuple[str, float]:
    """What shades and signs mean, as far as they occur, and which joints have no row.

    Drawn from y = 0 on; the second is how high it is.
    """
    kinds = {bar.kind for row in rows for bar in row.bars}
    drawn, x, y = [], EDGE_PX, 10.0
    if "swing" in kinds:
        box = min(BOX_PX, (width - 2 * EDGE_PX) / STEPS)
        drawn.append(_shades(x, y, box, theme))
        x += STEPS * box + 6
        if x + text_width(ANGLE_TEXT, TEXT_PX) > width:
            x, y = EDGE_PX, y + 28.0
        drawn.append(words(x, y, ANGLE_TEXT, TEXT_PX, theme["ink"]))
        x += text_width(ANGLE_TEXT, TEXT_PX) + 14
    hatch = ' stroke-dasharray="1 2"'
    key = f"{n_keys:,} key{'s' * (n_keys != 1)}"
    signs = (
        ("rest", "rest" in kinds, _line(theme["muted"], 2.0)),
        ("kept by keys", "keys" in kinds, _line(theme["muted"], 10.0, hatch)),
        ("foot on the ground", feet, _line(theme["contact"], 5.0)),
        (key, n_keys > 0, f'<path d="M7.5 -9h7l-3.5 6zm3.5 6v6" fill="{theme["key"]}" stroke="{theme["key"]}"/>'),
    )
    row_px = 28.0 if "swing" in kinds else 18.0
    for text, occurs, sign in signs:
        if not occurs:
            continue
        if x + 28 + text_width(text, TEXT_PX) > width and x > EDGE_PX:
            x, y, row_px = EDGE_PX, y + row_px, 18.0
        drawn.append(f'<g transform="translate({number(x)} {number(y)})">{sign}</g>')
        drawn.append(words(x + 28, y, text, TEXT_PX, theme["ink"]))
        x += 28 + text_width(text, TEXT_PX) + 14
    if "swing" in kinds:
        if x + text_width(BRIDGED_TEXT, TEXT_PX) > width - EDGE_PX and x > EDGE_PX:
            x, y, row_px = EDGE_PX, y + row_px, 18.0
        drawn.append(words(x, y, fitting(BRIDGED_TEXT, width - x, TEXT_PX), TEXT_PX, theme["muted"]))
    y += row_px
    for line in _wrapped(left_out, width - 2 * EDGE_PX):
        drawn.append(words(EDGE_PX, y, line, TEXT_PX, theme["muted"]))
        y += ROW_PX
    return "".join(drawn), y


def _wrapped(text: str, width: float) -> list[str]:
    """Our own words in lines that fit."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, TEXT_PX) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _shades(left: float, y: float, box: float, theme: Theme) -> str:
    """A box for each shade, and below it the angle at which it begins, if there is room."""
    drawn, free = [], left
    for step, angle in enumerate(ANGLES):
        x, text = left + step * box, f"{angle:g}°" + "+" * (step == STEPS - 1)
        drawn.append(f'<rect x="{number(x)}" y="{number(y - 9)}" width="{number(box)}" height="10" '
                     f'fill="{theme[f"heat{step}"]}"/>')  # fmt: skip
        wide = text_width(text, TEXT_PX - 1)
        if x >= free and x + wide <= left + STEPS * box + EDGE_PX:
            drawn.append(words(x, y + 13, text, TEXT_PX - 1, theme["muted"]))
            free = x + wide
    return "".join(drawn)


def _line(colour: str, thick: float, dash: str = "") -> str:
    return f'<path d="M0 -4h22" stroke="{colour}" stroke-width="{thick:g}"{dash}/>'
