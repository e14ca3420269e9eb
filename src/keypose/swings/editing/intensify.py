"""Joints that move farther in the same time: a kick becomes more forceful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.model import Skeleton
from keypose.options import number
from keypose.rotations import angle_between, conjugate, log, multiply
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import fitted_in
from keypose.swings.editing.pieces import Piece, nearest_branch, pieces_of, swing_piece
from keypose.swings.editing.scaling import scaled_about
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings
from keypose.swings.parts import KeyedSpan
from keypose.swings.track import Track

Joints = str | tuple[str, ...] | list[str]

GREATEST_FACTOR = 1000.0
WIDEST = 0.9 * np.pi  # between two keys: beyond half a turn they would be joined the other way round


def intensify(now: Swings, before: Unedited, joints: Joints, factor: Any) -> SwingChange:
    """All that some joints do, ``factor`` times as far from their mean rotation; the captured detail too.

    Hips and other roots are left alone unless they are named themselves.
    """
    times = number("factor", factor, least=0.0, most=GREATEST_FACTOR)
    if not isinstance(joints, str | tuple | list):
        raise OptionError(f"{joints!r}, expected names of joints, body parts or groups")
    rows = {}
    for j in _but_roots(now.skeleton, joints):
        old = pieces_of(now.tracks[j])
        if old:
            rows[j] = (old, _intense(now.tracks[j], old, times, now.n_frames))
    if not rows:
        raise OptionError(f"{joints!r}: neither a swing nor a key")
    change = fitted_in(now, before, rows, exact=False)
    return change if times == 1 else replace(change, before=(change.before or before).gained(rows, times))


def _but_roots(skeleton: Skeleton, joints: Joints) -> list[int]:
    """The joints that are meant; roots only where a name stands for one alone."""
    wanted: set[int] = set()
    for name in (joints,) if isinstance(joints, str) else joints:
        some = skeleton.joints(name)
        wanted.update(some if len(some) == 1 else set(some) - set(skeleton.roots))
    return sorted(wanted)


def _intense(track: Track, old: Sequence[Piece], times: float, n_frames: int) -> list[Piece]:
    """Pieces whose nodes are farther from the mean of the joint, or nearer.

    All frames are looked at, since from node to node a turn may go either way round.
    """
    if times == 1.0:
        return list(old)
    scaled = scaled_about(track.mean_rotation, track.sample(np.arange(n_frames, dtype=np.float64)), times)
    return [_through(piece, scaled[piece.frames], times) for piece in (_denser(piece, times) for piece in old)]


def _through(piece: Piece, nodes: Floats, times: float) -> Piece:
    if piece.turn is None:
        return replace(piece, rotations=nodes, fixed=True)
    turn = nearest_branch(log(multiply(conjugate(nodes[:1]), nodes[1:])), times * piece.turn[None])[0]
    return swing_piece(piece.start, piece.end, nodes[0], turn, piece.place)


def _denser(piece: Piece, times: float) -> Piece:
    """Keys with more of them where they get too far from each other."""
    if piece.turn is not None or len(piece.frames) == 1:
        return piece
    gaps = np.diff(piece.frames)
    widest = times * angle_between(piece.rotations[:-1], piece.rotations[1:])
    parts = np.minimum(np.ceil(widest / WIDEST).astype(int), gaps)
    if not (parts > 1).any():
        return piece
    spans = zip(piece.frames[:-1], piece.frames[1:], parts, strict=True)
    more = [np.linspace(a, b, n + 1).round() for a, b, n in spans if n > 1]
    frames = np.union1d(piece.frames, np.concatenate(more)).astype(np.int32)
    return replace(piece, frames=frames, rotations=_between_keys(piece, frames))


def _between_keys(piece: Piece, frames: Ints) -> Floats:
    alone = Track("", piece.rotations[0], keyed=(KeyedSpan(piece.frames, piece.rotations),))
    return alone.sample(frames.astype(np.float64))
