"""SVG: colours by name, text helpers, the document, and the ``Picture`` that every drawing function returns."""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from os import PathLike
from pathlib import Path
from typing import Literal

from keypose.errors import OptionError, format_value
from keypose.formats.base import write_atomically
from keypose.formats.figure import SIDE_COLOURS
from keypose.options import check_option_number
from keypose.options.pictures import PngOptions
from keypose.validation import check_path, clean_line

FONT = "'Source Sans 3','Source Sans Pro','Segoe UI',system-ui,sans-serif"
# Upper bounds of character widths in em over common sans-serif fonts.
_NARROW, _REGULAR, _WIDE, _FULL = 0.42, 0.66, 1.02, 1.1
_NARROW_SIGNS = frozenset("fijlrtI .,:;|!'()[]-·")
_WIDE_SIGNS = frozenset("mwMW@%…—")

MAX_PIXELS = 1 << 26  # of a PNG: 256 MB during conversion
SUFFIXES = (".svg", ".png")

ThemeName = Literal["light", "dark", "page", "notebook"]
TONES = 6  # of a body: 0 is the farthest
STEPS = 9  # of a colour scale: heat maps, angles of swings
SERIES = 10  # number of distinct colours of lines

_SHADE = "#10141c"  # mixed into the colour of the shaded side of limbs
_HOT = ("#ffd43b", "#f76707", "#a61e4d")  # on light paper
_LINES = ("#1864ab", "#d9480f", "#2b8a3e", "#862e9c", "#e67700", "#0b7285", "#c2255c", "#5c940d", "#364fc7", "#795548")


def number(value: float) -> str:
    """Return ``value`` with at most one decimal: 12, 3.5."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


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
    line = clean_line(text)
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
            f"{escape(clean_line(text))}</text>")  # fmt: skip


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
        f'aria-label="{escape(clean_line(alt_text, 1000))}" font-family="{FONT}">'
        f"<title>{escape(clean_line(title))}</title>{background}{body}</svg>"
    )


@dataclass(frozen=True)
class Picture:
    """An SVG picture of ``width`` x ``height`` px. ``save`` writes ``.svg`` or ``.png``; notebooks display it."""

    svg: str
    width: float
    height: float
    alt_text: str  # description for screen readers

    def __repr__(self) -> str:
        return f"Picture({self.width:.0f} x {self.height:.0f} px: {self.alt_text})"

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.svg.encode()).decode()
        return (f'<img alt="{escape(self.alt_text)}" width="{self.width:.0f}" height="{self.height:.0f}" '
                f'style="max-width:100%;height:auto" src="data:image/svg+xml;base64,{data}">')  # fmt: skip

    def png(self, scale: float = 2.0) -> bytes:
        """Return the picture as PNG with ``scale`` pixels per px."""
        factor = check_option_number(PngOptions, "scale", scale)
        if self.width * self.height * factor * factor > MAX_PIXELS:
            raise OptionError(
                f"a PNG of {self.width * factor:.0f} x {self.height * factor:.0f} pixels",
                expected=f"at most {MAX_PIXELS:,} in all: take a smaller scale",
            )
        import font_source_sans_pro as fonts  # here, as most pictures are only SVG
        import resvg_py

        # The packaged font comes first, so that pictures are equal on every machine; system fonts are only used for
        # other scripts.
        files = [fonts.SourceSansPro, fonts.SourceSansProSemibold]
        pixels: bytes = resvg_py.svg_to_bytes(
            svg_string=self.svg,
            zoom=factor,
            skip_system_fonts=not _needs_other_fonts(self.svg),
            font_files=files,
            sans_serif_family="Source Sans Pro",
        )
        return bytes(pixels)

    def save(self, path: str | PathLike[str], *, scale: float = 2.0) -> Path:
        """Write an ``.svg``, or a ``.png`` with ``scale`` pixels per px, atomically."""
        target = picture_path(path)
        write_atomically(target, self.svg.encode() if target.suffix.lower() == ".svg" else self.png(scale))
        return target


def parse_size(svg: str) -> tuple[float, float]:
    """Return width and height in px of an SVG of ``svg.document``."""
    match = re.match(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"', svg)
    if match is None:
        raise OptionError(f"a picture that begins with {svg[:20]!r}", expected="one of ours")
    return float(match[1]), float(match[2])


def picture_path(path: str | PathLike[str]) -> Path:
    """Return ``path`` if it has a suffix of a picture format; call it before any work is done."""
    target = check_path("path", path)
    if target.suffix.lower() not in SUFFIXES:
        problem = f"cannot write a picture as {target.suffix!r}" if target.suffix else "a picture without a suffix"
        raise OptionError(problem, path=target, expected=f"one of {', '.join(SUFFIXES)}")
    return target


def _needs_other_fonts(svg: str) -> bool:
    return re.search(r"[^\u0000-\u024f\u2010-\u2026]", svg) is not None


@dataclass(frozen=True)
class Theme:
    """Colours by name, as values of SVG attributes: ``theme["ink"]``, ``theme["left3"]``, ``theme["heat8"]``."""

    name: ThemeName
    colours: Mapping[str, str]

    def __getitem__(self, colour: str) -> str:
        return self.colours[colour]


def mix(colour: str, other: str, share: float) -> str:
    """Return ``colour`` mixed with a ``share`` (0 to 1) of ``other``, all ``#rrggbb``."""
    rgb, other_rgb = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (colour, other))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(rgb, other_rgb, strict=True))


