"""Parsed SVG pictures for tests: texts with their boxes, and strokes of paths."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from itertools import combinations

from keypose.pictures.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class TextBox:
    """A text and its box in px."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    fill: str


def parse_svg(svg: str) -> ElementTree.Element:
    """Return the root element; invalid XML raises an error."""
    return ElementTree.fromstring(svg)


def text_boxes(svg: str) -> list[TextBox]:
    """Return every text with its position."""
    boxes: list[TextBox] = []
    _collect(parse_svg(svg), 0.0, 0.0, boxes)
    return boxes


def _collect(element: ElementTree.Element, dx: float, dy: float, boxes: list[TextBox]) -> None:
    translation = re.fullmatch(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if translation:
        dx, dy = dx + float(translation[1]), dy + float(translation[2])
    if element.tag == f"{SVG}text":
        size, text = float(element.get("font-size", "")), element.text or ""
        wide = text_width(text, size, bold=element.get("font-weight") == "600")
        x, y = dx + float(element.get("x", "")), dy + float(element.get("y", ""))
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
        boxes.append(TextBox(text, left, y - 0.75 * size, left + wide, y + 0.25 * size, element.get("fill", "")))
    for child in element:
        _collect(child, dx, dy, boxes)


def assert_texts_fit(svg: str, *, slack: float = 0.6) -> None:
    """Assert that no text leaves the picture or overlaps another one."""
    root = parse_svg(svg)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    boxes = text_boxes(svg)
    for text in boxes:
        assert text.left >= -slack and text.right <= width + slack, f"{text} leaves a picture of {width} px"
        assert text.top >= -slack and text.bottom <= height + slack, f"{text} leaves a picture of {height} px"
    for first, other in combinations(boxes, 2):
        beside = first.right <= other.left + slack or other.right <= first.left + slack
        below = first.bottom <= other.top + slack or other.bottom <= first.top + slack
        assert beside or below, f"{first} and {other} overlap"


def paths(svg: str, **attributes: str) -> list[ElementTree.Element]:
    """Return the paths with these attributes; _ in a name is replaced by -."""
    expected = {name.replace("_", "-"): value for name, value in attributes.items()}
    return [
        path
        for path in parse_svg(svg).iter(f"{SVG}path")
        if all(path.get(name) == value for name, value in expected.items())
    ]


def points(path: ElementTree.Element) -> list[list[tuple[float, float]]]:
    """Return the segments of a path M x y L x y ..., each as a list of points."""
    return [
        [(float(x), float(y)) for x, y in (point.split() for point in segment.removesuffix("h0").split("L"))]
        for segment in path.get("d", "").split("M")[1:]
    ]


def level_strokes(path: ElementTree.Element) -> list[tuple[float, float, float]]:
    """Return x, y and width of the segments of a path M x y h w."""
    strokes = re.findall(r"M([-\d.]+) ([-\d.]+)h([-\d.]+)", path.get("d", ""))
    return [(float(x), float(y), float(wide)) for x, y, wide in strokes]
