"""Solid figures of skeletons as hulls of balls, and how their poses are painted."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.cache import cache_weakly
from keypose.model import Motion
from keypose.pictures.figure.body import Body, Hull, Kind, Side, find_links
from keypose.pictures.figure.human import BodyBuilder, build_human
from keypose.pictures.figure.paint import Sample, joint_sides, sample_motion

__all__ = ["Body", "Hull", "Kind", "Side", "build_body"]


MAX_HULLS = 350  # maximum number of hulls of a figure; the shortest limbs are omitted and counted
PLAIN_RADIUS = (0.006, 0.16, 0.04)  # of unrecognised limbs: minimum, per length, maximum; heights
MARKER_RADIUS = 0.011  # heights
JOINT_RADIUS = 0.03  # of the joints of a figure whose bones have no length, heights
ROD_RADIUS = 0.0045  # of rods between markers, heights
MIN_LENGTH = 0.003  # heights; shorter limbs are not drawn


@cache_weakly
def build_body(motion: Motion) -> Body:
    """Return the figure of a motion: recognised body parts, plain limbs, and balls for markers.

    It is measured in a few poses of the motion, so that no rest pose is needed.
    """
    sample = sample_motion(motion)
    sides = joint_sides(sample.skeleton)
    builder = build_human(sample)
    plain_hulls, n_omitted = _build_plain_hulls(sample, builder, sides, MAX_HULLS - len(builder.hulls))
    carriers: Ints = np.array([joint for joint, _ in builder.carried_points], np.int32)
    offsets: Floats = np.array([offset for _, offset in builder.carried_points], float).reshape(-1, 3)
    return Body((*builder.hulls, *plain_hulls), carriers, offsets, sample.size, n_omitted)


def _build_plain_hulls(
    sample: Sample, builder: BodyBuilder, sides: list[Side], max_hulls: int
) -> tuple[list[Hull], int]:
    """Return the longest limbs not covered by ``builder``, and markers; and the number of omitted hulls."""
    parents = sample.parents
    connected_points = np.flatnonzero(parents >= 0)
    hidden_points = builder.hidden_points | _auxiliary_points(sample)
    ends = [c for c in connected_points.tolist() if c not in hidden_points]
    lengths = np.median(np.linalg.norm(sample.world[:, ends] - sample.world[:, parents[ends]], axis=-1), axis=0)
    by_length = np.argsort(-lengths, kind="stable")
    visible = [k for k in by_length.tolist() if lengths[k] > MIN_LENGTH * sample.size]
    limbs = [_build_limb(sample, ends[k], float(lengths[k]), sides) for k in visible[:max_hulls]]
    connected = {*connected_points.tolist(), *parents[connected_points].tolist()}
    isolated = [] if builder.hulls else [p for p in range(len(parents)) if p not in connected]
    has_no_length = not limbs and not builder.hulls and not isolated  # bones as of an animated box
    if has_no_length:
        isolated = list(range(len(parents)))
    radius = (JOINT_RADIUS if has_no_length else MARKER_RADIUS) * sample.size
    n_free = max(0, max_hulls - len(limbs))
    dots = [Hull((p,), (radius,), sides[p] if p < len(sides) else "middle", "marker") for p in isolated[:n_free]]
    rods = (
        [
            _build_rod(isolated[a], isolated[b], sample, sides)
            for a, b in find_links(sample.world[:, isolated], sample.size)
        ]
        if dots and not has_no_length
        else []
    )
    return limbs + rods + dots, len(visible) + len(isolated) - len(limbs) - len(dots)


def _build_limb(sample: Sample, end: int, length: float, sides: list[Side]) -> Hull:
    min_radius, per_length, max_radius = PLAIN_RADIUS
    radius = float(np.clip(per_length * length, min_radius * sample.size, max_radius * sample.size))
    joint = end if end < len(sides) else int(sample.parents[end])
    return Hull((int(sample.parents[end]), end), (radius, 0.7 * radius), sides[joint], "limb")


def _build_rod(a: int, b: int, sample: Sample, sides: list[Side]) -> Hull:
    side = sides[a] if sides[a] == sides[b] else "middle"
    return Hull((a, b), (ROD_RADIUS * sample.size,) * 2, side, "limb")


def _auxiliary_points(sample: Sample) -> set[int]:
    """Return the joints to which no limb leads, and their end sites."""
    joints = sample.skeleton.anatomy.auxiliary_joints
    n_joints, n_points = sample.skeleton.n_joints, len(sample.parents)
    return {*joints, *(end for end in range(n_joints, n_points) if int(sample.parents[end]) in joints)}
