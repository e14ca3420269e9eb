"""Paints poses of a body as SVG: shaded hulls from far to near, and shadows on the floor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from keypose.anatomy.names import parse_name
from keypose.arrays import Bools, Floats, Ints
from keypose.cache import cache_weakly
from keypose.kinematics import end_positions, forward, up_axis
from keypose.model import Motion, Skeleton
from keypose.pictures.figure.body import ABSENT, Side, Solids, hull_paths
from keypose.pictures.svg import TONES, Theme
from keypose.rotations import to_matrix

TENTHS = 10.0  # paths are written in tenths of a px, as integers
LIGHT = np.array((-0.24, -0.28))  # offset of the lit area of a ball, in radii: up and left
LIT_RADIUS = 0.56  # of the lit area, in radii
N_DIRECTIONS, N_SHADOW_DIRECTIONS = 36, 24  # sampled for outlines of figures and of shadows
SLANT = 0.18  # of a shadow to the right, per height
DEPTH_RANGE = 0.32  # heights from the farthest tone to the nearest
OUTLINE = 0.006  # width in heights
MAX_OUTLINE_PX = 0.9  # maximum width
STRIPE = 0.42  # width of a stripe, in mean radii
TINY_PX = 1.2  # radius of hulls too small for shading and stripes
MAX_SOLID_HULLS = 90  # figures with more hulls are drawn as strokes
MAX_SHADOW_HULLS = 60  # maximum number of hulls, the longest ones, in the shadow of a figure of strokes
GROUP_TRANSFORM = 'transform="scale(.1)"'  # of the group around the output of ``paint_poses``

TONE = TONES // 2
DASHES = 2.2  # dash length of the right side, in stroke widths

N_POSES = 48  # number of poses of the motion for measuring figure, view and floor
MIN_AGREEMENT = 0.5  # length of the mean of unit vectors with a common direction
STATURE_SHARE = 0.85  # of the height: thigh, shin, and column from hips to head
MIN_LENGTH = 1e-300


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
    for pose, (hulls, tones) in enumerate(zip(order, _tones(near, scale), strict=True)):
        elements = (
            [f'<path {outline_attributes} d="{"".join(bodies[pose])}"/>']
            if has_outline is None or has_outline[pose]
            else []
        )
        for hull in hulls:
            at, (dark, light) = pose * len(hulls) + hull, colours[hull][tones[hull]]
            if is_tiny[hull]:
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
        width, some = max(8.0, 2 * TENTHS * scale * float(np.median(solids.radii[:, 0]))), np.arange(MAX_SHADOW_HULLS)
        attributes = f'fill="none" stroke="{theme["shadow"]}" stroke-width="{width:.0f}"'
        return [f'<path {attributes} d="{strokes_path(solids, TENTHS * pose, some)}"/>' for pose in cast]
    paths = _split_by_pose(hull_paths(*_balls_in_px(solids, cast, scale), N_SHADOW_DIRECTIONS), len(cast))
    return [f'<path fill="{theme["shadow"]}" d="{"".join(hulls)}"/>' for hulls in paths]


def _balls_in_px(solids: Solids, projected: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return centres (F N, C, 2) and radii (F N, C) of all hulls of all poses, in tenths of a px."""
    radii = np.where(solids.radii > 0, TENTHS * scale * solids.radii, ABSENT)
    centres = TENTHS * projected[:, solids.points, :2]
    return centres.reshape(-1, *centres.shape[2:]), np.tile(radii, (len(projected), 1))


def _split_by_pose(paths: list[str], poses: int) -> list[list[str]]:
    n_hulls = len(paths) // poses
    return [paths[start : start + n_hulls] for start in range(0, len(paths), n_hulls)]


def _nearness(solids: Solids, projected: Floats) -> Floats:
    """Return the mean depth of the hulls of each pose (F, N) in px, towards the viewer."""
    is_ball = solids.radii > 0
    near: Floats = np.where(is_ball, projected[:, solids.points, 2], 0.0).sum(axis=2) / solids.counts
    return near


def _tones(near: Floats, scale: float) -> list[list[int]]:
    """Return the tone of each hull by its depth within its figure."""
    share = (near - near.mean(axis=1, keepdims=True)) / (DEPTH_RANGE * scale) + 0.5
    tones: list[list[int]] = np.clip(np.rint(share * (TONES - 1)), 0, TONES - 1).astype(int).tolist()
    return tones


