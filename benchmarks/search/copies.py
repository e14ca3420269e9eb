"""Copies of a take against other takes: how far apart their tracks are, and which of them search would fold.

.venv/bin/python -m benchmarks.search.copies
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from benchmarks.search.clips import everything, labelled

import keypose as kp
from keypose.library.parts import PartTrack, describe_parts
from keypose.library.searching.folding import MOST_APART, MOST_CUT, STILL, Take, apart, are_copies

ANGLE_NOISE = 0.002  # of each number of a quaternion: a quarter of a degree
PLACE_DIGITS = 1  # of inches: 2.5 mm


def copies_of(motion: kp.Motion, random: np.random.Generator) -> dict[str, kp.Motion]:
    """A clip as it may come a second time."""
    n = motion.n_frames
    noisy = motion.rotations + ANGLE_NOISE * random.normal(size=motion.rotations.shape)
    made = {
        "24 fps": motion.at_fps(24.0),
        "25 fps": motion.at_fps(25.0),
        "120 fps": motion.at_fps(120.0),
        "rounded places": replace(motion, translations=np.round(motion.translations, PLACE_DIGITS)),
        "noise": replace(motion, rotations=noisy / np.linalg.norm(noisy, axis=-1, keepdims=True)),
        "in metres": _scaled(motion, 0.0254),
        "1 frame later": motion[1:],
        "8 frames later": motion[8:],
        "5 frames off both ends": motion[5 : n - 5],
        "10 frames later at 25 fps": motion[10:].at_fps(25.0),
    }
    return {kind: copy for kind, copy in made.items() if copy.n_frames >= n // 2 or copy.fps < motion.fps}


def _scaled(motion: kp.Motion, factor: float) -> kp.Motion:
    offsets, ends = motion.skeleton.offsets * factor, motion.skeleton.end_offsets * factor
    skeleton = replace(motion.skeleton, offsets=offsets, end_offsets=ends)
    return replace(motion, skeleton=skeleton, translations=motion.translations * factor)


def other_takes(tracks: dict[str, PartTrack]) -> Iterator[tuple[float, float, str, str]]:
    """Of all pairs of different clips that are about as long: residual, bends and names where they are near at all."""
    names = sorted(tracks)
    takes = {name: Take(track) for name, track in tracks.items()}
    lengths = np.array([len(tracks[name]) for name in names])
    for i, name in enumerate(names):
        for k in np.flatnonzero(np.abs(lengths[i + 1 :] - lengths[i]) <= MOST_CUT) + i + 1:
            residual, bends = apart(takes[name], takes[names[k]])
            if np.isfinite(residual):
                yield residual, bends, name, names[k]


def _said(kind: str, pairs: list[tuple[float, float]], folded: int) -> None:
    residuals, bends = np.array(pairs).T
    ratios = residuals / np.maximum(bends, 1e-9)
    far = f"residual median {np.median(residuals):.3f}, most {residuals.max():.3f}"
    bent = f"in bends median {np.median(ratios):.3f}, most {np.sort(ratios)[-3:].round(3)}"
    print(f"   {kind}: {folded} of {len(pairs)} folded; {far}; {bent}")


def figures() -> dict[str, float]:
    """The share of copies that are folded, of the kind with the fewest, and how many pairs of other takes are."""
    random = np.random.default_rng(1)
    by_kind: dict[str, list[tuple[PartTrack, PartTrack]]] = {}
    tracks: dict[str, PartTrack] = {}
    for clip in everything():
        track = describe_parts(clip.motion())
        if track is not None:
            tracks[clip.name] = track
    for clip in labelled():
        for kind, copy in copies_of(clip.motion(), random).items():
            again = describe_parts(copy)
            if clip.name in tracks and again is not None:
                by_kind.setdefault(kind, []).append((tracks[clip.name], again))
    n_copies = {kind: sum(are_copies(*pair) for pair in pairs) for kind, pairs in by_kind.items()}
    for kind, pairs in by_kind.items():
        _said(kind, [apart(*map(Take, pair)) for pair in pairs], n_copies[kind])
    found = sorted(other_takes(tracks), key=lambda pair: pair[0] / max(pair[1], 1e-9))
    n_folded = sum(residual <= max(STILL, MOST_APART * bends) for residual, bends, _, _ in found)
    print(f"   different takes: {n_folded} pairs of {len(tracks)} clips folded; the nearest:")
    for residual, bends, a, b in found[:12]:
        print(f"      {a} {b}: residual {residual:.3f}, in bends {residual / max(bends, 1e-9):.3f}")
    print("      least residuals:", ", ".join(f"{a} {b} {r:.3f}" for r, _, a, b in sorted(found)[:8]))
    return {
        "copies_least_folded": min(n_copies[kind] / len(pairs) for kind, pairs in by_kind.items()),
        "copies_other_takes_folded": float(n_folded),
    }


if __name__ == "__main__":
    figures()
