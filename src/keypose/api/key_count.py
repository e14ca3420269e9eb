"""Choose the number of keys: as few as possible within a tolerance, or by the shape of the error curve."""

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
from keypose.curves.cubic_fit import FrameSpans, interpolate_poses, locate_frames
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.kinematics import REFERENCE_HEIGHT_MM
from keypose.metrics import distances, position_errors_mm
from keypose.model import Ladder, Motion, Selection
from keypose.options import KeyCountOptions, check_option_number

# Numbers of frames of the sample that is tested first.
FIRST_SAMPLE_FRAMES, ADDED_HARD_FRAMES, MAX_HARD_FRAMES = 24, 8, 40
BATCH_SIZE = 16  # selections tested at once
ACCEPTABLE_MM = (
    0.01 * REFERENCE_HEIGHT_MM
)  # maximum error at a cliff: mean of linear in-betweens, largest of fitted ones


class ErrorMeasure(Protocol):
    """Measures the error of the in-betweens of selections against a motion."""

    @property
    def n_frames(self) -> int:
        """Return the number of measured frames."""

    def max_error_mm(self, selection: Selection) -> float:
        """Return the largest error of any joint in any frame."""

    def is_acceptable(self, selection: Selection) -> bool:
        """Return whether the error is under 1 % of the height: mean of linear in-betweens, largest of fitted ones."""

    def first_within(self, ladder: Ladder, tolerance_mm: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none."""


class FittedError:
    """Error of fitted cubics through selections against a motion, in frames ``start`` to ``stop``."""

    def __init__(self, motion: Motion, start: int, stop: int, *, is_cost: bool = False, loop: bool = False) -> None:
        self._motion = motion[start:stop]
        self._start = start
        self._is_cost = is_cost  # the largest error is the cost of the selection in its ladder
        self._loop = loop

    @property
    def n_frames(self) -> int:
        """Return the number of measured frames."""
        return self._motion.n_frames

    def max_error_mm(self, selection: Selection) -> float:
        """Return the largest error of any joint in any frame."""
        return float(self._errors_mm(selection).max())

    def is_acceptable(self, selection: Selection) -> bool:
        """Return whether the largest error is under 1 % of the height."""
        return self.max_error_mm(selection) <= ACCEPTABLE_MM

    def first_within(self, ladder: Ladder, tolerance_mm: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none."""
        for keys in ladder.counts.tolist():
            may_fit = not self._is_cost or ladder.costs[keys] <= tolerance_mm * (1 + 1e-9)
            if keys > above and may_fit and self.max_error_mm(ladder.at(keys)) <= tolerance_mm:
                return ladder.at(keys)
        return None

    def _errors_mm(self, selection: Selection) -> Floats:
        motion, keys = self._motion, selection.frames - self._start
        if self._loop and motion.n_frames > 1:  # the loop is rotated so that it starts at a key
            period = motion.n_frames - 1
            frames = np.append(np.arange(keys[0], period), np.arange(keys[0] + 1))
            motion = replace(motion, translations=motion.translations[frames], rotations=motion.rotations[frames])
            keys = np.append(keys - keys[0], period)
        return position_errors_mm(motion, build_keyed_motion(motion, keys.astype(np.int32)).sample())


class LinearError:
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

    def max_error_mm(self, selection: Selection) -> float:
        """Return the largest error of any joint in any frame."""
        return float(self._errors_mm([selection], self._frames).max())

    def is_acceptable(self, selection: Selection) -> bool:
        """Return whether the mean error over joints and frames is under 1 % of the height."""
        return self.mean_error_mm(selection) <= ACCEPTABLE_MM

    def mean_error_mm(self, selection: Selection) -> float:
        """Return the mean error over joints and frames."""
        return float(self._errors_mm([selection], self._frames).mean())

    def first_within(self, ladder: Ladder, tolerance_mm: float, above: int = 0) -> Selection | None:
        """Return the selection with fewest keys, more than ``above``, within the tolerance; None if there is none.

        As an additional key can increase the error, all counts are tested in increasing order.
        """
        counts = [keys for keys in ladder.counts.tolist() if keys > above]
        for start in range(0, len(counts), BATCH_SIZE):
            batch = [ladder.at(keys) for keys in counts[start : start + BATCH_SIZE]]
            for selection, may_fit in zip(batch, self._pass_hard_frames(batch, tolerance_mm), strict=True):
                if may_fit and self._is_within(selection, tolerance_mm):
                    return selection
        return None

    def _pass_hard_frames(self, selections: Sequence[Selection], tolerance_mm: float) -> Bools:
        """Return which selections are within the tolerance in the frames with too large errors so far, where errors are
        likely to be large again."""
        worst = self._errors_mm(selections, self._hard_frames).max(axis=1).reshape(len(selections), -1).max(axis=1)
        return np.asarray(worst <= tolerance_mm)

    def _is_within(self, selection: Selection, tolerance_mm: float) -> bool:
        worst = self._errors_mm([selection], self._frames).max(axis=1)
        beyond = np.flatnonzero(worst > tolerance_mm)
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


def select_automatically(ladder: Ladder, errors: ErrorMeasure | None) -> Selection:
    """Return the selection at the strongest cliff (1 to 20 keys per 100 frames) with an error under 1 % of the height.

    Without such a cliff it is the knee of the logarithmic curve or, if the error there is over 1 %, the next number of
    keys with an error under 1 %, if there is one. For a plain array, which has no height, the error is ignored.
    """
    frames = ladder.n_frames if errors is None else errors.n_frames
    min_keys = max(int(ladder.counts[0]), math.ceil(frames / 100))
    max_keys = min(int(ladder.counts[-1]), max(frames // 5, min_keys))
    for cliff in ladder.cliffs():
        if min_keys <= cliff.keys <= max_keys:
            selection = ladder.at(cliff.keys)
            if errors is None or errors.is_acceptable(selection):
                return selection
    knee = ladder.knee(min(min_keys, max_keys), max_keys)
    if errors is None or errors.is_acceptable(ladder.at(knee)):
        return ladder.at(knee)
    candidates = [keys for keys in ladder.counts.tolist() if knee < keys <= max_keys]
    first_acceptable = bisect_left(candidates, True, key=lambda keys: errors.is_acceptable(ladder.at(keys)))
    return ladder.at(candidates[first_acceptable] if first_acceptable < len(candidates) else knee)


def check_tolerance_mm(value: float) -> float:
    """Return a tolerance in millimetres, checked."""
    return check_option_number(KeyCountOptions, "tolerance_mm", value)
