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
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.fitting import fitted_in
from keypose.swings.editing.pieces import Piece, nearest_branch, pieces_of, swing_piece
from keypose.swings.editing.unedited import Unedited
from keypose.swings.means import mean_of
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
            rows[j] = (old, _intense(now.tracks[j], old, times))
    if not rows:
        raise OptionError(f"{joints!r}: neither a swing nor a key")
    change = fitted_in(now, before, rows)
    return change if times == 1 else replace(change, before=before.gained(rows, times))


def _but_roots(skeleton: Skeleton, joints: Joints) -> list[int]:
    """The joints that are meant; roots only where a name stands for one alone."""
    wanted: set[int] = set()
    for name in (joints,) if isinstance(joints, str) else joints:
        some = skeleton.joints(name)
        wanted.update(some if len(some) == 1 else set(some) - set(skeleton.roots))
    return sorted(wanted)


def _intense(track: Track, old: Sequence[Piece], times: float) -> list[Piece]:
    """Pieces whose nodes are farther from the mean of the joint, or nearer."""
    if times == 1.0:
        return list(old)
    row = [_denser(piece, times) for piece in old]
    rotations = np.concatenate([piece.rotations for piece in row])
    scaled = np.split(_scaled(track.mean_rotation, rotations, times), np.cumsum([len(p.frames) for p in row])[:-1])
    return [_through(piece, nodes, times) for piece, nodes in zip(row, scaled, strict=True)]


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


def _scaled(mean: Floats, rotations: Floats, times: float) -> Floats:
    """Rotations (K, 4), one after another, farther from the mean (4,); from their own where they turn right round."""
    off, is_far = _from_mean(mean, rotations)
    if not is_far:
        return normalise(multiply(mean, exp(times * off)))
    mean = mean_of(rotations)
    off, _ = _from_mean(mean, rotations)
    both = (_scaled_round(mean, rotations, times), normalise(multiply(mean, exp(times * off))))
    wanted = times * _largest_step(rotations)
    return min(both, key=lambda some: abs(_largest_step(some) - wanted))


def _from_mean(mean: Floats, rotations: Floats) -> tuple[Floats, bool]:
    """Turns (K, 3) from the mean (4,) to rotations (K, 4), that go on from key to key; and whether any is far.

    Far ones are more than half a turn away.
    """
    turns = log(multiply(conjugate(mean), rotations))
    if (np.linalg.norm(np.diff(turns, axis=0), axis=1) <= np.pi).all():
        return turns, False
    way = _followed(turns, 0)
    # from the key nearest to the mean on; where it comes by more than once, from that in the middle of the way
    aside = np.linalg.norm(turns, axis=1) + 0.1 * np.linalg.norm(way - way.mean(axis=0), axis=1)
    return _followed(turns, int(aside.argmin())), True


def _followed(turns: Floats, at: int) -> Floats:
    """Turns (K, 3) that end as the given ones do, each as near as can be to the one beside it, from key ``at`` on."""
    turns = turns.copy()
    for k in range(at + 1, len(turns)):
        turns[k] = nearest_branch(turns[k : k + 1], turns[k - 1 : k])[0]
    for k in range(at - 1, -1, -1):
        turns[k] = nearest_branch(turns[k : k + 1], turns[k + 1 : k + 2])[0]
    return turns


def _scaled_round(mean: Floats, rotations: Floats, times: float) -> Floats:
    """Rotations (K, 4) farther from their mean (4,), those round the axis that they mostly turn about by themselves.

    Near whole turns away from the mean the axis of a turn can be any, and a slight lean would be taken for a great one.
    """
    steps = log(multiply(rotations[1:], conjugate(rotations[:-1])))
    axis = rotate(conjugate(mean), np.linalg.eigh(steps.T @ steps)[1][:, -1])
    off = multiply(conjugate(mean), rotations)
    angles = np.unwrap(2.0 * np.arctan2(off[:, 1:] @ axis, off[:, 0]))
    leans = log(multiply(exp(-angles[:, None] * axis), off))
    angles -= 2 * np.pi * np.round(angles.mean() / (2 * np.pi))
    return normalise(multiply(mean, multiply(exp(times * angles[:, None] * axis), exp(times * leans))))


def _largest_step(rotations: Floats) -> float:
    return float(angle_between(rotations[:-1], rotations[1:]).max())


def _between_keys(piece: Piece, frames: Ints) -> Floats:
    alone = Track("", piece.rotations[0], keyed=(KeyedSpan(piece.frames, piece.rotations),))
    return alone.sample(frames.astype(np.float64))
