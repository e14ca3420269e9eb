"""Slow and obvious twins of swings: found and played one frame at a time, as METHODS and the thesis say."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np


def times(a, b):
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return np.array(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )
    )


def turn_from(a, b):
    """What turns ``a`` into ``b``, as axis times angle, the shorter way."""
    w, *v = times((a[0], -a[1], -a[2], -a[3]), b)
    if w < 0:
        w, v = -w, [-x for x in v]
    sine = math.sqrt(sum(x * x for x in v))
    return np.array(v) * (2 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0)


def turned(q, turn):
    angle = math.sqrt(sum(x * x for x in turn))
    if angle == 0:
        return np.array(q)
    return times(q, (math.cos(angle / 2), *(math.sin(angle / 2) / angle * x for x in turn)))


def velocities(rotations):
    steps = [turn_from(rotations[t], rotations[t + 1]) for t in range(len(rotations) - 1)]
    return [*steps, steps[-1] if steps else np.zeros(3)]


def smoothed(values, box):
    """The mean over ``box`` frames, cut at the clip's ends: of 10, five before, the frame itself and four after."""
    means = []
    for t in range(len(values)):
        some = values[max(0, t - box // 2) : t + (box - box // 2)]
        means.append(sum(some, np.zeros(3)) / len(some))
    return means


def angle(u, v):
    return math.acos(max(-1.0, min(1.0, float(np.dot(u, v)))))


def steadiness(axes, half):
    """E: how far the axes within ``half`` frames are from each frame's own; beyond the ends the end's axis counts."""
    last = len(axes) - 1
    errors = []
    for t in range(len(axes)):
        total = 0.0
        for i in range(t - half, t + half + 1):
            total += angle(axes[min(max(i, 0), last)], axes[t]) / (1 + ((i - t) / (2 * half)) ** 2)
        errors.append(total / (2 * half))
    return errors


def swing_spans(rotations, smoothing, half_window, least, rest_speed, threshold, cosine):
    """The swings (start, end, turn) and rests (start, end) of one joint, rotations (T, 4)."""
    moved = velocities(rotations)
    smooth = smoothed(moved, smoothing)
    speeds = [math.sqrt(float(v @ v)) for v in smooth]
    axes = [v / speed if speed > 0 else v for v, speed in zip(smooth, speeds, strict=True)]
    errors = steadiness(axes, half_window)
    frames = range(len(rotations))
    resting = {t for t in frames if speeds[t] < rest_speed}
    free = set(frames) - resting
    found = []
    while free:
        seed = min(free, key=lambda t: (errors[t], t))

        def off(t, seed=seed):
            between = angle(axes[t], axes[seed])
            return 1 - math.cos(between) if cosine else between

        swing = {seed}
        while True:
            beside = [t for t in (min(swing) - 1, max(swing) + 1) if t in free]
            if not beside:
                break
            nearer = min(beside, key=off)
            if sum(map(off, swing | {nearer})) / (len(swing) + 1) > threshold:
                break
            swing.add(nearer)
        free -= swing
        if len(swing) >= least:
            start, end = min(swing), max(swing)
            found.append((start, end, sum(moved[start:end], np.zeros(3))))
    rests = []
    for t in sorted(resting):
        if rests and rests[-1][1] == t - 1:
            rests[-1] = (rests[-1][0], t)
        else:
            rests.append((t, t))
    return sorted(found, key=lambda swing: swing[0]), rests


def played(parts, mean, frame):
    """One joint at one frame; ``parts`` are lists of (frame, rotation, turn to the next one) in order of time.

    A part holds its own frames; between parts the joint turns evenly from the end of one to the start of the next.
    """
    if not parts:
        return np.array(mean)
    if frame <= parts[0][0][0]:
        return np.array(parts[0][0][1])
    for n, part in enumerate(parts):
        for (t, q, turn), (after, *_) in pairwise(part):
            if t <= frame < after:
                return turned(q, turn * ((frame - t) / (after - t)))
        last, q, _ = part[-1]
        if n + 1 < len(parts):
            start, first, _ = parts[n + 1][0]
            if last <= frame < start:
                return turned(q, turn_from(q, first) * ((frame - last) / (start - last)))
    return np.array(parts[-1][-1][1])


def parts_of(track):
    """Swings and keyed spans of a track as ``played`` takes them."""
    parts = []
    for start, end, q, turn in zip(track.starts, track.ends, track.start_rotations, track.turns, strict=True):
        parts.append([(int(start), q, turn), (int(end), turned(q, turn), None)])
    for span in track.keyed:
        turns = [turn_from(a, b) for a, b in zip(span.rotations, span.rotations[1:], strict=False)]
        parts.append(list(zip(span.frames.tolist(), span.rotations, [*turns, None], strict=True)))
    return sorted(parts, key=lambda part: part[0][0])
