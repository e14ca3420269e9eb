"""Keep feet planted: after an edit, feet that stood on the ground are put back where they stood."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from keypose import kinematics
from keypose.arrays import Bools, Floats
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.following import following
from keypose.inbetween.editing.footing import Footing, footings, goal
from keypose.inbetween.editing.insert import insert_key
from keypose.inbetween.editing.poses import World
from keypose.inbetween.editing.reach import reaching
from keypose.model import KeyedMotion, Motion
from keypose.rotations import angle_between, conjugate, multiply, slerp

# How far a leg may stray from its place between keys, on a figure of 1.7 m.
FOOT_TOLERANCE_MM = 5.0  # the ankle in contacts
AIR_TOLERANCE_MM = 8.0  # the ankle in the air, and the knee
# At keys curves may break: this often the largest acceleration of the leg, as edited or put back frame by frame.
MOST_BREAK = 1.2
# A leg that is all but straight may have its knee on either side; over corrections up to this it goes to the usual one.
EASY_MM = 3.0
_SAME_MM, _SAME_RAD = 1e-6, 1e-9


class PutBack(NamedTuple):
    """A leg whose foot is where it belongs in every frame."""

    turns: Floats  # (N, M, 4) local, of the joints of its footing
    positions: Floats  # (N, J, 3) of all joints in the world
    edited: Floats  # (N, J, 3) of the leg that is not put back
    differs: Bools  # (N,) from that one


def keep_feet(before: KeyedMotion, change: Change, *, but: int | None = None) -> Change:
    """``change`` of ``before`` with the feet that stood on the ground put back, as far as the legs reach.

    Contacts are found on the motion before the edit, with its detail. In all frames of the edit's range legs are posed
    so that a foot in contact has its old place and turn, and that one in the air goes where the edit takes it, above
    the floor, with a smooth passage between the two. Keys get these poses, and the slopes of the legs' joints are
    fitted to them. Where a leg still strays by more than ``FOOT_TOLERANCE_MM`` or ``AIR_TOLERANCE_MM``, or is thrown
    about at a key, keys are inserted: first where a contact begins and ends, then where it strays most. ``missed`` is
    the farthest that a foot in contact is from its place. The foot whose ankle is the joint ``but`` goes free: it was
    the one to be moved.
    """
    feet = [footing for footing in footings(before, change) if footing.leg.end != but]
    bare, frames = change.keyed, set[int]()
    while True:
        for frame in sorted(frames):
            bare = insert_key(bare, frame).keyed
        keyed, frames = bare, set()
        for footing in feet:
            back = put_back(bare.sample(frames=footing.frames), footing)
            keyed = following(keyed, footing.joints, footing.frames, back.turns, back.differs)
            frames |= _keys_wanted(keyed, footing, back)
        if not frames:
            break
    inserted = keyed.n_keys - change.keyed.n_keys
    notes = (
        change.note,
        f"{inserted} {'key' if inserted == 1 else 'keys'} inserted to keep feet planted" if inserted else "",
    )
    missed = max([change.missed, *(_missed(keyed, footing) for footing in feet)])
    return replace(change, keyed=keyed, missed=missed, note=", ".join(filter(None, notes)))


def put_back(now: Motion, footing: Footing) -> PutBack:
    """The leg of ``footing`` with its foot where it belongs, given the edited poses of all its frames."""
    world = World(now.world_positions(), now.world_rotations())
    leg, toes, parents = footing.leg, footing.toes, now.skeleton.parents
    to = goal(footing, now)
    way_mm = np.linalg.norm(to.positions - world.positions[:, leg.end], axis=-1) * now.mm_per_unit
    differs = (way_mm > _SAME_MM) | (angle_between(to.rotations, world.rotations[:, leg.end]) > _SAME_RAD)
    differs |= (angle_between(to.toe_turns, now.rotations[:, toes]) > _SAME_RAD).any(axis=1)
    found, _ = reaching(now.skeleton, world, leg, footing.hinge, to.positions, None)
    rotations = now.rotations.copy()
    x = np.minimum(way_mm / EASY_MM, 1.0)[:, None]
    for j, turn in found.items():
        rotations[:, j] = slerp(now.rotations[:, j], turn, x * x * (3 - 2 * x))
    rotations[:, toes] = to.toe_turns
    _, turned = kinematics.forward(parents, now.translations, rotations)
    rotations[:, leg.end] = multiply(conjugate(turned[:, parents[leg.end]]), to.rotations)
    rotations = np.where(differs[:, None, None], rotations, now.rotations)
    positions, _ = kinematics.forward(parents, now.translations, rotations)
    return PutBack(rotations[:, footing.joints], positions, world.positions, differs)


def _missed(keyed: KeyedMotion, footing: Footing) -> float:
    """How far the ankle is from its place, at most, over the frames of contact."""
    now = keyed.sample(frames=footing.frames).world_positions()[:, footing.leg.end]
    away = np.linalg.norm(now - footing.positions, axis=-1)[footing.stands]
    return float(away.max(initial=0.0))


def _keys_wanted(keyed: KeyedMotion, footing: Footing, back: PutBack) -> set[int]:
    """A frame in each span in which the leg strays too far from ``back``: where a key helps most."""
    now = keyed.sample(frames=footing.frames)
    stray_mm = np.linalg.norm(now.world_positions() - back.positions, axis=-1) * now.mm_per_unit
    allowed_mm = np.where(footing.stands, FOOT_TOLERANCE_MM, AIR_TOLERANCE_MM)
    too_far = np.maximum(stray_mm[:, footing.leg.end] / allowed_mm, stray_mm[:, footing.leg.middle] / AIR_TOLERANCE_MM)
    too_far[np.isin(footing.frames, keyed.keys)] = 0.0
    too_far = np.maximum(too_far, _breaks(keyed, footing, back, now.world_positions()))
    spans = np.searchsorted(keyed.keys, footing.frames)
    wanted = set()
    for span in np.unique(spans[too_far > 1]).tolist():
        rows = np.flatnonzero((spans == span) & ~np.isin(footing.frames, keyed.keys))
        wanted.add(int(footing.frames[rows[_best(too_far[rows], footing.stands[rows])]]))
    return wanted


def _breaks(keyed: KeyedMotion, footing: Footing, back: PutBack, shown: Floats) -> Floats:
    """(N,) beside keys at which the leg is thrown about, how many times more than allowed; 0 elsewhere."""
    found = np.zeros(len(footing.frames))
    if not keyed.is_cubic or len(found) < 3:
        return found
    joints = [footing.leg.middle, *footing.points]

    def bends(positions: Floats) -> Floats:
        return np.asarray(np.linalg.norm(np.diff(positions[:, joints], n=2, axis=0), axis=-1).max(axis=1))

    allowed = MOST_BREAK * max(bends(back.edited).max(), bends(back.positions).max())
    beyond = bends(shown) / max(allowed, 1e-12)
    off = np.linalg.norm((shown - back.positions)[:, joints], axis=-1).max(axis=1)
    is_key = np.isin(footing.frames, keyed.keys)
    off[is_key] = 0.0
    for n in np.flatnonzero((beyond > 1) & is_key[1:-1]).tolist():
        found[n if off[n] > off[n + 2] else n + 2] = beyond[n]
    return np.where(is_key, 0.0, found)


def _best(too_far: Floats, stands: Bools) -> int:
    """Of frames between two keys: where the contact in which a foot strays most begins or ends, else the worst."""
    worst = int(too_far.argmax())
    if stands[worst]:
        changes = np.flatnonzero(np.diff(stands.astype(int))) + 1
        begins, ends = changes[changes <= worst], changes[changes > worst]
        if len(begins):
            return int(begins[-1])
        if len(ends):
            return int(ends[0]) - 1
    return worst
