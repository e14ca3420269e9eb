"""How many keys: fewest within a tolerance, or where the error curve says to stop."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from keypose.errors import OptionError
from keypose.inbetween import linear
from keypose.kinematics import REFERENCE_HEIGHT_MM
from keypose.metrics import distances
from keypose.model import Ladder, Motion, Selection

SANE_MEAN_MM = 0.01 * REFERENCE_HEIGHT_MM  # the mean error that a cliff may leave


class LinearError:
    """How far straight in-betweens stray, span by span; each span is measured once.

    Selections of neighbouring counts share many spans, and one bad span is enough to dismiss a selection.
    """

    def __init__(self, motion: Motion, start: int, stop: int) -> None:
        self._motion, self._start, self._stop = motion, start, stop
        self._mm_per_unit = motion.mm_per_unit
        self.n_frames = stop - start
        self._known: dict[tuple[int, int], tuple[float, float]] = {}

    def within(self, selection: Selection, tolerance_mm: float) -> bool:
        """Whether no joint is off by more in any frame."""
        spans = sorted(self._spans(selection), key=lambda span: span[0] - span[1])  # long ones are the likely culprits
        return all(self._span(*span)[0] <= tolerance_mm for span in spans)

    def greatest_mm(self, selection: Selection) -> float:
        """The largest error of any joint in any frame."""
        return max(self._span(*span)[0] for span in self._spans(selection))

    def mean_mm(self, selection: Selection) -> float:
        """The mean error over joints and frames."""
        total = sum(self._span(*span)[1] for span in self._spans(selection))
        return total / self.n_frames

    def _spans(self, selection: Selection) -> list[tuple[int, int]]:
        """Neighbouring keys, and the two ends where the nearest key's pose holds, as (-1, key) and (key, -1)."""
        keys = selection.frames.tolist()
        spans = list(pairwise(keys))
        if keys[0] > self._start:
            spans.append((-1, keys[0]))
        if keys[-1] < self._stop - 1:
            spans.append((keys[-1], -1))
        return spans or [(keys[0], keys[0])]

    def _span(self, a: int, b: int) -> tuple[float, float]:
        """Greatest error of a span, and the sum over its frames of the mean over joints."""
        if (a, b) not in self._known:
            self._known[a, b] = self._measured(a, b)
        return self._known[a, b]

    def _measured(self, a: int, b: int) -> tuple[float, float]:
        if 0 <= b - a <= 1 and a >= 0:
            return 0.0, 0.0
        first, last = (self._start if a < 0 else a), (self._stop - 1 if b < 0 else b)
        keys = [0, last - first] if a >= 0 and b >= 0 else [0] if b < 0 else [last - first]
        rebuilt = linear(self._motion[first : last + 1], keys).world_positions()
        errors = self._mm_per_unit * distances(self._motion.world_positions()[first : last + 1], rebuilt)
        return float(errors.max()), float(errors.mean(axis=1).sum())


def within_tolerance(ladder: Ladder, errors: LinearError, tolerance_mm: float) -> Selection | None:
    """The selection with fewest keys whose straight in-betweens leave no joint farther off; None if there is none.

    One more key can make the error larger, so this looks at every count from below.
    """
    return next((selection for selection in ladder if errors.within(selection, tolerance_mm)), None)


def automatic(ladder: Ladder, errors: LinearError | None) -> Selection:
    """The strongest cliff between one key in 100 and one in 5 frames whose mean error is under 1 % of the height.

    Without such a cliff the knee of the logarithmic curve. For a plain array, which has no height, any cliff counts.
    """
    frames = ladder.n_frames if errors is None else errors.n_frames
    least = max(int(ladder.counts[0]), math.ceil(frames / 100))
    most = min(int(ladder.counts[-1]), max(frames // 5, least))
    for cliff in ladder.cliffs():
        if least <= cliff.keys <= most:
            selection = ladder.at(cliff.keys)
            if errors is None or errors.mean_mm(selection) <= SANE_MEAN_MM:
                return selection
    return ladder.at(ladder.knee(min(least, most), most))


def tolerance(value: float) -> float:
    """A tolerance in millimetres, checked."""
    if not isinstance(value, int | float | np.number) or not 0 <= value < math.inf:
        raise OptionError(f"tolerance_mm={value!r}, expected millimetres, 0 or more")
    return float(value)
