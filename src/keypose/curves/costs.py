"""Edge costs for selection: the error of the in-between that a pair of keys would export."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.curves.channels import build_channels
from keypose.curves.scale import error_scale
from keypose.errors import OptionError
from keypose.features import JointNames, joint_weights, resolve_joints
from keypose.model import InbetweenCosts, Motion
from keypose.validation import check_choice

LOCAL_INTERPOLATIONS = ("bezier", "linear")  # a span depends on its two keys alone


def compute_inbetween_costs(
    motion: Motion,
    joints: JointNames = "all",
    weights: Mapping[str, float] | None = None,
    *,
    interpolation: str = "bezier",
    measure: str = "max",
) -> InbetweenCosts:
    """Return the costs of pairs of neighbouring keys, in mm on a figure of 1.7 m; in file units if it has no height.

    ``joints`` are those whose errors count, ``weights`` multiply their squared errors.
    """
    if interpolation == "natural":
        raise OptionError(
            "interpolation='natural' has no cost of its own between two keys, since every key bends the whole spline: "
            "choose keys by cost='inbetween' with interpolation='bezier' or 'linear', or by cost='chord'"
        )
    check_choice("interpolation", interpolation, LOCAL_INTERPOLATIONS)
    check_choice("measure", measure, ("max", "mean"))
    mm, channels = error_scale(motion), build_channels(motion)
    return InbetweenCosts(
        fps=motion.fps,
        parents=motion.skeleton.parents,
        translations=freeze(channels.translations * mm),
        rotations=freeze(channels.rotations),
        world_positions=freeze(motion.world_positions() * mm),
        weights=freeze(_joint_weights(motion, joints, weights)),
        is_straight=interpolation == "linear",
        use_mean=measure == "mean",
    )


def _joint_weights(motion: Motion, joints: JointNames, weights: Mapping[str, float] | None) -> Floats:
    factors = np.zeros(motion.n_joints)
    indices = resolve_joints(motion.skeleton, joints)
    factors[indices] = joint_weights(motion.skeleton, indices, {} if weights is None else weights)
    if not factors.any():
        raise OptionError(f"joints={joints!r} with these weights leave no joint that counts")
    return factors
