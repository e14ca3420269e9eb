"""Polish: fitted slopes, improved until the joints come closest to where they were in the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from keypose import _core
from keypose.arrays import Floats, give_away
from keypose.errors import OptionError, UnknownJoint
from keypose.inbetween.channels import Channels
from keypose.model import Curves, KeyedMotion, Motion, Skeleton
from keypose.options import number

# A turn that is off counts as a point this far from its joint, lest limbs twist about themselves: at 25 mm
# the mean error of angles stays about twice that of the plain fit (benchmarks/unbake).
LEVER_MM = 25.0
ROUNDS = 6
POWER = 2.5  # errors count a little more than by their square, so that the largest ones shrink too
USUAL_WEIGHTS = {"feet": 3.0}


def polished(
    keyed: KeyedMotion,
    motion: Motion,
    channels: Channels,
    *,
    weights: Mapping[str, float] | None = None,
    jump_penalty: float = 0.0,
    limit_mm: float = 0.0,
    threads: int = 1,
) -> KeyedMotion:
    """``keyed`` with the slopes for which joints are closest to where they are in ``motion``; keys stay as they are.

    ``weights`` on the squared errors of joints, body parts or groups; by default feet count three times. A span whose
    largest error would grow, beyond ``limit_mm``, stays as it was.
    """
    if keyed.rotation_orders is not None or not keyed.is_cubic or keyed.n_keys < 2 or motion.n_frames < 2:
        return keyed
    mm = motion.mm_per_unit
    leaving, arriving = _copied(keyed.rotations)
    leaving_shifts, arriving_shifts = _copied(keyed.translations, mm)
    _core.polish(
        motion.skeleton.parents,
        np.ascontiguousarray(channels.translations * mm),
        np.ascontiguousarray(channels.rotations),
        np.ascontiguousarray(motion.world_positions() * mm),
        joint_factors(motion.skeleton, weights),
        keyed.keys,
        leaving,
        arriving,
        leaving_shifts,
        arriving_shifts,
        LEVER_MM,
        jump_penalty,
        POWER,
        limit_mm,
        ROUNDS,
        threads,
    )
    return replace(
        keyed,
        rotations=Curves(keyed.rotations.values, give_away(arriving), give_away(leaving)),
        translations=Curves(keyed.translations.values, give_away(arriving_shifts / mm), give_away(leaving_shifts / mm)),
    )


def _copied(curves: Curves, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Leaving and arriving slopes that may be written to."""
    assert (
        curves.leaving is not None and curves.arriving is not None
    )  # both curves of a keyed motion have slopes, or none
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
