"""Encode a motion without loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats
from keypose.errors import OptionError
from keypose.model import Motion, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import AXES
from keypose.storage.groups import LOSSLESS, CodedFrames, group_bounds
from keypose.storage.lossless.angle_recovery import ChannelTable, recover_angles
from keypose.storage.lossless.fit import fit_columns, order_columns
from keypose.storage.lossless.layout import Layout, choose_number_formats, same_bits
from keypose.storage.lossless.plan import Column, NumberKind, kernel_plan


def encode_lossless(motion: Motion, channels: ChannelTable | None = None) -> CodedFrames:
    """Encode the frames of ``motion`` and its reference pose without loss.

    ``channels``: the numbers of the BVH file from which the motion was read; they are then stored, too. Without them,
    the angles are recovered from the motion; joints for which that is impossible are stored as quaternions.
    """
    translations, rotations, n_reference_rows = _frames_with_reference(motion)
    table = None if channels is None else _check_channels(channels, motion, n_reference_rows)
    layout, values = _build_columns(motion.skeleton, translations, rotations, table)
    if not all(same_bits(a, b).all() for a, b in zip(layout.poses(values), (translations, rotations), strict=True)):
        raise OptionError("not the numbers that this motion was read from", subject=motion.name, option="channels")
    number_formats = choose_number_formats(np.ascontiguousarray(values.T))
    integers = np.array([s.to_integers(v) for s, v in zip(number_formats, values.T, strict=True)], np.int64).reshape(
        values.shape[::-1]
    )
    frame_integers = np.ascontiguousarray(integers[:, n_reference_rows:])
    bounds = group_bounds(motion.n_frames, motion.fps)
    order = order_columns(layout.column_sets, frame_integers)
    columns = fit_columns(order, frame_integers, number_formats, _are_angles(layout), bounds)
    flat_order = [c for own in order for c in own]
    columns = [
        replace(column, reference_values=tuple(integers[c, :n_reference_rows].tolist()))
        for c, column in zip(flat_order, columns, strict=True)
    ]
    coded_integers = frame_integers[
        [c for c, column in zip(flat_order, columns, strict=True) if column.constant is None]
    ]
    plan = kernel_plan(columns)
    bodies = tuple(
        _core.lossless_encode(plan, np.ascontiguousarray(coded_integers[:, start:stop])) for start, stop in bounds
    )
    for (start, stop), body in zip(bounds, bodies, strict=True):
        if (_core.lossless_decode(plan, body, stop - start) != coded_integers[:, start:stop]).any():
            raise AssertionError(f"{motion.name}: frames {start} to {stop - 1} are not what was coded")
    return CodedFrames(
        LOSSLESS, _encode_parameters(layout, order, columns, n_reference_rows, channels), (b"",) * len(bounds), bodies
    )


def _frames_with_reference(motion: Motion) -> tuple[Floats, Floats, int]:
    """Return translations and rotations of the reference pose, if any, and all frames; and the number of poses."""
    pose = motion.reference_pose
    if pose is None:
        return motion.translations, motion.rotations, 0
    return (np.concatenate((pose.translations[None], motion.translations)),
            np.concatenate((pose.rotations[None], motion.rotations)), 1)  # fmt: skip


def _check_channels(channels: ChannelTable, motion: Motion, n_reference_rows: int) -> Floats:
    """Return the values of the table; raise ``OptionError`` if its shape does not match the motion."""
    expected = n_reference_rows + motion.n_frames, sum(map(len, motion.skeleton.channels))
    if channels.values.shape != expected or channels.n_reference_rows != n_reference_rows:
        rows, columns = channels.values.shape
        raise OptionError(
            f"{rows} rows of {columns} numbers",
            subject=motion.name,
            option="channels",
            expected=f"{expected[0]} of {expected[1]}: those of the file that the motion was read from",
        )
    return channels.values


def _build_columns(
    skeleton: Skeleton, translations: Floats, rotations: Floats, table: Floats | None
) -> tuple[Layout, Floats]:
    """Return the layout of the columns, and their values (N, C)."""
    offsets = np.broadcast_to(skeleton.offsets, translations.shape)
    moving: Bools = np.asarray(~same_bits(translations, offsets).all(axis=0))
    values: list[Floats] = []
    is_free = []
    column = 0
    for j, joint_channels in enumerate(skeleton.channels):
        values += [translations[:, j, axis] for axis in np.flatnonzero(moving[j])]
        if table is None:
            angles = recover_angles(skeleton, j, np.ascontiguousarray(rotations[:, j]))
        else:
            rotation_columns = [
                column + k for k, channel in enumerate(joint_channels) if channel not in POSITION_CHANNELS
            ]
            angles, column = table[:, rotation_columns], column + len(joint_channels)
        is_free.append(angles is None)
        values += list((rotations[:, j] if angles is None else angles).T)
    layout = Layout(skeleton, tuple((bool(x), bool(y), bool(z)) for x, y, z in moving), tuple(is_free))
    return layout, np.stack(values, axis=1) if values else np.zeros((len(translations), 0))


def _are_angles(layout: Layout) -> Bools:
    """Return which columns are angles in degrees (C,)."""
    are_angles: list[bool] = []
    for moving, free, axes in zip(layout.is_moving, layout.is_free, layout.rotation_axes, strict=True):
        are_angles += [False] * sum(moving) + ([False] * 4 if free else [True] * len(axes))
    return np.array(are_angles, bool)


def _encode_parameters(
    layout: Layout, order: list[list[int]], columns: list[Column], n_reference_rows: int, channels: ChannelTable | None
) -> bytes:
    """Encode the parameters that all groups share."""
    out = _core.IntegerWriter()
    frame_time = channels.frame_time.encode() if channels is not None else b""
    for letter in (*frame_time, 0):
        out.write(NumberKind.LETTER, letter)
    out.write(NumberKind.REFERENCE_ROWS, n_reference_rows)
    for moving, free in zip(layout.is_moving, layout.is_free, strict=True):
        out.write(NumberKind.MOVING, sum(1 << axis for axis in range(len(AXES)) if moving[axis]))
        out.write(NumberKind.FREE, free)
    remaining_columns = iter(columns)
    for column_set in order:
        remaining = sorted(column_set)
        for c in column_set:
            if len(remaining) > 1:
                out.write(NumberKind.ORDER, remaining.index(c))
            remaining.remove(c)
            next(remaining_columns).write(out)
    return out.finish()
