"""Poses of a body as SVG: parts from far to near, each round by its light, over one shadow on the floor."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.pictures.figure.hulls import NOWHERE, outlines
from keypose.pictures.figure.solids import Solids
from keypose.pictures.figure.sticks import DASHES, sticks, strokes
from keypose.pictures.theme import TONES, Theme

TENTHS = 10.0  # paths are written in tenths of a px, as whole numbers
LIGHT = np.array((-0.24, -0.28))  # where the light part of a ball lies, in radii: up and left
LIT = 0.56  # its radius
DIRECTIONS, COARSE = 36, 24  # that outlines are found in: of figures, and of shadows
SLANT = 0.18  # how far a shadow falls to the right, per height
DEPTH_RANGE = 0.32  # heights from the farthest tone to the nearest
OUTLINE = 0.006  # heights,
THICKEST_PX = 0.9  # and no more than that
STRIPE = 0.42  # width of a stripe, in mean radii
TINY_PX = 1.2  # radius of parts on which no light and no stripe is seen
CROWD = 90  # parts from which on a figure is drawn as strokes
IN_SHADOW = 60  # parts, the longest, whose shadow is drawn then
LOOK = 'transform="scale(.1)"'  # of the group that holds what ``paint`` makes


def paint(solids: Solids, seen: Floats, scale: float, theme: Theme, *, rimmed: Bools | None = None) -> list[str]:
    """The elements of each pose, in tenths of a px: ``seen`` (F, P, 3) in px, y down, towards the viewer.

    ``scale`` is px for a height; poses that are not ``rimmed`` (F,) have no line around them.
    """
    near = _nearness(solids, seen)
    if is_crowd(solids):
        return sticks(solids, TENTHS * seen[..., :2], near, TENTHS * scale, theme)
    centres, radii = _balls(solids, seen, scale)
    is_ball, outline = radii > 0, TENTHS * min(OUTLINE * scale, THICKEST_PX)
    shone_on = centres + LIGHT * np.where(is_ball, radii, 0.0)[..., None]
    lit = np.where(is_ball, LIT * radii, NOWHERE)
    paths = outlines(np.concatenate((centres, shone_on)), np.concatenate((radii, lit)), DIRECTIONS)
    shaded, lights = paths[: len(radii)], paths[len(radii) :]
    bodies = _of_poses(shaded, len(seen))
    rim = f'fill="none" stroke="{theme["outline"]}" stroke-width="{2 * outline:.0f}"'
    is_tiny = scale * solids.there.max(axis=1) < TINY_PX
    stripes = _stripes(solids, centres, radii, is_tiny, theme)
    order = np.argsort(near + scale * solids.bias, axis=1, kind="stable").tolist()
    pairs = {side: [(theme[f"{side}_dark{tone}"], theme[f"{side}{tone}"]) for tone in range(TONES)]
             for side in ("left", "middle", "right")}  # fmt: skip
    colours = [pairs[side] for side, _ in solids.looks]
    groups = []
    for pose, (parts, tones) in enumerate(zip(order, _tones(near, scale), strict=True)):
        elements = [f'<path {rim} d="{"".join(bodies[pose])}"/>'] if rimmed is None or rimmed[pose] else []
        for part in parts:
            at, (dark, light) = pose * len(parts) + part, colours[part][tones[part]]
            if is_tiny[part]:
                elements.append(f'<path fill="{light}" d="{shaded[at]}"/>')
            else:
                elements.append(f'<path fill="{dark}" d="{shaded[at]}"/><path fill="{light}" d="{lights[at]}"/>')
            if at in stripes:
                elements.append(stripes[at])
        groups.append("".join(elements))
    return groups


def shadows(solids: Solids, on_floor: Floats, heights: Floats, scale: float, theme: Theme) -> list[str]:
    """The shadow of each pose, elements in tenths of a px on the floor as seen from above.

    ``on_floor`` (F, P, 2) are px on the floor, ``heights`` (F, P) px above it.
    """
    cast = on_floor + np.stack((SLANT * heights, np.zeros_like(heights)), axis=-1)
    if is_crowd(solids):
        width, some = max(8.0, 2 * TENTHS * scale * float(np.median(solids.radii[:, 0]))), np.arange(IN_SHADOW)
        look = f'fill="none" stroke="{theme["shadow"]}" stroke-width="{width:.0f}"'
        return [f'<path {look} d="{strokes(solids, TENTHS * pose, some)}"/>' for pose in cast]
    paths = _of_poses(outlines(*_balls(solids, cast, scale), COARSE), len(cast))
    return [f'<path fill="{theme["shadow"]}" d="{"".join(parts)}"/>' for parts in paths]


def _balls(solids: Solids, seen: Floats, scale: float) -> tuple[Floats, Floats]:
    """Centres (F N, C, 2) and radii (F N, C) of all parts of all poses, in tenths of a px."""
    radii = np.where(solids.radii > 0, TENTHS * scale * solids.radii, NOWHERE)
    centres = TENTHS * seen[:, solids.points, :2]
    return centres.reshape(-1, *centres.shape[2:]), np.tile(radii, (len(seen), 1))


def _of_poses(paths: list[str], poses: int) -> list[list[str]]:
    parts = len(paths) // poses
    return [paths[start : start + parts] for start in range(0, len(paths), parts)]


def _nearness(solids: Solids, seen: Floats) -> Floats:
    """How near the parts of each pose are (F, N), in px."""
    there = solids.radii > 0
    near: Floats = np.where(there, seen[:, solids.points, 2], 0.0).sum(axis=2) / solids.counts
    return near


def _tones(near: Floats, scale: float) -> list[list[int]]:
    """The tone of each part by its depth in its own figure."""
    part = (near - near.mean(axis=1, keepdims=True)) / (DEPTH_RANGE * scale) + 0.5
    tones: list[list[int]] = np.clip(np.rint(part * (TONES - 1)), 0, TONES - 1).astype(int).tolist()
    return tones


def _stripes(solids: Solids, centres: Floats, radii: Floats, is_tiny: Bools, theme: Theme) -> dict[int, str]:
    """The mark of the right side that is no colour, by place in ``centres``.

    It is a light line along limbs and across markers; where it would be too fine to see, the whole limb is dashed.
    """
    parts = len(solids.looks)
    marked: Ints = np.array([part for part, (_, is_striped) in enumerate(solids.looks) if is_striped], np.int32)
    rows = (np.arange(0, len(centres), parts)[:, None] + marked).ravel()  # by pose, then part
    counts, dashed = (np.tile(values[marked], len(centres) // parts) for values in (solids.counts, is_tiny))
    mean = np.maximum(radii[rows], 0.0).sum(axis=1) / counts
    across = np.where(counts == 1, mean, 0.0)[:, None] * (1.0, 0.0)
    start, end = centres[rows, 0] - across, centres[rows, counts - 1] + across
    width = np.where(dashed, 2.0, STRIPE) * mean
    lines = np.rint(np.column_stack((width, start, end - start))).astype(int).tolist()
    looks = [f' stroke-dasharray="{DASHES * w:.0f}"' if is_dashed else ""
             for w, is_dashed in zip(width.tolist(), dashed.tolist(), strict=True)]  # fmt: skip
    colour = theme["stripe"]
    return {row: f'<path stroke="{colour}" stroke-width="{w}"{look} d="M{x} {y}l{dx} {dy}"/>'
            for row, (w, x, y, dx, dy), look in zip(rows.tolist(), lines, looks, strict=True)}  # fmt: skip


def is_crowd(solids: Solids) -> bool:
    """Whether a figure has so many parts that it is drawn as strokes, those of its right side dashed."""
    return len(solids.points) > CROWD


def sides_told(solids: Solids) -> str:
    """How the sides of a figure are told apart, in a sentence; empty for one that has none."""
    sides = {side for side, _ in solids.looks}
    mark = "dashed" if is_crowd(solids) else "striped"
    told = [
        words for side, words in (("left", "left is orange"), ("right", f"right is blue and {mark}")) if side in sides
    ]
    return "; ".join(told).capitalize() + "." if told else ""
