"""A track as a row of pieces, swings and keyed spans: rotations at constant speed between nodes."""

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


@dataclass(frozen=True, eq=False)
class Piece:
    """A swing, with two nodes and the rotation between them, or a keyed span, whose nodes are its keys."""

    frames: Ints  # (K,) increasing
    rotations: Floats  # (K, 4) local, unit wxyz
    rotation_vector: Floats | None  # (3,) axis times angle of a swing; None: keys
    old_index: int = -1  # index in the row before the edit; -1: new
    is_fixed: bool = False  # whether it is edited; others are adapted to it

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
    row: list[tuple[Ints, Floats, Floats | None]] = list(zip(frames, nodes, track.rotation_vectors, strict=True))
    row += [(span.frames, span.rotations, None) for span in track.keyed]
    row.sort(key=lambda parts: int(parts[0][0]))
    return [Piece(*fields, index) for index, fields in enumerate(row)]


def swing_indices(row: Sequence[Piece]) -> list[int]:
    """Return the indices of the swings in a row."""
    return [index for index, piece in enumerate(row) if piece.rotation_vector is not None]


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
        keyed=tuple(KeyedSpan(piece.frames, piece.rotations) for piece in row if piece.rotation_vector is None),
    )


def build_track(track: Track, row: Sequence[Piece]) -> Track:
    """Return ``track`` with other pieces. Rests are cut by the pieces and get the played rotation of their frames."""
    new_track = build_track_without_rests(track, row)
    rests = cut_rests(track.rest_starts, track.rest_ends, row)
    if not len(rests):
        return new_track
    middles = rests[:, :2].mean(axis=1)
    rotations_since = multiply(new_track.sample(middles), conjugate(track.sample(middles)))
    is_moved = np.linalg.norm(log(rotations_since), axis=1) > ZERO_ANGLE
    rotations = track.rest_rotations.copy()
    rotations[rests[is_moved, 2]] = normalise(multiply(rotations_since[is_moved], rotations[rests[is_moved, 2]]))
    return add_rests(new_track, rests, rotations)


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
