"""Combine the keys of a joint's curves to the keys of the joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keypose.arrays import Bools
from keypose.methods.refine.curve import find_curve_keys
from keypose.methods.refine.fixed_frames import RefineOptions
from keypose.model import Features


@dataclass(frozen=True, eq=False)
class JointKeys:
    """The keys of one joint, step by step."""

    joint: str
    axis_keys: Bools  # (A, T) keys of each of its curves
    fixed: Bools  # (T,) fixed on any axis
    overlap: Bools  # (T,) the union over the axes
    keys: Bools  # (T,) after reduction


def find_joint_keys(features: Features, options: RefineOptions) -> tuple[JointKeys, ...]:
    """Return the keys of every joint, in the order of the features."""
    keys, fixed = find_curve_keys(features.values, options)
    joints = []
    for joint, columns in features.joints.items():
        axes = keys[list(columns)]
        overlap: Bools = np.logical_or.reduce(axes)
        joint_fixed: Bools = np.logical_or.reduce(fixed[list(columns)])
        joints.append(JointKeys(joint, axes, joint_fixed, overlap, reduce_keys(overlap, joint_fixed)))
    return tuple(joints)


def reduce_keys(keys: Bools, fixed: Bools) -> Bools:
    """Return the keys (T,) that remain when those on adjacent frames are thinned; fixed ones always remain.

    Rule 1: a run of adjacent keys that are not fixed becomes its centre, rounded down. Rule 2: of three adjacent
    keys the middle one is removed if it is not fixed. After rule 1 no two such keys are adjacent, so all are removed at
    once.
    """
    loose = np.concatenate(([False], keys & ~fixed, [False]))
    edges = np.flatnonzero(loose[1:] != loose[:-1])
    result = keys & fixed
    result[(edges[::2] + edges[1::2] - 1) // 2] = True
    result[1:-1] &= ~(result[:-2] & result[2:]) | fixed[1:-1]
    return result
