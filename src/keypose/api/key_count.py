"""Choose the number of keys: the fewest within a tolerance, by default of 1 % of the height."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from keypose import kinematics
from keypose.arrays import Bools, Floats
from keypose.curves.cubic_fit import (
    FrameSpans,
    error_scale,
    fit_cubics,
    hermite_basis,
    interpolate_poses,
    locate_frames,
)
from keypose.kinematics import distances
from keypose.model import Features, InbetweenCosts, Ladder, Motion, Selection

# Numbers of frames of the sample that is tested first.
FIRST_SAMPLE_FRAMES, ADDED_HARD_FRAMES, MAX_HARD_FRAMES = 24, 8, 40
BATCH_SIZE = 16  # selections tested at once
AUTO_SHARE = 0.01  # of the height of a body, or of the largest extent: largest error of an automatic number of keys
MAX_CLIFF_FACTOR = 1.25  # at a cliff, an automatic number of keys may be so much larger
# Of such a cliff: the last key lowers the error by a fifth more than each of the next two. Weaker cliffs come and go
# with the frame rate of one motion.
MIN_CLIFF_STRENGTH = 0.25


class ErrorMeasure(Protocol):
    """Measures the largest error of the in-betweens of selections, in mm or in units of the features."""

    @property
    def n_frames(self) -> int:
        """Return the number of measured frames."""

    def max_error(self, selection: Selection) -> float:
        """Return the largest error in any frame."""

    def first_within(self, ladder: Ladder, tolerance: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none."""


