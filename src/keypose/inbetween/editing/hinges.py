"""Knees and elbows that an edit takes through their limits are held at them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Bools, Floats, give_away
from keypose.errors import OptionError
from keypose.inbetween.editing.directions import square_to, unit
from keypose.inbetween.editing.limbs import BENT_SINE, Limb, limbs
from keypose.model import Motion, Skeleton
from keypose.model.motion import source_frames
from keypose.rotations import conjugate, exp, multiply, normalise, rotate

STRAIGHT_DEG = 3.0  # a limb that is always bent may yet be stretched as far as this
FOLDED_DEG = 150.0  # and one that is never folded may be folded as far as this
SOFT_DEG = 5.0  # over the last degrees before a limit a joint slows down, so that it does not stop dead
WIDEST_DEG = 270.0  # what goes to and fro by more is no hinge
# The lower bone's share in the plane of the hinge: sideways of the second a hinge says less, of the first nothing.
SIDEWAYS, UPRIGHT = 0.5, 0.75
NOTED_DEG = 1.0  # what is turned back by less needs no words
_SAME_RAD = 1e-9  # less is rounding


@dataclass(frozen=True, eq=False)
class Hinged:
    """A motion whose knees and elbows bend as far as they can."""

    motion: Motion
    note: str = ""  # which joints are held, at what and when
    joints_held: tuple[int, ...] = ()  # knees and elbows that were turned back
    most_deg: float = 0.0  # the farthest that any was

    def __repr__(self) -> str:
        return f"Hinged({self.motion.name!r}, {self.note or 'nothing held'})"


@dataclass(frozen=True)
class _Range:
    """How far a joint can bend, in degrees."""

    least: float
    greatest: float


def hold_hinges(
    before: Motion, after: Motion, *, source: ArrayLike | None = None, joints: Iterable[int] | None = None
) -> Hinged:
    """``after``, the edited ``before``, with knees and elbows that are bent too far or backwards turned back.

    A limb bends about the hinge that it has where ``before`` bends it most, carried along by the upper bone. It may
    be stretched as far as ``before`` stretches it, or to ``STRAIGHT_DEG``, and folded as far as ``before`` folds it,
    or to ``FOLDED_DEG``. ``SOFT_DEG`` before a limit, or where ``before`` itself is in that frame, it begins to slow
    down. ``source``, of a retimed motion: the frame of ``before``, whole or not, that belongs to each frame of
    ``after``. ``joints``: only these knees and elbows; None: those that differ from ``before``.

    Only the knee or elbow itself turns, about its hinge and no faster than ``before`` or ``after`` turn it, unless
    ``after`` turns it right round; frames well within the limits keep their very numbers. A limb that ``before`` never
    bends has no known hinge and goes free.
    """
    if before.skeleton.names != after.skeleton.names:
        raise OptionError(f"{after.name} has other joints than {before.name}, expected the same figure, edited")
    at = source_frames(source, before.n_frames, after.n_frames)
    chosen = None if joints is None else _checked(joints, after.n_joints)
    found = {part: limb for part, limb in limbs(after.skeleton).items() if chosen is None or limb.middle in chosen}
    if not found:
        return Hinged(after)
    old = before if at is None else before.at_frames(at)
    rotations, notes, most, held = after.rotations.copy(), [], 0.0, []
    for part, limb in found.items():
        if (old.rotations[:, limb.middle] == after.rotations[:, limb.middle]).all():
            continue
        axes, degrees, can = _turned_back(before, old, after, limb)
        rows = np.flatnonzero(np.abs(np.deg2rad(degrees)) > _SAME_RAD)
        if not len(rows):
            continue
        back = exp(axes[rows] * np.deg2rad(degrees[rows])[:, None])  # as the bone above sees it
        rotations[rows, limb.middle] = normalise(multiply(back, rotations[rows, limb.middle]))
        most = max(most, float(np.abs(degrees).max()))
        held.append(limb.middle)
        notes += _notes(part, limb, degrees, can)
    if not held:
        return Hinged(after)
    return Hinged(replace(after, rotations=give_away(rotations)), "; ".join(notes), tuple(sorted(held)), most)


def _turned_back(before: Motion, old: Motion, after: Motion, limb: Limb) -> tuple[Floats, Floats, _Range]:
    """The hinge axes (T, 3) of a limb as the bone above sees them, and by how many degrees (T,) to turn about them."""
    usual = _usual(*_bones(before, limb))
    free = np.zeros((after.n_frames, 3)), np.zeros(after.n_frames), _Range(0.0, 0.0)
    if usual is None:
        return free
    was, _, _ = _flexion(*_bones(before, limb), usual, middle=90.0)
    can = _Range(min(float(was.min()), STRAIGHT_DEG), max(float(was.max()), FOLDED_DEG))
    if can.greatest - can.least > WIDEST_DEG:
        return free
    was, _, _ = _flexion(*_bones(old, limb), usual, middle=90.0)
    now, in_plane, axes = _flexion(*_bones(after, limb), usual, middle=(can.least + can.greatest) / 2)
    now, to = _held(now, was, can, in_plane > SIDEWAYS)
    x = np.clip((in_plane - SIDEWAYS) / (UPRIGHT - SIDEWAYS), 0.0, 1.0)
    return axes, (to - now) * _smooth(x), can


def _held(now: Floats, was: Floats, can: _Range, sure: Bools) -> tuple[Floats, Floats]:
    """Flexions (T,) without jumps while they are for ``sure`` out of range, and what they are to be, in degrees."""
    flowing = np.unwrap(now, period=360.0)
    outside = sure & ((now < can.least) | (now > can.greatest))
    # A joint that leaves its range goes on without jumps, so that folding past 180 degrees is no bending backwards.
    # Wherever it is within its range again its full turns are forgotten: such a pose can be as it is.
    turns = np.round((flowing - now) / 360.0)
    frames = np.arange(len(now))
    left = np.maximum.accumulate(np.where(outside, -1, frames))
    back = np.minimum.accumulate(np.where(outside, len(now), frames)[::-1])[::-1]
    left, back = np.where(left < 0, back, left), np.where(back == len(now), left, back)
    left, back = np.where(left == len(now), 0, left), np.where(back < 0, 0, back)  # never within its range
    now = flowing - 360.0 * turns[left]
    to = _saturated(now, was, can)
    # One that turns right round, out at one limit and in at the other, goes back all the way meanwhile.
    round_it = outside & (turns[back] != turns[left])
    if round_it.any():
        far = np.where(turns[back] > turns[left], now, now + 360.0)[round_it]
        x = np.clip((far - can.greatest) / (can.least + 360.0 - can.greatest), 0.0, 1.0)
        ends = _saturated(far, was[round_it], can), _saturated(far - 360.0, was[round_it], can)
        to[round_it] = ends[0] + _smooth(x) * (ends[1] - ends[0])
        now[round_it] = np.where(far - to[round_it] > 180.0, far - 360.0, far)  # the shorter way back
    return now, to


def _saturated(now: Floats, was: Floats, can: _Range) -> Floats:
    """Flexions that near a limit slow down and never pass it. That of ``before`` in the same frame stays as it is."""
    below = _capped(now, np.maximum(was, can.greatest - SOFT_DEG), can.greatest)
    return -_capped(-below, np.maximum(-was, -can.least - SOFT_DEG), -can.least)


def _capped(x: Floats, start: Floats, limit: float) -> Floats:
    # Its slopes in x and in start are never negative and together never above 1: nothing gets faster.
    room = np.maximum(limit - start, 1e-12)
    return np.where(x > start, start + room * np.tanh((x - start) / room), x)


def _flexion(upper: Floats, lower: Floats, usual: Floats, middle: float) -> tuple[Floats, Floats, Floats]:
    """Flexions (T,) in degrees, within half a turn of ``middle``; the lower bone's share (T,) in the plane; axes."""
    axes = unit(square_to(usual, upper))
    sine, cosine = np.sum(np.cross(upper, lower) * axes, axis=-1), np.sum(upper * lower, axis=-1)
    degrees = np.rad2deg(np.arctan2(sine, cosine))
    return degrees - 360.0 * np.ceil((degrees - middle - 180.0) / 360.0), np.hypot(sine, cosine), axes


