"""Which way is up, for files that do not say."""

from __future__ import annotations

import numpy as np

from keypose import kinematics
from keypose.arrays import Floats
from keypose.kinematics import Up
from keypose.model import Skeleton

SAMPLED_FRAMES = 64


def find_up(skeleton: Skeleton, translations: Floats, rotations: Floats, default: Up = "Y") -> Up:
    """The axis along which the head is over the feet in most frames; ``default`` where that cannot be told."""
    ends = skeleton.anatomy.vertical_pair()
    if ends is None:
        return default
    low, high = ends
    step = max(1, len(translations) // SAMPLED_FRAMES)
    world, _ = kinematics.forward(skeleton.parents, translations[::step], rotations[::step])
    below = world[:, np.array(low)].mean(axis=1)
    above = world[:, np.array(high)].mean(axis=1)
    return kinematics.dominant_up(below, above) or default
