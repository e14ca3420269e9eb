"""Keep feet planted: after an edit, feet that stood on the ground are put back where they stood."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.euler import nearest_angles
from keypose.inbetween.editing.footing import Footing, footings, goals
from keypose.inbetween.editing.insert import insert_key
from keypose.inbetween.editing.poses import World, key_pose, with_pose
from keypose.inbetween.editing.reach import reaching
from keypose.inbetween.fitted import fitted
from keypose.model import Curves, KeyedMotion, Pose
from keypose.rotations import angle_between, sign_continuous

FOOT_TOLERANCE_MM = 5.0  # how far from its place a standing foot may stray between keys, on a figure of 1.7 m
AIR_TOLERANCE_MM = float(__import__('os').environ.get('AIR','15'))  # the same for ankles and knees in the air
import os
PENALTY = float(os.environ.get('PEN','0'))
IDEAL = {}
_SAME = 1e-9  # of places (on a figure of 1.7 m) and turns


def keep_feet(before: KeyedMotion, change: Change, *, but: int | None = None) -> Change:
    """``change`` of ``before`` with the feet that stood on the ground put back, as far as the legs reach.
    """
    legs = [footing for footing in footings(before, change) if footing.leg.end != but]
    mm = before.sample(frames=before.keys).mm_per_unit
    bare = change.keyed
    while True:
        keyed = bare
        more: set[int] = set()
        for footing in legs:
            keyed, off = _put_back(keyed, bare, footing, mm)
            more |= _keys_wanted(keyed, footing, off)
        if not more:
            break
        for frame in sorted(more):
            bare = insert_key(bare, frame).keyed
    inserted = bare.n_keys - change.keyed.n_keys
    missed = max([change.missed, *(_missed(keyed, footing) for footing in legs)])
    notes = (
        change.note,
        f"{inserted} {'key' if inserted == 1 else 'keys'} inserted to keep feet planted" if inserted else "",
    )
    return replace(change, keyed=keyed, missed=missed, note=", ".join(filter(None, notes)))


def _missed(keyed: KeyedMotion, footing: Footing) -> float:
    if not footing.stands.any():
        return 0.0
    now = keyed.sample(frames=footing.frames[footing.stands]).world_positions()[:, footing.leg.end]
    return float(np.linalg.norm(now - footing.positions[footing.stands], axis=-1).max())


def _put_back(keyed: KeyedMotion, bare: KeyedMotion, footing: Footing, mm: float) -> tuple[KeyedMotion, Floats]:
    now = bare.sample(frames=footing.frames)
    world = World(now.world_positions(), now.world_rotations())
    joints = footing.leg.joints
    places, turned = goals(footing, world)
    off = np.linalg.norm(places - world.positions[:, footing.leg.end], axis=-1) * mm / 1700
    moves = (off > _SAME) | (angle_between(turned, world.rotations[:, footing.leg.end]) > _SAME)
    if not moves.any():
        return keyed, np.zeros(len(moves))
    found, _ = reaching(bare.skeleton, world, footing.leg, footing.hinge, places, turned)
    turns = np.where(moves[:, None, None], np.stack([found[j] for j in joints], axis=1), now.rotations[:, joints])
    keyed = _fitted_to(_with_turns(keyed, footing, turns, moves), footing, turns, moves)
    # how far the curve strays from this
    rotations = now.rotations.copy()
    rotations[:, joints] = turns
    ideal = replace(now, rotations=rotations).world_positions()
    IDEAL[footing.leg.end] = (footing.frames, ideal)
    shown = keyed.sample(frames=footing.frames).world_positions()
    stray = np.linalg.norm(shown - ideal, axis=-1)[:, joints[1:]].max(axis=1) * mm
    return keyed, stray / np.where(footing.stands, FOOT_TOLERANCE_MM, AIR_TOLERANCE_MM)


def _with_turns(keyed: KeyedMotion, footing: Footing, turns: Floats, moves) -> KeyedMotion:
    for n in np.flatnonzero(np.isin(footing.frames, keyed.keys) & moves).tolist():
        key = keyed.key_index(int(footing.frames[n]))
        pose = key_pose(keyed, key)
        rotations = pose.rotations.copy()
        rotations[footing.leg.joints] = turns[n]
        keyed = with_pose(keyed, key, Pose(pose.translations, rotations)).keyed
    return keyed


def _fitted_to(keyed: KeyedMotion, footing: Footing, turns: Floats, moves) -> KeyedMotion:
    curves = keyed.rotations
    if curves.arriving is None or curves.leaving is None:
        return keyed
    arriving, leaving = curves.arriving.copy(), curves.leaving.copy()
    first, last = int(footing.frames[0]), int(footing.frames[-1])
    inside = np.flatnonzero((keyed.keys >= first) & (keyed.keys <= last))
    for column, j in enumerate(footing.leg.joints):
        runs = []
        for a in inside[:-1].tolist():
            start, stop = int(keyed.keys[a]) - first, int(keyed.keys[a+1]) - first
            if not moves[start:stop+1].any():
                continue
            values = _channel(keyed, j, a, turns[start:stop+1, column])
            if np.abs(values[-1] - curves.values[a + 1, j]).max() < 1e-6:  # else the turns went another way round
                if runs and runs[-1][0][-1] == a:
                    runs[-1][0].append(a+1); runs[-1][1].append(values[1:])
                else:
                    runs.append(([a,a+1],[values]))
        for ks, vals in runs:
            at = (keyed.keys[ks] - keyed.keys[ks[0]]).astype(np.int32)
            span = fitted(np.concatenate(vals)[:, None], at, jump_penalty=PENALTY)
            leaving[ks[:-1], j], arriving[ks[1:], j] = span.leaving[:-1, 0], span.arriving[1:, 0]
    return replace(keyed, rotations=Curves(curves.values, give_away(arriving), give_away(leaving)))


def _channel(keyed: KeyedMotion, joint: int, key: int, turns: Floats) -> Floats:
    """Turns (N, 4) from a key on as the numbers (N, C) that a joint's curve has, going on from the key's own."""
    values: Floats = keyed.rotations.values[key, joint]
    if keyed.rotation_orders is None:
        return sign_continuous(np.concatenate((values[None], turns[1:])))
    rows = [values]
    for turn in turns[1:]:
        rows.append(nearest_angles(turn[None], keyed.rotation_orders[joint], rows[-1][None])[0])
    return np.array(rows)


def _keys_wanted(keyed: KeyedMotion, footing: Footing, off: Floats) -> set[int]:
    """In each span in which a foot strays too far"""
    wanted = set()
    first = int(footing.frames[0])
    for low, high in zip([-1, *keyed.keys.tolist()], [*keyed.keys.tolist(), keyed.n_frames], strict=True):
        inside = slice(max(0, low + 1 - first), max(0, high - first))
        part = off[inside]
        if len(part) and part.max() > 1:
            worst = int(part.argmax())
            stands = footing.stands[inside]
            begin, end = worst, worst
            while begin > 0 and stands[begin] and stands[begin - 1]:
                begin -= 1
            while end < len(part) - 1 and stands[end] and stands[end + 1]:
                end += 1
            at = worst
            if stands[worst]:
                at = begin if begin > 0 else end if end < len(part) - 1 else worst
            wanted.add(first + inside.start + at)
    return wanted
