"""HTML shared by all cards: a name, pictures and facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from keypose.arrays import Floats, Ints
from keypose.pictures.chart.axes import ROW_PX, TEXT_PX, Area, draw_x, horizontal_ticks
from keypose.pictures.chart import Axis
from keypose.pictures.chart.time_axis import frame_scale
from keypose.pictures.picture import Picture
from keypose.pictures.svg import clean, document, number, text_element
from keypose.pictures.theme import find_theme

WIDTH_PX = 640.0
BAR_PX = 30.0  # height of the tallest key
MAX_LISTED_FRAMES = 40  # frames in a text
MAX_NOTES = 5
_TABLE = "border-collapse:collapse;margin:4px 0;background:none;color:inherit;font:inherit"
_CELL = "border:none;background:none;text-align:left;vertical-align:top;overflow-wrap:anywhere;"
_TH = _CELL + "padding:0 1.2em 0 0;font-weight:400;opacity:0.65;white-space:nowrap"
_TD = _CELL + "padding:0"


def render_card(name: str, pictures: Iterable[Picture], facts: Iterable[tuple[str, str]]) -> str:
    """Return HTML without script and external resources. All text is truncated and escaped here."""
    rows = "".join(
        f'<tr><th style="{_TH}">{escape(clean(label))}</th><td style="{_TD}">{escape(clean(value, 600))}</td></tr>'
        for label, value in facts
    )
    images = "".join(f'<div style="overflow-x:auto">{picture.svg}</div>' for picture in pictures)
    return (
        f'<div style="max-width:60em;font:13px/1.5 system-ui,sans-serif">'
        f'<div style="font-weight:600">{escape(clean(name))}</div>{images}<table style="{_TABLE}">{rows}</table></div>'
    )


def note_facts(notes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the first notes as facts, and the number of further notes."""
    facts = [("note", note) for note in notes[:MAX_NOTES]]
    more = len(notes) - MAX_NOTES
    return facts + ([("", f"and {more:,} more notes")] if more > 0 else [])


def format_frames(frames: Ints) -> str:
    """Return the first frames as text, and the number of further frames."""
    more = len(frames) - MAX_LISTED_FRAMES
    return " ".join(map(str, frames[:MAX_LISTED_FRAMES].tolist())) + (f" … and {more:,} more" if more > 0 else "")


def format_key_count(keys: int, n_frames: int) -> str:
    """Return the number of keys, of frames and the removed share as text."""
    return f"{keys:,} of {n_frames:,} frames: {100 * (1 - keys / n_frames):.1f} % removed"


def draw_key_bar(frames: Ints, n_frames: int, heights: Floats, alt_text: str) -> Picture:
    """Return a picture of keys along the frames, with relative ``heights`` (K,) from 0 to 1."""
    theme = find_theme("notebook")
    area = Area(10.0, 4.0, WIDTH_PX - 16.0, 4.0 + BAR_PX)
    scale = frame_scale(n_frames, area.left, area.right)
    ends = zip(scale.px(frames).tolist(), (BAR_PX * heights).tolist(), strict=True)
    lines = "".join(f"M{number(x)} {number(area.bottom)}v{number(-high)}" for x, high in ends)
    height = area.bottom + 2 * ROW_PX
    body = draw_x(area, horizontal_ticks(Axis(), scale), Axis(), theme, grid=False)
    body += f'<path data-keys="{len(frames)}" d="{lines}" stroke="{theme["key"]}" stroke-width="2" fill="none"/>'
    body += text_element(area.right, height - 3, "frame", TEXT_PX, theme["muted"], anchor="end")
    return Picture(document(body, WIDTH_PX, height, theme, title="keys", alt_text=alt_text), WIDTH_PX, height, alt_text)
