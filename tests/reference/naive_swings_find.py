"""The slow, obvious twin of ``keypose.swings.find``, which checks every swing."""

from __future__ import annotations

import math

from keypose.swings import Swing, Swings


def find(swings: Swings, joints, *, index=None, at_s=None, from_s=None, to_s=None, longer_s=None, shorter_s=None,
         wider_deg=None, narrower_deg=None) -> list[Swing]:  # fmt: skip
    matches = []
    for j in swings.skeleton.joints(joints):
        track_swings = swings.tracks[j].swings
        for n, swing in enumerate(track_swings):
            start, end = swing.start / swings.fps, swing.end / swings.fps
            if index is not None and index not in (n, n - len(track_swings)):
                continue
            if at_s is not None and not start <= at_s <= end:
                continue
            if from_s is not None and end < from_s:
                continue
            if to_s is not None and start > to_s:
                continue
            if longer_s is not None and not end - start > longer_s:
                continue
            if shorter_s is not None and not end - start < shorter_s:
                continue
            if wider_deg is not None and not math.degrees(swing.angle) > wider_deg:
                continue
            if narrower_deg is not None and not math.degrees(swing.angle) < narrower_deg:
                continue
            matches.append((swing.start, j, swing))
    return [swing for _, _, swing in sorted(matches, key=lambda each: each[:2])]
