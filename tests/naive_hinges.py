"""A slow and obvious twin of what holds knees and elbows: in the world, frame by frame, with matrices."""

from __future__ import annotations

import math

import numpy as np

from keypose.rotations import from_matrix, to_matrix

STRAIGHT, FOLDED, SOFT = 3.0, 150.0, 5.0


def bones(motion, frame, upper, middle, end):
    """The two bones of a limb as the joint above the middle one sees them."""
    places = motion.world_positions()[frame]
    above = to_matrix(motion.world_rotations()[frame, motion.skeleton.parents[middle]])
    first, second = places[middle] - places[upper], places[end] - places[middle]
    return above.T @ first / math.dist(first, (0, 0, 0)), above.T @ second / math.dist(second, (0, 0, 0))


def usual_hinge(motion, *limb):
    best = max((np.cross(*bones(motion, frame, *limb)) for frame in range(motion.n_frames)), key=lambda n: n @ n)
    return best / math.sqrt(best @ best)


def axis_of(first, hinge):
    square = hinge - (hinge @ first) * first
    return square / math.sqrt(square @ square)


def flexion(motion, frame, limb, hinge, middle=90.0):
    """In degrees, within half a turn of ``middle``."""
    first, second = bones(motion, frame, *limb)
    beside = np.cross(axis_of(first, hinge), first)  # where the second bone points at 90 degrees
    degrees = math.degrees(math.atan2(second @ beside, second @ first))
    while degrees <= middle - 180:
        degrees += 360
    while degrees > middle + 180:
        degrees -= 360
    return degrees


def saturated(now, was, least, greatest):
    start = max(was, greatest - SOFT)
    if now > start:
        return (
            greatest
            if start >= greatest
            else start + (greatest - start) * math.tanh((now - start) / (greatest - start))
        )
    start = min(was, least + SOFT)
    if now < start:
        return least if start <= least else start - (start - least) * math.tanh((start - now) / (start - least))
    return now


def near(degrees, other):
    """The same angle, as near as full turns bring it to another one."""
    return degrees - 360 * round((degrees - other) / 360)


def held(now, was, least, greatest):
    """Pairs of the flexion as it goes on and what it is to be, for each frame."""
    within = [least <= x <= greatest for x in now]
    pairs, n = [], 0
    while n < len(now):
        if within[n]:
            pairs.append((now[n], saturated(now[n], was[n], least, greatest)))
            n += 1
            continue
        last = n
        while last + 1 < len(now) and not within[last + 1]:
            last += 1
        run = now[n : last + 1]
        if n > 0:  # goes on from the frame before it
            flowing = [now[n - 1]]
            for x in run:
                flowing.append(near(x, flowing[-1]))
            run = flowing[1:]
        elif last + 1 < len(now):  # comes in from nowhere: backwards from the frame after it
            flowing = [now[last + 1]]
            for x in reversed(run):
                flowing.append(near(x, flowing[-1]))
            run = flowing[:0:-1]
        else:
            for k in range(1, len(run)):
                run[k] = near(run[k], run[k - 1])
        goes_on = near(now[last + 1], run[-1]) if n > 0 and last + 1 < len(now) else None
        for k, x in enumerate(run):
            before = was[n + k]
            to = saturated(x, before, least, greatest)
            if goes_on is not None and abs(goes_on - now[last + 1]) > 1:  # right round
                x = x if goes_on > now[last + 1] else x + 360
                part = min(max((x - greatest) / (least + 360 - greatest), 0.0), 1.0)
                part = 3 * part**2 - 2 * part**3
                ends = (saturated(y, before, least, greatest) for y in (x, x - 360))
                to = sum(w * y for w, y in zip((1 - part, part), ends, strict=True))
            pairs.append((x, to))
        n = last + 1
    return pairs


def hold(before, after, old, limb):
    """The local rotations (T, 4) of the middle joint; of limbs that stay in the plane of their hinge."""
    hinge = usual_hinge(before, *limb)
    ever = [flexion(before, frame, limb, hinge) for frame in range(before.n_frames)]
    least, greatest = min(*ever, STRAIGHT), max(*ever, FOLDED)
    was = [flexion(old, frame, limb, hinge) for frame in range(after.n_frames)]
    now = [flexion(after, frame, limb, hinge, (least + greatest) / 2) for frame in range(after.n_frames)]
    rows = []
    for frame, (x, to) in enumerate(held(now, was, least, greatest)):
        axis, angle = axis_of(bones(after, frame, *limb)[0], hinge), math.radians(to - x)
        cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        turn = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
        rows.append(from_matrix(turn @ to_matrix(after.rotations[frame, limb[1]])))
    return np.array(rows)
