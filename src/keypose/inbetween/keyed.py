"""A motion and its keys -> a keyed motion, and what it leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from keypose.arrays import Bools, Floats, Ints, give_away
from keypose.inbetween.channels import Channels, channels_of
from keypose.inbetween.fitted import fitted, natural
from keypose.model import Curves, KeyedMotion, Motion, Residual
from keypose.rotations import conjugate, log, multiply, rotate

Interpolation: TypeAlias = Literal["bezier", "natural", "linear"]
INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)


def keyed_motion(
    motion: Motion,
    keys: Ints,
    interpolation: Interpolation = "bezier",
    channels: Channels | None = None,
    *,
    shared: bool = False,
    jump_penalty: float = 0.0,
) -> KeyedMotion:
    """``motion`` as its poses at ``keys`` with curves between them, without a residual."""
    channels = channels or channels_of(motion)

    def curves(values: Floats) -> Curves:
        if interpolation == "linear":
            return Curves(values[keys])
        if interpolation == "natural":
            return natural(values, keys)
        return fitted(values, keys, shared=shared, jump_penalty=jump_penalty)

    return KeyedMotion(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        keys=keys,
        translations=curves(channels.translations),
        rotations=curves(channels.rotations),
        rotation_orders=channels.rotation_orders,
        extremes=extremes(motion, keys),
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
    )


def with_residual(keyed: KeyedMotion, original: Motion) -> KeyedMotion:
    """``keyed`` with what it leaves out of ``original``, a motion of the same frames."""
    rebuilt = keyed.sample()
    back = conjugate(rebuilt.rotations)
    return replace(
        keyed,
        residual=Residual(
            turns=give_away(log(multiply(back, original.rotations))),
            shifts=give_away(rotate(back, original.translations - rebuilt.translations)),
        ),
    )


def extremes(motion: Motion, keys: Ints) -> Bools:
    """(K,) the keys at which the body is slower than in the spans on both sides, as it is where it turns around.

    The first and the last key are extremes; the others are breakdowns.
    """
    world = motion.world_positions()
    steps = np.linalg.norm(np.diff(world, axis=0), axis=-1).mean(axis=-1) if motion.n_frames > 1 else np.zeros(1)
    way = np.concatenate(([0.0], np.cumsum(steps)))
    flags = np.ones(len(keys), bool)
    for k in range(1, len(keys) - 1):
        before, key, after = keys[k - 1 : k + 2].tolist()
        here = (way[key + 1] - way[key - 1]) / 2
        flags[k] = here <= min((way[key] - way[before]) / (key - before), (way[after] - way[key]) / (after - key))
    return flags
