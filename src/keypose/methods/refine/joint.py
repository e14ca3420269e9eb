"""From the keys of a joint's curves to the joint's keys, and to those of the whole body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools
from keypose.methods.refine.curve import curve_keys
from keypose.methods.refine.fixed import Rules
from keypose.model import Features


@dataclass(frozen=True, eq=False)
class JointKeys:
    """What the method finds for one joint."""

    joint: str
    of_axes: Bools  # (A, T) keys of each of its curves
    fixed: Bools  # (T,) fixed on any axis
    overlap: Bools  # (T,) the union over the axes
    keys: Bools  # (T,) after reduction


def joint_keys(features: Features, rules: Rules) -> tuple[JointKeys, ...]:
    """The keys of every joint, in the order of the features."""
    keys, fixed = curve_keys(features.values, rules)
    found = []
    for joint, columns in features.joints.items():
        axes = keys[list(columns)]
        overlap: Bools = np.logical_or.reduce(axes)
        held: Bools = np.logical_or.reduce(fixed[list(columns)])
        found.append(JointKeys(joint, axes, held, overlap, reduced(overlap, held)))
    return tuple(found)


def reduced(keys: Bools, fixed: Bools) -> Bools:
    """The keys (T,) that stay when those on adjacent frames are thinned out; fixed ones always do.

    Rule 1: a run of adjacent keys that are not fixed becomes its centre, rounded down. Rule 2: of three adjacent
    keys the middle one goes if it is not fixed. After rule 1 no two such keys touch, so all go at once.
    """
    loose = np.concatenate(([False], keys & ~fixed, [False]))
    edges = np.flatnonzero(loose[1:] != loose[:-1])
    kept = keys & fixed
    kept[(edges[::2] + edges[1::2] - 1) // 2] = True
    kept[1:-1] &= ~(kept[:-2] & kept[2:]) | fixed[1:-1]
    return kept
