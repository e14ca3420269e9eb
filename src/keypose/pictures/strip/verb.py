"""The strip: key poses of a motion in one picture."""

from __future__ import annotations

from os import PathLike

from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion
from keypose.options import flag, one_of, text
from keypose.pictures.keys_of import Keys
from keypose.pictures.picture import Picture, picture_path
from keypose.pictures.strip.canvas import CAPTION_WIDTH_PX, MARGIN_PX, SPAN_WIDTH_PX, TICKS_PX, Needs, Wish, fit
from keypose.pictures.strip.choice import choice_of
from keypose.pictures.strip.drawing import drawn
from keypose.pictures.strip.layouts import LAYOUTS, Layout, check_rows
from keypose.pictures.strip.scene import Scene, scene_of
from keypose.pictures.svg import document, fitting, words
from keypose.pictures.theme import theme_of


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
    """Key poses of ``motion`` as solid figures in one picture, saved to ``path`` (.svg or .png) if one is given.

    ``selection`` is a Selection, a KeyedMotion or frame numbers; without one, eight poses that ``farthest`` chooses.
    Poses have one scale and go in order of time. The figure's left is warm and dark, its right cold, light and striped.

    ``layout`` is ``side`` by side, in rows of ``per_row`` poses if that is given; spaced by ``time``; ``path``: where
    the figure really is; ``expanded``: along its path but pushed apart, so that no pose covers another; ``in-place``:
    all at one place, earlier ones fainter.
    ``view`` is ``best``, showing most of what moves; ``front``, ``left``, ``right``, ``back``, ``three-quarter``;
    or degrees from the figure's front to its left. ``rank`` makes less important poses more transparent, for methods
    that rank their keys; ``ghosts`` adds so many faint poses between each two keys. Captions say frame, from 0, and
    seconds.

    The picture is ``height_px`` tall (180 for a row) and as wide as it needs, at most ``width_px``; or exactly
    ``size_px`` (width, height). Captions are left out where they have no room. ``background=False`` leaves out the
    paper; ``scale`` is pixels to a px of a PNG: 2, or 1 with ``size_px``; ``theme`` is ``light``, ``dark``, ``page`` or
    ``notebook``.
    """
    target = None if path is None else picture_path(path)
    one_of("layout", layout, LAYOUTS)
    check_rows(per_row, layout)
    colours, wish = theme_of(theme), Wish.of(height_px, width_px, size_px)
    flag("captions", captions)
    flag("background", background)
    if title is not None:
        text("title", title)
    if isinstance(motion, KeyedMotion):
        selection = motion if selection is None else selection
        motion = motion.sample()
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion or a KeyedMotion, as kp.load or kp.unbake give")
    choice = choice_of(motion, selection, rank=flag("rank", rank), ghosts=ghosts)
    scene = scene_of(motion, choice, layout, view, ranked=rank, per_row=per_row)
    needs = Needs(title is not None, captions, SPAN_WIDTH_PX if layout == "in-place" else CAPTION_WIDTH_PX,
                  TICKS_PX if layout == "time" else 0.0, scene.n_rows)  # fmt: skip
    canvas = fit(wish, scene.place, scene.extent, needs)
    body = drawn(scene, canvas, colours)
    if title is not None:
        shown = fitting(title, canvas.width - 2 * MARGIN_PX, 14.0, bold=True)
        body += words(MARGIN_PX, MARGIN_PX + 11.0, shown, 14.0, colours["ink"], bold=True)
    says = _says(scene)
    name = motion.name if title is None else title
    svg = document(body, canvas.width, canvas.height, colours, title=name, says=says, paper=background)
    picture = Picture(svg, canvas.width, canvas.height, says)
    if target is not None:
        picture.save(target, scale=_pixels_to_px(scale, wish))
    return picture


def _pixels_to_px(scale: float | None, wish: Wish) -> float:
    """What was asked for; else so many that an exact size is one of pixels, and others are sharp."""
    return scale if scale is not None else 1.0 if wish.exact else 2.0


def _says(scene: Scene) -> str:
    keys = scene.choice.keys.tolist()
    shown = ", ".join(map(str, keys[:40])) + (", ..." if len(keys) > 40 else "")
    poses = f"{len(keys)} poses" if len(keys) > 1 else "one pose"
    how = {"side": "side by side" if len(keys) > 1 else "alone", "time": "spaced by time", "path": "along their path",
           "expanded": "along their path, pushed apart", "in-place": "all in one place"}[scene.layout]  # fmt: skip
    rows = f" in {scene.n_rows} rows" if scene.n_rows > 1 else ""
    at = f"frames {shown}" if len(keys) > 1 else f"frame {shown}"
    return f"{poses} of {scene.motion.name} {how}{rows}, at {at}, seen from {scene.view.said}"
