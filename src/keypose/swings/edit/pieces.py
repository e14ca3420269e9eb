"""A track as a row of pieces, swings, keyed spans and rests: rotations at constant speed between nodes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.swing import KeyedSpan
from keypose.swings.track import Track

Point: TypeAlias = Literal["start", "middle", "end"]  # of a piece

ZERO_ANGLE = 1e-9  # radians; smaller rotations are ignored
MIN_FRAMES = 3  # minimum length of a piece that is cut


@dataclass(frozen=True, eq=False)
class Piece:
    """A swing, with two nodes and the rotation between them, a keyed span, whose nodes are its keys, or a rest, whose
    node is in its middle."""

    frames: Ints  # (K,) increasing
    rotations: Floats  # (K, 4) local, unit wxyz
    rotation_vector: Floats | None  # (3,) axis times angle of a swing; None: keys or rest
    old_index: int = -1  # index in the row before the edit; -1: new
    is_fixed: bool = False  # whether it is edited; others are adapted to it
    rest: tuple[int, int] | None = None  # first and last frame of a rest; None: no rest
    is_return: bool = False  # whether the joint is back on the curve before the edit there, or on the way

    @property
    def start(self) -> int:
        """The first frame."""
        return int(self.frames[0])

    @property
    def end(self) -> int:
        """The last frame."""
        return int(self.frames[-1])

    @property
    def n_frames(self) -> int:
        """The number of frames, first and last included."""
        return self.end - self.start + 1

    def describe(self, joint: str) -> str:
        """Describe the swing or keyed span for messages."""
        frames = f"frames {self.start} to {self.end}"
        if self.rest is not None:
            return f"the rest of {joint} in frames {self.rest[0]} to {self.rest[1]}"
        if self.rotation_vector is None:
            return f"the keyed span of {joint} in {frames}"
        return f"the swing of {joint} in {frames} ({np.rad2deg(np.linalg.norm(self.rotation_vector)):.1f} degrees)"


def build_swing_piece(
    start: int, end: int, start_rotation: Floats, rotation_vector: Floats, old_index: int, *, is_fixed: bool = True
) -> Piece:
    """Return the piece of a swing by ``rotation_vector`` (3,) from ``start_rotation`` (4,)."""
    last = normalise(multiply(start_rotation, exp(rotation_vector)))
    return Piece(
        np.array((start, end), np.int32), np.stack((start_rotation, last)), rotation_vector, old_index, is_fixed
    )


def split_track(track: Track) -> list[Piece]:
    """Return all pieces of a track, in order of time."""
    end_rotations = normalise(multiply(track.start_rotations, exp(track.rotation_vectors)))
    nodes = np.stack((track.start_rotations, end_rotations), axis=1)
    frames = np.stack((track.starts, track.ends), axis=1)
    row = [Piece(*fields) for fields in zip(frames, nodes, track.rotation_vectors, strict=True)]
    row += [Piece(span.frames, span.rotations, None) for span in track.keyed]
    extents = zip(track.rest_starts.tolist(), track.rest_ends.tolist(), strict=True)
    middles, rotations = track.rest_middles[:, None], track.rest_rotations[:, None]
    row += [
        Piece(middle, rotation, None, rest=extent)
        for middle, rotation, extent in zip(middles, rotations, extents, strict=True)
    ]
    row.sort(key=lambda piece: piece.start)
    return [replace(piece, old_index=index) for index, piece in enumerate(row)]


def swing_indices(row: Sequence[Piece]) -> list[int]:
    """Return the indices of the swings in a row."""
    return [index for index, piece in enumerate(row) if piece.rotation_vector is not None]


def cut_piece(track: Track, piece: Piece, start: int, end: int) -> Piece:
    """Return the part from ``start`` to ``end`` of a free piece of ``track``."""
    if piece.rotation_vector is not None:
        share = (end - start) / (piece.end - piece.start)
        ends = np.array((start, end), np.int32)
        return replace(
            piece,
            frames=ends,
            rotations=track.sample(ends.astype(float)),
            rotation_vector=piece.rotation_vector * share,
        )
    inside = piece.frames[(piece.frames > start) & (piece.frames < end)]
    frames = np.unique(np.concatenate(([start], inside, [end]))).astype(np.int32)
    return replace(piece, frames=frames, rotations=track.sample(frames.astype(float)))


def build_track_without_rests(track: Track, row: Sequence[Piece]) -> Track:
    """Return ``track`` with other pieces and without rests."""
    swings = [(piece, piece.rotation_vector) for piece in row if piece.rotation_vector is not None]
    return Track(
        track.joint,
        track.mean_rotation,
        np.array([piece.start for piece, _ in swings], np.int32),
        np.array([piece.end for piece, _ in swings], np.int32),
        np.array([piece.rotations[0] for piece, _ in swings]).reshape(-1, 4),
        np.array([rotation_vector for _, rotation_vector in swings]).reshape(-1, 3),
        keyed=tuple(
            KeyedSpan(piece.frames, piece.rotations)
            for piece in row
            if piece.rotation_vector is None and piece.rest is None
        ),
    )


def build_track(track: Track, row: Sequence[Piece]) -> Track:
    """Return ``track`` with other pieces. A rest that another piece overlaps is cut on both sides, so that its middle
    is still its node."""
    rests = [piece for piece in row if piece.rest is not None]
    if not rests:
        return build_track_without_rests(track, row)
    extents = [
        _cut_extent(piece, before, after)
        for before, piece, after in zip((None, *row), row, (*row[1:], None), strict=False)
        if piece.rest is not None
    ]
    starts, ends = np.array(extents, np.int32).T
    return replace(
        build_track_without_rests(track, row),
        rest_starts=starts,
        rest_ends=ends,
        rest_rotations=np.concatenate([piece.rotations for piece in rests]),
    )


def _cut_extent(piece: Piece, before: Piece | None, after: Piece | None) -> tuple[int, int]:
    """Return the first and last frame of a rest between two pieces."""
    assert piece.rest is not None
    first, last = piece.rest
    low = first if before is None or before.rest is not None else max(first, before.end + 1)
    high = last if after is None or after.rest is not None else min(last, after.start - 1)
    if (low, high) == (first, last):
        return piece.rest
    reach = min(piece.start - low, high - piece.start)
    return piece.start - reach, piece.start + reach


def add_rests(track: Track, rests: Ints, rotations: Floats) -> Track:
    """Return a track with ``rests`` (R, 3): first frame, last frame and index of the rotation (N, 4)."""
    starts, ends, indices = rests.T
    return replace(track, rest_starts=starts, rest_ends=ends, rest_rotations=rotations[indices])


def cut_rests(starts: Ints, ends: Ints, row: Sequence[Piece]) -> Ints:
    """Return the parts of rests from ``starts`` to ``ends`` (N,) without pieces: first frame, last frame, rest index
    (R, 3)."""
    pieces_left = []
    occupied = [(piece.start, piece.end) for piece in row]
    occupied_ends = [end for _, end in occupied]
    for rest_index, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        free_start, next_occupied = start, bisect_left(occupied_ends, start)
        while next_occupied < len(occupied) and occupied[next_occupied][0] <= end:
            if occupied[next_occupied][0] > free_start:
                pieces_left.append((free_start, occupied[next_occupied][0] - 1, rest_index))
            free_start, next_occupied = occupied[next_occupied][1] + 1, next_occupied + 1
        if free_start <= end:
            pieces_left.append((free_start, end, rest_index))
    return np.array(pieces_left, np.int32).reshape(-1, 3)


class Course(NamedTuple):
    """The nodes of a row of pieces and the rotations from each to the next; bridges are between two pieces."""

    frames: Ints  # (N,)
    rotations: Floats  # (N, 4)
    rotation_vectors: Floats  # (N - 1, 3) axis times angle
    is_swing: Bools  # (N - 1,) swings may rotate by more than half a turn
    is_bridge: Bools  # (N - 1,) rotations over gaps

    def steps(self, rotation_vectors: Floats | None = None) -> Floats:
        """Return the angle per frame (N - 1,) of each rotation, in radians."""
        return np.asarray(
            np.linalg.norm(self.rotation_vectors if rotation_vectors is None else rotation_vectors, axis=1)
            / np.diff(self.frames)
        )

    def vectors_through(self, rotations: Floats, first: int = 0) -> Floats:
        """Return the rotation vectors (M - 1, 3) between nodes from ``first`` on if their rotations were ``rotations``
        (M, 4)."""
        rotation_vectors = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
        swing_rows = np.flatnonzero(self.is_swing[first : first + len(rotation_vectors)])
        rotation_vectors[swing_rows] = nearest_branch(
            rotation_vectors[swing_rows], self.rotation_vectors[first + swing_rows]
        )
        return rotation_vectors


def build_course(row: Sequence[Piece]) -> Course:
    """Return the nodes of pieces that are in order of time."""
    if not row:
        none = np.zeros(0, bool)
        return Course(np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros((0, 3)), none, none)
    frames = np.concatenate([piece.frames for piece in row])
    rotations = np.concatenate([piece.rotations for piece in row])
    rotation_vectors = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
    swings, bridges = np.zeros(len(rotation_vectors), bool), np.zeros(len(rotation_vectors), bool)
    node = 0
    for piece in row:
        if piece.rotation_vector is not None:
            swings[node], rotation_vectors[node] = True, piece.rotation_vector
        node += len(piece.frames)
        if node <= len(rotation_vectors):
            bridges[node - 1] = True
    return Course(frames, rotations, rotation_vectors, swings, bridges)


def nearest_branch(short: Floats, old: Floats) -> Floats:
    """Return the rotation vectors (N, 3) nearest to ``old`` (N, 3) that equal ``short`` (N, 3) up to full turns."""
    angle, old_angle = np.linalg.norm(short, axis=1, keepdims=True), np.linalg.norm(old, axis=1, keepdims=True)
    # a zero rotation may be a full turn about any axis; the old axis is used
    axis = np.where(
        angle > 1e-7, short / np.where(angle > 0, angle, 1.0), old / np.where(old_angle > 0, old_angle, 1.0)
    )
    full_turns = 2 * np.pi * np.round((np.einsum("nk,nk->n", old, axis)[:, None] - angle) / (2 * np.pi))
    return np.asarray(short + full_turns * axis)
