"""Where feet belong after an edit: where they stood while they stand, and where the edit takes them in the air.

On the way from one to the other a share of the correction remains, which fades out within ``FADE_S`` of a contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.limbs import Limb, hinge, limbs
from keypose.inbetween.editing.poses import World
from keypose.kinematics import heights_above, up_axis
from keypose.model import KeyedMotion
from keypose.rotations import conjugate, exp, log, multiply, rotate

FADE_S = float(__import__('os').environ.get('FADE','0.25'))  # before and after a contact
SLACK = 0.01  # of a leg's length: a leg that gets straighter than before and than this leaves is stretched ever less
_SHARPNESS = 4  # of the floor: how suddenly a foot that comes down with the edit stops there


@dataclass(frozen=True)
class Footing:
    """A leg in the frames of an edit, and what its foot did in them before it."""

    leg: Limb
    hinge: Floats | None
    points: list[int]  # (P,) joints of the foot that must not sink, the ankle first
    frames: Ints  # (N,) the keys on both sides of the edit's range included
    stands: Bools  # (N,) whether the foot is in contact
    held: Floats  # (N,) the share of the foot's correction: 1 in contacts, 0 far from any
    positions: Floats  # (N, 3) of the ankle in the world
    rotations: Floats  # (N, 4)
    lengths: Floats  # (N,) from hip to ankle
    heights: Floats  # (N, P) of the points
    levels: Floats  # (N, P) at which the points stand, as the contacts before and after tell
    up: tuple[int, float]  # axis and sign


def footings(before: KeyedMotion, change: Change) -> list[Footing]:
    """Every leg whose foot touches the ground somewhere in ``before``, in the frames of ``change``.

    Contacts are found with the captured detail, places are those of the curves.
    """
    legs = {part: leg for part, leg in limbs(before.skeleton).items() if leg.is_leg}
    seen = before.sample(0.0 if before.residual is None else 1.0).foot_contacts()
    if not any(f"{side}_foot" in legs for side in seen.feet):
        raise OptionError(f"{before.name}: no foot that hangs on a shin and a thigh is recognised, so none can be kept")
    frames = np.arange(max(0, change.first - 1), min(before.n_frames, change.last + 2), dtype=np.int32)
    old = before.sample()
    found = []
    for column, side in enumerate(seen.feet):
        touching = seen.touching[:, column]
        if f"{side}_foot" in legs and touching.any():
            leg = legs[f"{side}_foot"]
            points = [leg.end, *(j for j in before.skeleton.anatomy.feet()[side] if j != leg.end)]
            heights = heights_above(old.world_positions()[:, points], before.up)
            found.append(
                Footing(
                    leg=leg,
                    hinge=hinge(before, leg),
                    points=points,
                    frames=frames,
                    stands=touching[frames],
                    held=_held(touching, FADE_S * before.fps)[frames],
                    positions=old.world_positions()[frames, leg.end],
                    rotations=old.world_rotations()[frames, leg.end],
                    lengths=np.linalg.norm(
                        (old.world_positions()[:, leg.end] - old.world_positions()[:, leg.upper])[frames], axis=-1
                    ),
                    heights=heights[frames],
                    levels=_levels(heights, touching)[frames],
                    up=up_axis(before.up),
                )
            )
    return found


def goals(footing: Footing, now: World) -> tuple[Floats, Floats]:
    """Where the ankle belongs (N, 3) and how it is turned (N, 4), given the edited poses ``now`` of all frames."""
    ankle, turn = now.positions[:, footing.leg.end], now.rotations[:, footing.leg.end]
    share = footing.held[:, None]
    place = ankle + share * (footing.positions - ankle)
    turned = multiply(turn, exp(share * log(multiply(conjugate(turn), footing.rotations))))
    arms = rotate(conjugate(turn)[:, None], now.positions[:, footing.points] - ankle[:, None])
    axis, sign = footing.up
    heights = sign * (place[:, None] + rotate(turned[:, None], arms))[..., axis]
    place[:, axis] += sign * _lift(footing.heights - heights, footing.heights - footing.levels)
    return _in_easy_reach(footing, now, place), turned


def _in_easy_reach(footing: Footing, now: World, place: Floats) -> Floats:
    """``place`` (N, 3) drawn towards the hip where the leg would be all but straight: there the knee would snap."""
    upper, middle, end = (now.positions[:, j] for j in footing.leg.joints)
    longest = np.linalg.norm(middle - upper, axis=-1) + np.linalg.norm(end - middle, axis=-1)
    far = np.linalg.norm(place - upper, axis=-1)
    easy = np.minimum(np.maximum(footing.lengths, (1 - SLACK) * longest), (1 - 1e-6) * longest)
    beyond, slack = np.maximum(far - easy, 0.0), longest - easy
    length = easy + slack * -np.expm1(-beyond / slack)
    drawn: Floats = upper + (place - upper) * np.where(beyond > 0, length / np.maximum(far, easy), 1.0)[:, None]
    return drawn


def _lift(drop: Floats, room: Floats) -> Floats:
    """How far a foot is lifted (N,) whose points come down by ``drop`` (N, P) where there is ``room`` (N, P) to do so.

    Each point comes down by about the smaller of the two, with a smooth passage from one to the other.
    """
    drop, room = np.maximum(drop, 0.0), np.maximum(room, 0.0)
    both = (drop**_SHARPNESS + room**_SHARPNESS) ** (1 / _SHARPNESS)
    lift: Floats = drop - drop * room / np.where(both > 0, both, 1.0)
    return lift.max(axis=1)


def _held(touching: Bools, fade_frames: float) -> Floats:
    """(T,) 1 in contacts, fading to 0 on both sides; between two near contacts what both of them leave."""
    frames = np.arange(len(touching), dtype=np.float64)
    contacts = frames[touching]
    after = np.searchsorted(contacts, frames)
    since = frames - np.where(after > 0, contacts[after - 1], -np.inf)
    until = np.where(after < len(contacts), contacts[np.minimum(after, len(contacts) - 1)], np.inf) - frames
    free = np.ones(len(frames))
    for away in (since, until):
        x = np.clip(away / max(1.0, fade_frames), 0.0, 1.0)
        free *= x**3 * (10 - 15 * x + 6 * x * x)
    return np.where(touching, 1.0, 1.0 - free)


def _levels(heights: Floats, touching: Bools) -> Floats:
    """(T, P) the least heights of points in the contacts, evenly changing from one contact to the next."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], touching, [False])).astype(int)))
    starts, ends = edges[::2], edges[1::2]
    lowest = np.array([heights[a:b].min(axis=0) for a, b in zip(starts, ends, strict=True)])
    at = np.stack((starts, ends - 1), axis=1).ravel()
    columns = [np.interp(np.arange(len(heights)), at, np.repeat(column, 2)) for column in lowest.T]
    return np.stack(columns, axis=1)
