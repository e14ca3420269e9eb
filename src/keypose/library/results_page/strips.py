"""Strips that came out of a database, as parts of a page: drawings, and nothing that is not a drawing.

Whoever may write to the database may have written anything there. What is not made of plain shapes and words is left
out. Colours of light paper become those of the page, so that a strip is dark where the page is, and poses that lie
outside of a span can be made fainter.
"""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from xml.etree import ElementTree as ET

from keypose.pictures.page import written
from keypose.pictures.theme import THEMES

LARGEST = 1 << 20  # characters of a strip
DEEPEST = 12
FAINT = "outside"  # the class of poses that are not meant
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = frozenset(("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "title"))
_LOOKS = frozenset(
    (
        *("width", "height", "viewBox", "role", "aria-label", "transform", "opacity", "fill", "fill-rule"),
        *("stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"),
        *("font-family", "font-size", "font-weight", "text-anchor", "d", "points", "x", "y", "r", "rx", "ry"),
        *("x1", "y1", "x2", "y2", "cx", "cy"),
    )
)
_OF_PAGE = {value: f"var(--kp-{name})" for name, value in THEMES["light"].colours.items()}
_PAINTS = {  # white is paper where it fills something, and a stripe where it is a line
    "fill": {**_OF_PAGE, "#ffffff": "var(--kp-paper)"},
    "stroke": {**_OF_PAGE, "#ffffff": "var(--kp-stripe)"},
}
_KNOWN = frozenset(("none", *THEMES["page"].colours.values()))


def is_of_the_page(svg: str) -> bool:
    """Whether a drawing takes its colours from the page, light or dark."""
    return "var(--kp-" in svg


def drawing(svg: str, n_keys: int = 0, kept: Collection[int] = ()) -> str | None:
    """``svg`` written anew for a page; None if it holds anything but shapes and words.

    Its colours are the page's if all of them are those of light paper. Of ``n_keys`` poses those at the places ``kept``
    stay as they are, the others get the class ``FAINT``; without any that are kept, all stay.
    """
    if len(svg) > LARGEST or "<!" in svg or "<?" in svg:
        return None
    try:
        root = ET.fromstring(svg)
    except (ET.ParseError, ValueError):  # the latter: characters that are none
        return None
    if root.tag != f"{_SVG}svg" or not _is_drawing(root, 0):
        return None
    faint = {k for k in range(n_keys) if k not in kept} if kept else set()
    if all(_has_colours_of_page(each) for each in root.iter()):
        for each in root.iter():
            each.attrib.update({paint: _paint(paint, each.attrib[paint]) for paint in _PAINTS if paint in each.attrib})
    return _written(root, n_keys if faint else 0, faint)


def _has_colours_of_page(element: ET.Element) -> bool:
    return all(_paint(paint, element.get(paint, "none")) in _KNOWN for paint in _PAINTS)


def _paint(paint: str, colour: str) -> str:
    return _PAINTS[paint].get(colour, colour)


def _is_drawing(element: ET.Element, depth: int) -> bool:
    return (
        depth <= DEEPEST
        and _name(element) in _SHAPES
        and all(name in _LOOKS and "url(" not in value.lower() for name, value in element.attrib.items())
        and all(_is_drawing(child, depth + 1) for child in element)
    )


def _name(element: ET.Element) -> str:
    return element.tag.removeprefix(_SVG) if element.tag.startswith(_SVG) else ""


def _written(element: ET.Element, n_keys: int, faint: Collection[int], look: str = "") -> str:
    name = _name(element)
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in element.attrib.items())
    groups = [_name(child) == "g" for child in element]
    is_row = n_keys > 0 and name == "g" and len(groups) == n_keys and all(groups)  # a group for each pose
    inside = written(element.text or "")
    for place, child in enumerate(element):
        marked = f' class="{FAINT}"' if is_row and place in faint else ""
        inside += _written(child, n_keys, faint, marked) + written(child.tail or "")
    return f"<{name}{attributes}{look}>{inside}</{name}>" if inside else f"<{name}{attributes}{look}/>"
