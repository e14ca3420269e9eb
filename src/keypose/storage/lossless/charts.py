"""Columns that other columns of the same joint tell: an elbow's three angles are curves of one, a wrist's of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats
from keypose.storage.lossless.misses import Frames, nested_fits
from keypose.storage.lossless.plan import MOST_COEFFICIENT, terms
from keypose.storage.lossless.spelling import Wholes

UNIT_BITS = 24
PART_BITS = 4
DEGREES = (1, 3, 5)
GRAINS = (0, 3, 6, 9, 12, 15)  # how coarse coefficients may be, in powers of two


@dataclass(frozen=True, eq=False)
class Charted:
    """One way to chart a column, and what it leaves over."""

    inputs: int
    degree: int
    grain: int
    chart: tuple[int, ...]
    products: Wholes  # (N, terms) that the coefficients weigh
    numbers: Wholes  # (N,) of the column

    @cached_property
    def rest(self) -> Wholes:
        """What it leaves over (N,)."""
        return self.numbers - charted(self.products, tuple(c << self.grain for c in self.chart))

    @property
    def plan_bits(self) -> int:
        """About how many bits it takes to say so."""
        return sum(3 + abs(coefficient).bit_length() for coefficient in self.chart)

    def coarser(self) -> Iterator[Charted]:
        """The same chart with coarser coefficients, which take fewer bits."""
        for grain in GRAINS[1:]:
            half = (1 << grain) >> 1
            yield replace(self, grain=grain, chart=tuple((c + half) >> grain for c in self.chart))


def units(numbers: Wholes, middle: int, extent: int) -> Wholes:
    """A column that serves as input, in parts of 2^24 of its extent."""
    off = np.clip(numbers - middle, -(1 << extent), 1 << extent)
    return off << (UNIT_BITS - extent) if extent <= UNIT_BITS else off >> (extent - UNIT_BITS)


def _products(inputs: list[Wholes], degree: int) -> Wholes:
    """All powers and products of the inputs up to ``degree`` (N, terms), in parts of 2^24."""
    one = np.full(len(inputs[0]), 1 << UNIT_BITS)
    powers = [[one] for _ in inputs]
    for own, x in zip(powers, inputs, strict=True):
        for _ in range(degree):
            own.append((own[-1] * x) >> UNIT_BITS)
    if len(inputs) == 1:
        return np.stack(powers[0], axis=1)
    a, b = powers
    return np.stack([(a[n - k] * b[k]) >> UNIT_BITS for n in range(degree + 1) for k in range(n + 1)], axis=1)


def charted(products: Wholes, chart: tuple[int, ...]) -> Wholes:
    """The polynomial's whole numbers (N,)."""
    total = products[:, : len(chart)] @ np.array(chart) + (1 << (UNIT_BITS + PART_BITS - 1))
    return np.asarray(total >> (UNIT_BITS + PART_BITS))


def chartings(frames: Frames, numbers: Wholes, inputs: list[Wholes]) -> Iterator[Charted]:
    """Ways to chart ``numbers`` (N,) by the first one or two of ``inputs``, each in parts of 2^24.

    The coefficients are fitted to the numbers themselves, for columns that the inputs tell completely, and to how they
    bend from frame to frame, for those that go along with them.
    """
    bending = frames.place >= 2
    for count in range(1, len(inputs) + 1):
        products = _products(inputs[:count], max(DEGREES))
        features = products / 2.0**UNIT_BITS
        sizes = [terms(count, degree) for degree in DEGREES]
        fits = [nested_fits(features, numbers.astype(float), sizes)]
        if bending.any():
            bends, bend = _bends(features)[bending], _bends(numbers.astype(float))[bending]
            sloped = nested_fits(bends[:, 1:], bend, [n - 1 for n in sizes])
            fits.append([np.concatenate(([0.0], weights)) for weights in sloped])
        for fit in fits:
            for degree, size, weights in zip(DEGREES, sizes, fit, strict=True):
                weights[0] += np.mean(numbers - features[:, :size] @ weights)
                scaled = np.rint(weights * (1 << PART_BITS))
                if not np.abs(scaled).max() <= MOST_COEFFICIENT:
                    continue
                chart = tuple(int(w) for w in scaled)
                yield Charted(count, degree, 0, chart, products, numbers)


def _bends(curves: Floats) -> Floats:
    bends = np.zeros_like(curves)
    bends[2:] = curves[2:] - 2 * curves[1:-1] + curves[:-2]
    return bends
