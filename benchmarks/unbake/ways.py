"""The ways to get from a clip to few numbers and back, each measured on one clip at one share of frames removed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

import keypose as kp
from keypose.verbs.comparing.columns import Columns
from keypose.verbs.comparing.per_curve import PerCurve
from keypose.verbs.comparing.principal import Principal

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
AS_MANY_AS_POSES = (OURS_SLERP, "a third of the keys; fitted", "a third of the keys; fitted, polished", PER_CURVE, PCA)


class Cell(NamedTuple):
    """What one way has lost on one clip, and what it takes."""

    mean_mm: float
    max_mm: float
    slide: float  # of the feet, over the original's; nan: they never stand
    acceleration: float  # at keys, over the original's; nan: no keys
    stored: float

    @staticmethod
    def of(motion: kp.Motion, other: kp.Motion | kp.KeyedMotion | kp.Selection, stored: int | None = None) -> Cell:
        score = kp.score(motion, other)
        slide, original = score.foot_slide_mm, score.original_foot_slide_mm
        return Cell(
            score.mean_mm,
            score.max_mm,
            slide / original if slide is not None and original else math.nan,
            math.nan if score.key_acceleration is None else score.key_acceleration,
            score.stored_values if stored is None else stored,
        )


class Ways:
    """One clip: what can be prepared once for every number of keys."""

    def __init__(self, motion: kp.Motion) -> None:
        self.motion = motion
        most = max(self.keys(removed) for removed in REMOVED)
        self.chord = kp.ladder(motion, "salient", max_keys=most)
        self.simplify = kp.ladder(motion, "simplify", max_keys=most)
        self.decimate = kp.ladder(motion, "decimate", max_keys=most)
        self.inbetween = kp.ladder(motion, "salient", cost="inbetween", max_keys=most)
        columns = Columns.of(motion)
        self.references = {PER_CURVE: PerCurve(columns), PCA: Principal(columns)}

    def keys(self, removed: float) -> int:
        """How many keys are left."""
        return max(2, round(self.motion.n_frames * (1 - removed / 100)))

    def ours(self, keys: int) -> kp.Selection:
        """Keys by the error of their in-betweens; few keys need greater gaps than the ladder has: searched apart."""
        if keys in self.inbetween.counts:
            return self.inbetween.at(keys)
        return kp.select(self.motion, "salient", cost="inbetween", keys=keys)

    def equal_keys(self, removed: float) -> dict[str, Cell]:
        """Every way that has whole poses as keys."""
        keys = self.keys(removed)
        chord = self.chord.at(keys)
        selections = (
            kp.select(self.motion, "uniform", keys=keys),
            self.simplify.at(keys),
            self.decimate.at(keys),
            chord,
        )
        plain = {"polish": False, "residual": False}
        keyed = (
            kp.unbake(self.motion, chord, interpolation="natural", **plain),
            kp.unbake(self.motion, chord, shared_tangents=True, **plain),
            kp.unbake(self.motion, chord, jump_penalty=0.0, **plain),
        )
        ours = self.ours(keys)
        smooth = kp.unbake(self.motion, ours, jump_penalty=0.01, residual=False)
        cells = [Cell.of(self.motion, each) for each in (*selections, *keyed, ours, smooth, *self._both(ours))]
        return dict(zip(EQUAL_KEYS, cells, strict=True))

    def as_many_values(self, stored: float) -> dict[str, Cell]:
        """The ways without whole poses, in at most as many numbers."""
        budget = int(stored)
        found = {name: reference.within(budget) for name, reference in self.references.items()}
        return {name: Cell.of(self.motion, motion, used) for name, (motion, used) in found.items()}

    def as_many_as_poses(self, removed: float) -> dict[str, Cell]:
        """What fits into as many numbers as plain poses at the keys take: a key with slopes takes three times those."""
        poses = Cell.of(self.motion, self.ours(self.keys(removed)))
        third = self._both(self.ours(max(2, round(self.keys(removed) / 3))))
        cells = [poses, *(Cell.of(self.motion, each) for each in third), *self.as_many_values(poses.stored).values()]
        return dict(zip(AS_MANY_AS_POSES, cells, strict=True))

    def check(self, removed: float) -> None:
        """What stands in the table must be what the one call gives."""
        keys = self.keys(removed)
        keyed = kp.unbake(self.motion, keys=keys, polish=False)
        ours, _ = self._both(self.ours(keys))
        np.testing.assert_array_equal(keyed.keys, ours.keys)
        np.testing.assert_array_equal(keyed.sample().rotations, ours.sample().rotations)

    def _both(self, selection: kp.Selection) -> list[kp.KeyedMotion]:
        """Fitted, and polished as well."""
        return [kp.unbake(self.motion, selection, polish=polish, residual=False) for polish in (False, True)]


def median(cells: list[Cell]) -> Cell:
    """Each figure's median over clips; clips without it do not count."""
    columns = np.array(cells).T
    return Cell(
        *(float(np.median(known)) if len(known := column[~np.isnan(column)]) else math.nan for column in columns)
    )
