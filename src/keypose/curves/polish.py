"""Polish: improve fitted tangents so that joints are closest to their captured world positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Ints, freeze
from keypose.curves.channels import Channels
from keypose.curves.cubic_fit import fit_cubics
from keypose.curves.scale import error_scale
from keypose.errors import OptionError, UnknownJoint
from keypose.model import Curves, KeyedMotion, Motion, Skeleton
from keypose.validation import check_number

# A rotation error counts as that of a point this far from its joint, so that limbs do not twist about themselves: at
# 25 mm the mean error of angles stays about twice that of the plain fit (benchmarks/unbake).
LEVER_MM = 25.0
LENGTH_MM = 25.0  # the same for a quaternion that is not of length 1; stiffer where one would get much shorter
ITERATIONS = 6
POWER = 2.5  # of errors: a little above 2, so that the largest ones shrink too
DEFAULT_WEIGHTS = {"feet": 3.0}


class Polisher:
    """Polish curves through keys of one motion."""

    def __init__(
        self, motion: Motion, channels: Channels, weights: Mapping[str, float] | None = None, threads: int = 1
    ) -> None:
        """``weights`` multiply the squared errors of joints, body parts or groups; by default feet weigh 3."""
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
        """Return ``keyed`` with the tangents that bring joints closest to their captured positions; keys do not change.

        A span whose largest error would grow beyond ``limit_mm`` is left unchanged.
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
        raise OptionError(f"polish_weights={weights!r}, expected a mapping such as {{'feet': 3.0}}")
    for name, weight in (DEFAULT_WEIGHTS if weights is None else weights).items():
        try:
            factors[list(skeleton.joints(name))] = check_number(f"weight {name}", weight, min_value=0, max_value=1e6)
        except UnknownJoint:
            if weights is not None:
                raise
    if not factors.any():
        raise OptionError("polish_weights leave no joint that counts")
    return factors
