"""Strips from a database as parts of a page: only shapes and text are let through.

Whoever may write to the database may have written anything there. Colours of the light theme become those of the page,
so that a strip is dark where the page is, and poses outside of a span can be made fainter.
"""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from xml.etree import ElementTree as ET

from keypose.pictures.page import escape_text
from keypose.pictures.theme import THEMES

MAX_CHARS = 1 << 20  # of a strip
MAX_DEPTH = 12
FAINT = "outside"  # class of poses outside of the span
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = frozenset(("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "title"))
_ATTRIBUTES = frozenset(
    (
        *("width", "height", "viewBox", "role", "aria-label", "transform", "opacity", "fill", "fill-rule"),
        *("stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"),
        *("font-family", "font-size", "font-weight", "text-anchor", "d", "points", "x", "y", "r", "rx", "ry"),
        *("x1", "y1", "x2", "y2", "cx", "cy"),
    )
)
_PAGE_COLOURS = {value: f"var(--kp-{name})" for name, value in THEMES["light"].colours.items()}
_PAINTS = {  # white is paper as a fill, and a stripe as a line
    "fill": {**_PAGE_COLOURS, "#ffffff": "var(--kp-paper)"},
    "stroke": {**_PAGE_COLOURS, "#ffffff": "var(--kp-stripe)"},
}
_ALLOWED_COLOURS = frozenset(("none", *THEMES["page"].colours.values()))


def uses_page_colours(svg: str) -> bool:
    """Return whether a drawing takes its colours from the page, light or dark."""
    return "var(--kp-" in svg


def sanitize_svg(svg: str, n_keys: int = 0, highlighted: Collection[int] = ()) -> str | None:
    """Return ``svg`` serialized again for a page; None if it contains anything but shapes and text.

    Its colours become the page's if all of them belong to the light theme. Of ``n_keys`` poses those at the indices
    ``highlighted`` stay, the others get the class ``FAINT``; if ``highlighted`` is empty, all stay.
    """
    if len(svg) > MAX_CHARS or "<!" in svg or "<?" in svg:
        return None
    try:
        root = ET.fromstring(svg)
    except (ET.ParseError, ValueError):  # ValueError: invalid characters
        return None
    if root.tag != f"{_SVG}svg" or not _is_drawing(root, 0):
        return None
    faint = {k for k in range(n_keys) if k not in highlighted} if highlighted else set()
    if all(_has_colours_of_page(each) for each in root.iter()):
        for each in root.iter():
            each.attrib.update({paint: _paint(paint, each.attrib[paint]) for paint in _PAINTS if paint in each.attrib})
    return _serialize(root, n_keys if faint else 0, faint)


def _has_colours_of_page(element: ET.Element) -> bool:
    return all(_paint(paint, element.get(paint, "none")) in _ALLOWED_COLOURS for paint in _PAINTS)


def _paint(paint: str, colour: str) -> str:
    return _PAINTS[paint].get(colour, colour)


def _is_drawing(element: ET.Element, depth: int) -> bool:
    return (
        depth <= MAX_DEPTH
        and _name(element) in _SHAPES
        and all(name in _ATTRIBUTES and "url(" not in value.lower() for name, value in element.attrib.items())
        and all(_is_drawing(child, depth + 1) for child in element)
    )


def _name(element: ET.Element) -> str:
    return element.tag.removeprefix(_SVG) if element.tag.startswith(_SVG) else ""


def _serialize(element: ET.Element, n_keys: int, faint: Collection[int], extra_attributes: str = "") -> str:
    name = _name(element)
    attributes = "".join(f' {key}="{escape(value)}"' for key, value in element.attrib.items())
    groups = [_name(child) == "g" for child in element]
    is_row = n_keys > 0 and name == "g" and len(groups) == n_keys and all(groups)  # a group for each pose
    inside = escape_text(element.text or "")
    for position, child in enumerate(element):
        class_attribute = f' class="{FAINT}"' if is_row and position in faint else ""
        inside += _serialize(child, n_keys, faint, class_attribute) + escape_text(child.tail or "")
    return (
        f"<{name}{attributes}{extra_attributes}>{inside}</{name}>"
        if inside
        else f"<{name}{attributes}{extra_attributes}/>"
    )
