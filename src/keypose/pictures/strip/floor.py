"""Floor of a strip: plane, grid and path of the figure."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.strip.canvas import Canvas
from keypose.pictures.svg import number
from keypose.pictures.theme import Theme

DEPTH_BEHIND, DEPTH_IN_FRONT = 0.075, 0.06  # of the plane around the feet, in heights
GRID_STEP = 0.5  # heights between lines
MAX_LINES = 60


def draw_plane(height: float, canvas: Canvas, theme: Theme) -> str:
    """Draw the floor at ``height`` for poses side by side."""
    top, bottom = canvas.y(height + DEPTH_BEHIND), canvas.y(height - DEPTH_IN_FRONT)
    return (f'<path d="M0 {number(top)}h{number(canvas.width)}V{number(bottom)}H0z" fill="{theme["panel"]}"/>'
            f'<path d="M0 {number(top)}h{number(canvas.width)}" stroke="{theme["grid"]}"/>')  # fmt: skip


def draw_grid(corners: Floats, sine: float, canvas: Canvas, theme: Theme) -> str:
    """Draw a grid on the floor between corners (2, 2): min and max right and towards, in heights."""
    (x0, z0), (x1, z1) = corners.tolist()
    step = GRID_STEP * max(1.0, np.ceil(max(x1 - x0, z1 - z0) / GRID_STEP / MAX_LINES))
    xs, zs = (np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step for low, high in ((x0, x1), (z0, z1)))
    left, right, back, front = canvas.x(xs[0]), canvas.x(xs[-1]), canvas.y(-sine * zs[0]), canvas.y(-sine * zs[-1])
    lines = "".join(f"M{number(canvas.x(x))} {number(back)}V{number(front)}" for x in xs.tolist())
    lines += "".join(f"M{number(left)} {number(canvas.y(-sine * z))}H{number(right)}" for z in zs.tolist())
    return f'<path d="{lines}" stroke="{theme["grid"]}" fill="none"/>'


def draw_path(points: Floats, sine: float, canvas: Canvas, theme: Theme) -> str:
    """Draw the path of the figure on the floor, points (N, 2) right and towards, with an arrow at its end."""
    px = canvas.scale * points * (1.0, sine) + (canvas.left, canvas.floor)
    step_lengths = np.linalg.norm(np.diff(px, axis=0), axis=1)
    if len(px) < 2 or step_lengths.sum() < 6.0:
        return ""
    distinct_px = px[np.concatenate(([True], step_lengths > 0.05))]
    line = "L".join(f"{number(x)} {number(y)}" for x, y in distinct_px.tolist())
    return (f'<path d="M{line}" fill="none" stroke="{theme["floor"]}" stroke-width="1.5" stroke-linejoin="round" '
            f'stroke-linecap="round"/>{_draw_arrow(distinct_px, theme)}')  # fmt: skip


def _draw_arrow(px: Floats, theme: Theme) -> str:
    far = np.linalg.norm(px - px[-1], axis=1) > 6.0
    if not far.any():
        return ""
    ahead = px[-1] - px[np.flatnonzero(far)[-1]]
    ahead = ahead / float(np.linalg.norm(ahead))
    aside = np.array((-ahead[1], ahead[0]))
    tip, a, b = px[-1] + 5 * ahead, px[-1] - 3 * ahead + 3.5 * aside, px[-1] - 3 * ahead - 3.5 * aside
    corners = "L".join(f"{number(x)} {number(y)}" for x, y in (tip.tolist(), a.tolist(), b.tolist()))
    return f'<path d="M{corners}z" fill="{theme["floor"]}"/>'
