"""How the numbers of one column are spelt: doubles as whole numbers and back, bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats

Wholes = NDArray[np.int64]

DECIMAL, SINGLE, DOUBLE, SCALED = range(4)  # decimal parts, the bits of a float32, those of a float64, multiples
MOST_DECIMALS = 22  # the powers of ten up to here are doubles
MOST_WHOLE = 1 << 51  # below it, a double tells one number of decimal parts from the next
MOST_MULTIPLE = 1 << 31
MOST_SCALES = 4  # that are tried
_POWERS = np.array([float(f"1e{d}") for d in range(MOST_DECIMALS + 1)])


@dataclass(frozen=True)
class Spelling:
    """One column's way from doubles to whole numbers; the larger a double, the larger its whole number.

    ``signed_zeros``: there is a -0.0 among the parts or multiples, so those below 0 are one less to make room for it.
    """

    kind: int
    decimals: int = 0
    scale: float = 1.0  # of which the numbers are multiples
    signed_zeros: bool = False

    def wholes(self, values: Floats) -> Wholes:
        """The whole numbers of ``values``, which are so spelt."""
        if self.kind in (DECIMAL, SCALED):
            parts = values * _POWERS[self.decimals] if self.kind == DECIMAL else values / self.scale
            number: Wholes = np.rint(parts).astype(np.int64)
            return number - np.signbit(values) if self.signed_zeros else number
        bits = values.astype(np.float32).view(np.int32) if self.kind == SINGLE else values.view(np.int64)
        ordered = np.where(bits < 0, ~(bits & np.iinfo(bits.dtype).max), bits)
        return ordered.astype(np.int64)

    def values(self, wholes: Wholes) -> Floats:
        """The doubles again."""
        if self.kind in (DECIMAL, SCALED):
            number = (wholes + (wholes < 0) if self.signed_zeros else wholes).astype(np.float64)
            with np.errstate(over="ignore"):  # no encoder writes what is then infinite
                values = number / _POWERS[self.decimals] if self.kind == DECIMAL else number * self.scale
            return np.copysign(values, np.where(wholes < 0, -1.0, 1.0)) if self.signed_zeros else values
        ordered = wholes.astype(np.int32) if self.kind == SINGLE else wholes
        bits = np.where(ordered < 0, ~ordered | np.iinfo(ordered.dtype).min, ordered)
        with np.errstate(invalid="ignore"):  # nor a NaN that signals
            return bits.view(np.float32).astype(np.float64) if self.kind == SINGLE else bits.view(np.float64)


def same_bits(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Where two arrays of doubles agree in every bit."""
    return np.asarray(np.ascontiguousarray(a).view(np.int64) == np.ascontiguousarray(b).view(np.int64))


def spellings(columns: Floats) -> list[Spelling]:
    """The plainest spelling of each of ``columns`` (C, N) that gives back its very bits."""
    found: dict[int, Spelling] = {}
    left = np.arange(len(columns))
    for decimals in range(MOST_DECIMALS + 1):
        for c in left[_are_decimal(columns[left], decimals)].tolist():
            found[c] = Spelling(DECIMAL, decimals, signed_zeros=_has_negative_zero(columns[c]))
        left = np.array([c for c in left.tolist() if c not in found], int)
        if not len(left):
            break
    plain = [c for c in left.tolist() if not _gives_back(Spelling(SINGLE), columns[c])]
    scales = _scales(columns[plain])
    for c in left.tolist():
        ways = [Spelling(SCALED, scale=scale, signed_zeros=_has_negative_zero(columns[c])) for scale in scales]
        tried = ways if c in plain else [Spelling(SINGLE)]
        found[c] = next((way for way in tried if _gives_back(way, columns[c])), Spelling(DOUBLE))
    return [found[c] for c in range(len(columns))]


def _gives_back(spelling: Spelling, column: Floats) -> bool:
    with np.errstate(all="ignore"):
        return bool(same_bits(spelling.values(spelling.wholes(column)), column).all())


def _has_negative_zero(column: Floats) -> bool:
    return bool(np.signbit(column[column == 0]).any())


def _scales(columns: Floats) -> list[float]:
    """Numbers of which some columns (C, N) may hold nothing but multiples, as C3D files do: the commonest first."""
    votes: dict[float, int] = {}
    for column in columns:
        sizes = np.unique(np.abs(column))
        steps = np.diff(sizes)
        least = float(steps.min()) if len(steps) else 0.0
        if not 0 < float(sizes[-1]) < MOST_MULTIPLE * least:
            continue
        scale = float(sizes[-1] / np.rint(sizes[-1] / least))
        votes[scale] = votes.get(scale, 0) + 1
    return sorted(votes, key=lambda scale: -votes[scale])[:MOST_SCALES]


def _are_decimal(columns: Floats, decimals: int) -> NDArray[np.bool_]:
    """Which of the columns (C, N) hold nothing but whole numbers of so many decimal parts."""
    fit = np.ones(len(columns), bool)
    for start in range(0, columns.shape[1], 1024):  # most columns show in few frames that they do not fit
        some = columns[fit, start : start + 1024]
        scaled = some * _POWERS[decimals]
        fit[fit] = ((np.abs(scaled) < MOST_WHOLE) & (np.rint(scaled) / _POWERS[decimals] == some)).all(axis=1)
        if not fit.any():
            break
    return fit
