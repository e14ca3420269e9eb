"""Draws a strip: key poses of a motion in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

import numpy as np

from keypose.curves.capture_faults import warn_of_spikes
from keypose.errors import OptionError, format_count
from keypose.model import KeyedMotion, Motion
from keypose.options.pictures import Layout, ThemeName
from keypose.pictures.figure.paint import GROUP_TRANSFORM, TENTHS, paint_poses, paint_shadows
from keypose.pictures.joint_rows import Keys
from keypose.pictures.strip.canvas import (
    CAPTION_WIDTH_PX,
    LABEL_FONT_PX,
    LAYOUTS,
    MARGIN_PX,
    SPAN_WIDTH_PX,
    TICKS_PX,
    Canvas,
    Decorations,
    SizeOptions,
    TimeAxis,
    check_rows,
    draw_captions,
    draw_grid,
    draw_path,
    draw_plane,
    draw_range_caption,
    draw_time_grid,
    draw_time_ticks,
    fit_canvas,
)
from keypose.pictures.strip.scene import PATH_LAYOUTS, Scene, build_scene, choose_rows
from keypose.pictures.svg import (
    Picture,
    Theme,
    document,
    find_theme,
    fit_text,
    number,
    picture_path,
    text_element,
    text_width,
)
from keypose.validation import check_bool, check_choice, check_text

FIRST_LINE_PX, AXIS_PX = 13.0, 19.0  # below the floor
ARRANGEMENTS: Mapping[Layout, str] = {
    "side": "side by side",
    "time": "spaced by time",
    "path": "along their path",
    "expanded": "along their path, pushed apart",
    "in-place": "all in one place",
}


def strip(
    motion: Motion | KeyedMotion,
    selection: Keys | Mapping[str, Keys] = None,
    path: str | PathLike[str] | None = None,
    *,
    layout: Layout = "side",
    per_row: int | None = None,
    view: str | float = "best",
    theme: ThemeName = "light",
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
    ``farthest``, of which a FormatWarning names those at spikes of the capture. A dict of these by
    label, such as ``{"farthest": ..., "spread": ...}``, draws a labelled row for each.
    Poses have the same scale and are in order of time. The figure's left side is warm and dark, its right side cold,
    light and striped.

    ``layout`` is ``side``: side by side, in rows of ``per_row`` poses if given; ``time``: spaced by time, all rows
    alike; ``path``: at
    their positions in the world; ``expanded``: along the path but moved apart, so that no poses overlap; ``in-place``:
    all at one position, earlier ones fainter. ``view`` is ``best``, with most movement; ``front``, ``left``,
    ``right``, ``back``, ``three-quarter``; or degrees from the figure's front to its left. ``rank`` makes less
    important poses more transparent, for methods that rank their keys; ``ghosts`` is the number of faint poses between
    each two keys. With ``captions`` each pose has its frame, counted from 0, and seconds; ``title`` is printed above
    the poses.

    The picture is ``height_px`` tall (180 for a row) and as wide as needed, at most ``width_px``; or exactly
    ``size_px`` (width, height). Captions are omitted if they do not fit. ``background=False`` makes the background
    transparent; ``scale`` is PNG pixels per px: by default 2, or 1 with ``size_px``; ``theme`` is ``light``, ``dark``,
    ``page`` or ``notebook``.
    """
    target = None if path is None else picture_path(path)
    check_choice("layout", layout, LAYOUTS)
    has_labels = isinstance(selection, Mapping)
    check_rows(per_row, layout, has_labels=has_labels)
    colours, size = find_theme(theme), SizeOptions.parse(height_px, width_px, size_px)
    check_bool("captions", captions)
    check_bool("background", background)
    if title is not None:
        check_text("title", title)
    if isinstance(motion, KeyedMotion):
        selection = motion if selection is None else selection
        motion = motion.sample()
    if not isinstance(motion, Motion):
        raise OptionError(type(motion).__name__, expected="a Motion or a KeyedMotion, as kp.load or kp.unbake give")
    choice = choose_rows(motion, selection, rank=check_bool("rank", rank), ghosts=ghosts, per_row=per_row)
    if selection is None:
        warn_of_spikes(motion, choice.keys)
    scene = build_scene(motion, choice, layout, view, is_ranked=rank)
    decorations = Decorations(
        title is not None,
        captions,
        SPAN_WIDTH_PX if layout == "in-place" else CAPTION_WIDTH_PX,
        TICKS_PX if layout == "time" else 0.0,
        scene.n_rows,
        max((text_width(label, LABEL_FONT_PX, bold=True) for label in choice.labels), default=0.0),
    )
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
    seen_from = f"seen from {scene.view.description}"
    if len(keys) == 1:
        return f"one pose of {scene.motion.name}, at frame {keys[0]}, {seen_from}"
    frames_text = ", ".join(map(str, keys[:40])) + (", ..." if len(keys) > 40 else "")
    arrangement = ARRANGEMENTS[scene.layout]
    if scene.choice.labels:
        return f"{len(keys)} poses of {scene.motion.name} {arrangement}, {_describe_rows(scene)}, {seen_from}"
    rows = f" in {scene.n_rows} rows" if scene.n_rows > 1 else ""
    return f"{len(keys)} poses of {scene.motion.name} {arrangement}{rows}, at frames {frames_text}, {seen_from}"


