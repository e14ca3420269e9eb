"""Renders a scene as SVG: floor, shadows, figures, captions."""

from __future__ import annotations

import numpy as np

from keypose.pictures.figure.paint import GROUP_TRANSFORM, TENTHS, paint_poses, paint_shadows
from keypose.pictures.strip import floor as ground
from keypose.pictures.strip.canvas import Canvas
from keypose.pictures.strip.captions import draw_captions as written
from keypose.pictures.strip.captions import draw_range_caption, draw_time_ticks
from keypose.pictures.strip.scene import PATH_LAYOUTS, Scene
from keypose.pictures.svg import number
from keypose.pictures.theme import Theme

FIRST_LINE_PX, AXIS_PX = 13.0, 19.0  # below the floor


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
    return f"{below}<g {GROUP_TRANSFORM}>{groups}</g>{captions}"


def _paint_order(scene: Scene) -> list[int]:
    """Return pose indices: ghosts first, then keys by time, or from far to near in path layouts."""
    keys = scene.choice.is_key
    depth = scene.poses.anchors[:, 1] if scene.layout in PATH_LAYOUTS else np.zeros(len(keys))
    return [int(k) for k in np.lexsort((scene.choice.frames, depth, keys))]


def _opacity(opacity: float) -> str:
    return "" if opacity > 0.995 else f' opacity="{opacity:.2f}"'.replace("0.", ".")


def _render_floor(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    if scene.layout not in PATH_LAYOUTS:
        floors = np.unique(canvas.offsets[:, 1])[::-1].tolist()
        return "".join(ground.draw_plane(height, canvas, theme) for height in floors)
    positions = scene.floor_path(canvas.offsets)[1]
    corners = np.stack((positions.min(axis=0) - 0.2, positions.max(axis=0) + 0.2))
    return ground.draw_grid(corners, scene.sine, canvas, theme) + ground.draw_path(positions, scene.sine, canvas, theme)


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
    text = written(positions, frames, fps, canvas, theme, times=scene.layout != "time")
    if scene.layout == "time" and len(keys) > 1:
        first, last = frames[0] / fps, frames[-1] / fps
        rate = float(x[-1] - x[0]) / (last - first)
        axis = canvas.bottom + AXIS_PX * canvas.text_scale
        text += draw_time_ticks(first, last, (float(x[0]) - rate * first, rate), axis, canvas, theme)
    return text
