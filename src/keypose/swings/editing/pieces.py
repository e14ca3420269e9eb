"""What a joint does as one row of pieces, swings and keyed spans, each a curve of even turns through its nodes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from keypose.arrays import Bools, Floats, Ints
from keypose.rotations import conjugate, exp, log, multiply, normalise
from keypose.swings.parts import KeyedSpan
from keypose.swings.track import Track

Point: TypeAlias = Literal["start", "middle", "end"]  # of a piece

NO_TURN = 1e-9  # radians: turns below are taken for none


@dataclass(frozen=True, eq=False)
class Piece:
    """A swing, which has two nodes and the turn between them, or a keyed span, whose nodes are its keys."""

    frames: Ints  # (K,) increasing
    rotations: Floats  # (K, 4) local, unit wxyz
    turn: Floats | None  # (3,) axis times angle of a swing; None: keys
    place: int = -1  # in the row before the edit; -1: new
    fixed: bool = False  # by the edit: others have to adapt to it

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
        """How many frames it lasts, first and last included."""
        return self.end - self.start + 1

    def shown(self, joint: str) -> str:
        """For messages: the swing or keyed span that it is."""
        frames = f"frames {self.start} to {self.end}"
        if self.turn is None:
            return f"the keyed span of {joint} in {frames}"
        return f"the swing of {joint} in {frames} ({np.rad2deg(np.linalg.norm(self.turn)):.1f} degrees)"


def swing_piece(start: int, end: int, start_rotation: Floats, turn: Floats, place: int, *, fixed: bool = True) -> Piece:
    """The piece of a swing by ``turn`` (3,) from ``start_rotation`` (4,)."""
    last = normalise(multiply(start_rotation, exp(turn)))
    return Piece(np.array((start, end), np.int32), np.stack((start_rotation, last)), turn, place, fixed)


def pieces_of(track: Track) -> list[Piece]:
    """All pieces of a track, in order of time."""
    lasts = normalise(multiply(track.start_rotations, exp(track.turns)))
    nodes = np.stack((track.start_rotations, lasts), axis=1)
    frames = np.stack((track.starts, track.ends), axis=1)
    row: list[tuple[Ints, Floats, Floats | None]] = list(zip(frames, nodes, track.turns, strict=True))
    row += [(span.frames, span.rotations, None) for span in track.keyed]
    row.sort(key=lambda parts: int(parts[0][0]))
    return [Piece(*parts, place) for place, parts in enumerate(row)]


def places_of_swings(row: Sequence[Piece]) -> list[int]:
    """Where in the row each swing is."""
    return [place for place, piece in enumerate(row) if piece.turn is not None]


def bare_track(track: Track, row: Sequence[Piece]) -> Track:
    """``track`` with other pieces and without rests."""
    swings = [(piece, piece.turn) for piece in row if piece.turn is not None]
    return Track(
        track.joint,
        track.mean_rotation,
        np.array([piece.start for piece, _ in swings], np.int32),
        np.array([piece.end for piece, _ in swings], np.int32),
        np.array([piece.rotations[0] for piece, _ in swings]).reshape(-1, 4),
        np.array([turn for _, turn in swings]).reshape(-1, 3),
        keyed=tuple(KeyedSpan(piece.frames, piece.rotations) for piece in row if piece.turn is None),
    )


def track_of(track: Track, row: Sequence[Piece]) -> Track:
    """``track`` with other pieces. Rests give way to them, and turn along with what is played meanwhile."""
    bare = bare_track(track, row)
    left = cut_rests(track.rest_starts, track.rest_ends, row)
    if not len(left):
        return bare
    middles = left[:, :2].mean(axis=1)
    turned = multiply(bare.sample(middles), conjugate(track.sample(middles)))
    moved = np.linalg.norm(log(turned), axis=1) > NO_TURN
    rotations = track.rest_rotations.copy()
    rotations[left[moved, 2]] = normalise(multiply(turned[moved], rotations[left[moved, 2]]))
    return with_rests(bare, left, rotations)


def with_rests(bare: Track, rests: Ints, rotations: Floats) -> Track:
    """A track with ``rests`` (R, 3): first frame, last frame and which of the rotations (N, 4)."""
    starts, ends, which = rests.T
    return replace(bare, rest_starts=starts, rest_ends=ends, rest_rotations=rotations[which])


def cut_rests(starts: Ints, ends: Ints, row: Sequence[Piece]) -> Ints:
    """What pieces leave of rests from ``starts`` to ``ends`` (N,): first frame, last frame, which rest (R, 3)."""
    left = []
    taken = [(piece.start, piece.end) for piece in row]
    taken_ends = [end for _, end in taken]
    for which, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        free, at = start, bisect_left(taken_ends, start)
        while at < len(taken) and taken[at][0] <= end:
            if taken[at][0] > free:
                left.append((free, taken[at][0] - 1, which))
            free, at = taken[at][1] + 1, at + 1
        if free <= end:
            left.append((free, end, which))
    return np.array(left, np.int32).reshape(-1, 3)


class Course(NamedTuple):
    """The nodes of a row of pieces and the even turns from each to the next; bridges lie between two pieces."""

    frames: Ints  # (N,)
    rotations: Floats  # (N, 4)
    turns: Floats  # (N - 1, 3) axis times angle
    swings: Bools  # (N - 1,) turns of swings, which may go the longer way
    bridges: Bools  # (N - 1,) turns over gaps

    def steps(self, turns: Floats | None = None) -> Floats:
        """How far each turn goes in a frame (N - 1,), in radians."""
        return np.asarray(np.linalg.norm(self.turns if turns is None else turns, axis=1) / np.diff(self.frames))

    def turns_through(self, rotations: Floats, first: int = 0) -> Floats:
        """The turns (M - 1, 3) if nodes from ``first`` on had other ``rotations`` (M, 4)."""
        turns = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
        some = np.flatnonzero(self.swings[first : first + len(turns)])
        turns[some] = nearest_branch(turns[some], self.turns[first + some])
        return turns


def course_of(row: Sequence[Piece]) -> Course:
    """The nodes of pieces that are in order of time."""
    if not row:
        none = np.zeros(0, bool)
        return Course(np.zeros(0, np.int32), np.zeros((0, 4)), np.zeros((0, 3)), none, none)
    frames = np.concatenate([piece.frames for piece in row])
    rotations = np.concatenate([piece.rotations for piece in row])
    turns = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
    swings, bridges = np.zeros(len(turns), bool), np.zeros(len(turns), bool)
    node = 0
    for piece in row:
        if piece.turn is not None:
            swings[node], turns[node] = True, piece.turn
        node += len(piece.frames)
        if node <= len(turns):
            bridges[node - 1] = True
    return Course(frames, rotations, turns, swings, bridges)


def nearest_branch(short: Floats, old: Floats) -> Floats:
    """Of all turns that end as ``short`` (N, 3) do, whole turns more or less, those nearest to ``old`` (N, 3)."""
    angle, was = np.linalg.norm(short, axis=1, keepdims=True), np.linalg.norm(old, axis=1, keepdims=True)
    # a turn of nothing may be a whole one about any axis: then about the old one
    axis = np.where(angle > 1e-7, short / np.where(angle > 0, angle, 1.0), old / np.where(was > 0, was, 1.0))
    whole = 2 * np.pi * np.round((np.einsum("nk,nk->n", old, axis)[:, None] - angle) / (2 * np.pi))
    return np.asarray(short + whole * axis)
