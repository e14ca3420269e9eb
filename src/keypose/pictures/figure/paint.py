"""Paints poses of a body as SVG: shaded parts from far to near, and shadows on the floor."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.pictures.figure.hulls import ABSENT, hull_paths
from keypose.pictures.figure.solids import Solids
from keypose.pictures.figure.sticks import DASHES, paint_sticks, strokes_path
from keypose.pictures.theme import TONES, Theme

TENTHS = 10.0  # paths are written in tenths of a px, as integers
LIGHT = np.array((-0.24, -0.28))  # offset of the lit area of a ball, in radii: up and left
LIT_RADIUS = 0.56  # of the lit area, in radii
N_DIRECTIONS, N_SHADOW_DIRECTIONS = 36, 24  # sampled for outlines of figures and of shadows
SLANT = 0.18  # of a shadow to the right, per height
DEPTH_RANGE = 0.32  # heights from the farthest tone to the nearest
OUTLINE = 0.006  # width in heights
MAX_OUTLINE_PX = 0.9  # maximum width
STRIPE = 0.42  # width of a stripe, in mean radii
TINY_PX = 1.2  # radius of parts too small for shading and stripes
MAX_SOLID_PARTS = 90  # figures with more parts are drawn as strokes
MAX_SHADOW_PARTS = 60  # in the shadow of a figure of strokes, the longest
GROUP_TRANSFORM = 'transform="scale(.1)"'  # of the group around the output of ``paint_poses``


def paint_poses(
    solids: Solids, projected: Floats, scale: float, theme: Theme, *, has_outline: Bools | None = None
) -> list[str]:
    """Return the elements of each pose in tenths of a px, from ``projected`` (F, P, 3) in px, y down.

    ``scale`` is px per height; poses without ``has_outline`` (F,) have no outline.
    """
    near = _nearness(solids, projected)
    if uses_strokes(solids):
        return paint_sticks(solids, TENTHS * projected[..., :2], near, TENTHS * scale, theme)
    centres, radii = _balls_in_px(solids, projected, scale)
    is_ball, outline = radii > 0, TENTHS * min(OUTLINE * scale, MAX_OUTLINE_PX)
    light_centres = centres + LIGHT * np.where(is_ball, radii, 0.0)[..., None]
    light_radii = np.where(is_ball, LIT_RADIUS * radii, ABSENT)
    paths = hull_paths(np.concatenate((centres, light_centres)), np.concatenate((radii, light_radii)), N_DIRECTIONS)
    dark_paths, light_paths = paths[: len(radii)], paths[len(radii) :]
    bodies = _split_by_pose(dark_paths, len(projected))
    outline_attributes = f'fill="none" stroke="{theme["outline"]}" stroke-width="{2 * outline:.0f}"'
    is_tiny = scale * solids.ball_radii.max(axis=1) < TINY_PX
    stripes = _stripes(solids, centres, radii, is_tiny, theme)
    order = np.argsort(near + scale * solids.bias, axis=1, kind="stable").tolist()
    pairs = {side: [(theme[f"{side}_dark{tone}"], theme[f"{side}{tone}"]) for tone in range(TONES)]
             for side in ("left", "middle", "right")}  # fmt: skip
    colours = [pairs[side] for side, _ in solids.styles]
    groups = []
    for pose, (parts, tones) in enumerate(zip(order, _tones(near, scale), strict=True)):
        elements = (
            [f'<path {outline_attributes} d="{"".join(bodies[pose])}"/>']
            if has_outline is None or has_outline[pose]
            else []
        )
        for part in parts:
            at, (dark, light) = pose * len(parts) + part, colours[part][tones[part]]
            if is_tiny[part]:
                elements.append(f'<path fill="{light}" d="{dark_paths[at]}"/>')
            else:
                elements.append(
                    f'<path fill="{dark}" d="{dark_paths[at]}"/><path fill="{light}" d="{light_paths[at]}"/>'
                )
            if at in stripes:
                elements.append(stripes[at])
        groups.append("".join(elements))
    return groups


def paint_shadows(solids: Solids, on_floor: Floats, heights: Floats, scale: float, theme: Theme) -> list[str]:
    """Return the shadow of each pose in tenths of a px on the floor as seen from above.

    ``on_floor`` (F, P, 2) are px on the floor, ``heights`` (F, P) px above it.
    """
    cast = on_floor + np.stack((SLANT * heights, np.zeros_like(heights)), axis=-1)
    if uses_strokes(solids):
        width, some = max(8.0, 2 * TENTHS * scale * float(np.median(solids.radii[:, 0]))), np.arange(MAX_SHADOW_PARTS)
        attributes = f'fill="none" stroke="{theme["shadow"]}" stroke-width="{width:.0f}"'
        return [f'<path {attributes} d="{strokes_path(solids, TENTHS * pose, some)}"/>' for pose in cast]
    paths = _split_by_pose(hull_paths(*_balls_in_px(solids, cast, scale), N_SHADOW_DIRECTIONS), len(cast))
    return [f'<path fill="{theme["shadow"]}" d="{"".join(parts)}"/>' for parts in paths]


def _balls_in_px(solids: Solids, projected: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return centres (F N, C, 2) and radii (F N, C) of all parts of all poses, in tenths of a px."""
    radii = np.where(solids.radii > 0, TENTHS * scale * solids.radii, ABSENT)
    centres = TENTHS * projected[:, solids.points, :2]
    return centres.reshape(-1, *centres.shape[2:]), np.tile(radii, (len(projected), 1))


