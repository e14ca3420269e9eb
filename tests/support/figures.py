"""Figures of a strip, parsed from its SVG."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from keypose.pictures.svg import find_theme
from support.svg_content import SVG, parse_svg

STEP = r"([MlLahz])([-\d. ]*)"


@dataclass(frozen=True)
class Shape:
    """A filled path, or the outline of a body, as points (N, 2) in px."""

    colour: str
    points: np.ndarray
    width: float = 0.0  # of a line, px


@dataclass(frozen=True)
class Figure:
    """The shapes of one pose."""

    opacity: float
    shapes: tuple[Shape, ...]  # from far to near; the first is the rim around all
    stripes: tuple[np.ndarray, ...]  # lines in px, on the right side or of a figure with very many parts

    def shapes_of(self, side: str, theme: str = "light") -> list[Shape]:
        """Return the shaded shapes of one side."""
        own = {colour for name, colour in find_theme(theme).colours.items() if re.fullmatch(rf"{side}_dark\d", name)}
        return [shape for shape in self.shapes if shape.colour in own]

    def middle(self, side: str) -> np.ndarray:
        """Return the mean point (2,) of the shapes of one side."""
        return np.concatenate([shape.points for shape in self.shapes_of(side)]).mean(axis=0)

    @property
    def box(self) -> np.ndarray:
        """Min and max x and y (2, 2)."""
        lines = [(points, 0.0) for points in self.stripes]
        outlines = [*((shape.points, shape.width / 2) for shape in self.shapes), *lines]
        return np.stack(
            (
                np.min([points.min(axis=0) - beyond for points, beyond in outlines], axis=0),
                np.max([points.max(axis=0) + beyond for points, beyond in outlines], axis=0),
            )
        )


def figures(svg: str) -> list[Figure]:
    """Return all figures of a strip in paint order."""
    (group,) = [g for g in parse_svg(svg).iter(f"{SVG}g") if g.get("transform") == "scale(.1)"]
    return [_figure(pose) for pose in group]


def shadows(svg: str) -> list[np.ndarray]:
    """Return the points (N, 2) of the shadow of each pose in px."""
    (group,) = [g for g in parse_svg(svg).iter(f"{SVG}g") if (g.get("transform") or "").startswith("matrix")]
    a, _, _, d, _, f = (float(x) for x in re.findall(r"[-\d.]+", group.get("transform") or ""))
    return [np.concatenate([polygon(p.get("d") or "") for p in pose]) * (a, d) + (0.0, f) for pose in group]


def _figure(pose: ElementTree.Element) -> Figure:
    shapes, stripes = [], []
    for path in pose.iter(f"{SVG}path"):
        points = polygon(path.get("d") or "") / 10
        if path.get("fill") is None:
            stripes.append(points)
        elif path.get("fill") == "none":
            shapes.append(Shape(path.get("stroke") or "", points, float(path.get("stroke-width") or "1") / 10))
        else:
            shapes.append(Shape(path.get("fill") or "", points))
    return Figure(float(pose.get("opacity", "1")), tuple(shapes), tuple(stripes))


def polygon(d: str, *, arc_points: int = 7) -> np.ndarray:
    """Return points (N, 2) along a path of lines and circular arcs."""
    at, points = np.zeros(2), []
    for step, text in re.findall(STEP, d):
        numbers = [float(x) for x in text.split()]
        if step in "ML":
            at = np.array(numbers)
        elif step == "l":
            at = at + numbers
        elif step == "a":
            points += _arc(at, numbers, arc_points)
            at = at + numbers[-2:]
        if step != "z":
            points.append(at)
    return np.array(points)


def _arc(start: np.ndarray, numbers: list[float], count: int) -> list[np.ndarray]:
    """Return points of an arc that is clockwise on the page (sweep 1)."""
    radius, _, _, large, sweep, dx, dy = numbers
    assert sweep == 1
    chord = math.hypot(dx, dy)
    if not chord or not radius:
        return []
    radius = max(radius, chord / 2)
    aside = math.sqrt(radius**2 - (chord / 2) ** 2) * (-1 if large else 1)
    centre = start + np.array((dx, dy)) / 2 + aside * np.array((-dy, dx)) / chord
    first = math.atan2(*(start - centre)[::-1])
    turn = 2 * math.asin(min(1.0, chord / 2 / radius))
    turn = 2 * math.pi - turn if large else turn
    angles = [first + turn * k / count for k in range(1, count)]
    return [centre + (radius * math.cos(t), radius * math.sin(t)) for t in angles]
