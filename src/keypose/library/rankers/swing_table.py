"""Swings of any skeleton as comparable rows: which body part rotates when, about which axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Bools, Floats, Frozen, Ints, freeze, freeze_floats, freeze_ints, freeze_or_copy
from keypose.library.canonical import FPS as HEADING_FPS
from keypose.library.canonical import CanonicalBody, canonical_body, y_up
from keypose.model import Motion
from keypose.rotations import rotate
from keypose.swings.model import Swings
from keypose.swings.segment import find_spans
from keypose.swings.settings import Settings

RATE = 15.0  # samples per second for comparison: the shortest swings last 2
LIMB_PARTS = ("collar", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
TRUNK_PARTS = ("hips", "spine", "chest", "neck", "head")
BODY_PARTS = (*TRUNK_PARTS, *(f"{side}_{limb}" for side in ("left", "right") for limb in LIMB_PARTS))
PARTNERS = np.array(
    (*range(5), *range(5 + len(LIMB_PARTS), len(BODY_PARTS)), *range(5, 5 + len(LIMB_PARTS))), np.int32
)  # left <-> right
_MIRRORED_AXIS = np.array((1.0, -1.0, -1.0))  # rotation axis in a mirror whose normal points to the left


@dataclass(frozen=True, eq=False)
class SwingTable(Frozen):
    """Swings by body part, R of them, sorted by body part and time.

    An axis is that of the rotation (right-handed) in the body's directions at the start of the swing: left, up,
    forward. So neither the axes of the rig nor the heading count.
    """

    duration_s: float
    present: Bools  # (P,) which of BODY_PARTS the skeleton has
    body_parts: Ints  # (R,) index of BODY_PARTS
    starts_s: Floats  # (R,)
    ends_s: Floats  # (R,) end of the last frame
    axes: Floats  # (R, 3) unit
    angles: Floats  # (R,) radians

    def __post_init__(self) -> None:
        n = len(self.body_parts)
        self._set_field("present", freeze_or_copy(np.asarray(self.present, np.bool_)))
        self._set_field("body_parts", freeze_ints(self.body_parts, (n,), "body parts of swings"))
        for name, shape in {"starts_s": (n,), "ends_s": (n,), "axes": (n, 3), "angles": (n,)}.items():
            self._set_field(name, freeze_floats(getattr(self, name), shape, f"{name} of swings"))

    def mirrored(self) -> SwingTable:
        """Return the table with left and right exchanged."""
        body_parts = PARTNERS[self.body_parts]
        order = np.argsort(body_parts, kind="stable")
        return SwingTable(
            self.duration_s,
            self.present[PARTNERS],
            body_parts[order],
            self.starts_s[order],
            self.ends_s[order],
            self.axes[order] * _MIRRORED_AXIS,
            self.angles[order],
        )

    def restrict(self, is_wanted: Bools) -> SwingTable:
        """Return the table with only the body parts of ``is_wanted`` (P,); the others count as absent."""
        rows = is_wanted[self.body_parts]
        return SwingTable(
            self.duration_s,
            self.present & is_wanted,
            self.body_parts[rows],
            self.starts_s[rows],
            self.ends_s[rows],
            self.axes[rows],
            self.angles[rows],
        )

    def span(self, start_s: float, end_s: float) -> SwingTable:
        """Return the swings between two times, clipped, with times counted from ``start_s``."""
        starts, ends = (np.clip(times, start_s, end_s) for times in (self.starts_s, self.ends_s))
        rows = ends > starts
        return SwingTable(
            end_s - start_s,
            self.present,
            self.body_parts[rows],
            starts[rows] - start_s,
            ends[rows] - start_s,
            self.axes[rows],
            self.angles[rows],
        )


def build_swing_table(swings: Swings) -> SwingTable:
    """Return the swings of recognised body parts; none if the skeleton is no body (markers, props)."""
    played = swings.play()
    body = canonical_body(played)
    present = np.zeros(len(BODY_PARTS), bool)
    rows: list[tuple[Ints, Floats, Floats, Floats, Floats]] = []
    if body is not None:
        rotations = played.world_rotations()
        for part_index, joint in _match_joints(swings.skeleton.anatomy).items():
            present[part_index] = True
            track = swings.tracks[joint]
            is_turning = track.angles > 0
            starts = track.starts[is_turning]
            angles = track.angles[is_turning]
            world = rotate(rotations[starts, joint], track.rotation_vectors[is_turning] / angles[:, None])
            at = np.minimum((starts * (HEADING_FPS / swings.fps)).astype(int), body.n_frames - 1)
            axes = _to_body_axes(y_up(world, swings.up), body.heading[at])
            ends_s = (track.ends[is_turning] + 1) / swings.fps
            rows.append((np.full(len(starts), part_index, np.int32), starts / swings.fps, ends_s, axes, angles))
    if not rows:
        empty = np.zeros(0)
        rows.append((np.zeros(0, np.int32), empty, empty, np.zeros((0, 3)), empty))
    columns = (freeze(np.concatenate(column)) for column in zip(*rows, strict=True))
    return SwingTable(swings.duration_s, present, *columns)


def build_body_swing_table(motion: Motion, body: CanonicalBody, settings: Settings | None = None) -> SwingTable:
    """Return the table of ``build_swing_table``, faster: axes come from the motion, not from its played swings.

    ``body`` is that of the motion; ``settings`` are those of ``swings``.
    """
    joint_of = _match_joints(motion.skeleton.anatomy)
    body_parts, joints = np.array(list(joint_of), np.int32), np.array(list(joint_of.values()), np.intp)
    rotations = np.ascontiguousarray(motion.rotations[:, joints])
    (swing_joints, starts, ends), rotation_vectors, _ = find_spans(rotations, motion.fps, settings or Settings())
    angles = np.linalg.norm(rotation_vectors, axis=1)
    swing_joints, starts, ends, rotation_vectors, angles = (
        each[angles > 0] for each in (swing_joints, starts, ends, rotation_vectors, angles)
    )
    world = rotate(motion.world_rotations()[starts, joints[swing_joints]], rotation_vectors / angles[:, None])
    at = np.minimum((starts * (HEADING_FPS / motion.fps)).astype(int), body.n_frames - 1)
    axes = _to_body_axes(y_up(world, motion.up), body.heading[at])
    present = np.isin(np.arange(len(BODY_PARTS)), body_parts)
    return SwingTable(
        motion.duration_s, present, body_parts[swing_joints], starts / motion.fps, (ends + 1) / motion.fps, axes, angles
    )


def _match_joints(anatomy: Anatomy) -> dict[int, int]:
    """Return the joint for each of BODY_PARTS that the skeleton has, in order; a spine of one joint is the chest."""
    joint_of = {part: j for j, part in enumerate(anatomy.body_parts) if part is not None}
    spine = anatomy.groups.get("spine", ())
    if spine:
        joint_of["chest"] = spine[-1]
    if len(spine) == 1:
        joint_of.pop("spine", None)
    return {k: joint_of[part] for k, part in enumerate(BODY_PARTS) if part in joint_of}


def _to_body_axes(axes: Floats, heading: Floats) -> Floats:
    """Return world axes (R, 3), Y up, as left, up and forward of a body with ``heading`` (R,)."""
    cos, sin = np.cos(heading), np.sin(heading)
    x, y, z = axes.T
    return np.stack((cos * x - sin * z, y, sin * x + cos * z), axis=-1)
