"""Change the angle and axis of swings, and scale the motion of joints about their mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from keypose.arrays import Floats, Ints
from keypose.curves.edit.change import check_vector
from keypose.errors import OptionError, format_value
from keypose.model import Skeleton
from keypose.rotations import angle_between, conjugate, exp, log, multiply, normalise, rotate
from keypose.swings.edit.apply_edit import apply_rows, edit_each_swing
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import SwingChange, SwingTargets
from keypose.swings.edit.detail import scale_about
from keypose.swings.edit.pieces import Piece, Point, build_swing_piece, nearest_branch, split_track
from keypose.swings.model import Swings
from keypose.swings.swing import MAX_ANGLE, MIN_ANGLE, KeyedSpan
from keypose.swings.track import Track
from keypose.validation import check_choice, check_number

POINTS: tuple[Point, ...] = get_args(Point)
MAX_FACTOR, MAX_DEG = 1000.0, 36_000.0
_FRACTIONS = {"start": 0.0, "middle": 0.5, "end": 1.0}
Joints = str | tuple[str, ...] | list[str]
MAX_KEY_ANGLE = 0.9 * np.pi  # between two keys; beyond half a turn they would be interpolated the other way round


def scale(
    swings: Swings, baseline: Baseline, targets: SwingTargets, factor: Any, *, about: Point = "start"
) -> SwingChange:
    """Multiply the angles of swings by ``factor``; a negative one reverses them.

    The rotation at the start, middle or end of each swing does not change.
    """
    multiplier = check_number("factor", factor, min_value=-MAX_FACTOR, max_value=MAX_FACTOR)
    check_choice("about", about, POINTS)
    return _rotate_swings(swings, baseline, targets, lambda turn: turn * multiplier, about)


def set_angle(
    swings: Swings, baseline: Baseline, targets: SwingTargets, degrees: Any, *, about: Point = "start"
) -> SwingChange:
    """Set the angle of swings without changing the axis; a negative one reverses them."""
    angle = float(np.deg2rad(check_number("degrees", degrees, min_value=-MAX_DEG, max_value=MAX_DEG)))
    check_choice("about", about, POINTS)
    return _rotate_swings(swings, baseline, targets, lambda turn: _axis_of(turn) * angle, about)


def set_axis(swings: Swings, baseline: Baseline, targets: SwingTargets, axis: ArrayLike) -> SwingChange:
    """Set the axis (3,) of swings, in the joint's own frame; angle and start do not change."""
    unit = _check_direction("axis", axis)
    return _rotate_swings(swings, baseline, targets, lambda turn: unit * np.linalg.norm(turn), "start")


def turn_axis(
    swings: Swings, baseline: Baseline, targets: SwingTargets, *, about: ArrayLike, degrees: Any
) -> SwingChange:
    """Rotate the axes of swings by ``degrees`` about a direction (3,) in the joint's own frame."""
    tilt = exp(
        _check_direction("about", about)
        * np.deg2rad(check_number("degrees", degrees, min_value=-MAX_DEG, max_value=MAX_DEG))
    )
    return _rotate_swings(swings, baseline, targets, lambda turn: rotate(tilt, turn), "start")


def _rotate_swings(
    swings: Swings, baseline: Baseline, targets: SwingTargets, transform: Callable[[Floats], Floats], about: Point
) -> SwingChange:
    """Apply ``transform`` to the rotation vector (3,) of each swing."""
    return edit_each_swing(
        swings,
        baseline,
        targets,
        lambda run: [rotate_piece_about(p, about, transform(swing_vector(p))) for p in run],
        about,
    )


def rotate_piece_about(
    piece: Piece, about: Point, rotation_vector: Floats, frames: tuple[int, int] | None = None
) -> Piece:
    """Return a fixed swing with another rotation vector, unchanged at one point, and optionally with other frames.

    An unchanged piece is returned as it is.
    """
    old_vector = swing_vector(piece)
    start, end = (piece.start, piece.end) if frames is None else frames
    if (start, end) == (piece.start, piece.end) and (rotation_vector == old_vector).all():
        return piece
    if np.abs(rotation_vector).max() > MAX_ANGLE:
        raise OptionError("a swing that turns too far", expected=f"at most {MAX_ANGLE:g} radians")
    fraction = _FRACTIONS[about]
    if fraction == 0.0 or (rotation_vector == old_vector).all():
        first = piece.rotations[0]
    else:
        first = normalise(
            multiply(multiply(piece.rotations[0], exp(fraction * old_vector)), exp(-fraction * rotation_vector))
        )
    return build_swing_piece(start, end, first, rotation_vector, piece.old_index)


def swing_vector(piece: Piece) -> Floats:
    """Return the rotation vector (3,) of a piece that is a swing."""
    assert piece.rotation_vector is not None
    return piece.rotation_vector


def _axis_of(rotation_vector: Floats) -> Floats:
    angle = float(np.linalg.norm(rotation_vector))
    return rotation_vector / angle if angle > MIN_ANGLE else np.array((1.0, 0.0, 0.0))


def _check_direction(option: str, values: ArrayLike) -> Floats:
    vector = check_vector(option, values)
    length = float(np.linalg.norm(vector))
    if length < 1e-12:
        raise OptionError(option=option, value=values, expected="a direction")
    return np.asarray(vector / length)


def intensify(swings: Swings, baseline: Baseline, joints: Joints, factor: Any) -> SwingChange:
    """Scale all rotations of joints by ``factor`` about their mean rotation, including the captured detail.

    Hips and other roots are excluded unless they are named themselves.
    """
    scale = check_number("factor", factor, min_value=0.0, max_value=MAX_FACTOR)
    if not isinstance(joints, str | tuple | list):
        raise OptionError(format_value(joints), expected="names of joints, body parts or groups")
    rows = {}
    for j in _select_joints(swings.skeleton, joints):
        old_row = split_track(swings.tracks[j])
        if any(piece.rest is None for piece in old_row):
            rows[j] = (old_row, _scale_pieces(swings.tracks[j], old_row, scale, swings.n_frames))
    if not rows:
        raise OptionError(f"{format_value(joints)}: neither a swing nor a key", value=joints)
    change = apply_rows(swings, baseline, rows, is_local=False)
    return change if scale == 1 else replace(change, baseline=(change.baseline or baseline).scale_detail(rows, scale))


def _select_joints(skeleton: Skeleton, joints: Joints) -> list[int]:
    """Return the joints of these names; roots only if a name means exactly one joint."""
    selected: set[int] = set()
    for name in (joints,) if isinstance(joints, str) else joints:
        indices = skeleton.joints(name)
        selected.update(indices if len(indices) == 1 else set(indices) - set(skeleton.roots))
    return sorted(selected)


def _scale_pieces(track: Track, old_row: Sequence[Piece], scale: float, n_frames: int) -> list[Piece]:
    """Return pieces whose nodes are scaled about the mean of the joint.

    All frames are scaled, as the rotation between two nodes may be longer than half a turn.
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
    """Return a keyed piece with additional keys where scaled rotations would be too far apart."""
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
