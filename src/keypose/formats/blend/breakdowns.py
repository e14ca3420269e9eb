"""Breakdowns between the keys of a .blend file, where no cubic of time comes near enough to Blender's curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.formats.blend.drawn import Drawn
from keypose.formats.figure.size import metres_per_unit
from keypose.model import KeyedMotion, Motion
from keypose.rotations import angle_between

MOST_MM, MOST_DEG = 1.0, 0.5  # that a joint may be off, on a figure of 1.7 m


@dataclass(frozen=True)
class Off:
    """How far a keyed motion is from what Blender draws, on whole frames."""

    mm: Floats  # (T,) of the joint that is worst, on a figure of 1.7 m
    degrees: Floats  # (T,)

    @staticmethod
    def of(keyed: KeyedMotion, shown: Motion, mm_per_unit: float) -> Off:
        """``shown`` has the frames of ``keyed``."""
        found = keyed.sample()
        apart = np.linalg.norm(found.world_positions() - shown.world_positions(), axis=2).max(axis=1)
        turned = angle_between(found.rotations, shown.rotations).max(axis=1)
        return Off(apart * mm_per_unit, np.rad2deg(turned))

    @property
    def is_near(self) -> bool:
        """Whether no frame is too far off."""
        return bool(self.mm.max(initial=0.0) <= MOST_MM and self.degrees.max(initial=0.0) <= MOST_DEG)

    def part(self, start: int, stop: int) -> Off:
        """The frames from ``start`` to before ``stop``."""
        return Off(self.mm[start:stop], self.degrees[start:stop])


def with_breakdowns(keyed: KeyedMotion, drawn: Drawn, shown: Motion) -> tuple[KeyedMotion, Off]:
    """``keyed`` with as many keys more as it takes to be near to what is drawn, and how far off it still is.

    Straight spans stay as they are.
    """
    mm = shown.mm_per_unit if shown.height > 0 else 1000.0 * metres_per_unit(shown)
    off = Off.of(keyed, shown, mm)
    far = _far(keyed, off)
    if not (far and keyed.is_cubic):
        return keyed, off
    more = [frame for start, stop in far for frame in _between(keyed, drawn, shown, mm, start, stop)]
    keys = np.union1d(keyed.keys, more).astype(np.int32)
    extremes = np.zeros(len(keys), bool)
    extremes[np.searchsorted(keys, keyed.keys)] = keyed.extremes
    translations, rotations = drawn.fitted(keys, straight=False)
    keyed = replace(keyed, keys=keys, translations=translations, rotations=rotations, extremes=extremes)
    return keyed, Off.of(keyed, shown, mm)


def _far(keyed: KeyedMotion, off: Off) -> list[tuple[int, int]]:
    """The spans that are too far off; also those before the first key and after the last one, where a pose holds."""
    borders = sorted({0, *keyed.keys.tolist(), keyed.n_frames - 1})
    return [(start, stop) for start, stop in pairwise(borders) if not off.part(start, stop + 1).is_near]


def _between(keyed: KeyedMotion, drawn: Drawn, shown: Motion, mm: float, start: int, stop: int) -> list[int]:
    """Frames, with both ends, that make the spans between two frames near; few, and where there is room."""

    def is_near(a: int, b: int) -> bool:
        a, b = min(a, b), max(a, b)
        return b - a < 2 or Off.of(_span(keyed, drawn.part(a, b)), shown[a : b + 1], mm).is_near

    latest, earliest = _strides(start, stop, is_near), _strides(stop, start, is_near)[::-1]
    if len(latest) == len(earliest):  # halfway between, no span is left with a frame or two
        middle = [(a + b) // 2 for a, b in zip(earliest, latest, strict=True)]
        if all(a < b and is_near(a, b) for a, b in pairwise(middle)):
            return middle
    return latest


def _strides(start: int, stop: int, is_near: Callable[[int, int], bool]) -> list[int]:
    """From one frame to another, earlier or later, each stride as far as it can be."""
    frames, way = [start], 1 if start < stop else -1
    while not is_near(frames[-1], stop):
        here = frames[-1]
        near, far = 1, 2
        while far < abs(stop - here) and is_near(here, here + way * far):
            near, far = far, 2 * far
        far = min(far, abs(stop - here))
        while far - near > 1:
            middle = (near + far) // 2
            near, far = (middle, far) if is_near(here, here + way * middle) else (near, middle)
        frames.append(here + way * near)
    return [*frames, stop]


def _span(keyed: KeyedMotion, drawn: Drawn) -> KeyedMotion:
    """The frames of ``drawn`` alone, with a key at both ends."""
    keys: Ints = np.array([0, len(drawn.places) - 1], np.int32)
    translations, rotations = drawn.fitted(keys, straight=False)
    return replace(
        keyed,
        n_frames=len(drawn.places),
        keys=keys,
        translations=translations,
        rotations=rotations,
        residual=None,
        extremes=np.zeros(2, bool),
    )