def find_theme(name: str) -> Theme:
    """Return the theme ``name``."""
    if not isinstance(name, str) or name not in THEMES:
        raise OptionError(f"theme {format_value(name)}", expected=f"one of {', '.join(THEMES)}")
    return THEMES[name]


def page_css() -> str:
    """Return CSS variables for pictures of theme ``page``: dark if the reader prefers or selects it, light in print."""
    light, dark = (";".join(f"--kp-{name}:{value}" for name, value in THEMES[each].colours.items())
                   for each in ("light", "dark"))  # fmt: skip
    return (f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
            f"@media screen{{:root[data-theme=dark]{{{dark}}}}}")  # fmt: skip


def _colours(paper: str, ink: str, far: str, lit: str) -> dict[str, str]:
    """Return all colours by name; distant limbs fade to ``far``, near ones are lightened with ``lit``."""
    plain = {
        "paper": paper,
        "panel": mix(paper, ink, 0.03),
        "ink": ink,
        "muted": mix(paper, ink, 0.62),
        "grid": mix(paper, ink, 0.14),
        "floor": mix(paper, ink, 0.3),
        "shadow": "#0000002e" if paper > "#8" else "#0000008c",
        "outline": mix(paper, ink, 0.85) if paper > "#8" else paper,
        "stripe": mix(paper, "#ffffff", 0.9),
        "key": "#e03131" if paper > "#8" else "#ff8787",
        "cliff": "#0b7285" if paper > "#8" else "#66d9e8",
        "contact": "#5c940d" if paper > "#8" else "#a9e34b",
    }
    for side, colour in SIDE_COLOURS.items():
        for tone in range(TONES):
            share = tone / (TONES - 1)
            plain[f"{side}{tone}"] = mix(mix(colour, far, 0.42 * (1 - share)), lit, 0.12 * share)
            plain[f"{side}_dark{tone}"] = mix(plain[f"{side}{tone}"], _SHADE, 0.38)
    hot = _HOT if paper > "#8" else ("#862e9c", "#f76707", "#ffe066")
    for step in range(STEPS):
        plain[f"heat{step}"] = mix(_heat(hot, step), paper, _faint(step))
    for number, colour in enumerate(_LINES):
        plain[f"line{number}"] = colour if paper > "#8" else mix(colour, "#ffffff", 0.45)
    return plain


def _heat(hot: tuple[str, str, str], step: int) -> str:
    share = step / (STEPS - 1)
    return mix(hot[0], hot[1], 2 * share) if share <= 0.5 else mix(hot[1], hot[2], 2 * share - 1)


def _faint(step: int) -> float:
    """Return the share of the paper colour in a step of the scale; only the first steps are faint."""
    return 0.75 * max(0.0, 1 - 3 * step / (STEPS - 1))


_LIGHT = _colours("#ffffff", "#1a1d21", far="#ffffff", lit="#ffffff")
_DARK = _colours("#16181c", "#e9ecef", far="#16181c", lit="#ffffff")

THEMES: Mapping[str, Theme] = {
    "light": Theme("light", _LIGHT),
    "dark": Theme("dark", _DARK),
    "page": Theme("page", {name: f"var(--kp-{name})" for name in _LIGHT}),
    "notebook": Theme(
        "notebook",
        {
            **_colours("#ffffff", "#1a1d21", far="#868e96", lit="#ffffff"),
            "paper": "none",
            "ink": "currentColor",
            "outline": "#495057",
            "muted": "#868e96",
            "grid": "#868e9655",
            "floor": "#868e9699",
            "panel": "#868e961a",
            "key": "#f03e3e",
            "cliff": "#1098ad",
            "contact": "#74b816",
            **{f"heat{step}": f"{_heat(_HOT, step)}{round(255 * (1 - _faint(step))):02x}" for step in range(STEPS)},
            **{f"line{number}": mix(colour, "#ffffff", 0.25) for number, colour in enumerate(_LINES)},
        },
    ),
}
