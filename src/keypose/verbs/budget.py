"""How many keys: fewest within a tolerance, or where the error curve says to stop."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.inbetween import linear
from keypose.kinematics import REFERENCE_HEIGHT_MM
from keypose.metrics import distances
from keypose.model import Ladder, Motion, Selection

FIRST_GLIMPSE, MORE_HARD, MOST_HARD = 24, 8, 40  # frames looked at before all others
SANE_MEAN_MM = 0.01 * REFERENCE_HEIGHT_MM  # the mean error that a cliff may leave


class LinearError:
    """How far straight in-betweens of selections stray from a motion, in frames ``start`` to ``stop``."""

    def __init__(self, motion: Motion, start: int, stop: int) -> None:
        self._motion = motion
        self._mm_per_unit = motion.mm_per_unit
        self._frames = np.arange(start, stop)
        self._hard = self._frames[:: max(1, len(self._frames) // FIRST_GLIMPSE)]  # frames worth a look first

    @property
    def n_frames(self) -> int:
        """How many frames are looked at."""
        return len(self._frames)

    def within(self, selection: Selection, tolerance_mm: float) -> bool:
        """Whether no joint is off by more in any frame.

        Frames that were off before tend to be off again: most selections fail at a look at those.
        """
        if self._off(selection, self._hard).max() > tolerance_mm:
            return False
        worst = self._off(selection, self._frames).max(axis=1)
        beyond = np.flatnonzero(worst > tolerance_mm)
        worst_first = beyond[np.argsort(-worst[beyond])]
        self._hard = np.concatenate((self._frames[worst_first[:MORE_HARD]], self._hard))[:MOST_HARD]
        return not len(beyond)

    def greatest_mm(self, selection: Selection) -> float:
        """The largest error of any joint in any frame."""
        return float(self._off(selection, self._frames).max())

    def mean_mm(self, selection: Selection) -> float:
        """The mean error over joints and frames."""
        return float(self._off(selection, self._frames).mean())

    def _off(self, selection: Selection, frames: NDArray[np.int64]) -> Floats:
        rebuilt = linear(self._motion, selection.frames, frames).world_positions()
        return self._mm_per_unit * distances(self._motion.world_positions()[frames], rebuilt)


def within_tolerance(ladder: Ladder, errors: LinearError, tolerance_mm: float) -> Selection | None:
    """The selection with fewest keys whose straight in-betweens leave no joint farther off; None if there is none.

    One more key can make the error larger, so this looks at every count from below.
    """
    return next((selection for selection in ladder if errors.within(selection, tolerance_mm)), None)


def automatic(ladder: Ladder, errors: LinearError | None) -> Selection:
    """The strongest cliff between one key in 100 and one in 5 frames whose mean error is under 1 % of the height.

    Without such a cliff the knee of the logarithmic curve; if that leaves more than 1 %, the number of keys above it at
    which the error falls under 1 %, if there is one. For a plain array, which has no height, the error does not count.
    """
    frames = ladder.n_frames if errors is None else errors.n_frames
    least = max(int(ladder.counts[0]), math.ceil(frames / 100))
    most = min(int(ladder.counts[-1]), max(frames // 5, least))
    for cliff in ladder.cliffs():
        if least <= cliff.keys <= most:
            selection = ladder.at(cliff.keys)
            if errors is None or errors.mean_mm(selection) <= SANE_MEAN_MM:
                return selection
    knee = ladder.knee(min(least, most), most)
    if errors is None or errors.mean_mm(ladder.at(knee)) <= SANE_MEAN_MM:
        return ladder.at(knee)
    above = [keys for keys in ladder.counts.tolist() if knee < keys <= most]
    sane = bisect_left(above, True, key=lambda keys: errors.mean_mm(ladder.at(keys)) <= SANE_MEAN_MM)
    return ladder.at(above[sane] if sane < len(above) else knee)


def tolerance(value: float) -> float:
    """A tolerance in millimetres, checked."""
    if not isinstance(value, int | float | np.number) or not 0 <= value < math.inf:
        raise OptionError(f"tolerance_mm={value!r}, expected millimetres, 0 or more")
    return float(value)
