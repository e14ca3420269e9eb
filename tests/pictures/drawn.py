"""What is in an SVG picture, for tests: its texts with the boxes that they may cover, and the strokes of its paths."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from itertools import combinations

from keypose.pictures.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Words:
    """A text and the box that it may cover in px."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    fill: str


def parsed(svg: str) -> ElementTree.Element:
    """The root element; what is no XML fails here."""
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[Words]:
    """Every text, where it is drawn."""
    found: list[Words] = []
    _collect(parsed(svg), 0.0, 0.0, found)
    return found


def _collect(element: ElementTree.Element, dx: float, dy: float, found: list[Words]) -> None:
    moved = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved:
        dx, dy = dx + float(moved[1]), dy + float(moved[2])
    if element.tag == f"{SVG}text":
        size, text = float(element.get("font-size", "")), element.text or ""
        wide = text_width(text, size, bold=element.get("font-weight") == "600")
        x, y = dx + float(element.get("x", "")), dy + float(element.get("y", ""))
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
        found.append(Words(text, left, y - 0.75 * size, left + wide, y + 0.25 * size, element.get("fill", "")))
    for child in element:
        _collect(child, dx, dy, found)


def assert_words_have_room(svg: str, *, slack: float = 0.6) -> None:
    """That no text leaves the picture or covers another one."""
    root = parsed(svg)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    every = texts(svg)
    for text in every:
        assert text.left >= -slack and text.right <= width + slack, f"{text} leaves a picture of {width} px"
        assert text.top >= -slack and text.bottom <= height + slack, f"{text} leaves a picture of {height} px"
    for one, other in combinations(every, 2):
        beside = one.right <= other.left + slack or other.right <= one.left + slack
        below = one.bottom <= other.top + slack or other.bottom <= one.top + slack
        assert beside or below, f"{one} and {other} overlap"


def paths(svg: str, **attributes: str) -> list[ElementTree.Element]:
    """The paths that have these attributes; _ in a name stands for -."""
    wanted = {name.replace("_", "-"): value for name, value in attributes.items()}
    return [
        path
        for path in parsed(svg).iter(f"{SVG}path")
        if all(path.get(name) == value for name, value in wanted.items())
    ]


def points(path: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """The pieces of a path of straight lines, M x y L x y ..., each as its points."""
    return [
        [(float(x), float(y)) for x, y in (point.split() for point in piece.removesuffix("h0").split("L"))]
        for piece in path.get("d", "").split("M")[1:]
    ]


def level_strokes(path: ElementTree.Element) -> list[tuple[float, float, float]]:
    """The pieces of a path of level lines, M x y h w, as x, y and w."""
    found = re.findall(r"M([-\d.]+) ([-\d.]+)h([-\d.]+)", path.get("d", ""))
    return [(float(x), float(y), float(wide)) for x, y, wide in found]
