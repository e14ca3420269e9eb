"""A motion to bytes that give it back bit for bit."""

from __future__ import annotations

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats
from keypose.errors import OptionError
from keypose.model import Motion, Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import AXES
from keypose.storage.groups import LOSSLESS, Coded, group_bounds
from keypose.storage.lossless.fit import fitted, ordered
from keypose.storage.lossless.layout import Layout
from keypose.storage.lossless.plan import Column, plan_of
from keypose.storage.lossless.recover import recovered_angles
from keypose.storage.lossless.spelling import same_bits, spellings
from keypose.storage.lossless.stream import Kind
from keypose.storage.lossless.table import ChannelTable


def encode_lossless(motion: Motion, channels: ChannelTable | None = None) -> Coded:
    """The frames of ``motion``, and its reference pose, without loss.

    ``channels``: the numbers of the BVH file that the motion was read from, which are then kept too. Without them the
    angles of such a file are looked for in the motion; joints where that fails are kept as quaternions.
    """
    translations, rotations, apart = _rows(motion)
    table = None if channels is None else _checked(channels, motion, apart)
    layout, values = _columns(motion.skeleton, translations, rotations, table)
    if not all(same_bits(a, b).all() for a, b in zip(layout.poses(values), (translations, rotations), strict=True)):
        raise OptionError(f"{motion.name}: channels= are not the numbers that this motion was read from")
    spelt = spellings(np.ascontiguousarray(values.T))
    wholes = np.array([s.wholes(v) for s, v in zip(spelt, values.T, strict=True)], np.int64).reshape(values.shape[::-1])
    moving = np.ascontiguousarray(wholes[:, apart:])
    bounds = group_bounds(motion.n_frames, motion.fps)
    order = ordered(layout.sets, moving)
    columns = fitted(order, moving, spelt, _are_angles(layout), bounds)
    line = [c for own in order for c in own]
    columns = [Column(column.spelling, column.constant, column.predictor, tuple(wholes[c, :apart].tolist()))
               for c, column in zip(line, columns, strict=True)]  # fmt: skip
    coded = moving[[c for c, column in zip(line, columns, strict=True) if column.constant is None]]
    plan = plan_of(columns)
    bodies = tuple(_core.lossless_encode(plan, np.ascontiguousarray(coded[:, start:stop])) for start, stop in bounds)
    for (start, stop), body in zip(bounds, bodies, strict=True):
        if (_core.lossless_decode(plan, body, stop - start) != coded[:, start:stop]).any():
            raise AssertionError(f"{motion.name}: frames {start} to {stop - 1} are not what was coded")
    return Coded(LOSSLESS, _clip(layout, order, columns, apart, channels), (b"",) * len(bounds), bodies)


def _rows(motion: Motion) -> tuple[Floats, Floats, int]:
    """Translations and rotations of the reference pose, if there is one, and of all frames."""
    pose = motion.reference_pose
    if pose is None:
        return motion.translations, motion.rotations, 0
    return (np.concatenate((pose.translations[None], motion.translations)),
            np.concatenate((pose.rotations[None], motion.rotations)), 1)  # fmt: skip


def _checked(channels: ChannelTable, motion: Motion, apart: int) -> Floats:
    """The table's numbers, of the rows that the motion has."""
    expected = apart + motion.n_frames, sum(map(len, motion.skeleton.channels))
    if channels.values.shape != expected or channels.apart != apart:
        rows, columns = channels.values.shape
        raise OptionError(f"{motion.name}: channels= of {rows} rows of {columns} numbers, expected {expected[0]} of "
                          f"{expected[1]}: those of the file that the motion was read from")  # fmt: skip
    return channels.values


def _columns(
    skeleton: Skeleton, translations: Floats, rotations: Floats, table: Floats | None
) -> tuple[Layout, Floats]:
    """Which columns there are, and their values (N, C)."""
    offsets = np.broadcast_to(skeleton.offsets, translations.shape)
    moving: Bools = np.asarray(~same_bits(translations, offsets).all(axis=0))
    values: list[Floats] = []
    free = []
    column = 0
    for j, own in enumerate(skeleton.channels):
        values += [translations[:, j, axis] for axis in np.flatnonzero(moving[j])]
        if table is None:
            angles = recovered_angles(skeleton, j, np.ascontiguousarray(rotations[:, j]))
        else:
            turning = [column + k for k, channel in enumerate(own) if channel not in POSITION_CHANNELS]
            angles, column = table[:, turning], column + len(own)
        free.append(angles is None)
        values += list((rotations[:, j] if angles is None else angles).T)
    layout = Layout(skeleton, tuple((bool(x), bool(y), bool(z)) for x, y, z in moving), tuple(free))
    return layout, np.stack(values, axis=1) if values else np.zeros((len(translations), 0))


def _are_angles(layout: Layout) -> Bools:
    """Which columns hold degrees."""
    kinds: list[bool] = []
    for moving, free, turns in zip(layout.moving, layout.free, layout.turns, strict=True):
        kinds += [False] * sum(moving) + ([False] * 4 if free else [True] * len(turns))
    return np.array(kinds, bool)


def _clip(
    layout: Layout, order: list[list[int]], columns: list[Column], apart: int, channels: ChannelTable | None
) -> bytes:
    """What all groups share, as bytes."""
    out = _core.NumbersOut()
    word = channels.frame_time.encode() if channels is not None else b""
    for letter in (*word, 0):
        out.put(Kind.LETTER, letter)
    out.put(Kind.APART, apart)
    for moving, free in zip(layout.moving, layout.free, strict=True):
        out.put(Kind.MOVING, sum(1 << axis for axis in range(len(AXES)) if moving[axis]))
        out.put(Kind.FREE, free)
    left = iter(columns)
    for own in order:
        waiting = sorted(own)
        for c in own:
            if len(waiting) > 1:
                out.put(Kind.ORDER, waiting.index(c))
            waiting.remove(c)
            next(left).write(out)
    return out.finish()
