"""The player in the page: what it plays, and controls that a keyboard and a screen reader can use."""

from __future__ import annotations

from keypose.model import KeyedMotion, Motion
from keypose.pictures.page import part_of_package, written
from keypose.pictures.report.clip import PlayedClip
from keypose.pictures.svg import number

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0)
KEYS = (
    ("Space", "play and pause"),
    (", .", "one frame back, on"),
    ("P N", "previous, next key"),
    ("Home End", "first, last frame"),
    ("← → ↑ ↓", "turn the view, once it is chosen"),
    ("+ - 0", "nearer, farther, as at first"),
)


def player_script() -> str:
    """The script that all players of a page share."""
    return "".join(part_of_package("keypose.pictures.report", name) for name in ("scene.js", "player.js"))


def player_style() -> str:
    """The style that goes with it."""
    return part_of_package("keypose.pictures.report", "player.css")


def player(clip: PlayedClip, motion: Motion, keyed: KeyedMotion, id: str) -> str:
    """HTML of one player; ``id`` is its own in the page."""
    last = motion.n_frames - 1
    return (
        f'<div class="player" id="{id}" data-clip="{id}-clip" role="group" aria-label="3D player">\n'
        f'<div class="stage" data-part="stage" tabindex="0" role="group" aria-label="3D view" '
        f'aria-describedby="{id}-help" data-needs-script hidden>'
        f'<canvas role="img" aria-label="Original and unbaked motion of {written(motion.name)}, one frame of it">'
        f"</canvas>"
        f'<div class="tags" data-part="tags" aria-hidden="true"><span class="side">original</span>'
        f'<span class="side">unbaked</span><span class="over">unbaked, over the original in grey</span></div></div>\n'
        f'<div class="controls" data-needs-script hidden>'
        f'<div class="line"><div class="scrub"><input type="range" data-part="scrub" min="0" max="{last}" step="1" '
        f'value="0" aria-label="Frame">{_key_marks(keyed)}</div></div>\n'
        f'<div class="line">{_buttons()}{_choices(id)}</div>\n'
        f'<p class="says"><output data-part="says"></output></p></div>\n'
        f"<noscript><p>The player needs JavaScript; the strip above shows the key poses without it.</p></noscript>\n"
        f'<p class="quiet help" id="{id}-help" data-needs-script hidden>{_help()}. '
        f"Drag to turn; the wheel zooms, once the view is chosen.</p>\n"
        f'<script type="application/json" id="{id}-clip">{clip.text}</script></div>\n'
    )


def _key_marks(keyed: KeyedMotion) -> str:
    """A mark at each key along the scrub bar: extremes are longer than breakdowns."""
    last = max(keyed.n_frames - 1, 1)
    marks = "".join(
        f"M{number(1000 * frame / last)} 0V{10 if is_extreme else 6}"
        for frame, is_extreme in zip(keyed.keys.tolist(), keyed.extremes.tolist(), strict=True)
    )
    return (f'<svg class="marks" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<path d="{marks}" vector-effect="non-scaling-stroke"/></svg>')  # fmt: skip


def _buttons() -> str:
    named = (
        ("play", "Play", ""),
        ("first", "◂ key", "Previous key"),
        ("back", "◂", "One frame back"),
        ("on", "▸", "One frame on"),
        ("next", "key ▸", "Next key"),
    )
    return '<span class="buttons">' + "".join(
        f'<button type="button" data-part="{part}"{_label(label)}>{text}</button>' for part, text, label in named
    ) + "</span>"  # fmt: skip


def _label(label: str) -> str:
    return f' aria-label="{label}" title="{label}"' if label else ""


def _choices(id: str) -> str:
    speeds = "".join(
        f'<option value="{speed:g}"{" selected" if speed == 1 else ""}>{speed:g} ×</option>' for speed in SPEEDS
    )
    return (
        f'<label>View <select data-part="view"><option value="side" selected>side by side</option>'
        f'<option value="over">overlaid</option></select></label>'
        f'<label>Speed <select data-part="speed">{speeds}</select></label>'
        f'<label><input type="checkbox" data-part="loop" checked> Loop</label>'
        f'<label><input type="checkbox" data-part="follow" checked> Follow</label>'
        f'<button type="button" data-part="reset">Reset view</button>'
    )


def _help() -> str:
    return " · ".join(
        " ".join(f"<kbd>{written(key)}</kbd>" for key in keys.split(" ")) + f" {what}" for keys, what in KEYS
    )
