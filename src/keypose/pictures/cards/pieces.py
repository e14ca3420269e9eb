"""What all cards share: one self-contained piece of HTML of a name, a picture and a few facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from keypose.arrays import Floats, Ints
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, draw_x, ticks_across
from keypose.pictures.chart.nouns import Axis
from keypose.pictures.chart.times import frame_scale
from keypose.pictures.picture import Picture
from keypose.pictures.svg import clean, document, number, words
from keypose.pictures.theme import theme_of

WIDTH_PX = 640.0
BAR_PX = 30.0  # height of the tallest key on a bar of keys
MOST_LISTED = 40  # frames in a text
MOST_NOTES = 5
_TABLE = "border-collapse:collapse;margin:4px 0;background:none;color:inherit;font:inherit"
_CELL = "border:none;background:none;text-align:left;vertical-align:top;overflow-wrap:anywhere;"
_TH = _CELL + "padding:0 1.2em 0 0;font-weight:400;opacity:0.65;white-space:nowrap"
_TD = _CELL + "padding:0"


def card(name: str, pictures: Iterable[Picture], facts: Iterable[tuple[str, str]]) -> str:
    """HTML without script and without anything from outside. Every text is cut to a sane length and escaped here."""
    rows = "".join(
        f'<tr><th style="{_TH}">{escape(clean(label))}</th><td style="{_TD}">{escape(clean(value, 600))}</td></tr>'
        for label, value in facts
    )
    drawn = "".join(f'<div style="overflow-x:auto">{picture.svg}</div>' for picture in pictures)
    return (
        f'<div style="max-width:60em;font:13px/1.5 system-ui,sans-serif">'
        f'<div style="font-weight:600">{escape(clean(name))}</div>{drawn}<table style="{_TABLE}">{rows}</table></div>'
    )


def notes_of(notes: Sequence[str]) -> list[tuple[str, str]]:
    """The first notes as facts, and how many more there are."""
    facts = [("note", note) for note in notes[:MOST_NOTES]]
    more = len(notes) - MOST_NOTES
    return facts + ([("", f"and {more:,} more notes")] if more > 0 else [])


def listed(frames: Ints) -> str:
    """Frames as text, the first of many."""
    more = len(frames) - MOST_LISTED
    return " ".join(map(str, frames[:MOST_LISTED].tolist())) + (f" … and {more:,} more" if more > 0 else "")


def removed(keys: int, n_frames: int) -> str:
    """How many keys of how many frames, and the part that is left out."""
    return f"{keys:,} of {n_frames:,} frames: {100 * (1 - keys / n_frames):.1f} % removed"


def key_bar(frames: Ints, n_frames: int, heights: Floats, says: str) -> Picture:
    """Keys along the frames, each as tall as its part of ``heights`` (K,), from 0 to 1."""
    theme = theme_of("notebook")
    area = Area(10.0, 4.0, WIDTH_PX - 16.0, 4.0 + BAR_PX)
    scale = frame_scale(n_frames, area.left, area.right)
    ends = zip(scale.px(frames).tolist(), (BAR_PX * heights).tolist(), strict=True)
    lines = "".join(f"M{number(x)} {number(area.bottom)}v{number(-high)}" for x, high in ends)
    height = area.bottom + 2 * ROW_PX
    body = draw_x(area, ticks_across(Axis(), scale), Axis(), theme, grid=False)
    body += f'<path data-keys="{len(frames)}" d="{lines}" stroke="{theme["key"]}" stroke-width="2" fill="none"/>'
    body += words(area.right, height - 3, "frame", TEXT_PX, theme["muted"], anchor="end")
    return Picture(document(body, WIDTH_PX, height, theme, title="keys", says=says), WIDTH_PX, height, says)
