"""A motion -> what keys would cost by the in-betweens that will be exported."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.errors import OptionError
from keypose.features import JointNames, chosen_joints, joint_weights
from keypose.inbetween.channels import channels_of
from keypose.inbetween.scale import mm_or_units
from keypose.model import InbetweenCosts, Motion
from keypose.options import one_of

LOCAL = ("bezier", "linear")  # what a span does depends on its two keys alone


def inbetween_costs(
    motion: Motion,
    joints: JointNames = "all",
    weights: Mapping[str, float] | None = None,
    *,
    interpolation: str = "bezier",
    measure: str = "max",
) -> InbetweenCosts:
    """The costs of every pair of neighbouring keys, in mm on a figure of 1.7 m; in file units if it has no height.

    ``joints`` are those whose errors count, ``weights`` multiply their squares.
    """
    if interpolation == "natural":
        raise OptionError(
            "interpolation='natural' has no cost of its own between two keys, since every key bends the whole spline: "
            "choose keys by cost='inbetween' with interpolation='bezier' or 'linear', or by cost='chord'"
        )
    one_of("interpolation", interpolation, LOCAL)
    one_of("measure", measure, ("max", "mean"))
    mm, channels = mm_or_units(motion), channels_of(motion)
    return InbetweenCosts(
        fps=motion.fps,
        parents=motion.skeleton.parents,
        translations=give_away(channels.translations * mm),
        rotations=give_away(channels.rotations),
        world_positions=give_away(motion.world_positions() * mm),
        weights=give_away(_weights(motion, joints, weights)),
        straight=interpolation == "linear",
        mean=measure == "mean",
    )


def _weights(motion: Motion, joints: JointNames, weights: Mapping[str, float] | None) -> Floats:
    counted = np.zeros(motion.n_joints)
    chosen = chosen_joints(motion.skeleton, joints)
    counted[chosen] = joint_weights(motion.skeleton, chosen, {} if weights is None else weights)
    if not counted.any():
        raise OptionError(f"joints={joints!r} with these weights leave no joint that counts")
    return counted
