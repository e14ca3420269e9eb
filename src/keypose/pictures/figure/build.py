"""Which solids make up a figure: a body where anatomy knows one, plain limbs and markers for the rest."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.model import Motion
from keypose.pictures.figure.body import Body, Part, Side
from keypose.pictures.figure.human import Draft, draft_of
from keypose.pictures.figure.links import links
from keypose.pictures.figure.sample import Sample, sample_of, sides_of
from keypose.pictures.remember import remembered

MOST_PARTS = 350  # of a figure: beyond that the shorter limbs are left out, and counted
PLAIN = (0.006, 0.16, 0.04)  # radius of a limb that nothing is known of: least, per length, most; in heights
MARKER = 0.011  # radius, in heights
ROD = 0.0045  # radius of the rods between markers, in heights
UNSEEN = 0.003  # heights: a shorter limb is not drawn
HELPERS = ("twist", "roll", "helper", "target", "pole", "ctrl", "control")


@remembered
def body_of(motion: Motion) -> Body:
    """The figure of a motion: solid where anatomy knows its parts, plain limbs where not, balls for markers.

    It is measured on a few poses spread over the motion, so that it needs no rest pose.
    """
    some = sample_of(motion)
    sides = sides_of(some.skeleton)
    draft = draft_of(some)
    plain, left_out = _plain(some, draft, sides, MOST_PARTS - len(draft.parts))
    carriers: Ints = np.array([joint for joint, _ in draft.carried], np.int32)
    offsets: Floats = np.array([offset for _, offset in draft.carried], float).reshape(-1, 3)
    return Body((*draft.parts, *plain), carriers, offsets, some.size, left_out)


def _plain(some: Sample, draft: Draft, sides: list[Side], most: int) -> tuple[list[Part], int]:
    """Limbs that the draft does not cover, and markers; the longest ``most`` of them, and how many are left out."""
    parents = some.parents
    hang = np.flatnonzero(parents >= 0)
    ends = [int(c) for c in hang if c not in draft.covered and not _is_helper(some, int(c))]
    lengths = np.median(np.linalg.norm(some.world[:, ends] - some.world[:, parents[ends]], axis=-1), axis=0)
    longest = np.argsort(-lengths, kind="stable")
    seen = [k for k in longest.tolist() if lengths[k] > UNSEEN * some.size]
    limbs = [_limb(some, ends[k], float(lengths[k]), sides) for k in seen[:most]]
    touched = {*hang.tolist(), *parents[hang].tolist()}
    alone = [] if draft.parts else [p for p in range(len(parents)) if p not in touched]
    if not limbs and not draft.parts and not alone:
        alone = [0]  # all of it lies in one point
    radius = MARKER * some.size
    room = max(0, most - len(limbs))
    dots = [Part((p,), (radius,), sides[p] if p < len(sides) else "middle", "marker") for p in alone[:room]]
    rods = [_rod(alone[a], alone[b], some, sides) for a, b in links(some.world[:, alone], some.size)] if dots else []
    return limbs + rods + dots, len(seen) + len(alone) - len(limbs) - len(dots)


def _limb(some: Sample, end: int, length: float, sides: list[Side]) -> Part:
    least, per_length, most = PLAIN
    radius = float(np.clip(per_length * length, least * some.size, most * some.size))
    joint = end if end < len(sides) else int(some.parents[end])
    return Part((int(some.parents[end]), end), (radius, 0.7 * radius), sides[joint], "limb")


def _rod(a: int, b: int, some: Sample, sides: list[Side]) -> Part:
    side = sides[a] if sides[a] == sides[b] else "middle"
    return Part((a, b), (ROD * some.size,) * 2, side, "limb")


def _is_helper(some: Sample, point: int) -> bool:
    """Whether a joint only helps a rig: its name says so, and nothing of the body hangs on it."""
    if point >= some.skeleton.n_joints:
        return False
    part = some.skeleton.anatomy.parts[point] or ""
    return any(word in part for word in HELPERS)