def _split_by_pose(paths: list[str], poses: int) -> list[list[str]]:
    parts = len(paths) // poses
    return [paths[start : start + parts] for start in range(0, len(paths), parts)]


def _nearness(solids: Solids, projected: Floats) -> Floats:
    """Return the mean depth of the parts of each pose (F, N) in px, towards the viewer."""
    is_ball = solids.radii > 0
    near: Floats = np.where(is_ball, projected[:, solids.points, 2], 0.0).sum(axis=2) / solids.counts
    return near


def _tones(near: Floats, scale: float) -> list[list[int]]:
    """Return the tone of each part by its depth within its figure."""
    part = (near - near.mean(axis=1, keepdims=True)) / (DEPTH_RANGE * scale) + 0.5
    tones: list[list[int]] = np.clip(np.rint(part * (TONES - 1)), 0, TONES - 1).astype(int).tolist()
    return tones


def _stripes(solids: Solids, centres: Floats, radii: Floats, is_tiny: Bools, theme: Theme) -> dict[int, str]:
    """Return stripes that mark the right side, by index in ``centres``.

    A light line along limbs and across markers; if it is too thin to see, the whole limb is dashed.
    """
    parts = len(solids.styles)
    striped_parts: Ints = np.array([part for part, (_, is_striped) in enumerate(solids.styles) if is_striped], np.int32)
    rows = (np.arange(0, len(centres), parts)[:, None] + striped_parts).ravel()  # by pose, then part
    counts, is_dashed_row = (
        np.tile(values[striped_parts], len(centres) // parts) for values in (solids.counts, is_tiny)
    )
    mean = np.maximum(radii[rows], 0.0).sum(axis=1) / counts
    across = np.where(counts == 1, mean, 0.0)[:, None] * (1.0, 0.0)
    start, end = centres[rows, 0] - across, centres[rows, counts - 1] + across
    width = np.where(is_dashed_row, 2.0, STRIPE) * mean
    lines = np.rint(np.column_stack((width, start, end - start))).astype(int).tolist()
    dash_attributes = [f' stroke-dasharray="{DASHES * w:.0f}"' if is_dashed else ""
             for w, is_dashed in zip(width.tolist(), is_dashed_row.tolist(), strict=True)]  # fmt: skip
    colour = theme["stripe"]
    return {row: f'<path stroke="{colour}" stroke-width="{w}"{look} d="M{x} {y}l{dx} {dy}"/>'
            for row, (w, x, y, dx, dy), look in zip(rows.tolist(), lines, dash_attributes, strict=True)}  # fmt: skip


def uses_strokes(solids: Solids) -> bool:
    """Return whether a figure has so many parts that it is drawn as strokes, dashed on the right side."""
    return len(solids.points) > MAX_SOLID_PARTS


def describe_sides(solids: Solids) -> str:
    """Return a sentence on how left and right are drawn; empty for figures without sides."""
    sides = {side for side, _ in solids.styles}
    mark = "dashed" if uses_strokes(solids) else "striped"
    texts = [
        text for side, text in (("left", "left is orange"), ("right", f"right is blue and {mark}")) if side in sides
    ]
    return "; ".join(texts).capitalize() + "." if texts else ""
