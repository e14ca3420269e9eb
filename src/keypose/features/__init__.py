"""Motion -> Features: kind of features, joints, weights, smoothing.

A weight multiplies the squared distance, so columns are multiplied by its square root.

    kind              columns                                              joints by default
    world             positions in the world                               all
    root_matched      positions relative to the hips; of the hips only     the nine major ones
                      their height, with weight 5
    unmatched         positions, with the hips at one point                the nine major ones
    parent_relative   positions relative to the parent; of a root its own  all
    euler             unwrapped Euler angles in degrees, in file order     all
"""

from keypose.features.motion_features import (
    FEATURE_KINDS,
    JointNames,
    body_root,
    build_array_features,
    compute_features,
    joint_weights,
    resolve_joints,
)
from keypose.features.smoothing import gaussian_filter

__all__ = [
    "FEATURE_KINDS",
    "JointNames",
    "body_root",
    "build_array_features",
    "compute_features",
    "gaussian_filter",
    "joint_weights",
    "resolve_joints",
]
