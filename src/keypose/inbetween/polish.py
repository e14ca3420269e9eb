"""Polish: fitted slopes, improved until the joints come closest to where they were in the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Ints, give_away
from keypose.errors import OptionError, UnknownJoint
from keypose.inbetween.channels import Channels
from keypose.inbetween.fitted import fitted
from keypose.inbetween.scale import mm_or_units
from keypose.model import Curves, KeyedMotion, Motion, Skeleton
from keypose.options import number

# A turn that is off counts as a point this far from its joint, lest limbs twist about themselves: at 25 mm
# the mean error of angles stays about twice that of the plain fit (benchmarks/unbake).
LEVER_MM = 25.0
LENGTH_MM = 25.0  # the same for a quaternion that is not of length 1; ever stiffer where one would get much shorter
ROUNDS = 6
POWER = 2.5  # errors count a little more than by their square, so that the largest ones shrink too
USUAL_WEIGHTS = {"feet": 3.0}


class Polish:
    """Polishes curves through keys of one motion."""

    def __init__(
        self, motion: Motion, channels: Channels, weights: Mapping[str, float] | None = None, threads: int = 1
    ) -> None:
        """``weights`` on the squared errors of joints, body parts or groups; by default feet count three times."""
        self._channels = channels
        self._mm = mm_or_units(motion)
        self._clip = (
            motion.skeleton.parents,
            np.ascontiguousarray(channels.translations * self._mm),
            np.ascontiguousarray(channels.rotations),
            np.ascontiguousarray(motion.world_positions() * self._mm),
            joint_factors(motion.skeleton, weights),
        )
        self._threads = threads
        self._spans: dict[tuple[int, int], float] = {}

    def polished(self, keyed: KeyedMotion, *, limit_mm: float = 0.0) -> KeyedMotion:
        """``keyed`` with the slopes for which joints are closest to where they were; keys stay as they are.

        A span whose largest error would grow, beyond ``limit_mm``, stays as it was.
        """
        if keyed.n_keys < 2 or not keyed.is_cubic:
            return keyed
        rotations, translations, _ = self._improved(keyed.keys, keyed.rotations, keyed.translations, limit_mm)
        return replace(keyed, rotations=rotations, translations=translations)

    def error_of_span(self, start: int, stop: int, limit_mm: float) -> float:
        """The largest error of the polished span between two keys, in mm; remembered."""
        if (start, stop) not in self._spans:
            keys = np.array((start, stop), np.int32)
            curves = [fitted(values, keys) for values in (self._channels.rotations, self._channels.translations)]
            *_, worst = self._improved(keys, curves[0], curves[1], limit_mm)
            self._spans[start, stop] = float(worst[0])
        return self._spans[start, stop]

    def _improved(
        self, keys: Ints, rotations: Curves, translations: Curves, limit_mm: float
    ) -> tuple[Curves, Curves, Floats]:
        turns, shifts = _slopes(rotations), _slopes(translations, self._mm)
        worst = _core.polish(
            *self._clip, keys, *turns, *shifts, LEVER_MM, LENGTH_MM, POWER, limit_mm, ROUNDS, self._threads
        )
        moved = [give_away(slopes / self._mm) for slopes in shifts]
        return (
            Curves(rotations.values, give_away(turns[1]), give_away(turns[0])),
            Curves(translations.values, moved[1], moved[0]),
            worst,
        )


def _slopes(curves: Curves, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Leaving and arriving slopes that may be written to."""
    assert curves.leaving is not None and curves.arriving is not None  # a keyed motion has both slopes or none
    return scale * curves.leaving, scale * curves.arriving


def joint_factors(skeleton: Skeleton, weights: Mapping[str, float] | None) -> Floats:
    """(J,) how much each joint's squared error counts."""
    factors = np.ones(skeleton.n_joints)
    if weights is not None and not isinstance(weights, Mapping):
        raise OptionError(f"polish_weights={weights!r}, expected a mapping such as {{'feet': 3.0}}")
    for name, weight in (USUAL_WEIGHTS if weights is None else weights).items():
        try:
            factors[list(skeleton.joints(name))] = number(f"weight {name}", weight, least=0, most=1e6)
        except UnknownJoint:
            if weights is not None:
                raise
    if not factors.any():
        raise OptionError("polish_weights leave no joint that counts")
    return factors
