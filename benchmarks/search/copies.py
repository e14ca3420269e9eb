"""Copies of a take against other takes: distances of their tracks, and which of them search deduplicates.

.venv/bin/python -m benchmarks.search.copies
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from benchmarks.search.clips import all_clips, labelled_clips

import keypose as kp
from keypose.library.search.deduplication import (
    MAX_CUT_SAMPLES,
    MAX_RELATIVE_ERROR,
    NOISE_FLOOR,
    Take,
    compare_takes,
    is_same_take,
)
from keypose.library.search.part_gallery import PartTrack, build_part_track

ANGLE_NOISE = 0.002  # of each number of a quaternion: a quarter of a degree
TRANSLATION_DIGITS = 1  # of inches: 2.5 mm


def make_copies(motion: kp.Motion, random: np.random.Generator) -> dict[str, kp.Motion]:
    """Return altered copies of a clip, by kind of change."""
    n = motion.n_frames
    noisy = motion.rotations + ANGLE_NOISE * random.normal(size=motion.rotations.shape)
    copies = {
        "24 fps": motion.at_fps(24.0),
        "25 fps": motion.at_fps(25.0),
        "120 fps": motion.at_fps(120.0),
        "rounded translations": replace(motion, translations=np.round(motion.translations, TRANSLATION_DIGITS)),
        "noise": replace(motion, rotations=noisy / np.linalg.norm(noisy, axis=-1, keepdims=True)),
        "in metres": _scale(motion, 0.0254),
        "1 frame later": motion[1:],
        "8 frames later": motion[8:],
        "5 frames off both ends": motion[5 : n - 5],
        "10 frames later at 25 fps": motion[10:].at_fps(25.0),
    }
    return {kind: copy for kind, copy in copies.items() if copy.n_frames >= n // 2 or copy.fps < motion.fps}


def _scale(motion: kp.Motion, factor: float) -> kp.Motion:
    offsets, ends = motion.skeleton.offsets * factor, motion.skeleton.end_offsets * factor
    skeleton = replace(motion.skeleton, offsets=offsets, end_offsets=ends)
    return replace(motion, skeleton=skeleton, translations=motion.translations * factor)


def compare_other_takes(tracks: dict[str, PartTrack]) -> Iterator[tuple[float, float, str, str]]:
    """Yield residual, bends and names of pairs of different clips of similar length, where the residual is finite."""
    names = sorted(tracks)
    takes = {name: Take(track) for name, track in tracks.items()}
    lengths = np.array([len(tracks[name]) for name in names])
    for i, name in enumerate(names):
        for k in np.flatnonzero(np.abs(lengths[i + 1 :] - lengths[i]) <= MAX_CUT_SAMPLES) + i + 1:
            residual, bends = compare_takes(takes[name], takes[names[k]])
            if np.isfinite(residual):
                yield residual, bends, name, names[k]


def _print_distances(kind: str, pairs: list[tuple[float, float]], n_same: int) -> None:
    residuals, bends = np.array(pairs).T
    ratios = residuals / np.maximum(bends, 1e-9)
    residual_text = f"residual median {np.median(residuals):.3f}, max {residuals.max():.3f}"
    ratio_text = f"in bends median {np.median(ratios):.3f}, max {np.sort(ratios)[-3:].round(3)}"
    print(f"   {kind}: {n_same} of {len(pairs)} deduplicated; {residual_text}; {ratio_text}")


def figures() -> dict[str, float]:
    """Return the smallest share of copies recognised as duplicates over kinds, and the number of false pairs."""
    random = np.random.default_rng(1)
    by_kind: dict[str, list[tuple[PartTrack, PartTrack]]] = {}
    tracks: dict[str, PartTrack] = {}
    for clip in all_clips():
        track = build_part_track(clip.motion())
        if track is not None:
            tracks[clip.name] = track
    for clip in labelled_clips():
        for kind, copy in make_copies(clip.motion(), random).items():
            copy_track = build_part_track(copy)
            if clip.name in tracks and copy_track is not None:
                by_kind.setdefault(kind, []).append((tracks[clip.name], copy_track))
    n_same_by_kind = {kind: sum(is_same_take(*pair) for pair in pairs) for kind, pairs in by_kind.items()}
    for kind, pairs in by_kind.items():
        _print_distances(kind, [compare_takes(*map(Take, pair)) for pair in pairs], n_same_by_kind[kind])
    pairs_by_ratio = sorted(compare_other_takes(tracks), key=lambda pair: pair[0] / max(pair[1], 1e-9))
    n_same = sum(residual <= max(NOISE_FLOOR, MAX_RELATIVE_ERROR * bends) for residual, bends, _, _ in pairs_by_ratio)
    print(f"   different takes: {n_same} pairs of {len(tracks)} clips deduplicated; the nearest:")
    for residual, bends, a, b in pairs_by_ratio[:12]:
        print(f"      {a} {b}: residual {residual:.3f}, in bends {residual / max(bends, 1e-9):.3f}")
    print("      smallest residuals:", ", ".join(f"{a} {b} {r:.3f}" for r, _, a, b in sorted(pairs_by_ratio)[:8]))
    return {
        "copies_min_same_ratio": min(n_same_by_kind[kind] / len(pairs) for kind, pairs in by_kind.items()),
        "copies_other_takes_same": float(n_same),
    }


if __name__ == "__main__":
    figures()
