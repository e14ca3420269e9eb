"""What is drawn of a scene: floor, shadows, figures, captions."""

from __future__ import annotations

import numpy as np

from keypose.pictures.figure.paint import LOOK, TENTHS, paint, shadows
from keypose.pictures.strip import floor as ground
from keypose.pictures.strip.canvas import Canvas
from keypose.pictures.strip.captions import captions as written
from keypose.pictures.strip.captions import span, ticks
from keypose.pictures.strip.scene import ON_PATHS, Scene
from keypose.pictures.svg import number
from keypose.pictures.theme import Theme

FIRST_LINE_PX, AXIS_PX = 13.0, 19.0  # below the floor


def drawn(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    """All that is in the picture but its title."""
    shots, offsets = scene.shots, canvas.offsets
    px = shots.seen * (canvas.scale, -canvas.scale, canvas.scale)
    px[..., 0] += (canvas.left + canvas.scale * offsets[:, 0])[:, None]
    px[..., 1] += (canvas.floor - canvas.scale * offsets[:, 1])[:, None]
    figures = paint(shots.solids, px, canvas.scale, theme, rimmed=scene.choice.is_key)
    order = _painting_order(scene)
    groups = "".join(f"<g{_opacity(scene.opacity[k])}>{figures[k]}</g>" for k in order)
    below = _floor(scene, canvas, theme) + _shadows(scene, canvas, theme)
    return f"{below}<g {LOOK}>{groups}</g>{_captions(scene, canvas, theme) if canvas.captions else ''}"


def _painting_order(scene: Scene) -> list[int]:
    """Ghosts first; then keys in order of time, or from far to near where they stand about."""
    keys = scene.choice.is_key
    depth = scene.shots.anchors[:, 1] if scene.layout in ON_PATHS else np.zeros(len(keys))
    return [int(k) for k in np.lexsort((scene.choice.frames, depth, keys))]


def _opacity(opacity: float) -> str:
    return "" if opacity > 0.995 else f' opacity="{opacity:.2f}"'.replace("0.", ".")


def _floor(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    if scene.layout not in ON_PATHS:
        floors = np.unique(canvas.offsets[:, 1])[::-1].tolist()
        return "".join(ground.plane(height, canvas, theme) for height in floors)
    places = scene.floor_way(canvas.offsets)[1]
    corners = np.stack((places.min(axis=0) - 0.2, places.max(axis=0) + 0.2))
    return ground.grid(corners, scene.sine, canvas, theme) + ground.way(places, scene.sine, canvas, theme)


def _shadows(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    shots, scale = scene.shots, canvas.scale
    on_floor = scale * shots.flat
    on_floor[..., 0] += (canvas.left + scale * canvas.offsets[:, 0])[:, None]
    on_floor[..., 1] -= (scale * canvas.offsets[:, 1] / scene.sine)[:, None]
    each = shadows(shots.solids, on_floor, scale * shots.heights, scale, theme)
    cast = "".join(f"<g{_opacity(o)}>{path}</g>" for o, path in zip(scene.opacity.tolist(), each, strict=True))
    return f'<g transform="matrix({1 / TENTHS:g} 0 0 {scene.sine / TENTHS:.4f} 0 {number(canvas.floor)})">{cast}</g>'


def _captions(scene: Scene, canvas: Canvas, theme: Theme) -> str:
    keys = np.flatnonzero(scene.choice.is_key)
    frames, fps = scene.choice.frames[keys].tolist(), scene.motion.fps
    boxes = scene.shots.boxes[keys] + canvas.offsets[keys][:, None]
    x = canvas.left + canvas.scale * boxes[:, :, 0].mean(axis=1)
    y = canvas.floor - canvas.scale * scene.row_ends(canvas.offsets)[keys] + FIRST_LINE_PX * canvas.text
    if scene.layout == "in-place":
        return span(frames, fps, canvas.width / 2, float(y[0]), canvas, theme)
    if scene.layout in ON_PATHS:
        shadows_low = scene.shadow_boxes[keys, 0, 1] + canvas.offsets[keys, 1]
        low = np.minimum(boxes[:, 0, 1], shadows_low)
        x = canvas.left + canvas.scale * canvas.offsets[keys, 0]
        y = canvas.floor - canvas.scale * low + FIRST_LINE_PX * canvas.text
    places = list(zip(x.tolist(), y.tolist(), strict=True))
    text = written(places, frames, fps, canvas, theme, times=scene.layout != "time")
    if scene.layout == "time" and len(keys) > 1:
        first, last = frames[0] / fps, frames[-1] / fps
        rate = float(x[-1] - x[0]) / (last - first)
        axis = canvas.bottom + AXIS_PX * canvas.text
        text += ticks(first, last, (float(x[0]) - rate * first, rate), axis, canvas, theme)
    return text
