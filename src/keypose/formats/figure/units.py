"""The length unit of files that do not state it."""

from __future__ import annotations

import numpy as np

from keypose.model import Motion

NATURAL_HEIGHT_M = 1.7
# Common units in metres; 0.05644 is that of the CMU recordings.
COMMON_UNITS_M = (1.0, 0.01, 0.001, 0.05644, 0.0254, 0.3048)
MAX_RATIO = 1.5  # of the figure's height to the natural height, or its inverse, for a common unit to be accepted
_POSSIBLE_M = (1e-9, 1e9)


def metres_per_unit(motion: Motion) -> float:
    """Return the unit that the file states, else the common unit in which the figure is nearest to 1.7 m tall.

    If none makes it about as tall, return the unit in which it is 1.7 m tall.
    """
    if motion.metres_per_unit is not None:
        return motion.metres_per_unit
    height = motion.height
    min_height, max_height = (NATURAL_HEIGHT_M / unit for unit in reversed(_POSSIBLE_M))
    if not min_height < height < max_height:
        return 1.0
    log_errors = [abs(np.log(height * unit / NATURAL_HEIGHT_M)) for unit in COMMON_UNITS_M]
    best = int(np.argmin(log_errors))
    if log_errors[best] <= np.log(MAX_RATIO):
        return COMMON_UNITS_M[best]
    return NATURAL_HEIGHT_M / height
