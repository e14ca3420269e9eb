"""Columns predicted by a polynomial of other columns of the same joint: an elbow's three angles depend on one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from keypose.arrays import Floats
from keypose.storage.lossless.number_format import Integers
from keypose.storage.lossless.plan import MAX_COEFFICIENT, n_coefficients
from keypose.storage.lossless.prediction_errors import FitFrames, fit_weights

INPUT_BITS = 24
FRACTION_BITS = 4
DEGREES = (1, 3, 5)
SHIFTS = (0, 3, 6, 9, 12, 15)  # of coefficients: more is coarser


@dataclass(frozen=True, eq=False)
class PolynomialFit:
    """A polynomial fit of one column."""

    n_inputs: int
    degree: int
    shift: int
    coefficients: tuple[int, ...]
    products: Integers  # (N, terms), weighted by the coefficients
    values: Integers  # (N,) of the column

    @cached_property
    def residuals(self) -> Integers:
        """Return the differences (N,) from the polynomial."""
        return self.values - evaluate(self.products, tuple(c << self.shift for c in self.coefficients))

    @property
    def coefficient_bits(self) -> int:
        """Return the approximate size of the coefficients in bits."""
        return sum(3 + abs(coefficient).bit_length() for coefficient in self.coefficients)

    def coarser_fits(self) -> Iterator[PolynomialFit]:
        """Yield the same fit with coarser coefficients, which take fewer bits."""
        for shift in SHIFTS[1:]:
            half = (1 << shift) >> 1
            yield replace(self, shift=shift, coefficients=tuple((c + half) >> shift for c in self.coefficients))


def normalize_input(values: Integers, middle: int, extent: int) -> Integers:
    """Return an input column in units of 2^-24 of its extent."""
    offsets = np.clip(values - middle, -(1 << extent), 1 << extent)
    return offsets << (INPUT_BITS - extent) if extent <= INPUT_BITS else offsets >> (extent - INPUT_BITS)


def _products(inputs: list[Integers], degree: int) -> Integers:
    """Return all powers and products of the inputs up to ``degree`` (N, terms), in units of 2^-24."""
    one = np.full(len(inputs[0]), 1 << INPUT_BITS)
    powers = [[one] for _ in inputs]
    for input_powers, x in zip(powers, inputs, strict=True):
        for _ in range(degree):
            input_powers.append((input_powers[-1] * x) >> INPUT_BITS)
    if len(inputs) == 1:
        return np.stack(powers[0], axis=1)
    a, b = powers
    return np.stack([(a[n - k] * b[k]) >> INPUT_BITS for n in range(degree + 1) for k in range(n + 1)], axis=1)


def evaluate(products: Integers, coefficients: tuple[int, ...]) -> Integers:
    """Return the integer values (N,) of the polynomial."""
    total = products[:, : len(coefficients)] @ np.array(coefficients) + (1 << (INPUT_BITS + FRACTION_BITS - 1))
    return np.asarray(total >> (INPUT_BITS + FRACTION_BITS))


def fit_polynomials(frames: FitFrames, values: Integers, inputs: list[Integers]) -> Iterator[PolynomialFit]:
    """Yield polynomial fits of ``values`` (N,) by the first one or two of ``inputs``, each in units of 2^-24.

    The coefficients are fitted to the values, for columns that the inputs determine completely, and to their second
    differences, for columns that are merely correlated.
    """
    has_second_difference = frames.index_in_group >= 2
    for count in range(1, len(inputs) + 1):
        products = _products(inputs[:count], max(DEGREES))
        features = products / 2.0**INPUT_BITS
        sizes = [n_coefficients(count, degree) for degree in DEGREES]
        fits = [fit_weights(features, values.astype(float), sizes)]
        if has_second_difference.any():
            feature_differences, value_differences = (
                _second_differences(features)[has_second_difference],
                _second_differences(values.astype(float))[has_second_difference],
            )
            difference_fits = fit_weights(feature_differences[:, 1:], value_differences, [n - 1 for n in sizes])
            fits.append([np.concatenate(([0.0], weights)) for weights in difference_fits])
        for fit in fits:
            for degree, size, weights in zip(DEGREES, sizes, fit, strict=True):
                weights[0] += np.mean(values - features[:, :size] @ weights)
                scaled_weights = np.rint(weights * (1 << FRACTION_BITS))
                if not np.abs(scaled_weights).max() <= MAX_COEFFICIENT:
                    continue
                coefficients = tuple(int(w) for w in scaled_weights)
                yield PolynomialFit(count, degree, 0, coefficients, products, values)


def _second_differences(curves: Floats) -> Floats:
    differences = np.zeros_like(curves)
    differences[2:] = curves[2:] - 2 * curves[1:-1] + curves[:-2]
    return differences
