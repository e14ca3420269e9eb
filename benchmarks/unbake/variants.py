"""Variants of reducing a clip to few values, each measured on one clip at a percentage of frames removed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import keypose as kp
from keypose.api.compare.references import Columns, PerCurve, PrincipalPoses

REMOVED = (80.0, 90.0, 95.0, 97.5)  # percent of the frames

PUBLISHED = "salient, chord cost; fitted"
OURS_SLERP = "salient, in-between cost; slerp"
OURS = "salient, in-between cost; fitted"
POLISHED = "salient, in-between cost; fitted, polished"
EQUAL_KEYS = (
    "uniform; slerp",
    "curve simplification; slerp",
    "decimation; slerp",
    "salient, chord cost; slerp",
    "salient, chord cost; natural spline",
    "salient, chord cost; fitted, shared tangents",
    PUBLISHED,
    OURS_SLERP,
    "salient, in-between cost; fitted, jump penalty 0.01",
    OURS,
    POLISHED,
)
PER_CURVE, PCA = "each curve for itself", "principal poses"
EQUAL_VALUES_AS_POSES = (
    OURS_SLERP,
    "a third of the keys; fitted",
    "a third of the keys; fitted, polished",
    PER_CURVE,
    PCA,
)


class Cell(NamedTuple):
    """Errors and size of one variant on one clip."""

    mean_mm: float
    max_mm: float
    slide: float  # foot slide over the original's; NaN: no contacts
    acceleration: float  # at keys, over the original's; NaN: no keys
    stored_values: float

    @staticmethod
    def measure(
        motion: kp.Motion, other: kp.Motion | kp.KeyedMotion | kp.Selection, stored_values: int | None = None
    ) -> Cell:
        score = kp.score(motion, other)
        slide, original = score.foot_slide_mm, score.original_foot_slide_mm
        return Cell(
            score.mean_mm,
            score.max_mm,
            slide / original if slide is not None and original else math.nan,
            math.nan if score.key_acceleration is None else score.key_acceleration,
            score.stored_values if stored_values is None else stored_values,
        )


class ClipVariants:
    """One clip with the ladders and references that are shared by all numbers of keys."""

    def __init__(self, motion: kp.Motion) -> None:
        self.motion = motion
        max_keys = max(self.count_keys(removed) for removed in REMOVED)
        self.chord = kp.ladder(motion, "salient", max_keys=max_keys)
        self.simplify = kp.ladder(motion, "simplify", max_keys=max_keys)
        self.decimate = kp.ladder(motion, "decimate", max_keys=max_keys)
        self.inbetween = kp.ladder(motion, "salient", cost="inbetween", max_keys=max_keys)
        columns = Columns.build(motion)
        self.references = {PER_CURVE: PerCurve(columns), PCA: PrincipalPoses(columns)}

    def count_keys(self, removed: float) -> int:
        """Return the number of keys left when ``removed`` percent of the frames are removed."""
        return max(2, round(self.motion.n_frames * (1 - removed / 100)))

    def select_keys(self, keys: int) -> kp.Selection:
        """Return keys selected by in-between error; searched separately where the ladder has no such count."""
        if keys in self.inbetween.counts:
            return self.inbetween.at(keys)
        return kp.select(self.motion, "salient", cost="inbetween", keys=keys)

    def measure_at_equal_keys(self, removed: float) -> dict[str, Cell]:
        """Measure every variant whose keys are whole poses."""
        keys = self.count_keys(removed)
        chord = self.chord.at(keys)
        selections = (
            kp.select(self.motion, "uniform", keys=keys),
            self.simplify.at(keys),
            self.decimate.at(keys),
            chord,
        )
        plain = {"polish": False, "residual": False}
        fitted = (
            kp.unbake(self.motion, chord, interpolation="natural", **plain),
            kp.unbake(self.motion, chord, shared_tangents=True, **plain),
            kp.unbake(self.motion, chord, jump_penalty=0.0, **plain),
        )
        ours = self.select_keys(keys)
        smooth = kp.unbake(self.motion, ours, jump_penalty=0.01, residual=False)
        cells = [
            Cell.measure(self.motion, variant)
            for variant in (*selections, *fitted, ours, smooth, *self._fit_both(ours))
        ]
        return dict(zip(EQUAL_KEYS, cells, strict=True))

    def measure_references(self, stored_values: float) -> dict[str, Cell]:
        """Measure the references without whole poses, in at most ``stored_values`` numbers."""
        budget = int(stored_values)
        rebuilt = {name: reference.rebuild_within(budget) for name, reference in self.references.items()}
        return {name: Cell.measure(self.motion, motion, used) for name, (motion, used) in rebuilt.items()}

    def measure_at_pose_values(self, removed: float) -> dict[str, Cell]:
        """Measure variants that store as many values as plain poses at the keys; tangents triple those of a key."""
        poses = Cell.measure(self.motion, self.select_keys(self.count_keys(removed)))
        third_fitted = self._fit_both(self.select_keys(max(2, round(self.count_keys(removed) / 3))))
        cells = [
            poses,
            *(Cell.measure(self.motion, variant) for variant in third_fitted),
            *self.measure_references(poses.stored_values).values(),
        ]
        return dict(zip(EQUAL_VALUES_AS_POSES, cells, strict=True))

    def check_one_call(self, removed: float) -> None:
        """Check that a single call of ``kp.unbake`` gives the motion measured in the table."""
        keys = self.count_keys(removed)
        keyed = kp.unbake(self.motion, keys=keys, polish=False)
        ours, _ = self._fit_both(self.select_keys(keys))
        np.testing.assert_array_equal(keyed.keys, ours.keys)
        np.testing.assert_array_equal(keyed.sample().rotations, ours.sample().rotations)

    def _fit_both(self, selection: kp.Selection) -> list[kp.KeyedMotion]:
        """Return the fitted motion without and with polish."""
        return [kp.unbake(self.motion, selection, polish=polish, residual=False) for polish in (False, True)]


def median_cell(cells: list[Cell]) -> Cell:
    """Return the median of each figure over clips, ignoring NaN."""
    columns = np.array(cells).T
    return Cell(
        *(float(np.median(finite)) if len(finite := column[~np.isnan(column)]) else math.nan for column in columns)
    )
