"""Scale the motion of joints about their mean: a kick becomes more forceful."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.model import Skeleton
from keypose.rotations import angle_between, conjugate, log, multiply
from keypose.swings.edit.apply_edit import apply_rows
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import SwingChange
from keypose.swings.edit.pieces import Piece, build_swing_piece, nearest_branch, split_track
from keypose.swings.edit.scale_rotations import scale_about
from keypose.swings.model import Swings
from keypose.swings.swing import KeyedSpan
from keypose.swings.track import Track
from keypose.validation import check_number

Joints = str | tuple[str, ...] | list[str]

MAX_KEY_ANGLE = 0.9 * np.pi  # between two keys: beyond half a turn they would be interpolated the other way round


def intensify(swings: Swings, baseline: Baseline, joints: Joints, factor: Any) -> SwingChange:
    """Scale all rotations of joints by ``factor`` about their mean rotation, including the captured detail.

    Hips and other roots are excluded unless they are named themselves.
    """
    scale = check_number("factor", factor, min_value=0.0, max_value=MAX_FACTOR)
    if not isinstance(joints, str | tuple | list):
        raise OptionError(f"{joints!r}, expected names of joints, body parts or groups")
    rows = {}
    for j in _select_joints(swings.skeleton, joints):
        old_row = split_track(swings.tracks[j])
        if old_row:
            rows[j] = (old_row, _scale_pieces(swings.tracks[j], old_row, scale, swings.n_frames))
    if not rows:
        raise OptionError(f"{joints!r}: neither a swing nor a key")
    change = apply_rows(swings, baseline, rows, exact=False)
    return change if scale == 1 else replace(change, baseline=(change.baseline or baseline).scale_detail(rows, scale))


def _select_joints(skeleton: Skeleton, joints: Joints) -> list[int]:
    """Return the joints of some names; roots only where a name stands for one joint alone."""
    selected: set[int] = set()
    for name in (joints,) if isinstance(joints, str) else joints:
        indices = skeleton.joints(name)
        selected.update(indices if len(indices) == 1 else set(indices) - set(skeleton.roots))
    return sorted(selected)


def _scale_pieces(track: Track, old_row: Sequence[Piece], scale: float, n_frames: int) -> list[Piece]:
    """Return pieces whose nodes are scaled about the mean of the joint.

    All frames are scaled, since from node to node a rotation may go either way round.
    """
    if scale == 1.0:
        return list(old_row)
    scaled_rotations = scale_about(track.mean_rotation, track.sample(np.arange(n_frames, dtype=np.float64)), scale)
    return [
        _rebuild_piece(piece, scaled_rotations[piece.frames], scale)
        for piece in (_add_keys(piece, scale) for piece in old_row)
    ]


def _rebuild_piece(piece: Piece, nodes: Floats, scale: float) -> Piece:
    if piece.rotation_vector is None:
        return replace(piece, rotations=nodes, is_fixed=True)
    rotation_vector = nearest_branch(
        log(multiply(conjugate(nodes[:1]), nodes[1:])), scale * piece.rotation_vector[None]
    )[0]
    return build_swing_piece(piece.start, piece.end, nodes[0], rotation_vector, piece.old_index)


def _add_keys(piece: Piece, scale: float) -> Piece:
    """Return a keyed piece with more keys where the scaled ones would be too far apart."""
    if piece.rotation_vector is not None or len(piece.frames) == 1:
        return piece
    gaps = np.diff(piece.frames)
    angles = scale * angle_between(piece.rotations[:-1], piece.rotations[1:])
    n_parts = np.minimum(np.ceil(angles / MAX_KEY_ANGLE).astype(int), gaps)
    if not (n_parts > 1).any():
        return piece
    spans = zip(piece.frames[:-1], piece.frames[1:], n_parts, strict=True)
    new_frames = [np.linspace(a, b, n + 1).round() for a, b, n in spans if n > 1]
    frames = np.union1d(piece.frames, np.concatenate(new_frames)).astype(np.int32)
    return replace(piece, frames=frames, rotations=_sample_keys(piece, frames))


def _sample_keys(piece: Piece, frames: Ints) -> Floats:
    track = Track("", piece.rotations[0], keyed=(KeyedSpan(piece.frames, piece.rotations),))
    return track.sample(frames.astype(np.float64))
