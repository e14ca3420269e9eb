"""Draws a strip: key poses of a motion in one picture."""

from __future__ import annotations

from os import PathLike

from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion
from keypose.pictures.key_marks import Keys
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.strip.canvas import (
    CAPTION_WIDTH_PX,
    MARGIN_PX,
    SPAN_WIDTH_PX,
    TICKS_PX,
    Decorations,
    SizeOptions,
    fit_canvas,
)
from keypose.pictures.strip.choice import choose_poses
from keypose.pictures.strip.layouts import LAYOUTS, Layout, check_rows
from keypose.pictures.strip.render import render_scene
from keypose.pictures.strip.scene import Scene, build_scene
from keypose.pictures.svg import document, fit_text, text_element
from keypose.pictures.theme import find_theme
from keypose.validation import check_bool, check_choice, check_text


def strip(
    motion: Motion | KeyedMotion,
    selection: Keys = None,
    path: str | PathLike[str] | None = None,
    *,
    layout: Layout = "side",
    per_row: int | None = None,
    view: str | float = "best",
    theme: str = "light",
    rank: bool = False,
    ghosts: int = 0,
    captions: bool = True,
    title: str | None = None,
    height_px: float | None = None,
    width_px: float | None = None,
    size_px: tuple[float, float] | None = None,
    background: bool = True,
    scale: float | None = None,
) -> Picture:
    """Draw key poses of ``motion`` as solid figures in one picture, saved to ``path`` (.svg or .png) if given.

    ``selection`` is a Selection, a KeyedMotion or frame numbers; by default eight poses selected by
    ``farthest``. Poses have the same scale and are in order of time. The figure's left side is warm and dark, its right
    side cold, light and striped.

    ``layout`` is ``side``: side by side, in rows of ``per_row`` poses if given; ``time``: spaced by time; ``path``: at
    their positions in the world; ``expanded``: along the path but moved apart, so that no poses overlap; ``in-place``:
    all at one place, earlier ones fainter.
    ``view`` is ``best``, which shows most movement; ``front``, ``left``, ``right``, ``back``, ``three-quarter``;
    or degrees from the figure's front to its left. ``rank`` makes less important poses more transparent, for methods
    that rank their keys; ``ghosts`` is the number of faint poses between each two keys. Captions are the frame, counted
    from 0, and seconds.

    The picture is ``height_px`` tall (180 for a row) and as wide as needed, at most ``width_px``; or exactly
    ``size_px`` (width, height). Captions are omitted if they do not fit. ``background=False`` makes the background
    transparent; ``scale`` is PNG pixels per px: by default 2, or 1 with ``size_px``; ``theme`` is ``light``, ``dark``,
    ``page`` or ``notebook``.
    """
    target = None if path is None else picture_path(path)
    check_choice("layout", layout, LAYOUTS)
    check_rows(per_row, layout)
    colours, size = find_theme(theme), SizeOptions.parse(height_px, width_px, size_px)
    check_bool("captions", captions)
    check_bool("background", background)
    if title is not None:
        check_text("title", title)
    if isinstance(motion, KeyedMotion):
        selection = motion if selection is None else selection
        motion = motion.sample()
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion or a KeyedMotion, as kp.load or kp.unbake give")
    choice = choose_poses(motion, selection, rank=check_bool("rank", rank), ghosts=ghosts)
    scene = build_scene(motion, choice, layout, view, is_ranked=rank, per_row=per_row)
    decorations = Decorations(title is not None, captions, SPAN_WIDTH_PX if layout == "in-place" else CAPTION_WIDTH_PX,
                  TICKS_PX if layout == "time" else 0.0, scene.n_rows)  # fmt: skip
    canvas = fit_canvas(size, scene.place, scene.extent, decorations)
    body = render_scene(scene, canvas, colours)
    if title is not None:
        title_text = fit_text(title, canvas.width - 2 * MARGIN_PX, 14.0, bold=True)
        body += text_element(MARGIN_PX, MARGIN_PX + 11.0, title_text, 14.0, colours["ink"], bold=True)
    alt_text = _describe(scene)
    name = motion.name if title is None else title
    svg = document(body, canvas.width, canvas.height, colours, title=name, alt_text=alt_text, paper=background)
    picture = Picture(svg, canvas.width, canvas.height, alt_text)
    if target is not None:
        picture.save(target, scale=_png_scale(scale, size))
    return picture


def _png_scale(scale: float | None, size: SizeOptions) -> float:
    """Return ``scale``, by default 1 for exact sizes, so that they are in pixels, and 2 otherwise."""
    return scale if scale is not None else 1.0 if size.is_exact else 2.0


def _describe(scene: Scene) -> str:
    keys = scene.choice.keys.tolist()
    frames_text = ", ".join(map(str, keys[:40])) + (", ..." if len(keys) > 40 else "")
    poses = f"{len(keys)} poses" if len(keys) > 1 else "one pose"
    arrangement = {
        "side": "side by side" if len(keys) > 1 else "alone",
        "time": "spaced by time",
        "path": "along their path",
        "expanded": "along their path, pushed apart",
        "in-place": "all in one place",
    }[scene.layout]
    rows = f" in {scene.n_rows} rows" if scene.n_rows > 1 else ""
    at = f"frames {frames_text}" if len(keys) > 1 else f"frame {frames_text}"
    return f"{poses} of {scene.motion.name} {arrangement}{rows}, at {at}, seen from {scene.view.description}"
