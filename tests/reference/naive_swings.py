"""Slow, obvious twins of swings, which find and play them one frame at a time, as in the thesis."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np


def quaternion_product(a, b):
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return np.array(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        )
    )


def rotation_vector(a, b):
    """Return the rotation from ``a`` to ``b`` as axis times angle, the shorter way."""
    w, *v = quaternion_product((a[0], -a[1], -a[2], -a[3]), b)
    if w < 0:
        w, v = -w, [-x for x in v]
    sine = math.sqrt(sum(x * x for x in v))
    return np.array(v) * (2 * math.atan2(sine, w) / sine if sine > 1e-12 else 2.0)


def rotate(q, rotation_vector):
    angle = math.sqrt(sum(x * x for x in rotation_vector))
    if angle == 0:
        return np.array(q)
    return quaternion_product(q, (math.cos(angle / 2), *(math.sin(angle / 2) / angle * x for x in rotation_vector)))


def velocities(rotations):
    steps = [rotation_vector(rotations[t], rotations[t + 1]) for t in range(len(rotations) - 1)]
    return [*steps, steps[-1] if steps else np.zeros(3)]


def smooth_values(values, box):
    """Return means over ``box`` frames, fewer at the ends of the clip: for 10, five before, the frame itself and four
    after."""
    means = []
    for t in range(len(values)):
        window = values[max(0, t - box // 2) : t + (box - box // 2)]
        means.append(sum(window, np.zeros(3)) / len(window))
    return means


def angle(u, v):
    return math.acos(max(-1.0, min(1.0, float(np.dot(u, v)))))


def axis_errors(axes, half):
    """Return the weighted mean difference of the axes within ``half`` frames from that of each frame; beyond the ends
    of the clip the first or last axis is used."""
    last = len(axes) - 1
    errors = []
    for t in range(len(axes)):
        total = 0.0
        for i in range(t - half, t + half + 1):
            total += angle(axes[min(max(i, 0), last)], axes[t]) / (1 + ((i - t) / (2 * half)) ** 2)
        errors.append(total / (2 * half))
    return errors


def swing_spans(rotations, smoothing, half_window, min_frames, rest_speed, threshold, cosine):
    """Return the swings (start, end, rotation vector) and rests (start, end) of one joint with rotations (T, 4)."""
    velocity = velocities(rotations)
    smooth = smooth_values(velocity, smoothing)
    speeds = [math.sqrt(float(v @ v)) for v in smooth]
    axes = [v / speed if speed > 0 else v for v, speed in zip(smooth, speeds, strict=True)]
    errors = axis_errors(axes, half_window)
    frames = range(len(rotations))
    rest_frames = {t for t in frames if speeds[t] < rest_speed}
    free = set(frames) - rest_frames
    swings = []
    while free:
        seed = min(free, key=lambda t: (errors[t], t))

        def axis_distance(t, seed=seed):
            between = angle(axes[t], axes[seed])
            return 1 - math.cos(between) if cosine else between

        swing = {seed}
        while True:
            neighbours = [t for t in (min(swing) - 1, max(swing) + 1) if t in free]
            if not neighbours:
                break
            nearest = min(neighbours, key=axis_distance)
            if sum(map(axis_distance, swing | {nearest})) / (len(swing) + 1) > threshold:
                break
            swing.add(nearest)
        free -= swing
        if len(swing) >= min_frames:
            start, end = min(swing), max(swing)
            swings.append((start, end, sum(velocity[start:end], np.zeros(3))))
    rests = []
    for t in sorted(rest_frames):
        if rests and rests[-1][1] == t - 1:
            rests[-1] = (rests[-1][0], t)
        else:
            rests.append((t, t))
    return sorted(swings, key=lambda swing: swing[0]), rests


def sample(pieces, mean, frame):
    """Return the rotation of one joint at one frame; ``pieces`` are lists of (frame, rotation, rotation vector to the
    next one) in order of time.

    Between pieces the joint rotates at constant speed from the end of one to the start of the next.
    """
    if not pieces:
        return np.array(mean)
    if frame <= pieces[0][0][0]:
        return np.array(pieces[0][0][1])
    for n, piece in enumerate(pieces):
        for (t, q, turn), (after, *_) in pairwise(piece):
            if t <= frame < after:
                return rotate(q, turn * ((frame - t) / (after - t)))
        last, q, _ = piece[-1]
        if n + 1 < len(pieces):
            start, first, _ = pieces[n + 1][0]
            if last <= frame < start:
                return rotate(q, rotation_vector(q, first) * ((frame - last) / (start - last)))
    return np.array(pieces[-1][-1][1])


def split_track(track):
    """Return the swings, the rests in their middle frames and the keyed spans of a track as pieces for ``sample``."""
    pieces = []
    for start, end, q, turn in zip(
        track.starts, track.ends, track.start_rotations, track.rotation_vectors, strict=True
    ):
        pieces.append([(int(start), q, turn), (int(end), rotate(q, turn), None)])
    pieces += [[((rest.start + rest.end) // 2, rest.rotation, None)] for rest in track.rests]
    for span in track.keyed:
        rotation_vectors = [rotation_vector(a, b) for a, b in zip(span.rotations, span.rotations[1:], strict=False)]
        pieces.append(list(zip(span.frames.tolist(), span.rotations, [*rotation_vectors, None], strict=True)))
    return sorted(pieces, key=lambda part: part[0][0])
