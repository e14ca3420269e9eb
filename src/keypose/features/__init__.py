"""Motion -> Features: named recipes, chosen joints, weights, smoothing.

A weight multiplies the squared distance, so a column carries its square root. ``up`` is the motion's own up axis.

    recipe            columns                                              joints by default
    world             positions in the world                               all
    root_matched      positions relative to the hips; of the hips only     the nine major ones
                      their height, with weight 5
    unmatched         positions, with the hips over one spot               the nine major ones
    parent_relative   positions relative to the parent; of a root its own  all
    euler             unwrapped Euler angles in degrees, in file order     all
"""

from keypose.features.recipes import (
    RECIPES,
    JointNames,
    body_root,
    chosen_joints,
    features_of,
    features_of_array,
    joint_weights,
)
from keypose.features.smoothing import gaussian

__all__ = [
    "RECIPES",
    "JointNames",
    "body_root",
    "chosen_joints",
    "features_of",
    "features_of_array",
    "gaussian",
    "joint_weights",
]