class FittedErrorMeasure:
    """Error of fitted cubics through selections, span by span; spans are measured once.

    ``span_error`` returns the error between two neighbouring keys, ``held_error`` that of the pose of one frame held
    until another. Frames count from ``start``; in a loop of ``period`` frames the last span crosses the end.
    """

    def __init__(
        self,
        n_frames: int,
        span_error: Callable[[int, int], float],
        held_error: Callable[[int, int], float],
        *,
        start: int = 0,
        period: int | None = None,
    ) -> None:
        self._n_frames = n_frames
        self._span_error, self._held_error = span_error, held_error
        self._start, self._period = start, period
        self._errors: dict[tuple[int, int], float] = {}
        self._hard_frame = 0  # in the span that exceeded the tolerance last

    @staticmethod
    def from_costs(costs: InbetweenCosts, start: int = 0, *, loop: bool = False) -> FittedErrorMeasure:
        """Return the measure for frames ``start`` and following ones of a motion."""
        period = costs.n_frames - 1 if loop and costs.n_frames > 1 else None
        circle = costs if period is None else costs.take_frames(np.arange(2 * period + 1) % period)
        world = circle.world_positions

        def span_error(first: int, last: int) -> float:
            return float(circle[first : last + 1].span_costs(np.array((0, last - first)))[0])

        def held_error(frame: int, end: int) -> float:
            low, high = sorted((frame, end))
            return float(distances(world[low : high + 1], world[frame]).max())

        return FittedErrorMeasure(costs.n_frames, span_error, held_error, start=start, period=period)

    @staticmethod
    def from_features(features: Features, start: int = 0) -> FittedErrorMeasure:
        """Return the measure for features: the largest error of any column."""
        values = features.values

        def span_error(first: int, last: int) -> float:
            gap = last - first
            if gap < 2:
                return 0.0
            keyed = fit_cubics(values[first : last + 1, None], np.array((0, gap), np.int32))
            assert keyed.out_tangents is not None and keyed.in_tangents is not None
            tangents = keyed.out_tangents[0], keyed.in_tangents[1]
            weights = (basis[:, None] for basis in hermite_basis(gap))
            terms = zip(weights, (values[last] - values[first], *tangents), strict=True)
            fitted = values[first] + sum(weight * term for weight, term in terms)
            return float(np.abs(values[first + 1 : last] - fitted).max())

        def held_error(frame: int, end: int) -> float:
            low, high = sorted((frame, end))
            return float(np.abs(values[low : high + 1] - values[frame]).max())

        return FittedErrorMeasure(features.n_frames, span_error, held_error, start=start)

    @property
    def n_frames(self) -> int:
        """Return the number of measured frames."""
        return self._n_frames

    def max_error(self, selection: Selection) -> float:
        """Return the largest error in any frame."""
        return max(self._measure(*span) for span in self._spans(selection))

    def first_within(self, ladder: Ladder, tolerance: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none.

        As an additional key can increase the error, all counts are tested in increasing order.
        """
        for keys in ladder.counts.tolist():
            if keys > above and self.is_within(selection := ladder.at(keys), tolerance):
                return selection
        return None

    def is_within(self, selection: Selection, tolerance: float) -> bool:
        """Return whether no error exceeds the tolerance; spans that are likely to exceed it are measured first."""
        hard = self._hard_frame
        for first, last in sorted(
            self._spans(selection), key=lambda s: (not min(s) <= hard <= max(s), -abs(s[1] - s[0]))
        ):
            if self._measure(first, last) > tolerance:
                self._hard_frame = (first + last) // 2
                return False
        return True

    def _spans(self, selection: Selection) -> list[tuple[int, int]]:
        """Return pairs of keys, and for the ends (key, end), with the key twice if it is the end itself."""
        keys = (selection.frames - self._start).tolist()
        if self._period is not None:
            return [*pairwise(keys), (keys[-1], keys[0] + self._period)]
        return [(keys[0], -1), *pairwise(keys), (keys[-1], self._n_frames)]

    def _measure(self, first: int, last: int) -> float:
        if (first, last) not in self._errors:
            is_held = self._period is None and last in (-1, self._n_frames)
            error = (
                self._held_error(first, min(max(last, 0), self._n_frames - 1))
                if is_held
                else self._span_error(first, last)
            )
            self._errors[first, last] = error
        return self._errors[first, last]


class LadderErrorMeasure:
    """The costs of a ladder as errors, for a method whose input has no values to fit curves to."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder

    @property
    def n_frames(self) -> int:
        """Return the number of measured frames."""
        return self._ladder.n_frames

    def max_error(self, selection: Selection) -> float:
        """Return the cost."""
        return self._ladder.costs[len(selection)]

    def first_within(self, ladder: Ladder, tolerance: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none."""
        counts = ladder.counts[(ladder.counts > above) & (ladder.cost_values <= tolerance)]
        return ladder.at(int(counts[0])) if len(counts) else None


class LinearErrorMeasure:
    """Error of linear in-betweens of selections against a motion, in frames ``start`` to ``stop``."""

    def __init__(self, motion: Motion, start: int, stop: int) -> None:
        self._motion = motion
        self._mm_per_unit = motion.mm_per_unit
        self._frames = np.arange(start, stop)
        self._hard_frames = self._frames[:: max(1, len(self._frames) // FIRST_SAMPLE_FRAMES)]  # frames to test first

    @property
    def n_frames(self) -> int:
        """Return the number of measured frames."""
        return len(self._frames)

    def max_error(self, selection: Selection) -> float:
        """Return the largest error of any joint in any frame."""
        return float(self._errors_mm([selection], self._frames).max())

    def first_within(self, ladder: Ladder, tolerance: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none.

        As an additional key can increase the error, all counts are tested in increasing order.
        """
        counts = [keys for keys in ladder.counts.tolist() if keys > above]
        for start in range(0, len(counts), BATCH_SIZE):
            batch = [ladder.at(keys) for keys in counts[start : start + BATCH_SIZE]]
            for selection, may_fit in zip(batch, self._pass_hard_frames(batch, tolerance), strict=True):
                if may_fit and self._is_within(selection, tolerance):
                    return selection
        return None

    def _pass_hard_frames(self, selections: Sequence[Selection], tolerance: float) -> Bools:
        """Return which selections are within the tolerance in the frames with too large errors so far, where errors are
        likely to be large again."""
        worst = self._errors_mm(selections, self._hard_frames).max(axis=1).reshape(len(selections), -1).max(axis=1)
        return np.asarray(worst <= tolerance)

    def _is_within(self, selection: Selection, tolerance: float) -> bool:
        worst = self._errors_mm([selection], self._frames).max(axis=1)
        beyond = np.flatnonzero(worst > tolerance)
        worst_first = beyond[np.argsort(-worst[beyond])]
        self._hard_frames = np.concatenate((self._frames[worst_first[:ADDED_HARD_FRAMES]], self._hard_frames))[
            :MAX_HARD_FRAMES
        ]
        return not len(beyond)

    def _errors_mm(self, selections: Sequence[Selection], frames: NDArray[np.int64]) -> Floats:
        """Return the error of each joint, (selections x frames, J)."""
        spans = [locate_frames(selection.frames, frames) for selection in selections]
        poses = interpolate_poses(self._motion, FrameSpans(*map(np.concatenate, zip(*spans, strict=True))))
        rebuilt, _ = kinematics.forward(self._motion.skeleton.parents, *poses)
        original = np.tile(self._motion.world_positions()[frames], (len(selections), 1, 1))
        return self._mm_per_unit * distances(original, rebuilt)


def select_automatically(ladder: Ladder, errors: ErrorMeasure, tolerance: float) -> Selection:
    """Return the fewest keys within the tolerance, or those at a cliff with up to a quarter more.

    Of several cliffs it is the strongest within the tolerance. If no selection of the ladder is within it, it is the
    last one.
    """
    smallest = errors.first_within(ladder, tolerance)
    if smallest is None:
        return ladder.at(int(ladder.counts[-1]))
    at_cliffs = (ladder.at(keys) for keys in cliffs_above(ladder, len(smallest)))
    return next((each for each in at_cliffs if errors.max_error(each) <= tolerance), smallest)


def cliffs_above(ladder: Ladder, keys: int) -> list[int]:
    """Return the numbers of keys of cliffs, strongest first, that ``auto`` prefers to ``keys``."""
    strong = (cliff.keys for cliff in ladder.cliffs() if cliff.strength >= MIN_CLIFF_STRENGTH)
    return [count for count in strong if keys < count <= MAX_CLIFF_FACTOR * keys]


def auto_tolerance(source: Motion | Features | InbetweenCosts) -> float:
    """Return 1 % of the height of a body, or of the largest extent of anything else.

    It is in mm on a figure of 1.7 m, or in file units for a motion without height and in units of the features. The
    extent of a motion is that of its largest pose, or of its whole path if it has only one point.
    """
    if isinstance(source, Features):
        return AUTO_SHARE * float(np.ptp(source.values, axis=0).max(initial=0.0))
    if isinstance(source, Motion):
        if source.height > 0 and "legs" in source.skeleton.anatomy.groups:
            return AUTO_SHARE * kinematics.REFERENCE_HEIGHT_MM
        points = error_scale(source) * source.world_positions()
    else:
        points = source.world_positions
    return AUTO_SHARE * float(np.ptp(points, axis=1).max() or np.ptp(points, axis=(0, 1)).max())
