"""Add breakdowns between the keys of a .blend file where no cubic of time is near enough to Blender's curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.blend.evaluated_curves import EvaluatedCurves
from keypose.formats.figure.units import metres_per_unit
from keypose.model import KeyedMotion, Motion
from keypose.rotations import angle_between

MAX_MM, MAX_DEG = 1.0, 0.5  # maximum deviation of a joint, on a figure of 1.7 m


@dataclass(frozen=True)
class Deviation:
    """The deviation of a keyed motion from Blender's curves, on whole frames."""

    mm: Floats  # (T,) of the worst joint, on a figure of 1.7 m
    degrees: Floats  # (T,) of the worst joint

    @staticmethod
    def measure(keyed: KeyedMotion, motion: Motion, mm_per_unit: float) -> Deviation:
        """Measure the deviation of ``keyed`` from ``motion``, which has the same frames."""
        sampled = keyed.sample()
        distances = np.linalg.norm(sampled.world_positions() - motion.world_positions(), axis=2).max(axis=1)
        angles = angle_between(sampled.rotations, motion.rotations).max(axis=1)
        return Deviation(distances * mm_per_unit, np.rad2deg(angles))

    @property
    def is_within_limits(self) -> bool:
        """Whether no frame deviates too much."""
        return bool(self.mm.max(initial=0.0) <= MAX_MM and self.degrees.max(initial=0.0) <= MAX_DEG)

    def span(self, start: int, stop: int) -> Deviation:
        """Return the frames from ``start`` to before ``stop``."""
        return Deviation(self.mm[start:stop], self.degrees[start:stop])


def add_breakdowns(keyed: KeyedMotion, evaluated: EvaluatedCurves, motion: Motion) -> tuple[KeyedMotion, Deviation]:
    """Return ``keyed`` with the breakdowns needed to stay within the limits, and the remaining deviation.

    Linear spans stay unchanged.
    """
    mm_per_unit = motion.mm_per_unit if motion.height > 0 else 1000.0 * metres_per_unit(motion)
    deviation = Deviation.measure(keyed, motion, mm_per_unit)
    far_spans = _find_far_spans(keyed, deviation)
    if not (far_spans and keyed.is_cubic):
        return keyed, deviation
    breakdowns = [
        frame
        for start, stop in far_spans
        for frame in _find_breakdowns(keyed, evaluated, motion, mm_per_unit, start, stop)
    ]
    keys = np.union1d(keyed.keys, breakdowns).astype(np.int32)
    extremes = np.zeros(len(keys), bool)
    extremes[np.searchsorted(keys, keyed.keys)] = keyed.extremes
    translations, rotations = evaluated.fit(keys, is_linear=False)
    keyed = replace(keyed, keys=keys, translations=translations, rotations=rotations, extremes=extremes)
    return keyed, Deviation.measure(keyed, motion, mm_per_unit)


def _find_far_spans(keyed: KeyedMotion, deviation: Deviation) -> list[tuple[int, int]]:
    """Return the spans that deviate too much, also those before the first and after the last key, where poses hold."""
    borders = sorted({0, *keyed.keys.tolist(), keyed.n_frames - 1})
    return [(start, stop) for start, stop in pairwise(borders) if not deviation.span(start, stop + 1).is_within_limits]


def _find_breakdowns(
    keyed: KeyedMotion, evaluated: EvaluatedCurves, motion: Motion, mm_per_unit: float, start: int, stop: int
) -> list[int]:
    """Return few frames from ``start`` to ``stop`` (inclusive) between which every span is within the limits."""

    def is_near(a: int, b: int) -> bool:
        a, b = min(a, b), max(a, b)
        if b - a < 2:
            return True
        span = _keyed_span(keyed, evaluated.span(a, b))
        return Deviation.measure(span, motion[a : b + 1], mm_per_unit).is_within_limits

    latest, earliest = _find_strides(start, stop, is_near), _find_strides(stop, start, is_near)[::-1]
    if len(latest) == len(earliest):  # halfway between them no span has only a frame or two
        middle = [(a + b) // 2 for a, b in zip(earliest, latest, strict=True)]
        if all(a < b and is_near(a, b) for a, b in pairwise(middle)):
            return middle
    return latest


def _find_strides(start: int, stop: int, is_near: Callable[[int, int], bool]) -> list[int]:
    """Return frames from ``start`` to ``stop``, which may be earlier, with each stride as long as possible."""
    frames, direction = [start], 1 if start < stop else -1
    while not is_near(frames[-1], stop):
        current = frames[-1]
        near, far = 1, 2
        while far < abs(stop - current) and is_near(current, current + direction * far):
            near, far = far, 2 * far
        far = min(far, abs(stop - current))
        while far - near > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if is_near(current, current + direction * middle) else (near, middle)
        frames.append(current + direction * near)
    return [*frames, stop]


def _keyed_span(keyed: KeyedMotion, evaluated: EvaluatedCurves) -> KeyedMotion:
    """Return the frames of ``evaluated`` as a keyed motion with a key at both ends."""
    keys: Ints = np.array([0, len(evaluated.translations) - 1], np.int32)
    translations, rotations = evaluated.fit(keys, is_linear=False)
    return replace(
        keyed,
        n_frames=len(evaluated.translations),
        keys=keys,
        translations=translations,
        rotations=rotations,
        residual=None,
        extremes=np.zeros(2, bool),
    )
