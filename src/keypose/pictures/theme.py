"""Colours of pictures by name: for light and dark paper, for pages that switch between them, for notebooks.

The left side of a body is warm, the right side is cold, and a tone of the left is always darker than the same tone of
the right, so that the sides differ in greyscale too. Drawing code also marks the right side by stripes or dashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from keypose.errors import OptionError

ThemeName = Literal["light", "dark", "page", "notebook"]
TONES = 6  # of a body: 0 is the farthest
STEPS = 9  # of a colour scale: heat maps, angles of swings
SERIES = 10  # distinct colours of lines

_BODY = {"left": "#d9480f", "middle": "#868e96", "right": "#4dabf7"}
_SHADE = "#10141c"  # mixed into the shaded side of limbs
_HOT = ("#ffd43b", "#f76707", "#a61e4d")  # on light paper
_LINES = ("#1864ab", "#d9480f", "#2b8a3e", "#862e9c", "#e67700", "#0b7285", "#c2255c", "#5c940d", "#364fc7", "#795548")


@dataclass(frozen=True)
class Theme:
    """Colours by name, as SVG attributes take them: ``theme["ink"]``, ``theme["left3"]``, ``theme["heat8"]``."""

    name: ThemeName
    colours: Mapping[str, str]

    def __getitem__(self, colour: str) -> str:
        return self.colours[colour]


def mix(colour: str, other: str, part: float) -> str:
    """Return ``colour`` mixed with a share ``part`` (0 to 1) of ``other``, all ``#rrggbb``."""
    ours, theirs = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (colour, other))
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(ours, theirs, strict=True))


def find_theme(name: str) -> Theme:
    """Return the theme ``name``."""
    if not isinstance(name, str) or name not in THEMES:
        raise OptionError(f"theme {name!r}, expected one of {', '.join(THEMES)}")
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
    for side, colour in _BODY.items():
        for tone in range(TONES):
            part = tone / (TONES - 1)
            plain[f"{side}{tone}"] = mix(mix(colour, far, 0.42 * (1 - part)), lit, 0.12 * part)
            plain[f"{side}_dark{tone}"] = mix(plain[f"{side}{tone}"], _SHADE, 0.38)
    hot = _HOT if paper > "#8" else ("#862e9c", "#f76707", "#ffe066")
    for step in range(STEPS):
        plain[f"heat{step}"] = mix(_heat(hot, step), paper, _faint(step))
    for number, colour in enumerate(_LINES):
        plain[f"line{number}"] = colour if paper > "#8" else mix(colour, "#ffffff", 0.45)
    return plain


def _heat(hot: tuple[str, str, str], step: int) -> str:
    part = step / (STEPS - 1)
    return mix(hot[0], hot[1], 2 * part) if part <= 0.5 else mix(hot[1], hot[2], 2 * part - 1)


def _faint(step: int) -> float:
    """Return the share of paper colour in a step of the scale: only the first steps are faint."""
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
