"""Copy swings to another joint, to the other side of the body or to another time; delete swings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from keypose.arrays import Floats
from keypose.curves.edit.mirror import find_symmetry
from keypose.errors import OptionError
from keypose.rotations import conjugate, rotate
from keypose.swings.edit.apply_edit import apply_rows
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.change import SwingChange, SwingTargets, resolve_one, resolve_targets
from keypose.swings.edit.pieces import Piece, build_swing_piece, cut_piece, split_track, swing_indices
from keypose.swings.model import Swings
from keypose.swings.swing import Swing
from keypose.swings.track import Track
from keypose.validation import check_bool, check_number


def delete(swings: Swings, baseline: Baseline, targets: SwingTargets) -> SwingChange:
    """Delete swings; the joint rotates at constant speed from the piece before to the piece after."""
    rows = {}
    for j, swing_numbers in resolve_targets(swings, targets).items():
        old_row = split_track(swings.tracks[j])
        indices = swing_indices(old_row)
        deleted = {indices[index] for index in swing_numbers}
        rows[j] = (old_row, [piece for position, piece in enumerate(old_row) if position not in deleted])
    return apply_rows(swings, baseline, rows)


def copy(
    swings: Swings,
    baseline: Baseline,
    swing: SwingTargets,
    to: str | None = None,
    *,
    mirror: bool = False,
    at_s: Any = None,
    replace: bool = False,
) -> SwingChange:
    """Copy the rotation of a swing to another joint or time, starting from the rotation of that joint there.

    ``mirror``: the mirrored rotation, on the mirrored joint unless ``to`` names another. Existing swings in these
    frames are an error or, with ``replace``, are deleted; keys there are cut.
    """
    source, index = resolve_one(swings, swing)
    original = swings.tracks[source].swings[index]
    mirror, is_replacing = check_bool("mirror", mirror), check_bool("replace", replace)
    default_target = swings.skeleton.anatomy.mirror_partners()[source] if mirror else source
    target = default_target if to is None else swings.skeleton.joint(to)
    start = (
        original.start
        if at_s is None
        else round(check_number("at_s", at_s, min_value=0.0, max_value=swings.duration_s) * swings.fps)
    )
    if target == source and start == original.start and not mirror:
        raise OptionError(
            f"{_describe(original)} is to be copied to its own place",
            expected="another joint, its mirror image, or another time",
        )
    end = start + original.end - original.start
    if end >= swings.n_frames:
        raise OptionError(
            f"{_describe(original)} copied to frames {start} to {end}: the clip has frames 0 to {swings.n_frames - 1}",
            code="no_room",
            value=start,
        )
    rotation_vector = (
        mirror_rotation_vector(swings, source, target, original.rotation_vector) if mirror else original.rotation_vector
    )
    track = swings.tracks[target]
    old_row = split_track(track)
    row = _clear_frames(track, old_row, start, end, replace=is_replacing)
    piece_copy = build_swing_piece(start, end, track.sample(np.array([float(start)]))[0], rotation_vector, -1)
    row.insert(sum(piece.end < start for piece in row), piece_copy)
    return apply_rows(swings, baseline, {target: (old_row, row)})


def _describe(swing: Swing) -> str:
    return f"the swing of {swing.joint} in frames {swing.start} to {swing.end}"


def _clear_frames(track: Track, old_row: Sequence[Piece], start: int, end: int, *, replace: bool) -> list[Piece]:
    """Return pieces without frames ``start`` to ``end``: swings are dropped as a whole, keyed spans are cut."""
    overlapping = [
        piece for piece in old_row if piece.rotation_vector is not None and piece.start <= end and piece.end >= start
    ]
    if overlapping and not replace:
        names = ", ".join(piece.describe(track.joint) for piece in overlapping)
        raise OptionError(
            f"frames {start} to {end} of {track.joint!r} are taken by {names}", hint="replace=True removes that"
        )
    row = []
    for piece in old_row:
        if piece.end < start or piece.start > end or piece.rest is not None:
            row.append(piece)
        elif piece.rotation_vector is None:
            if piece.start < start:
                row.append(_cut_new_piece(track, piece, piece.start, start - 1))
            if piece.end > end:
                row.append(_cut_new_piece(track, piece, end + 1, piece.end))
    return row


def _cut_new_piece(track: Track, piece: Piece, start: int, end: int) -> Piece:
    return dataclasses.replace(cut_piece(track, piece, start, end), old_index=-1)


def mirror_rotation_vector(swings: Swings, source: int, target: int, rotation_vector: Floats) -> Floats:
    """Return the rotation vector (3,) of joint ``target``, in its own frame, that mirrors that of joint ``source``.

    Rotations are compared in the rest pose, so the axes of the joints are arbitrary. Mirroring preserves the part of an
    axis along the normal of the mirror and negates the part across it: the axis is reflected, and the rotation
    reversed.
    """
    symmetry = find_symmetry(swings.name, swings.skeleton, swings.reference_pose)
    world_vector = rotate(symmetry.world.rotations[source], rotation_vector)
    image = 2.0 * (world_vector @ symmetry.normal) * symmetry.normal - world_vector
    return rotate(conjugate(symmetry.world.rotations[target]), image)