def _describe_rows(scene: Scene) -> str:
    is_key, frames = scene.choice.is_key, scene.choice.frames
    texts = []
    for row, label in enumerate(scene.choice.labels):
        keys = frames[is_key & (scene.rows == row)].tolist()
        frames_text = ", ".join(map(str, keys[:40])) + (", ..." if len(keys) > 40 else "")
        texts.append(f"{label} ({'frame' if len(keys) == 1 else 'frames'} {frames_text})")
    return f"in {format_count(len(texts), 'row')}: {', '.join(texts)}"


def render_scene(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    """Return the SVG of the picture without its title."""
    poses, offsets = scene.poses, canvas.offsets
    px = poses.projected * (canvas.scale, -canvas.scale, canvas.scale)
    px[..., 0] += (canvas.left + canvas.scale * offsets[:, 0])[:, None]
    px[..., 1] += (canvas.floor - canvas.scale * offsets[:, 1])[:, None]
    figures = paint_poses(poses.solids, px, canvas.scale, theme, has_outline=scene.choice.is_key)
    order = _paint_order(scene)
    groups = "".join(f"<g{_opacity(scene.opacity[k])}>{figures[k]}</g>" for k in order)
    below = _render_floor(scene, canvas, theme) + _render_shadows(scene, canvas, theme)
    captions = _render_captions(scene, canvas, theme) if canvas.has_captions else ""
    labels = _render_labels(scene, canvas, theme)
    return f"{below}<g {GROUP_TRANSFORM}>{groups}</g>{labels}{captions}"


def _paint_order(scene: Scene) -> list[int]:
    """Return pose indices, row by row: ghosts first, then keys by time, or from far to near in path layouts."""
    keys = scene.choice.is_key
    depth = scene.poses.anchors[:, 1] if scene.layout in PATH_LAYOUTS else np.zeros(len(keys))
    return [int(k) for k in np.lexsort((scene.choice.frames, depth, keys, scene.rows))]


def _opacity(opacity: float) -> str:
    return "" if opacity > 0.995 else f' opacity="{opacity:.2f}"'.replace("0.", ".")


def _render_floor(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    if scene.layout not in PATH_LAYOUTS:
        floors = np.unique(canvas.offsets[:, 1])[::-1].tolist()
        planes = "".join(draw_plane(height, canvas, theme) for height in floors)
        axis = _time_axis(scene, canvas)
        if axis is None or scene.n_rows == 1 or not canvas.has_captions:
            return planes
        top = canvas.y(scene.label_heights(canvas.offsets)[0])
        return planes + draw_time_grid(axis, top, canvas.bottom + AXIS_PX * canvas.text_scale, canvas, theme)
    positions = scene.floor_path(canvas.offsets)[1]
    corners = np.stack((positions.min(axis=0) - 0.2, positions.max(axis=0) + 0.2))
    return draw_grid(corners, scene.sine, canvas, theme) + draw_path(positions, scene.sine, canvas, theme)


def _render_shadows(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    poses, scale = scene.poses, canvas.scale
    on_floor = scale * poses.flat
    on_floor[..., 0] += (canvas.left + scale * canvas.offsets[:, 0])[:, None]
    on_floor[..., 1] -= (scale * canvas.offsets[:, 1] / scene.sine)[:, None]
    shadow_paths = paint_shadows(poses.solids, on_floor, scale * poses.heights, scale, theme)
    cast = "".join(f"<g{_opacity(o)}>{path}</g>" for o, path in zip(scene.opacity.tolist(), shadow_paths, strict=True))
    return f'<g transform="matrix({1 / TENTHS:g} 0 0 {scene.sine / TENTHS:.4f} 0 {number(canvas.floor)})">{cast}</g>'


def _render_captions(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    keys = np.flatnonzero(scene.choice.is_key)
    frames, fps = scene.choice.frames[keys].tolist(), scene.motion.fps
    boxes = scene.poses.boxes[keys] + canvas.offsets[keys][:, None]
    x = canvas.left + canvas.scale * boxes[:, :, 0].mean(axis=1)
    y = canvas.floor - canvas.scale * scene.row_ends(canvas.offsets)[keys] + FIRST_LINE_PX * canvas.text_scale
    if scene.layout == "in-place":
        return draw_range_caption(frames, fps, canvas.width / 2, float(y[0]), canvas, theme)
    if scene.layout in PATH_LAYOUTS:
        shadows_low = scene.shadow_boxes[keys, 0, 1] + canvas.offsets[keys, 1]
        low = np.minimum(boxes[:, 0, 1], shadows_low)
        x = canvas.left + canvas.scale * canvas.offsets[keys, 0]
        y = canvas.floor - canvas.scale * low + FIRST_LINE_PX * canvas.text_scale
    positions = list(zip(x.tolist(), y.tolist(), strict=True))
    text = draw_captions(positions, frames, fps, canvas, theme, times=scene.layout != "time")
    axis = _time_axis(scene, canvas)
    if axis is not None:
        text += draw_time_ticks(axis, canvas.bottom + AXIS_PX * canvas.text_scale, canvas, theme)
    return text


def _time_axis(scene: Scene, canvas: Canvas) -> TimeAxis | None:
    """Return the time axis of layout "time"; None for other layouts, and if all keys are in one frame."""
    keys = np.flatnonzero(scene.choice.is_key)
    times = scene.choice.frames[keys] / scene.motion.fps
    first, last = int(times.argmin()), int(times.argmax())
    duration = float(times[last] - times[first])
    if scene.layout != "time" or duration == 0:
        return None
    middles = scene.poses.boxes[keys, :, 0].mean(axis=1) + canvas.offsets[keys, 0]
    rate = canvas.scale * float(middles[last] - middles[first]) / duration
    x_at_zero = canvas.x(float(middles[first])) - rate * float(times[first])
    return TimeAxis(float(times[first]), float(times[last]), x_at_zero, rate)


def _render_labels(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    """Draw the label of each row above its poses."""
    font_px, texts = canvas.text_scale * LABEL_FONT_PX, []
    for label, height in zip(scene.choice.labels, scene.label_heights(canvas.offsets), strict=False):
        text = fit_text(label, canvas.width - 2 * MARGIN_PX, font_px, bold=True)
        texts.append(text_element(MARGIN_PX, canvas.y(height) - 0.4 * font_px, text, font_px, theme["ink"], bold=True))
    return "".join(texts)
