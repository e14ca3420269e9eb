"""Minimal SVG plots: stacked panels with a common x axis, with curves, marks and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

LEFT, RIGHT, TOP, GAP, BOTTOM = 64.0, 24.0, 30.0, 34.0, 52.0
INK, GREY, GRID = "#222222", "#6b6b6b", "#e6e6e6"
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    points: Points
    colour: str
    width: float = 2.0
    dots: bool = False
    opacity: float = 1.0


@dataclass(frozen=True)
class Mark:
    x: float
    y: float
    colour: str
    shape: str  # ring, diamond


@dataclass(frozen=True)
class Note:
    """Text at a point, offset by ``dx``, ``dy`` pixels; ``has_leader``: a thin line connects it to the point."""

    x: float
    y: float
    text: str
    colour: str = INK
    dx: float = 0.0
    dy: float = 0.0
    anchor: str = "start"
    has_leader: bool = False


@dataclass(frozen=True)
class Panel:
    title: str
    height: float
    y_ticks: Sequence[float]
    curves: Sequence[Curve]
    marks: Sequence[Mark] = ()
    notes: Sequence[Note] = ()
    decimals: int = 0  # of the numbers at the ticks


def svg(panels: Sequence[Panel], x_ticks: Sequence[float], x_title: str, width: float = 680.0) -> str:
    """Return the SVG; axes end at their outermost ticks."""
    inner = width - LEFT - RIGHT
    height = TOP + sum(panel.height for panel in panels) + GAP * (len(panels) - 1) + BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="{FONT}" font-size="12">',
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
    ]

    def across(x: float) -> float:
        return LEFT + inner * (x - x_ticks[0]) / (x_ticks[-1] - x_ticks[0])

    top = TOP
    for panel in panels:
        out += _panel(panel, top, inner, across, x_ticks, is_last=panel is panels[-1])
        top += panel.height + GAP
    out.append(_text(LEFT + inner / 2, height - 12, x_title, INK, "middle"))
    return "\n".join([*out, "</svg>", ""])


def _panel(
    panel: Panel, top: float, inner: float, across: Callable[[float], float], x_ticks: Sequence[float], *, is_last: bool
) -> list[str]:
    low, high = panel.y_ticks[0], panel.y_ticks[-1]
    bottom = top + panel.height

    def up(y: float) -> float:
        return bottom - panel.height * (y - low) / (high - low)

    out = [_text(LEFT, top - 10, panel.title, INK, "start", weight="600")]
    for y in panel.y_ticks:
        out.append(_line(LEFT, up(y), LEFT + inner, up(y), GRID, 1))
        out.append(_text(LEFT - 8, up(y) + 4, f"{y:.{panel.decimals}f}", GREY, "end"))
    for x in x_ticks:
        out.append(_line(across(x), bottom, across(x), bottom + 5, INK, 1))
        if is_last:
            out.append(_text(across(x), bottom + 19, f"{x:g}", GREY, "middle"))
    for curve in panel.curves:
        points = " ".join(f"{across(x):.2f},{up(y):.2f}" for x, y in curve.points)
        out.append(
            f'<polyline points="{points}" fill="none" stroke="{curve.colour}" stroke-width="{curve.width:g}" '
            f'stroke-linejoin="round" stroke-opacity="{curve.opacity:g}"/>'
        )
        if curve.dots:
            out += [f'<circle cx="{across(x):.2f}" cy="{up(y):.2f}" r="2.6" fill="{curve.colour}"/>'
                    for x, y in curve.points]  # fmt: skip
    out.append(_line(LEFT, bottom, LEFT + inner, bottom, INK, 1))
    for mark in panel.marks:
        x, y = across(mark.x), up(mark.y)
        if mark.shape == "ring":
            out.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="6.5" fill="none" stroke="{mark.colour}" '
                       f'stroke-width="1.8"/>')  # fmt: skip
        else:
            out.append(f'<path d="M{x:.2f} {y - 6:.2f}l6 6l-6 6l-6 -6z" fill="white" fill-opacity="0.6" '
                       f'stroke="{mark.colour}" stroke-width="1.8"/>')  # fmt: skip
    for note in panel.notes:
        if note.has_leader:
            x, y = across(note.x), up(note.y)
            out.insert(1, _line(x + note.dx, y + note.dy + 5, x, y - 7, note.colour, 0.8))
        out.append(
            _text(across(note.x) + note.dx, up(note.y) + note.dy, note.text, note.colour, note.anchor, halo=True)
        )
    return out


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return (f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>')  # fmt: skip


def _text(x: float, y: float, text: str, colour: str, anchor: str, *, weight: str = "400", halo: bool = False) -> str:
    behind = ' stroke="white" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return (f'<text x="{x:.2f}" y="{y:.2f}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}"{behind}>'
            f"{escape(text)}</text>")  # fmt: skip
