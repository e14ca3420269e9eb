"""How many metres a file's unit is, for files that do not say."""

from __future__ import annotations

import numpy as np

from keypose.model import Motion

NATURAL_HEIGHT_M = 1.7
# Metres per unit that files are commonly in; the third last is that of the CMU recordings.
COMMON_UNITS_M = (1.0, 0.01, 0.001, 0.05644, 0.0254, 0.3048)
MOST_RATIO = 1.5  # a figure this much taller or smaller than natural is in none of them
_POSSIBLE_M = (1e-9, 1e9)


def metres_per_unit(motion: Motion) -> float:
    """What the file says, else the common unit in which the figure is nearest to 1.7 m, else what makes it so tall."""
    if motion.metres_per_unit is not None:
        return motion.metres_per_unit
    height = motion.height
    least, most = (NATURAL_HEIGHT_M / unit for unit in reversed(_POSSIBLE_M))
    if not least < height < most:
        return 1.0
    off = [abs(np.log(height * unit / NATURAL_HEIGHT_M)) for unit in COMMON_UNITS_M]
    best = int(np.argmin(off))
    if off[best] <= np.log(MOST_RATIO):
        return COMMON_UNITS_M[best]
    return NATURAL_HEIGHT_M / height
