"""Figures of many parts drawn as strokes, since shading of hundreds of limbs is slow and not visible."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.figure.solids import Solids
from keypose.pictures.theme import TONES, Theme

TONE = TONES // 2
DASHES = 2.2  # dash length of the right side, in stroke widths


def paint_sticks(solids: Solids, points: Floats, depth: Floats, scale: float, theme: Theme) -> list[str]:
    """Return the elements of each pose of ``points`` (F, P, 2), integers; sides from far to near by ``depth`` (F, N).

    ``scale`` is a height in these units. The right side is dashed.
    """
    sides = {side: np.array([k for k, (own, _) in enumerate(solids.styles) if own == side], int)
             for side in ("left", "middle", "right")}  # fmt: skip
    width = max(8.0, 2 * scale * float(np.median(solids.radii[:, 0])))
    groups = []
    for pose, near in zip(points, depth, strict=True):
        elements = []
        for side, parts in sides.items():
            if len(parts):
                dashes = f' stroke-dasharray="{DASHES * width:.0f}"' if side == "right" else ""
                elements.append((float(near[parts].mean()), f'<path stroke="{theme[f"{side}{TONE}"]}"{dashes} '
                              f'd="{strokes_path(solids, pose, parts)}"/>'))  # fmt: skip
        groups.append(f'<g fill="none" stroke-width="{width:.0f}" stroke-linecap="round" stroke-linejoin="round">'
                     f'{"".join(element for _, element in sorted(elements))}</g>')  # fmt: skip
    return groups


def strokes_path(solids: Solids, pose: Floats, parts: np.ndarray) -> str:
    """Return the path along the balls of parts at ``pose`` (P, 2)."""
    rounded = np.rint(pose).astype(int)
    balls = solids.counts[parts].tolist()
    path = []
    for points, count in zip(solids.points[parts].tolist(), balls, strict=True):
        (x, y), *others = rounded[points[:count]].tolist()
        path.append(f"M{x} {y}" + ("".join(f"L{a} {b}" for a, b in others) if others else "h0"))
    return "".join(path)
