"""A slow, obvious twin of limiting knees and elbows: in the world, frame by frame, with matrices."""

from __future__ import annotations

import math

import numpy as np

from keypose.rotations import from_matrix, to_matrix

DEFAULT_MIN_DEG, DEFAULT_MAX_DEG, SOFT_DEG = 3.0, 150.0, 5.0


def bone_directions(motion, frame, upper, middle, end):
    """Return the directions of the two bones of a limb in the frame of the parent of the middle joint."""
    positions = motion.world_positions()[frame]
    above = to_matrix(motion.world_rotations()[frame, motion.skeleton.parents[middle]])
    first, second = positions[middle] - positions[upper], positions[end] - positions[middle]
    return above.T @ first / math.dist(first, (0, 0, 0)), above.T @ second / math.dist(second, (0, 0, 0))


def find_hinge(motion, *limb):
    best = max(
        (np.cross(*bone_directions(motion, frame, *limb)) for frame in range(motion.n_frames)), key=lambda n: n @ n
    )
    return best / math.sqrt(best @ best)


def hinge_axis(first, hinge):
    orthogonal = hinge - (hinge @ first) * first
    return orthogonal / math.sqrt(orthogonal @ orthogonal)


def flexion(motion, frame, limb, hinge, middle=90.0):
    """Return the flexion in degrees, within half a turn of ``middle``."""
    first, second = bone_directions(motion, frame, *limb)
    beside = np.cross(hinge_axis(first, hinge), first)  # the direction of the second bone at 90 degrees
    degrees = math.degrees(math.atan2(second @ beside, second @ first))
    while degrees <= middle - 180:
        degrees += 360
    while degrees > middle + 180:
        degrees -= 360
    return degrees


def soft_limit(flexion, old_flexion, min_deg, max_deg):
    start = max(old_flexion, max_deg - SOFT_DEG)
    if flexion > start:
        return (
            max_deg
            if start >= max_deg
            else start + (max_deg - start) * math.tanh((flexion - start) / (max_deg - start))
        )
    start = min(old_flexion, min_deg + SOFT_DEG)
    if flexion < start:
        return (
            min_deg
            if start <= min_deg
            else start - (start - min_deg) * math.tanh((start - flexion) / (start - min_deg))
        )
    return flexion


def nearest_turn(degrees, other):
    """Return the angle plus the full turns that bring it nearest to another one."""
    return degrees - 360 * round((degrees - other) / 360)


def limit_flexions(flexions, old_flexions, min_deg, max_deg):
    """Return pairs of unwrapped flexion and limited flexion for each frame."""
    within = [min_deg <= x <= max_deg for x in flexions]
    pairs, n = [], 0
    while n < len(flexions):
        if within[n]:
            pairs.append((flexions[n], soft_limit(flexions[n], old_flexions[n], min_deg, max_deg)))
            n += 1
            continue
        last = n
        while last + 1 < len(flexions) and not within[last + 1]:
            last += 1
        run = flexions[n : last + 1]
        if n > 0:  # unwrapped from the frame before it
            unwrapped = [flexions[n - 1]]
            for x in run:
                unwrapped.append(nearest_turn(x, unwrapped[-1]))
            run = unwrapped[1:]
        elif last + 1 < len(flexions):  # at the start of the clip, backwards from the frame after it
            unwrapped = [flexions[last + 1]]
            for x in reversed(run):
                unwrapped.append(nearest_turn(x, unwrapped[-1]))
            run = unwrapped[:0:-1]
        else:
            for k in range(1, len(run)):
                run[k] = nearest_turn(run[k], run[k - 1])
        goes_on = nearest_turn(flexions[last + 1], run[-1]) if n > 0 and last + 1 < len(flexions) else None
        for k, x in enumerate(run):
            before = old_flexions[n + k]
            target = soft_limit(x, before, min_deg, max_deg)
            if goes_on is not None and abs(goes_on - flexions[last + 1]) > 1:  # a full turn
                x = x if goes_on > flexions[last + 1] else x + 360
                part = min(max((x - max_deg) / (min_deg + 360 - max_deg), 0.0), 1.0)
                part = 3 * part**2 - 2 * part**3
                ends = (soft_limit(y, before, min_deg, max_deg) for y in (x, x - 360))
                target = sum(w * y for w, y in zip((1 - part, part), ends, strict=True))
            pairs.append((x, target))
        n = last + 1
    return pairs


def hold(before, after, old, limb):
    """Return the limited local rotations (T, 4) of the middle joint of a limb that stays in its hinge plane."""
    hinge = find_hinge(before, *limb)
    all_flexions = [flexion(before, frame, limb, hinge) for frame in range(before.n_frames)]
    min_deg, max_deg = min(*all_flexions, DEFAULT_MIN_DEG), max(*all_flexions, DEFAULT_MAX_DEG)
    old_flexions = [flexion(old, frame, limb, hinge) for frame in range(after.n_frames)]
    flexions = [flexion(after, frame, limb, hinge, (min_deg + max_deg) / 2) for frame in range(after.n_frames)]
    rows = []
    for frame, (x, target) in enumerate(limit_flexions(flexions, old_flexions, min_deg, max_deg)):
        axis, angle = hinge_axis(bone_directions(after, frame, *limb)[0], hinge), math.radians(target - x)
        cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        turn = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
        rows.append(from_matrix(turn @ to_matrix(after.rotations[frame, limb[1]])))
    return np.array(rows)
