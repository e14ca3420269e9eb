"""SVG text helpers: numbers, text elements and the document. Text from files is always escaped and truncated."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from html import escape

from keypose.pictures.theme import Theme

FONT = "'Source Sans 3','Source Sans Pro','Segoe UI',system-ui,sans-serif"
MAX_TEXT_LENGTH = 200  # characters of text from files
# Upper bounds of character widths in em over common sans-serif fonts.
_NARROW, _REGULAR, _WIDE, _FULL = 0.42, 0.66, 1.02, 1.1
_NARROW_SIGNS = frozenset("fijlrtI .,:;|!'()[]-·")
_WIDE_SIGNS = frozenset("mwMW@%…—")


def number(value: float) -> str:
    """Return ``value`` with at most one decimal: 12, 3.5."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def clean(text: str, max_length: int = MAX_TEXT_LENGTH) -> str:
    """Return one line of at most ``longest`` characters, without control characters and surrogates; not escaped."""
    cut = text[: max_length + 1]
    line = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else c for c in cut)
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return an upper bound of the width in px of ``text`` at font size ``size`` px, for any font of the reader."""
    em = sum(
        _NARROW if c in _NARROW_SIGNS
        else _WIDE if c in _WIDE_SIGNS
        else _REGULAR if c < "\u0250"
        else 0.0 if unicodedata.combining(c)
        else _FULL
        for c in text
    )  # fmt: skip
    return em * size * (1.08 if bold else 1.0)


def fit_text(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return ``text`` cleaned and truncated with an ellipsis to ``width`` px; empty if nothing fits."""
    line = clean(text)
    if text_width(line, size, bold=bold) <= width:
        return line
    while line and text_width(line + "…", size, bold=bold) > width:
        line = line[:-1]
    return line.rstrip() + "…" if line else ""


def text_element(
    x: float,
    y: float,
    text: str,
    size: float,
    fill: str,
    *,
    anchor: str = "start",
    bold: bool = False,
    extra: str = "",
) -> str:
    """Return a text element with its base line at ``y``; ``text`` is cleaned and escaped here and nowhere else."""
    attributes = f' text-anchor="{anchor}"' if anchor != "start" else ""
    attributes += ' font-weight="600"' if bold else ""
    return (f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{fill}"{attributes}{extra}>'
            f"{escape(clean(text))}</text>")  # fmt: skip


def document(
    body: str, width: float, height: float, theme: Theme, *, title: str, alt_text: str, paper: bool = True
) -> str:
    """Return an SVG document of ``width`` x ``height`` px; ``alt_text`` describes it for screen readers."""
    background = (
        f'<rect width="100%" height="100%" fill="{theme["paper"]}"/>' if paper and theme["paper"] != "none" else ""
    )
    w, h = number(width), number(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'aria-label="{escape(clean(alt_text, 1000))}" font-family="{FONT}">'
        f"<title>{escape(clean(title))}</title>{background}{body}</svg>"
    )
