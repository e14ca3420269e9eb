"""Slow, obvious twins of edited swings, and swings to edit."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.swings import KeyedSpan, Rest, Swing, Swings, Track, swings

# Rotations here are (w, x, y, z) tuples; products are written out.


def product(a, b):
    (aw, ax, ay, az), (bw, bx, by, bz) = map(float, a), map(float, b)
    return np.array(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + bw * ax + ay * bz - az * by,
            aw * by + bw * ay + az * bx - ax * bz,
            aw * bz + bw * az + ax * by - ay * bx,
        )
    )


def rotate(rotation, axis, angle):
    return product(rotation, (math.cos(angle / 2), *(math.sin(angle / 2) * np.asarray(axis, float))))


def angle_of(a, b) -> float:
    """Return the angle between two rotations, in radians."""
    between = product((a[0], *(-np.array(a[1:]))), b)
    return 2 * math.atan2(float(np.linalg.norm(between[1:])), abs(float(between[0])))


def slerp(a, b, fraction: float):
    """Return the spherical interpolation by the shorter rotation."""
    cosine = float(np.dot(a, b))
    b = np.asarray(b) if cosine >= 0 else -np.asarray(b)
    half = math.acos(min(1.0, abs(cosine)))
    if half < 1e-9:
        return np.asarray(a)
    return (math.sin((1 - fraction) * half) * np.asarray(a) + math.sin(fraction * half) * b) / math.sin(half)


@lru_cache(maxsize=100)
def split_track(track: Track) -> list:
    """Return the swings, rests in their middle frames, and keyed spans in order of time."""
    rests = [KeyedSpan([(rest.start + rest.end) // 2], [rest.rotation]) for rest in track.rests]
    return sorted((*track.swings, *track.keyed, *rests), key=lambda part: part.start)


def first_rotation(part):
    return part.start_rotation if isinstance(part, Swing) else part.rotations[0]


def last_rotation(part):
    return rotate(part.start_rotation, part.axis, part.angle) if isinstance(part, Swing) else part.rotations[-1]


def bridge_at(left, right, frame: int):
    """Return the rotation between two pieces, at constant speed from the end of one to the start of the other."""
    return slerp(last_rotation(left), first_rotation(right), (frame - left.end) / (right.start - left.end))


def seam(left, right):
    """Return the rotation from the end of a piece to the start of the next, with w >= 0."""
    last = last_rotation(left)
    between = product((last[0], *(-np.array(last[1:]))), first_rotation(right))
    return between if between[0] >= 0 else -between


def rotation_at(track: Track, frame: int):
    """Return the rotation of a joint at one frame."""
    row = split_track(track)
    if not row:
        return track.mean_rotation
    if frame <= row[0].start:
        return first_rotation(row[0])
    for n, piece in enumerate(row):
        if piece.start <= frame <= piece.end:
            if isinstance(piece, Swing):
                share = (frame - piece.start) / (piece.end - piece.start)
                return rotate(piece.start_rotation, piece.axis, share * piece.angle)
            frames = piece.frames.tolist()
            k = max(k for k, key in enumerate(frames) if key <= frame)
            if frames[k] == frame:
                return piece.rotations[k]
            share = (frame - frames[k]) / (frames[k + 1] - frames[k])
            return slerp(piece.rotations[k], piece.rotations[k + 1], share)
        if n + 1 < len(row) and piece.end < frame < row[n + 1].start:
            return bridge_at(piece, row[n + 1], frame)
    return last_rotation(row[-1])


def seam_steps(track: Track) -> list[tuple[int, int, float]]:
    """Return the first and last frame of each seam and the largest angle from one frame to the next, frame by frame."""
    steps_of_seams = []
    row = split_track(track)
    for left, right in pairwise(row):
        rotations = [
            last_rotation(left),
            *(bridge_at(left, right, f) for f in range(left.end + 1, right.start)),
            first_rotation(right),
        ]
        steps = [angle_of(a, b) for a, b in pairwise(rotations)]
        steps_of_seams.append((left.end, right.start, max(steps)))
    return steps_of_seams


def largest_step(motion, joint: int) -> float:
    """Return the largest angle of a joint from a frame to the next, by the chord between its quaternions."""
    rotations = motion.rotations[:, joint]
    near = np.linalg.norm(rotations[1:] - rotations[:-1], axis=1)
    far = np.linalg.norm(rotations[1:] + rotations[:-1], axis=1)
    return float((4 * np.arcsin(np.minimum(1.0, np.minimum(near, far) / 2))).max())


@lru_cache(maxsize=20)
def seam_limits(before: Swings) -> list[float]:
    """Return the limit of seams of each joint: its largest step or, if it is never faster than rest, that of the
    clip."""
    motion = before.play()
    largest = [largest_step(motion, j) for j in range(before.n_joints)]
    rest = before.settings.rest_rad_per_s / before.fps
    return [own if own >= rest else max(largest) for own in largest]


@lru_cache
def kick_swings(data_dir: Path, fallback: str | None = None, first: int = 0, last: int = 1472) -> Swings:
    motion = kp.load(data_dir / "cmu120" / "135_07_kicking.bvh")
    return swings(motion[first:last], fallback=fallback)


@lru_cache
def demo_swings() -> Swings:
    return swings(kp.demo_motion(fps=60)[:200])


def build_swings(rows: dict[str, list], n_frames: int = 60, fps: float = 30.0) -> Swings:
    """Return swings of the demo's figure by joint: ``(start, end, axis, degrees)`` for a swing that continues
    the piece before, ``("at", start, end, axis, degrees)`` for one from the identity, ``[(frame,
    axis, degrees), ...]`` for keys, ``("rest", start, end)`` for a rest.
    """
    still = demo_swings()
    tracks = []
    for name in still.skeleton.names:
        rotation = (1.0, 0.0, 0.0, 0.0)
        new_swings, keyed, rests = [], [], []
        for piece in rows.get(name, ()):
            if isinstance(piece, list):
                rotations = [
                    rotate((1.0, 0.0, 0.0, 0.0), unit(axis), math.radians(degrees)) for _, axis, degrees in piece
                ]
                keyed.append(KeyedSpan(np.array([frame for frame, *_ in piece]), np.array(rotations)))
                rotation = rotations[-1]
            elif piece[0] == "rest":
                rests.append(Rest(name, *piece[1:], np.array(rotation)))
            else:
                if piece[0] == "at":
                    rotation, piece = (1.0, 0.0, 0.0, 0.0), piece[1:]
                start, end, axis, degrees = piece
                new_swings.append(Swing(name, start, end, np.array(rotation), unit(axis), math.radians(degrees)))
                rotation = last_rotation(new_swings[-1])
        tracks.append(Track.build(name, np.array((1.0, 0.0, 0.0, 0.0)), new_swings, keyed, rests))
    return Swings(still.name, still.skeleton, fps, n_frames, tuple(tracks), still.translations, up=still.up)


def unit(axis):
    return np.array(axis, float) / np.linalg.norm(axis)


def assert_sound(edited: Swings) -> None:
    """Assert that pieces are in order, inside the clip and apart from each other, and that rotations have length 1."""
    for track in edited.tracks:
        row = sorted((*track.swings, *track.keyed, *track.rests), key=lambda part: part.start)
        for left, right in pairwise(row):
            assert left.end < right.start, (track, left, right)
        if row:
            assert row[0].start >= 0 and row[-1].end < edited.n_frames, track
        for values in (track.start_rotations, track.rest_rotations, *(span.rotations for span in track.keyed)):
            assert np.allclose(np.linalg.norm(values, axis=1), 1.0, rtol=0, atol=1e-12)


def assert_seams_hold(before: Swings, edited: Swings, speedup: float = 1.0) -> None:
    """Assert that no seam of a changed joint exceeds the limit of the unedited clip."""
    limits = None
    for j, (old, new) in enumerate(zip(before.tracks, edited.tracks, strict=True)):
        if old is not new:
            limits = seam_limits(before) if limits is None else limits
            for first, last, step in seam_steps(new):
                assert step <= limits[j] * speedup * (1 + 1e-6) + 1e-9, (new, first, last, step, limits[j])


def bits(clip: Swings) -> list[bytes]:
    """Return the bytes of every stored array of every track."""
    arrays = []
    for track in clip.tracks:
        arrays += [track.starts, track.ends, track.start_rotations, track.rotation_vectors]
        arrays += [track.rest_starts, track.rest_ends, track.rest_rotations]
        arrays += [array for span in track.keyed for array in (span.frames, span.rotations)]
    return [array.tobytes() for array in arrays]
