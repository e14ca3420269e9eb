"""Slow, obvious twins of the targets of feet."""

from __future__ import annotations


def contact_weights(in_contact, fade_frames):
    contacts = [frame for frame, touches in enumerate(in_contact) if touches]
    shares = []
    for frame in range(len(in_contact)):
        before = [frame - c for c in contacts if c <= frame]
        after = [c - frame for c in contacts if c >= frame]
        free = 1.0
        for distances in (before, after):
            if distances:
                x = min(1.0, min(distances) / max(1.0, fade_frames))
                free *= 6 * x**5 - 15 * x**4 + 10 * x**3
        shares.append(1.0 - free)
    return shares


def contact_levels(heights, in_contact):
    runs = []  # first and last frame of each contact
    for frame, touches in enumerate(in_contact):
        if touches and runs and runs[-1][1] == frame - 1:
            runs[-1][1] = frame
        elif touches:
            runs.append([frame, frame])
    lowest = [[min(heights[f][p] for f in range(a, b + 1)) for p in range(len(heights[0]))] for a, b in runs]
    rows = []
    for frame in range(len(in_contact)):
        before = [n for n, (first, _) in enumerate(runs) if first <= frame]
        after = [n for n, (_, last) in enumerate(runs) if last >= frame]
        a, b = before[-1] if before else after[0], after[0] if after else before[-1]
        part = 0.0 if a == b else (frame - runs[a][1]) / (runs[b][0] - runs[a][1])
        rows.append([(1 - part) * low + part * high for low, high in zip(lowest[a], lowest[b], strict=True)])
    return rows
