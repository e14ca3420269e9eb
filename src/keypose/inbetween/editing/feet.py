"""Keep feet planted: after an edit, feet that stood on the ground are put back where they stood."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.arrays import Bools, Floats, Ints, give_away
from keypose.errors import OptionError
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.euler import nearest_angles
from keypose.inbetween.editing.insert import insert_key
from keypose.inbetween.editing.limbs import Limb, hinge, limbs
from keypose.inbetween.editing.poses import World, key_pose, with_pose
from keypose.inbetween.editing.reach import reaching
from keypose.inbetween.fitted import fitted
from keypose.model import Curves, FootContacts, KeyedMotion, Motion, Pose
from keypose.rotations import sign_continuous

FOOT_TOLERANCE_MM = 5.0  # how far from its place a standing foot may stray between keys, on a figure of 1.7 m


@dataclass(frozen=True)
class Stand:
    """A leg, the frames of an edit in which its foot stands, and where it stands."""

    leg: Limb
    hinge: Floats | None
    frames: Ints  # (N,) the keys on both sides of the edit's range included
    is_free: Bools  # (N,) whether the edit may change a frame; not so at these two keys
    positions: Floats  # (N, 3) of the ankle in the world
    rotations: Floats  # (N, 4)
    contact: Bools  # (T,) over the whole motion


def keep_feet(before: KeyedMotion, change: Change, *, but: int | None = None) -> Change:
    """``change`` of ``before`` with the feet that stood on the ground put back, as far as the legs reach.

    Contacts are found on the motion before the edit, with its detail. At every key of the edit's range in which a
    foot stands it gets its old place and turn by moving the leg's joints; in spans in which it stands all the time,
    the slopes of these joints are fitted to a leg that is put back in every frame. Where the foot still strays by
    more than ``FOOT_TOLERANCE_MM``, keys are inserted: first where the contact begins and ends, then where it strays
    most. The foot whose ankle is the joint ``but`` goes free: it was the one to be moved.
    """
    shown = before.sample(0.0 if before.residual is None else 1.0)
    mm = shown.mm_per_unit
    keyed, inserted, missed = change.keyed, 0, change.missed
    for stand in _stands(before, change, shown.foot_contacts()):
        if stand.leg.end == but or _strays(keyed.sample(frames=stand.frames), stand).max() * mm < 1e-6:
            continue
        while True:
            keyed = _planted(keyed, stand)
            dense, misses = _put_back(keyed, stand)
            keyed = _fitted_to(keyed, stand, dense)
            # beside keys, the leg could do better than the curve does
            stray = (_strays(keyed.sample(frames=stand.frames), stand) - misses) * mm
            stray[np.isin(stand.frames, keyed.keys)] = 0.0
            if stray.max() <= FOOT_TOLERANCE_MM:
                break
            keyed = insert_key(keyed, _next_key(keyed, stand, int(stand.frames[stray.argmax()]))).keyed
            inserted += 1
        missed = max(missed, float(misses.max()))
    notes = (
        change.note,
        f"{inserted} {'key' if inserted == 1 else 'keys'} inserted to keep feet planted" if inserted else "",
    )
    return replace(change, keyed=keyed, missed=missed, note=", ".join(filter(None, notes)))


def _stands(before: KeyedMotion, change: Change, seen: FootContacts) -> list[Stand]:
    legs = {part: leg for part, leg in limbs(before.skeleton).items() if leg.is_leg}
    if not any(f"{side}_foot" in legs for side in seen.feet):
        raise OptionError(f"{before.name}: no foot that hangs on a shin and a thigh is recognised, so none can be kept")
    frames = np.arange(max(0, change.first - 1), min(before.n_frames, change.last + 2), dtype=np.int32)
    is_free = (frames >= change.first) & (frames <= change.last)
    old = before.sample(frames=frames)
    stands = []
    for column, side in enumerate(seen.feet):
        contact = seen.touching[:, column]
        touching = contact[frames]
        if f"{side}_foot" in legs and touching.any():
            leg = legs[f"{side}_foot"]
            places = old.world_positions()[touching, leg.end], old.world_rotations()[touching, leg.end]
            stands.append(Stand(leg, hinge(before, leg), frames[touching], is_free[touching], *places, contact))
    return stands


def _strays(now: Motion, stand: Stand) -> Floats:
    """(N,) how far the ankle is from its place."""
    away: Floats = np.linalg.norm(now.world_positions()[:, stand.leg.end] - stand.positions, axis=-1)
    return away


def _planted(keyed: KeyedMotion, stand: Stand) -> KeyedMotion:
    """The foot put back at every key of the stand."""
    turns, _ = _put_back(keyed, stand)
    for n in np.flatnonzero(np.isin(stand.frames, keyed.keys) & stand.is_free).tolist():
        key = keyed.key_index(int(stand.frames[n]))
        pose = key_pose(keyed, key)
        rotations = pose.rotations.copy()
        rotations[stand.leg.joints] = turns[n]
        keyed = with_pose(keyed, key, Pose(pose.translations, rotations)).keyed
    return keyed


def _put_back(keyed: KeyedMotion, stand: Stand) -> tuple[Floats, Floats]:
    """Local turns (N, 3, 4) of the leg's joints that put the foot back in every frame, and how far each misses (N,)."""
    now = keyed.sample(frames=stand.frames)
    world = World(now.world_positions(), now.world_rotations())
    turns, missed = reaching(keyed.skeleton, world, stand.leg, stand.hinge, stand.positions, stand.rotations)
    return np.stack([turns[j] for j in stand.leg.joints], axis=1), missed


def _fitted_to(keyed: KeyedMotion, stand: Stand, turns: Floats) -> KeyedMotion:
    """The slopes of the leg's joints fitted to ``turns`` (N, 3, 4) in spans in which the foot stands all the time."""
    curves = keyed.rotations
    if curves.arriving is None or curves.leaving is None:
        return keyed
    arriving, leaving = curves.arriving.copy(), curves.leaving.copy()
    row_of = {frame: n for n, frame in enumerate(stand.frames.tolist())}
    for a, (start, stop) in enumerate(zip(keyed.keys[:-1].tolist(), keyed.keys[1:].tolist(), strict=True)):
        rows = [row_of[frame] for frame in range(start, stop + 1) if frame in row_of]
        if len(rows) < stop - start + 1 or stop - start < 2:
            continue
        for column, j in enumerate(stand.leg.joints):
            values = _channel(keyed, j, a, turns[rows, column])
            if np.abs(values[-1] - curves.values[a + 1, j]).max() < 1e-6:  # else the turns went another way round
                span = fitted(values[:, None], np.array([0, stop - start], np.int32))
                assert span.leaving is not None and span.arriving is not None
                leaving[a, j], arriving[a + 1, j] = span.leaving[0, 0], span.arriving[1, 0]
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


def _next_key(keyed: KeyedMotion, stand: Stand, worst: int) -> int:
    """Where a key helps most: where the contact begins or ends, if that is in the same span, else at the frame."""
    span = int(np.searchsorted(keyed.keys, worst))
    low = int(keyed.keys[span - 1]) if span > 0 else -1
    high = int(keyed.keys[span]) if span < keyed.n_keys else keyed.n_frames
    begin, end = worst, worst
    while begin > low and stand.contact[begin - 1]:
        begin -= 1
    while end < high - 1 and stand.contact[end + 1]:
        end += 1
    return next((frame for frame in (begin, end) if low < frame < high), worst)
