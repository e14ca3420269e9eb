"""SVG as text: numbers, words and the page around them. Nothing that a file brought gets in unescaped or unmeasured."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from html import escape

from keypose.pictures.theme import Theme

FONT = "'Source Sans 3','Source Sans Pro','Segoe UI',system-ui,sans-serif"
LONGEST_TEXT = 200  # characters of anything that a file brought
# Widths in em, the widest of the usual sans-serif fonts: a text is never wider than these say.
_NARROW, _USUAL, _WIDE, _FULL = 0.42, 0.66, 1.02, 1.1
_NARROW_SIGNS = frozenset("fijlrtI .,:;|!'()[]-·")
_WIDE_SIGNS = frozenset("mwMW@%…—")


def number(value: float) -> str:
    """One decimal, without a needless point: 12, 3.5."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def clean(text: str, longest: int = LONGEST_TEXT) -> str:
    """One line of at most ``longest`` characters, without control characters and lone surrogates; not yet escaped."""
    cut = text[: longest + 1]
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else c for c in cut)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """No less than the width in px that ``text`` takes in letters of ``size`` px, whichever font the reader has."""
    em = sum(
        _NARROW if c in _NARROW_SIGNS
        else _WIDE if c in _WIDE_SIGNS
        else _USUAL if c < "\u0250"
        else 0.0 if unicodedata.combining(c)
        else _FULL
        for c in text
    )  # fmt: skip
    return em * size * (1.08 if bold else 1.0)


def fitting(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """``text``, cleaned and cut with an ellipsis to what fits into ``width`` px; empty if nothing does."""
    shown = clean(text)
    if text_width(shown, size, bold=bold) <= width:
        return shown
    while shown and text_width(shown + "…", size, bold=bold) > width:
        shown = shown[:-1]
    return shown.rstrip() + "…" if shown else ""


def words(
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
    """A text element at its base line; ``text`` is cleaned and escaped here and nowhere else."""
    look = f' text-anchor="{anchor}"' if anchor != "start" else ""
    look += ' font-weight="600"' if bold else ""
    return (f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" fill="{fill}"{look}{extra}>'
            f"{escape(clean(text))}</text>")  # fmt: skip


def document(body: str, width: float, height: float, theme: Theme, *, title: str, says: str, paper: bool = True) -> str:
    """A whole picture of ``width`` x ``height`` px; ``says`` is what it shows in words, for who cannot see it."""
    ground = f'<rect width="100%" height="100%" fill="{theme["paper"]}"/>' if paper and theme["paper"] != "none" else ""
    w, h = number(width), number(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'aria-label="{escape(clean(says, 1000))}" font-family="{FONT}">'
        f"<title>{escape(clean(title))}</title>{ground}{body}</svg>"
    )
