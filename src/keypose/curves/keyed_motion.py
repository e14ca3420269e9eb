"""Build a keyed motion from a motion and its keys, polish its tangents, and compute its residual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import numpy as np

from keypose import _core
from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import Channels, build_channels, error_scale, fit_cubics, fit_natural_spline
from keypose.errors import OptionError, UnknownJoint
from keypose.model import Curves, KeyedMotion, Motion, Residual, Skeleton
from keypose.options import Interpolation
from keypose.rotations import conjugate, log, multiply, rotate
from keypose.validation import check_number

INTERPOLATIONS: tuple[Interpolation, ...] = get_args(Interpolation)

# The error of a rotation is measured at a point at this distance from its joint, so that limbs do not twist about their
# axis: with 25 mm the mean error of angles is about twice that of the plain fit (benchmarks/unbake).
LEVER_MM = 25.0
# The same for a quaternion that is not of length 1; the polish increases it where a quaternion would be much too short.
LENGTH_MM = 25.0
ITERATIONS = 6
POWER = 2.5  # exponent of errors: a little above 2, so that the largest errors are reduced, too
DEFAULT_WEIGHTS = {"feet": 3.0}


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
        tolerance_mm=motion.tolerance_mm,
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

    An extreme is a key at which the body is slower than in the spans on both sides, for example where it changes
    direction. The first and the last key are extremes.
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


class Polisher:
    """Polish curves through keys of one motion."""

    def __init__(
        self, motion: Motion, channels: Channels, weights: Mapping[str, float] | None = None, threads: int = 1
    ) -> None:
        """Prepare for ``motion``; ``weights`` multiply the squared errors of joints, body parts or groups, by default 3
        for feet."""
        self._channels = channels
        self._mm = error_scale(motion)
        self._clip = (
            motion.skeleton.parents,
            np.ascontiguousarray(channels.translations * self._mm),
            np.ascontiguousarray(channels.rotations),
            np.ascontiguousarray(motion.world_positions() * self._mm),
            joint_weights(motion.skeleton, weights),
        )
        self._threads = threads
        self._span_errors: dict[tuple[int, int], float] = {}

    def polish(self, keyed: KeyedMotion, *, limit_mm: float = 0.0) -> KeyedMotion:
        """Return ``keyed`` with tangents that bring the joints closest to their captured positions; keys do not change.

        A span is not changed if its largest error would grow beyond ``limit_mm``.
        """
        if keyed.n_keys < 2 or not keyed.is_cubic:
            return keyed
        rotations, translations, _ = self._improve(keyed.keys, keyed.rotations, keyed.translations, limit_mm)
        return replace(keyed, rotations=rotations, translations=translations)

    def span_error_mm(self, start: int, stop: int, limit_mm: float) -> float:
        """Return the largest error of the polished span between two keys, in mm; cached."""
        if (start, stop) not in self._span_errors:
            keys = np.array((start, stop), np.int32)
            curves = [fit_cubics(values, keys) for values in (self._channels.rotations, self._channels.translations)]
            *_, max_errors = self._improve(keys, curves[0], curves[1], limit_mm)
            self._span_errors[start, stop] = float(max_errors[0])
        return self._span_errors[start, stop]

    def _improve(
        self, keys: Ints, rotations: Curves, translations: Curves, limit_mm: float
    ) -> tuple[Curves, Curves, Floats]:
        rotation_tangents, translation_tangents = _copy_tangents(rotations), _copy_tangents(translations, self._mm)
        max_errors = _core.polish(
            *self._clip,
            keys,
            *rotation_tangents,
            *translation_tangents,
            LEVER_MM,
            LENGTH_MM,
            POWER,
            limit_mm,
            ITERATIONS,
            self._threads,
        )
        file_tangents = [freeze(tangents / self._mm) for tangents in translation_tangents]
        return (
            Curves(rotations.values, freeze(rotation_tangents[1]), freeze(rotation_tangents[0])),
            Curves(translations.values, file_tangents[1], file_tangents[0]),
            max_errors,
        )


def _copy_tangents(curves: Curves, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Return writable copies of the out and in tangents."""
    assert curves.out_tangents is not None and curves.in_tangents is not None  # both or none
    return scale * curves.out_tangents, scale * curves.in_tangents


def joint_weights(skeleton: Skeleton, weights: Mapping[str, float] | None) -> Floats:
    """Return the weight (J,) of each joint's squared error."""
    factors = np.ones(skeleton.n_joints)
    if weights is not None and not isinstance(weights, Mapping):
        raise OptionError(option="polish_weights", value=weights, expected="a mapping such as {'feet': 3.0}")
    for name, weight in (DEFAULT_WEIGHTS if weights is None else weights).items():
        try:
            factors[list(skeleton.joints(name))] = check_number(f"weight {name}", weight, min_value=0, max_value=1e6)
        except UnknownJoint:
            if weights is not None:
                raise
    if not factors.any():
        raise OptionError("no joint counts", option="polish_weights")
    return factors
