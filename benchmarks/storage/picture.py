"""Plot compression ratio against tolerance by design: one panel per corpus, logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

from benchmarks.storage.clips import CMU30, CORPORA, HELD_OUT
from benchmarks.storage.one_clip import ACL, KEYS, LOSSLESS, OURS, SWINGS, TEXT, TOLERANCES_MM, ZSTD

WIDTH, HEIGHT = 950.0, 540.0
LEFT, TOP, BOTTOM = 58.0, 68.0, 76.0
PANEL, GAP = 330.0, 116.0  # the gap holds the names of the curves
X_TICKS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
Y_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)
INK, GREY, GRID = "#222222", "#6b6b6b", "#e8e8e8"
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"

COLOURS = {OURS: "#c2571a", ACL: "#1f5fa8", KEYS: "#3b7d3b", SWINGS: "#8a6bb0"}
NAMES = {OURS: "kps", ACL: "ACL-like", KEYS: "fitted keys", SWINGS: "swings"}
WITHOUT_TOLERANCE_NAMES = {LOSSLESS: "kps, lossless", ZSTD: "text, zstd", TEXT: "BVH text"}
TITLES = ("cmu120: 120 frames a second", "cmu30: 30 frames a second")
MIN_LABEL_GAP = 15.0  # pixels between two names

Cells = Mapping[str, Sequence[Sequence[float]]]  # by design: corpus, tolerance


def draw(cells: Cells, expected: Sequence[Sequence[float]]) -> str:
    """Return an SVG; ``expected`` are the expected ratios by corpus and tolerance."""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}" font-family="{FONT}" font-size="12">',
        f'<rect width="{WIDTH:g}" height="{HEIGHT:g}" fill="white"/>',
        _text(
            LEFT - 40, 24, "How many times smaller than raw numbers, within a largest error", INK, size=16, bold=True
        ),
    ]
    for panel in range(len(CORPORA)):
        out += _panel(cells, panel, expected[panel], LEFT + panel * (PANEL + GAP))
    return "\n".join([*out, _legend(), "</svg>", ""])


def _panel(cells: Cells, panel: int, expected: Sequence[float], left: float) -> list[str]:
    across, up = _axes(left)
    out = _grid(left, across, up)
    out.append(_text(left, TOP - 12, TITLES[panel], INK, bold=True))
    names: list[tuple[float, str, str]] = []
    for design, name in WITHOUT_TOLERANCE_NAMES.items():
        y = up(cells[design][panel][0])
        out.append(
            _line(left, y, left + PANEL, y, GREY, 'stroke-dasharray="1 4" stroke-linecap="round" stroke-width="1.6"')
        )
        names.append((y, name, GREY))
    for design, colour in COLOURS.items():
        ratios = cells[design][panel]
        out.append(_curve(ratios, across, up, colour, 3.0 if design == OURS else 2.0))
        names.append((up(ratios[-1]), NAMES[design], colour))
    for design in (OURS, ACL):
        if panel == CORPORA.index(CMU30):
            out.append(_curve(cells[design][len(CORPORA)], across, up, COLOURS[design], 1.2, dashed=True))
        for mm, value in zip(TOLERANCES_MM, cells[design][panel], strict=True):
            out.append(
                _text(across(mm), up(value) - 9, f"{value:.0f}", COLOURS[design], "middle", bold=True, halo=True)
            )
    for mm, value in zip(TOLERANCES_MM, expected, strict=True):
        x, y = across(mm), up(value)
        out.append(f'<path d="M{x - 6:.1f} {y:.1f} h12" stroke="{INK}" stroke-width="2"/>')
    out += [_text(left + PANEL + 8, y + 4, name, colour) for y, name, colour in _spread_labels(names)]
    return out


def _axes(left: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return functions from tolerance to x and from ratio to y, in pixels."""
    right, low, high = math.log(X_TICKS[-1] / X_TICKS[0]), math.log(Y_TICKS[0]), math.log(1.25 * Y_TICKS[-1])

    def across(mm: float) -> float:
        return left + 14 + (PANEL - 28) * math.log(mm / X_TICKS[0]) / right

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log(value) - low) / (high - low)

    return across, up


def _grid(left: float, across: Callable[[float], float], up: Callable[[float], float]) -> list[str]:
    out = []
    for value in Y_TICKS:
        out.append(_line(left, up(value), left + PANEL, up(value), GRID))
        out.append(_text(left - 8, up(value) + 4, f"{value}", GREY, "end"))
    for mm in X_TICKS:
        out.append(_line(across(mm), TOP, across(mm), HEIGHT - BOTTOM, GRID))
        out.append(_text(across(mm), HEIGHT - BOTTOM + 18, f"{mm:g}", GREY, "middle"))
    out.append(_line(left, HEIGHT - BOTTOM, left + PANEL, HEIGHT - BOTTOM, GREY))
    out.append(_text(left + PANEL / 2, HEIGHT - BOTTOM + 36, "largest error, mm on a figure of 1.7 m", INK, "middle"))
    return out


def _legend() -> str:
    y = HEIGHT - 12
    return "".join(
        (
            f'<path d="M{LEFT:.0f} {y - 4:.0f} h12" stroke="{INK}" stroke-width="2"/>',
            _text(LEFT + 18, y, "expected", INK),
            f'<path d="M{LEFT + 90:.0f} {y - 4:.0f} h26" stroke="{INK}" stroke-width="1.2" stroke-dasharray="5 4"/>',
            _text(LEFT + 122, y, f"{HELD_OUT}: 60 other clips at 30 frames a second", INK),
            _text(LEFT + 400, y, "swings hold joints only, the others every point of the figure", INK),
        )
    )


def _curve(
    values: Sequence[float],
    across: Callable[[float], float],
    up: Callable[[float], float],
    colour: str,
    width: float,
    *,
    dashed: bool = False,
) -> str:
    points = [(across(mm), up(value)) for mm, value in zip(TOLERANCES_MM, values, strict=True)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}/>'
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width + 0.6:.1f}" fill="{colour}"/>' for x, y in points]
    return line + ("" if dashed else "".join(dots))


def _spread_labels(names: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Return the labels from top to bottom, moved so that none overlap."""
    labels: list[tuple[float, str, str]] = []
    for y, name, colour in sorted(names):
        labels.append((max(y, labels[-1][0] + MIN_LABEL_GAP) if labels else y, name, colour))
    return labels


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, attributes: str = "") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {attributes}/>'


def _text(
    x: float,
    y: float,
    text: str,
    colour: str,
    anchor: str = "start",
    *,
    size: float = 12.0,
    bold: bool = False,
    halo: bool = False,
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    weight += ' stroke="white" stroke-width="3" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-size="{size:g}"{weight}>'
        f"{escape(text)}</text>"
    )
