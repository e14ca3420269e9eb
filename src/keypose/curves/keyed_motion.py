"""Build a keyed motion from a motion and its keys, and its residual."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.channels import Channels, build_channels
from keypose.curves.cubic_fit import fit_cubics, fit_natural_spline
from keypose.model import Curves, KeyedMotion, Motion, Residual
from keypose.rotations import conjugate, log, multiply, rotate

Interpolation: TypeAlias = Literal["bezier", "natural", "linear"]
INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)


def build_keyed_motion(
    motion: Motion,
    keys: Ints,
    interpolation: Interpolation = "bezier",
    channels: Channels | None = None,
    *,
    shared: bool = False,
    jump_penalty: float = 0.0,
) -> KeyedMotion:
    """Return ``motion`` as its poses at ``keys`` with curves between them, without a residual."""
    channels = channels or build_channels(motion)

    def build_curves(values: Floats) -> Curves:
        if interpolation == "linear":
            return Curves(values[keys])
        if interpolation == "natural":
            return fit_natural_spline(values, keys)
        return fit_cubics(values, keys, shared=shared, jump_penalty=jump_penalty)

    return KeyedMotion(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        keys=keys,
        translations=build_curves(channels.translations),
        rotations=build_curves(channels.rotations),
        rotation_orders=channels.rotation_orders,
        extremes=find_extremes(motion, keys),
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
    )


def add_residual(keyed: KeyedMotion, original: Motion) -> KeyedMotion:
    """Return ``keyed`` with the residual that restores ``original``, a motion of the same frames."""
    sampled = keyed.sample()
    inverse = conjugate(sampled.rotations)
    return replace(
        keyed,
        residual=Residual(
            rotations=freeze(log(multiply(inverse, original.rotations))),
            shifts=freeze(rotate(inverse, original.translations - sampled.translations)),
        ),
    )


def find_extremes(motion: Motion, keys: Ints) -> Bools:
    """Return flags (K,) of the keys that are extremes; the others are breakdowns.

    An extreme is a key at which the body is slower than in the spans on both sides, as where it reverses. The first
    and the last key are extremes.
    """
    positions = motion.world_positions()
    step_lengths = (
        np.linalg.norm(np.diff(positions, axis=0), axis=-1).mean(axis=-1) if motion.n_frames > 1 else np.zeros(1)
    )
    travelled = np.concatenate(([0.0], np.cumsum(step_lengths)))
    flags = np.ones(len(keys), bool)
    for k in range(1, len(keys) - 1):
        before, key, after = keys[k - 1 : k + 2].tolist()
        speed = (travelled[key + 1] - travelled[key - 1]) / 2
        flags[k] = speed <= min(
            (travelled[key] - travelled[before]) / (key - before), (travelled[after] - travelled[key]) / (after - key)
        )
    return flags
