"""Figures of very many parts, as strokes: nobody sees light on hundreds of limbs, but everybody waits for them."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats
from keypose.pictures.figure.solids import Solids
from keypose.pictures.theme import TONES, Theme

TONE = TONES // 2
DASHES = 2.2  # length of a dash of the right side, in widths


def sticks(solids: Solids, points: Floats, depth: Floats, scale: float, theme: Theme) -> list[str]:
    """Elements for each pose of ``points`` (F, P, 2), whole numbers; sides from far to near by ``depth`` (F, N).

    ``scale`` is what a height is in these numbers. The right side is dashed, which is no colour.
    """
    sides = {side: np.array([k for k, (own, _) in enumerate(solids.looks) if own == side], int)
             for side in ("left", "middle", "right")}  # fmt: skip
    width = max(8.0, 2 * scale * float(np.median(solids.radii[:, 0])))
    drawn = []
    for pose, near in zip(points, depth, strict=True):
        found = []
        for side, parts in sides.items():
            if len(parts):
                dashes = f' stroke-dasharray="{DASHES * width:.0f}"' if side == "right" else ""
                found.append((float(near[parts].mean()), f'<path stroke="{theme[f"{side}{TONE}"]}"{dashes} '
                              f'd="{strokes(solids, pose, parts)}"/>'))  # fmt: skip
        drawn.append(f'<g fill="none" stroke-width="{width:.0f}" stroke-linecap="round" stroke-linejoin="round">'
                     f'{"".join(element for _, element in sorted(found))}</g>')  # fmt: skip
    return drawn


def strokes(solids: Solids, pose: Floats, parts: np.ndarray) -> str:
    """The path along the balls of parts at ``pose`` (P, 2)."""
    whole = np.rint(pose).astype(int)
    balls = solids.counts[parts].tolist()
    path = []
    for points, count in zip(solids.points[parts].tolist(), balls, strict=True):
        (x, y), *others = whole[points[:count]].tolist()
        path.append(f"M{x} {y}" + ("".join(f"L{a} {b}" for a, b in others) if others else "h0"))
    return "".join(path)
