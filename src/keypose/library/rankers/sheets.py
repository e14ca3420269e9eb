"""Swings of any skeleton as rows that can be compared: which part of the body turns when, about which axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.anatomy import Anatomy
from keypose.arrays import Bools, Floats, Frozen, Ints, frozen, frozen_floats, frozen_ints, give_away
from keypose.library.canonical import FPS as HEADING_FPS
from keypose.library.canonical import Canonical, canonical, y_up
from keypose.model import Motion
from keypose.rotations import rotate
from keypose.swings.noun import Swings
from keypose.swings.segment import spans
from keypose.swings.settings import Settings

RATE = 15.0  # samples per second where sheets are laid over each other: the shortest swings last 2
LIMBS = ("collar", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
TRUNK = ("hips", "spine", "chest", "neck", "head")
PARTS = (*TRUNK, *(f"{side}_{limb}" for side in ("left", "right") for limb in LIMBS))
PARTNERS = np.array(
    (*range(5), *range(5 + len(LIMBS), len(PARTS)), *range(5, 5 + len(LIMBS))), np.int32
)  # left <-> right
_MIRRORED_AXIS = np.array((1.0, -1.0, -1.0))  # a turn seen in a mirror whose normal points to the left


@dataclass(frozen=True, eq=False)
class Sheet(Frozen):
    """Swings by body part, R of them, in order of parts and time.

    An axis is that of the turn (right hand) in the body's own directions at the swing's start: to its left, up, and
    forward. So neither the rig's axes nor the way the body faces count.
    """

    duration_s: float
    present: Bools  # (P,) which of PARTS the skeleton has
    parts: Ints  # (R,) index of PARTS
    starts_s: Floats  # (R,)
    ends_s: Floats  # (R,) the end of the last frame
    axes: Floats  # (R, 3) unit
    angles: Floats  # (R,) radians

    def __post_init__(self) -> None:
        n = len(self.parts)
        self._put("present", frozen(np.asarray(self.present, np.bool_)))
        self._put("parts", frozen_ints(self.parts, (n,), "parts of swings"))
        for name, shape in {"starts_s": (n,), "ends_s": (n,), "axes": (n, 3), "angles": (n,)}.items():
            self._put(name, frozen_floats(getattr(self, name), shape, f"{name} of swings"))

    def mirrored(self) -> Sheet:
        """The same seen in a mirror: left is right."""
        parts = PARTNERS[self.parts]
        order = np.argsort(parts, kind="stable")
        return Sheet(
            self.duration_s,
            self.present[PARTNERS],
            parts[order],
            self.starts_s[order],
            self.ends_s[order],
            self.axes[order] * _MIRRORED_AXIS,
            self.angles[order],
        )

    def only(self, wanted: Bools) -> Sheet:
        """What the ``wanted`` parts (P,) do; of the others nothing is known."""
        kept = wanted[self.parts]
        return Sheet(
            self.duration_s,
            self.present & wanted,
            self.parts[kept],
            self.starts_s[kept],
            self.ends_s[kept],
            self.axes[kept],
            self.angles[kept],
        )

    def part(self, start_s: float, end_s: float) -> Sheet:
        """What swings between two times, from which on time is counted; swings are cut there."""
        starts, ends = (np.clip(times, start_s, end_s) for times in (self.starts_s, self.ends_s))
        kept = ends > starts
        return Sheet(
            end_s - start_s,
            self.present,
            self.parts[kept],
            starts[kept] - start_s,
            ends[kept] - start_s,
            self.axes[kept],
            self.angles[kept],
        )


def sheet_of(swings: Swings) -> Sheet:
    """The swings of recognised parts; none of them where the skeleton is no body (markers, props)."""
    played = swings.play()
    body = canonical(played)
    present = np.zeros(len(PARTS), bool)
    rows: list[tuple[Ints, Floats, Floats, Floats, Floats]] = []
    if body is not None:
        rotations = played.world_rotations()
        for part, joint in _joints(swings.skeleton.anatomy).items():
            present[part] = True
            track = swings.tracks[joint]
            turning = track.angles > 0
            starts = track.starts[turning]
            angles = track.angles[turning]
            world = rotate(rotations[starts, joint], track.turns[turning] / angles[:, None])
            at = np.minimum((starts * (HEADING_FPS / swings.fps)).astype(int), body.n_frames - 1)
            axes = _in_body(y_up(world, swings.up), body.heading[at])
            ends_s = (track.ends[turning] + 1) / swings.fps
            rows.append((np.full(len(starts), part, np.int32), starts / swings.fps, ends_s, axes, angles))
    if not rows:
        none = np.zeros(0)
        rows.append((np.zeros(0, np.int32), none, none, np.zeros((0, 3)), none))
    columns = (give_away(np.concatenate(column)) for column in zip(*rows, strict=True))
    return Sheet(swings.duration_s, present, *columns)


def sheet_of_body(motion: Motion, body: Canonical, settings: Settings | None = None) -> Sheet:
    """The rows of ``sheet_of``, quickly: axes are taken from the motion itself, not from its swings as played.

    ``body`` is the motion's own; ``settings`` are those of ``swings``.
    """
    joint_of = _joints(motion.skeleton.anatomy)
    parts, joints = np.array(list(joint_of), np.int32), np.array(list(joint_of.values()), np.intp)
    (of, starts, ends), turns, _ = spans(np.ascontiguousarray(motion.rotations[:, joints]), motion.fps,
                                         settings or Settings())  # fmt: skip
    angles = np.linalg.norm(turns, axis=1)
    of, starts, ends, turns, angles = (each[angles > 0] for each in (of, starts, ends, turns, angles))
    world = rotate(motion.world_rotations()[starts, joints[of]], turns / angles[:, None])
    at = np.minimum((starts * (HEADING_FPS / motion.fps)).astype(int), body.n_frames - 1)
    axes = _in_body(y_up(world, motion.up), body.heading[at])
    present = np.isin(np.arange(len(PARTS)), parts)
    return Sheet(motion.duration_s, present, parts[of], starts / motion.fps, (ends + 1) / motion.fps, axes, angles)


def _joints(anatomy: Anatomy) -> dict[int, int]:
    """The skeleton's joint for each of PARTS that it has, in their order; a spine of one joint is the chest."""
    joint_of = {part: j for j, part in enumerate(anatomy.parts) if part is not None}
    spine = anatomy.groups.get("spine", ())
    if spine:
        joint_of["chest"] = spine[-1]
    if len(spine) == 1:
        joint_of.pop("spine", None)
    return {k: joint_of[part] for k, part in enumerate(PARTS) if part in joint_of}


def _in_body(axes: Floats, heading: Floats) -> Floats:
    """World axes (R, 3), Y up, as parts to the left, up and forward of a body that faces ``heading`` (R,)."""
    cos, sin = np.cos(heading), np.sin(heading)
    x, y, z = axes.T
    return np.stack((cos * x - sin * z, y, sin * x + cos * z), axis=-1)
