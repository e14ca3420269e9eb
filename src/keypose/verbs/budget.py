"""How many keys: fewest within a tolerance, or where the error curve says to stop."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from keypose import kinematics
from keypose.arrays import Bools, Floats
from keypose.inbetween.keyed import keyed_motion
from keypose.inbetween.linear import Between, between, poses_between
from keypose.kinematics import REFERENCE_HEIGHT_MM
from keypose.metrics import distances, position_errors_mm
from keypose.model import Ladder, Motion, Selection
from keypose.options import number

FIRST_GLIMPSE, MORE_HARD, MOST_HARD = 24, 8, 40  # frames looked at before all others
TOGETHER = 16  # selections that are glimpsed at once
SANE_MM = (
    0.01 * REFERENCE_HEIGHT_MM
)  # the error that a cliff may leave: mean of straight in-betweens, largest of fitted


class Errors(Protocol):
    """How far the in-betweens of selections stray from a motion."""

    @property
    def n_frames(self) -> int:
        """How many frames are looked at."""

    def greatest_mm(self, selection: Selection) -> float:
        """The largest error of any joint in any frame."""

    def is_sane(self, selection: Selection) -> bool:
        """Whether the error is under 1 % of the height: the mean one of straight in-betweens, the largest of fitted."""

    def first_within(self, ladder: Ladder, tolerance_mm: float, above: int = 0) -> Selection | None:
        """The selection with fewest keys, more than ``above``, that leaves no joint farther off; None if none does."""


class FittedError:
    """How far fitted cubics through selections stray from a motion, in frames ``start`` to ``stop``."""

    def __init__(self, motion: Motion, start: int, stop: int, *, is_cost: bool = False, loop: bool = False) -> None:
        self._motion = motion[start:stop]
        self._start = start
        self._is_cost = is_cost  # the largest error is the cost of the selection in its ladder
        self._loop = loop

    @property
    def n_frames(self) -> int:
        """How many frames are looked at."""
        return self._motion.n_frames

    def greatest_mm(self, selection: Selection) -> float:
        """The largest error of any joint in any frame."""
        return float(self._off(selection).max())

    def is_sane(self, selection: Selection) -> bool:
        """Whether the largest error is under 1 % of the height."""
        return self.greatest_mm(selection) <= SANE_MM

    def first_within(self, ladder: Ladder, tolerance_mm: float, above: int = 0) -> Selection | None:
        """The selection with fewest keys, more than ``above``, that leaves no joint farther off; None if none does."""
        for keys in ladder.counts.tolist():
            is_hopeful = not self._is_cost or ladder.costs[keys] <= tolerance_mm * (1 + 1e-9)
            if keys > above and is_hopeful and self.greatest_mm(ladder.at(keys)) <= tolerance_mm:
                return ladder.at(keys)
        return None

    def _off(self, selection: Selection) -> Floats:
        motion, keys = self._motion, selection.frames - self._start
        if self._loop and motion.n_frames > 1:  # cut it open at a key
            period = motion.n_frames - 1
            around = np.append(np.arange(keys[0], period), np.arange(keys[0] + 1))
            motion = replace(motion, translations=motion.translations[around], rotations=motion.rotations[around])
            keys = np.append(keys - keys[0], period)
        return position_errors_mm(motion, keyed_motion(motion, keys.astype(np.int32)).sample())


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

    def greatest_mm(self, selection: Selection) -> float:
        """The largest error of any joint in any frame."""
        return float(self._off([selection], self._frames).max())

    def is_sane(self, selection: Selection) -> bool:
        """Whether the mean error over joints and frames is under 1 % of the height."""
        return self.mean_mm(selection) <= SANE_MM

    def mean_mm(self, selection: Selection) -> float:
        """The mean error over joints and frames."""
        return float(self._off([selection], self._frames).mean())

    def first_within(self, ladder: Ladder, tolerance_mm: float, above: int = 0) -> Selection | None:
        """The selection with fewest keys, more than ``above``, that leaves no joint farther off; None if none does.

        One more key can make the error larger, so this looks at every count from below.
        """
        counts = [keys for keys in ladder.counts.tolist() if keys > above]
        for start in range(0, len(counts), TOGETHER):
            some = [ladder.at(keys) for keys in counts[start : start + TOGETHER]]
            for selection, hopeful in zip(some, self._glimpse(some, tolerance_mm), strict=True):
                if hopeful and self._is_within(selection, tolerance_mm):
                    return selection
        return None

    def _glimpse(self, selections: Sequence[Selection], tolerance_mm: float) -> Bools:
        """Which selections pass in the frames that were off before: these tend to be off again, so few do."""
        worst = self._off(selections, self._hard).max(axis=1).reshape(len(selections), -1).max(axis=1)
        return np.asarray(worst <= tolerance_mm)

    def _is_within(self, selection: Selection, tolerance_mm: float) -> bool:
        worst = self._off([selection], self._frames).max(axis=1)
        beyond = np.flatnonzero(worst > tolerance_mm)
        worst_first = beyond[np.argsort(-worst[beyond])]
        self._hard = np.concatenate((self._frames[worst_first[:MORE_HARD]], self._hard))[:MOST_HARD]
        return not len(beyond)

    def _off(self, selections: Sequence[Selection], frames: NDArray[np.int64]) -> Floats:
        """How far each joint is off, (selections x frames, J)."""
        where = [between(selection.frames, frames) for selection in selections]
        poses = poses_between(self._motion, Between(*map(np.concatenate, zip(*where, strict=True))))
        rebuilt, _ = kinematics.forward(self._motion.skeleton.parents, *poses)
        original = np.tile(self._motion.world_positions()[frames], (len(selections), 1, 1))
        return self._mm_per_unit * distances(original, rebuilt)


def automatic(ladder: Ladder, errors: Errors | None) -> Selection:
    """The strongest cliff between one key in 100 and one in 5 frames whose error is under 1 % of the height.

    Without such a cliff the knee of the logarithmic curve; if that leaves more than 1 %, the number of keys above it at
    which the error falls under 1 %, if there is one. For a plain array, which has no height, the error does not count.
    """
    frames = ladder.n_frames if errors is None else errors.n_frames
    least = max(int(ladder.counts[0]), math.ceil(frames / 100))
    most = min(int(ladder.counts[-1]), max(frames // 5, least))
    for cliff in ladder.cliffs():
        if least <= cliff.keys <= most:
            selection = ladder.at(cliff.keys)
            if errors is None or errors.is_sane(selection):
                return selection
    knee = ladder.knee(min(least, most), most)
    if errors is None or errors.is_sane(ladder.at(knee)):
        return ladder.at(knee)
    above = [keys for keys in ladder.counts.tolist() if knee < keys <= most]
    sane = bisect_left(above, True, key=lambda keys: errors.is_sane(ladder.at(keys)))
    return ladder.at(above[sane] if sane < len(above) else knee)


def tolerance(value: float) -> float:
    """A tolerance in millimetres, checked."""
    return number("tolerance_mm", value, least=0)
