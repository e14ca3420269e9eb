"""Extremes, the frames in which a part of the body is at the end of its travel, and holds, in which none moves.

An end of travel is one of these, on a figure of 1.7 m:

- ``reach``: a hand or foot is farthest from the hips horizontally. Passing close to the hips is no end of travel.
- ``high``, ``low``: a hand, foot or knee is highest (a hand or foot also lowest) relative to the hips, or the hips are
  highest or lowest in the world. Steps of a walk lift feet and hips less than the limits here.
- ``reversal``: a hand or foot turns back on its path around the hips within a fraction of a second.
- ``step``: the ankles are farthest apart in a step.
- ``contact_start``, ``contact_end``: a foot begins or ends a contact with the ground (``Motion.foot_contacts``). In a
  walk that is the same pose as the ankles farthest apart, so contacts near one are part of that step.

Without recognised hands and feet (markers, props) the only kind is ``reversal``, of the whole figure.

Each end of travel has a prominence: how far the part moves to and from it, as in topography. Ends of travel that are
less prominent than a limit are ignored, which makes them robust to noise. The first and the last frame are none.

Several parts usually end their travel at about the same time: ``find_extremes`` combines them into extremes, which are
poses.

In a hold every joint stays slower than a limit for some time, as when a figure stands and waits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from keypose.arrays import Bools, Floats, Ints, find_peaks, runs
from keypose.features import body_root
from keypose.kinematics import heights_above, up_axis
from keypose.model import Motion
from keypose.options import LeadingPart

TravelKind: TypeAlias = Literal["reach", "high", "low", "reversal", "step", "contact_start", "contact_end"]

DECIMALS = 4  # of metres: where a part of the body is held, rounding errors do not decide on the frame
# Minimum prominences, metres.
MIN_REACH_M = {"hand": 0.10, "foot": 0.12}
MIN_HEIGHT_M = {"hand": 0.25, "foot": 0.30, "shin": 0.30}
MIN_HIPS_M = 0.08
MIN_STEP_M = 0.15
MIN_REVERSAL_M = 0.12

REVERSAL_S = 0.15  # time before and after a reversal in which its path turns back
MAX_REVERSAL_COSINE = -0.5  # of the directions before and after it
CONTACT_WEIGHT_M = 0.10  # contacts have no prominence
HIPS_WEIGHT = 3.0  # they carry the whole body
MIN_LIFT_M = 0.10  # a foot that moves less between two contacts has stayed in place
NEAR_S = 0.07  # ends of travel this close are one extreme, and a key this close to it stands for it
STEP_S = 0.15  # what the feet do this close to a step is part of it
KINDS_OF_STEP = ("reach", "reversal", "contact_start", "contact_end")
KEY_S = 0.035  # a key this close to the end of travel of a body part shows it
LEADING_WEIGHT_M = 3.0  # of each end of travel of a leading part, more than those of others
SIDES = ("left", "right")
# A hold: largest speed of any joint on a figure of 1.7 m, shortest time, and longest time between two that are one.
MAX_HOLD_MM_PER_S, MIN_HOLD_S, MAX_HOLD_GAP_S = 50.0, 0.5, 0.1


class TravelEnd(NamedTuple):
    """One end of travel of one body part."""

    frame: int
    kind: TravelKind
    body_part: str  # "left_hand"; "hips"; "feet" of a step; "body" of a figure without recognised limbs
    prominence_m: float


class Extreme(NamedTuple):
    """A pose at the end of travel of one or more body parts."""

    frame: int  # like the prominence, that of the most prominent one
    prominence_m: float
    travel_ends: tuple[TravelEnd, ...]  # most prominent first

    @property
    def weight(self) -> float:
        """How important it is that a key shows it: the largest prominence, which for the hips counts more."""
        return max(end.prominence_m * (HIPS_WEIGHT if end.body_part == "hips" else 1.0) for end in self.travel_ends)


def find_extremes(motion: Motion) -> tuple[Extreme, ...]:
    """Return the extremes of a motion in time order; none for a figure without height."""
    ends = find_travel_ends(motion)
    frames = [end.frame for end in ends]
    near, near_step = NEAR_S * motion.fps, STEP_S * motion.fps
    is_free = [True] * len(ends)
    extremes = []
    for k in sorted(range(len(ends)), key=lambda k: (-ends[k].prominence_m, ends[k].frame)):
        if not is_free[k]:
            continue
        frame, kind, _, prominence_m = ends[k]
        members = []
        for other in range(bisect_left(frames, frame - near_step), bisect_right(frames, frame + near_step)):
            is_of_step = kind == "step" and _is_of_foot(ends[other])
            if is_free[other] and abs(frames[other] - frame) <= (near_step if is_of_step else near):
                is_free[other] = False
                members.append(ends[other])
        members.sort(key=lambda end: -end.prominence_m)
        extremes.append(Extreme(frame, prominence_m, tuple(members)))
    return tuple(sorted(extremes))


def find_holds(motion: Motion) -> tuple[tuple[int, int], ...]:
    """Return the first and last frame of each hold, in time order; none for a figure without height."""
    if motion.height <= 0 or motion.n_frames < 2:
        return ()
    limit = MAX_HOLD_MM_PER_S / (motion.mm_per_unit * motion.fps)  # of a step, file units
    steps = np.diff(motion.world_positions(), axis=0)
    holds: list[tuple[int, int]] = []
    for first, last in runs((np.einsum("tjc,tjc->tj", steps, steps) <= limit**2).all(axis=1)):
        if holds and first - holds[-1][1] <= MAX_HOLD_GAP_S * motion.fps:
            holds[-1] = (holds[-1][0], last)
        else:
            holds.append((first, last))
    return tuple((first, last) for first, last in holds if last - first >= MIN_HOLD_S * motion.fps)


def mark_extremes(keys: Ints, extremes: Sequence[Extreme], fps: float) -> Bools:
    """Return flags (K,) of the keys that are extremes; the others are breakdowns, between extremes.

    A key is an extreme if some body part is at the end of its travel there, within ``KEY_S``, or if no key is closer to
    an extreme within ``NEAR_S``. The first and the last key are not between others, so they are extremes.
    """
    flags = np.zeros(len(keys), bool)
    flags[[0, -1]] = True
    if not extremes:
        return flags
    ends = np.unique([end.frame for extreme in extremes for end in extreme.travel_ends])
    flags |= np.abs(keys - ends[find_nearest(ends, keys)]) <= KEY_S * fps
    frames = np.array([extreme.frame for extreme in extremes])
    nearest = find_nearest(keys, frames)
    flags[nearest[np.abs(keys[nearest] - frames) <= NEAR_S * fps]] = True
    return flags


def weigh_extremes(extremes: Sequence[Extreme], n_frames: int, leading: LeadingPart | None = None) -> Floats:
    """Return how important it is that there is a key at each frame (T,): 0 where no part ends its travel.

    All ends of travel of a ``leading`` part are more important than those of others.
    """
    weights = np.zeros(n_frames)
    for extreme in extremes:
        weights[extreme.frame] += extreme.weight
        for end in extreme.travel_ends:
            if is_of_leading_part(end, leading):
                weights[end.frame] += LEADING_WEIGHT_M + end.prominence_m
    return weights


def is_of_leading_part(end: TravelEnd, leading: LeadingPart | None) -> bool:
    """Return whether a travel is that of a leading part; a step is one of both feet."""
    part = end.body_part
    if leading in ("hands", "feet"):
        return part == leading or part.partition("_")[2] == leading.replace("hands", "hand").replace("feet", "foot")
    return part == leading or (part == "feet" and leading in ("left_foot", "right_foot"))


def list_parts_at_keys(keys: Ints, extremes: Sequence[Extreme], fps: float) -> tuple[tuple[str, ...], ...]:
    """Return for each key (K,) the parts of the body that are at the end of their travel, most prominent first.

    These are the parts by which ``mark_extremes`` marks a key.
    """
    found: list[dict[str, float]] = [{} for _ in keys]
    for extreme in extremes:
        nearest = int(find_nearest(keys, np.array([extreme.frame]))[0])
        is_nearest = abs(int(keys[nearest]) - extreme.frame) <= NEAR_S * fps
        for end in extreme.travel_ends:
            closest = int(find_nearest(keys, np.array([end.frame]))[0])
            rows = {closest} if abs(int(keys[closest]) - end.frame) <= KEY_S * fps else set()
            if is_nearest and end == extreme.travel_ends[0]:
                rows.add(nearest)
            for row in rows:
                found[row][end.body_part] = max(end.prominence_m, found[row].get(end.body_part, 0.0))
    return tuple(tuple(sorted(parts, key=lambda part: (-parts[part], part))) for parts in found)


def find_nearest(values: Ints, targets: Ints) -> Ints:
    """Return for each of ``targets`` (N,) the index of the nearest of ``values`` (M,), which increase; of two, the
    first."""
    after = np.minimum(np.searchsorted(values, targets), len(values) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(targets - values[before] <= values[after] - targets, before, after)


def find_travel_ends(motion: Motion) -> tuple[TravelEnd, ...]:
    """Return the ends of travel of all body parts in time order."""
    if motion.height <= 0:
        return ()
    metres = motion.world_positions() * (motion.mm_per_unit / 1000.0)
    anatomy = motion.skeleton.anatomy
    joint_of = {part: joint for joint, part in enumerate(anatomy.body_parts) if part is not None}
    limbs = {part: joint_of[part] for side in SIDES for part in (f"{side}_hand", f"{side}_foot") if part in joint_of}
    if not limbs:
        whole = metres.reshape(motion.n_frames, -1) / np.sqrt(motion.n_joints)
        ends = [TravelEnd(frame, "reversal", "body", size) for frame, size in find_reversals(whole, motion.fps)]
    else:
        ends = list(_find_limb_ends(motion, metres, joint_of, limbs))
    return tuple(sorted(end for end in ends if 0 < end.frame < motion.n_frames - 1))


def _find_limb_ends(
    motion: Motion, metres: Floats, joint_of: dict[str, int], limbs: dict[str, int]
) -> Iterator[TravelEnd]:
    up = up_axis(motion.up)[0]
    level = [axis for axis in range(3) if axis != up]
    thighs = [joint_of[f"{side}_thigh"] for side in SIDES if f"{side}_thigh" in joint_of]
    hips = metres[:, thighs if len(thighs) == 2 else [body_root(motion.skeleton)]].mean(axis=1)
    for part, joint in limbs.items():
        limb, offsets = part.split("_")[1], metres[:, joint] - hips
        reach = np.hypot(*offsets[:, level].T)
        yield from _peaks(part, "reach", reach, MIN_REACH_M[limb])
        heights = heights_above(offsets, motion.up)
        yield from _peaks(part, "high", heights, MIN_HEIGHT_M[limb])
        yield from _peaks(part, "low", -heights, MIN_HEIGHT_M[limb])
        for frame, size in find_reversals(offsets, motion.fps):
            yield TravelEnd(frame, "reversal", part, size)
    for side in SIDES:
        if (knee := joint_of.get(f"{side}_shin")) is not None:
            heights = heights_above(metres[:, knee] - hips, motion.up)
            yield from _peaks(f"{side}_shin", "high", heights, MIN_HEIGHT_M["shin"])
    heights = heights_above(hips, motion.up)
    yield from _peaks("hips", "high", heights, MIN_HIPS_M)
    yield from _peaks("hips", "low", -heights, MIN_HIPS_M)
    if "left_foot" in limbs and "right_foot" in limbs:
        apart = np.hypot(*(metres[:, limbs["left_foot"]] - metres[:, limbs["right_foot"]])[:, level].T)
        yield from _peaks("feet", "step", apart, MIN_STEP_M)
    yield from _find_contact_ends(motion, metres, joint_of)


def _find_contact_ends(motion: Motion, metres: Floats, joint_of: dict[str, int]) -> Iterator[TravelEnd]:
    """Yield the first and last frames of contacts; of two contacts in one place only the first and last frame."""
    contacts = motion.foot_contacts()
    for foot, in_contact in zip(contacts.feet, contacts.in_contact.T, strict=True):
        part = f"{foot}_foot"
        joint = joint_of.get(part, joint_of.get(f"{foot}_toes"))
        positions = metres[:, joint]
        stays: list[tuple[int, int]] = []
        for start, stop in runs(in_contact):
            if stays and np.ptp(positions[stays[-1][1] - 1 : start + 1], axis=0).max() < MIN_LIFT_M:
                stays[-1] = (stays[-1][0], stop)
            else:
                stays.append((start, stop))
        for start, stop in stays:
            yield TravelEnd(start, "contact_start", part, CONTACT_WEIGHT_M)
            yield TravelEnd(stop - 1, "contact_end", part, CONTACT_WEIGHT_M)


def _is_of_foot(end: TravelEnd) -> bool:
    """Return whether this is something that a foot does in each step."""
    return end.body_part.endswith("_foot") and end.kind in KINDS_OF_STEP


def _peaks(body_part: str, kind: TravelKind, values: Floats, min_prominence: float) -> Iterator[TravelEnd]:
    for frame, prominence in find_peaks(values.round(DECIMALS), min_prominence):
        yield TravelEnd(frame, kind, body_part, prominence)


def find_reversals(path: Floats, fps: float) -> list[tuple[int, float]]:
    """Return frame and size of the reversals of a ``path`` (T, D), metres, in time order.

    A reversal is where the path turns back within ``REVERSAL_S``; its size is the distance to or from it in that time,
    the smaller one.
    """
    window = max(1, round(REVERSAL_S * fps))
    if len(path) <= 2 * window:
        return []
    before = path[window:-window] - path[: -2 * window]
    after = path[2 * window :] - path[window:-window]
    products = np.einsum("td,td->t", before, after)
    before_m, after_m = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    sizes = np.minimum(before_m, after_m)
    turns_back = (sizes >= MIN_REVERSAL_M) & (products <= MAX_REVERSAL_COSINE * before_m * after_m)
    sharpest = [start + int(products[start:stop].argmin()) for start, stop in runs(turns_back)]
    return [(window + frame, float(sizes[frame])) for frame in sharpest]
