"""HTML of the 3D player, accessible by keyboard and screen reader."""

from __future__ import annotations

from keypose.model import KeyedMotion, Motion
from keypose.pictures.page import escape_text, read_package_text
from keypose.pictures.report.player_clip import PlayerClip
from keypose.pictures.svg import number

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0)
SHORTCUTS = (
    ("Space", "play and pause"),
    (", .", "previous, next frame"),
    ("P N", "previous, next key"),
    ("Home End", "first, last frame"),
    ("← → ↑ ↓", "turn the view (when it has the focus)"),
    ("+ - 0", "zoom in, zoom out, reset view"),
)


def player_script() -> str:
    """Return the script shared by all players of a page."""
    return "".join(read_package_text("keypose.pictures.report", name) for name in ("scene.js", "player.js"))


def player_style() -> str:
    """Return the style of the player."""
    return read_package_text("keypose.pictures.report", "player.css")


def render_player(clip: PlayerClip, motion: Motion, keyed: KeyedMotion, id: str) -> str:
    """Return the HTML of one player; ``id`` is unique in the page."""
    last = motion.n_frames - 1
    return (
        f'<div class="player" id="{id}" data-clip="{id}-clip" role="group" aria-label="3D player">\n'
        f'<div class="stage" data-part="stage" tabindex="0" role="group" aria-label="3D view" '
        f'aria-describedby="{id}-help" data-needs-script hidden>'
        f'<canvas role="img" aria-label="Original and unbaked motion of {escape_text(motion.name)}, one frame of it">'
        f"</canvas>"
        f'<div class="tags" data-part="tags" aria-hidden="true"><span class="side">original</span>'
        f'<span class="side">unbaked</span><span class="over">unbaked, over the original in grey</span></div></div>\n'
        f'<div class="controls" data-needs-script hidden>'
        f'<div class="line"><div class="scrub"><input type="range" data-part="scrub" min="0" max="{last}" step="1" '
        f'value="0" aria-label="Frame">{_key_marks(keyed)}</div></div>\n'
        f'<div class="line">{_render_buttons()}{_render_choices(id)}</div>\n'
        f'<p class="status"><output data-part="status"></output></p></div>\n'
        f"<noscript><p>The player needs JavaScript; the strip above shows the key poses without it.</p></noscript>\n"
        f'<p class="quiet help" id="{id}-help" data-needs-script hidden>{_render_help()}. '
        f"Drag to turn; the mouse wheel zooms when the view has the focus.</p>\n"
        f'<script type="application/json" id="{id}-clip">{clip.text}</script></div>\n'
    )


def _key_marks(keyed: KeyedMotion) -> str:
    """Return a mark at each key along the slider; extremes are longer than breakdowns."""
    last = max(keyed.n_frames - 1, 1)
    marks = "".join(
        f"M{number(1000 * frame / last)} 0V{10 if is_extreme else 6}"
        for frame, is_extreme in zip(keyed.keys.tolist(), keyed.extremes.tolist(), strict=True)
    )
    return (f'<svg class="marks" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<path d="{marks}" vector-effect="non-scaling-stroke"/></svg>')  # fmt: skip


def _render_buttons() -> str:
    buttons = (
        ("play", "Play", ""),
        ("first", "◂ key", "Previous key"),
        ("back", "◂", "Previous frame"),
        ("on", "▸", "Next frame"),
        ("next", "key ▸", "Next key"),
    )
    return '<span class="buttons">' + "".join(
        f'<button type="button" data-part="{part}"{_label(label)}>{text}</button>' for part, text, label in buttons
    ) + "</span>"  # fmt: skip


def _label(label: str) -> str:
    return f' aria-label="{label}" title="{label}"' if label else ""


def _render_choices(id: str) -> str:
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


def _render_help() -> str:
    return " · ".join(
        " ".join(f"<kbd>{escape_text(key)}</kbd>" for key in keys.split(" ")) + f" {action}"
        for keys, action in SHORTCUTS
    )