def _stripes(solids: Solids, centres: Floats, radii: Floats, is_tiny: Bools, theme: Theme) -> dict[int, str]:
    """Return stripes that mark the right side, by index in ``centres``.

    A stripe is a light line along limbs and across markers; if it would be too thin to be visible, the whole limb is
    dashed.
    """
    n_hulls = len(solids.styles)
    striped_hulls: Ints = np.array([hull for hull, (_, is_striped) in enumerate(solids.styles) if is_striped], np.int32)
    rows = (np.arange(0, len(centres), n_hulls)[:, None] + striped_hulls).ravel()  # by pose, then hull
    counts, is_dashed_row = (
        np.tile(values[striped_hulls], len(centres) // n_hulls) for values in (solids.counts, is_tiny)
    )
    mean = np.maximum(radii[rows], 0.0).sum(axis=1) / counts
    across = np.where(counts == 1, mean, 0.0)[:, None] * (1.0, 0.0)
    start, end = centres[rows, 0] - across, centres[rows, counts - 1] + across
    width = np.where(is_dashed_row, 2.0, STRIPE) * mean
    lines = np.rint(np.column_stack((width, start, end - start))).astype(int).tolist()
    dash_attributes = [f' stroke-dasharray="{DASHES * w:.0f}"' if is_dashed else ""
             for w, is_dashed in zip(width.tolist(), is_dashed_row.tolist(), strict=True)]  # fmt: skip
    colour = theme["stripe"]
    return {row: f'<path stroke="{colour}" stroke-width="{w}"{dashes} d="M{x} {y}l{dx} {dy}"/>'
            for row, (w, x, y, dx, dy), dashes in zip(rows.tolist(), lines, dash_attributes, strict=True)}  # fmt: skip


def uses_strokes(solids: Solids) -> bool:
    """Return whether a figure has so many hulls that it is drawn as strokes, dashed on the right side."""
    return len(solids.points) > MAX_SOLID_HULLS


def describe_sides(solids: Solids) -> str:
    """Return a sentence on how left and right are drawn; empty for figures without sides."""
    sides = {side for side, _ in solids.styles}
    mark = "dashed" if uses_strokes(solids) else "striped"
    texts = [
        text for side, text in (("left", "left is orange"), ("right", f"right is blue and {mark}")) if side in sides
    ]
    return "; ".join(texts).capitalize() + "." if texts else ""


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
        for side, hulls in sides.items():
            if len(hulls):
                dashes = f' stroke-dasharray="{DASHES * width:.0f}"' if side == "right" else ""
                elements.append((float(near[hulls].mean()), f'<path stroke="{theme[f"{side}{TONE}"]}"{dashes} '
                              f'd="{strokes_path(solids, pose, hulls)}"/>'))  # fmt: skip
        groups.append(f'<g fill="none" stroke-width="{width:.0f}" stroke-linecap="round" stroke-linejoin="round">'
                     f'{"".join(element for _, element in sorted(elements))}</g>')  # fmt: skip
    return groups


def strokes_path(solids: Solids, pose: Floats, hulls: np.ndarray) -> str:
    """Return the path along the balls of hulls at ``pose`` (P, 2)."""
    rounded = np.rint(pose).astype(int)
    balls = solids.counts[hulls].tolist()
    path = []
    for points, count in zip(solids.points[hulls].tolist(), balls, strict=True):
        (x, y), *others = rounded[points[:count]].tolist()
        path.append(f"M{x} {y}" + ("".join(f"L{a} {b}" for a, b in others) if others else "h0"))
    return "".join(path)


@dataclass(frozen=True)
class Sample:
    """Poses spread over a motion, and the joints of its body parts."""

    skeleton: Skeleton
    world: Floats  # (F, J + E, 3) joints, then end sites
    rotations: Floats  # (F, J, 4)
    parents: Ints  # (J + E,)
    joints: dict[str, int]  # by body part
    upward: Floats  # (3,)
    size: float

    def mean_distance(self, a: int, b: int) -> float:
        """Return the mean distance of two points."""
        differences = self.world[:, a] - self.world[:, b]
        return float(np.sqrt(np.einsum("fk,fk->f", differences, differences)).mean())

    def local_direction(self, joint: int, vectors: Floats) -> Floats | None:
        """Return the mean direction of world ``vectors`` (F, 3) in the frame of ``joint``; None if they disagree."""
        inside = normalise(np.einsum("fij,fi->fj", self._axes[:, joint], vectors)).mean(axis=0)
        return normalise(inside) if inside @ inside > MIN_AGREEMENT * MIN_AGREEMENT else None

    def children(self, point: int) -> list[int]:
        """Return the child joints and end sites of a joint."""
        return self._children.get(point, [])

    @cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        for point, parent in enumerate(self.parents.tolist()):
            children.setdefault(parent, []).append(point)
        return children

    def chain(self, joint: int, above: int) -> list[int]:
        """Return the joint and those between it and ``above`` (excluded); empty if it is no descendant."""
        line = []
        while joint >= 0 and joint != above:
            line.append(joint)
            joint = int(self.parents[joint])
        return line if joint == above else []

    @cached_property
    def column(self) -> list[int]:
        """Existing joints of hips, spine, neck and head."""
        names = [part for part in self.joints if part.rstrip("0123456789") in ("spine", "neck")]
        body_parts = ("hips", *sorted(names, key=self.joints.__getitem__), "head")
        return [self.joints[name] for name in body_parts if name in self.joints]

    @property
    def is_animal(self) -> bool:
        """Whether the body has a tail: its column is then level and its head in front."""
        return any(part.startswith("tail") for part in self.joints)

    @cached_property
    def _axes(self) -> Floats:
        """World-from-joint matrices (F, J, 3, 3)."""
        return to_matrix(self.rotations)

    @cached_property
    def fronts(self) -> Floats | None:
        """Direction the body faces in each pose, unit vectors (F, 3); None without sides or column.

        The cross product of the directions to its left and up its column; for an animal, along its column.
        """
        world, joints = self.world, self.joints
        pairs = [(joints[f"left_{p}"], joints[f"right_{p}"]) for p in ("thigh", "upper_arm", "shin", "forearm")
                 if f"left_{p}" in joints and f"right_{p}" in joints]  # fmt: skip
        column = self.column
        if not pairs or len(column) < 2:
            return None
        along = world[:, column[-1]] - world[:, column[0]]
        if self.is_animal:
            return normalise(along)
        left = sum((normalise(world[:, a] - world[:, b]) for a, b in pairs[:2]), np.zeros(3))
        return normalise(np.cross(left, along))


@cache_weakly
def sample_motion(motion: Motion) -> Sample:
    """Return evenly spread poses of ``motion``."""
    s = motion.skeleton
    rows = np.unique(np.linspace(0, motion.n_frames - 1, N_POSES).round().astype(int))
    world, rotations = forward(s.parents, motion.translations[rows], motion.rotations[rows])
    if len(s.end_joints):
        world = np.concatenate((world, end_positions(world, rotations, s.end_joints, s.end_offsets)), axis=1)
    joints = {part: j for j, part in enumerate(s.anatomy.body_parts) if part is not None}
    axis, sign = up_axis(motion.up)
    parents = np.concatenate((s.parents, s.end_joints))
    sample = Sample(s, world, rotations, parents, joints, sign * np.eye(3)[axis], 1.0)
    return replace(sample, size=_estimate_size(sample))


def _estimate_size(sample: Sample) -> float:
    """Return the height implied by legs and column; without them the extent of the poses, or of their path."""
    column = sample.column
    legs = [
        sample.mean_distance(sample.joints[f"{side}_thigh"], sample.joints[f"{side}_shin"])
        + sample.mean_distance(sample.joints[f"{side}_shin"], sample.joints[f"{side}_foot"])
        for side in ("left", "right")
        if all(f"{side}_{p}" in sample.joints for p in ("thigh", "shin", "foot"))
    ]
    extent = float(np.median(np.ptp(sample.world, axis=1).max(axis=-1)))
    if legs and len(column) > 2:
        column_length = sum(sample.mean_distance(a, b) for a, b in pairwise(column))
        size = (max(legs) + column_length) / STATURE_SHARE
        if 0.3 * extent < size < 3 * extent:
            return size
    travel = float(np.ptp(sample.world, axis=(0, 1)).max())
    return next((size for size in (extent, travel) if size > MIN_LENGTH), 1.0)


def normalise(vectors: Floats) -> Floats:
    """Return unit vectors (..., 3); zero vectors do not change."""
    lengths = np.sqrt(np.einsum("...k,...k->...", vectors, vectors))[..., None]
    unit_vectors: Floats = vectors / np.where(lengths > MIN_LENGTH, lengths, 1.0)
    return unit_vectors


def joint_sides(skeleton: Skeleton) -> list[Side]:
    """Return the side of each joint: from its body part, its name, or a partner name that differs only in L and R."""
    names = set(skeleton.names)
    return [_side(part, name, names) for part, name in zip(skeleton.anatomy.body_parts, skeleton.names, strict=True)]


def _side(body_part: str | None, name: str, names: set[str]) -> Side:
    side = (body_part or "").partition("_")[0] if body_part else parse_name(name).side
    if side in ("left", "right"):
        return "left" if side == "left" else "right"
    start = name.rfind(":") + 1
    letter = name[start : start + 1]
    other = {"L": "R", "R": "L"}.get(letter)
    if body_part is None and other and name[:start] + other + name[start + 1 :] in names:
        return "left" if letter == "L" else "right"
    return "middle"