def _usual(upper: Floats, lower: Floats) -> Floats | None:
    """The normal (3,) of a limb's plane where it is bent most, as the bone above sees it; None: never bent."""
    normals = np.cross(upper, lower)
    sines = np.linalg.norm(normals, axis=-1)
    most = int(np.argmax(sines))
    return None if sines[most] < BENT_SINE else normals[most] / sines[most]


def _bones(motion: Motion, limb: Limb) -> tuple[Floats, Floats]:
    """The directions (T, 3) of a limb's two bones, as the joint on which the middle one hangs sees them.

    That is the upper joint or a twist joint below it, which takes the hinge along.
    """
    parents = motion.skeleton.parents
    above = int(parents[limb.middle])
    lower = rotate(motion.rotations[:, limb.middle], _place(motion, limb.end, limb.middle))
    upper = _place(motion, limb.middle, limb.upper)
    for j in reversed(_between(motion.skeleton, above, limb.upper)):
        upper = rotate(conjugate(motion.rotations[:, j]), upper)
    return unit(upper), unit(lower)


def _place(motion: Motion, joint: int, base: int) -> Floats:
    """Where a joint is (T, 3), as one above it sees it."""
    place = motion.translations[:, joint]
    for j in _between(motion.skeleton, int(motion.skeleton.parents[joint]), base):
        place = motion.translations[:, j] + rotate(motion.rotations[:, j], place)
    return place


def _between(skeleton: Skeleton, joint: int, base: int) -> list[int]:
    """``joint`` and those above it, up to but without ``base``."""
    found = []
    while joint != base:
        found.append(joint)
        joint = int(skeleton.parents[joint])
    return found


def _smooth(x: Floats) -> Floats:
    return x * x * (3.0 - 2.0 * x)


def _checked(joints: Iterable[int], count: int) -> set[int]:
    try:
        chosen = {index(j) for j in joints}
    except TypeError:
        raise OptionError(f"joints={joints!r}, expected numbers of joints") from None
    wrong = [j for j in sorted(chosen) if not 0 <= j < count]
    if wrong:
        raise OptionError(f"joint {wrong[0]}, expected numbers from 0 to {count - 1}")
    return chosen


def _notes(part: str, limb: Limb, degrees: Floats, can: _Range) -> list[str]:
    """What to say of one joint: at which of its limits it is held, and when."""
    side = part.rpartition("_")[0]
    name = f"{side} {'knee' if limb.is_leg else 'elbow'}".strip()
    sides = (degrees > NOTED_DEG, can.least), (degrees < -NOTED_DEG, can.greatest)
    said = [f"at {limit:.0f} degrees in {_when(held)}".replace("-0 ", "0 ") for held, limit in sides if held.any()]
    return [f"{name} held {' and '.join(said)}"] if said else []


def _when(held: Bools) -> str:
    frames = np.flatnonzero(held)
    if len(frames) == 1:
        return f"frame {frames[0]}"
    parts = 1 + int(np.count_nonzero(np.diff(frames) > 1))
    among = f"{len(frames)} of the frames" if parts > 1 else "frames"
    return f"{among} {frames[0]} to {frames[-1]}"
