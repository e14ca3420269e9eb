"""The numbers that were learnt, without labels, from clips of CMU: ``benchmarks/search/learn.py`` made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Frozen, Ints
from keypose.library.descriptors.noun import EVEN_AXES, Singles, Windows

NEAREST = 5  # of the background clips say how rare a window is
LEAST_SPREAD = 1e-3
LEAST_RARITY = 1e-6
_PARTS = (slice(EVEN_AXES), slice(EVEN_AXES, None))  # what stays in a mirror, and what changes its sign


@dataclass(frozen=True, eq=False)
class Space(Frozen):
    """Where the vectors of one descriptor live: the axes that matter, and what other clips look like there.

    In a mirror the first ``EVEN_AXES`` numbers of a vector stay, the others change their sign.
    """

    mean: Singles  # (N,) of the numbers as measured
    axes: Singles  # (N, D)
    background: Singles  # (B, D) windows of clips that stand for all others; their mirror images do too
    firsts: Ints  # (C,) where each of those clips starts

    def project(self, measured: Floats) -> Singles:
        """Vectors (W, D) of numbers as measured (W, N)."""
        vectors: Singles = (measured - self.mean).astype(np.float32) @ self.axes
        return vectors

    def windows(self, vectors: Singles, starts_s: ArrayLike, ends_s: ArrayLike) -> Windows:
        """``vectors`` (W, D) with what the background says about them."""
        nearest = np.minimum.reduceat(self._to_background(vectors), self.firsts, axis=1)  # (W, C)
        near = np.partition(nearest, min(NEAREST, nearest.shape[1]) - 1, axis=1)[:, :NEAREST]
        rarity = np.maximum(near.mean(axis=1), LEAST_RARITY) ** 2
        weights = (rarity / rarity.sum()).astype(np.float32)
        away = weights @ nearest
        usual = (float(away.mean()), max(float(away.std()), LEAST_SPREAD))
        return Windows(vectors, np.asarray(starts_s, np.float64), np.asarray(ends_s, np.float64), weights, usual)

    def _to_background(self, vectors: Singles) -> Singles:
        """Distances (W, B) to each background window or to its mirror image, whichever is nearer."""
        even, odd = (vectors[:, part] @ self.background[:, part].T for part in _PARTS)
        return _apart(vectors, self.background, even + np.abs(odd))


@dataclass(frozen=True, eq=False)
class Learnt(Frozen):
    """All that descriptors have learnt."""

    spaces: Mapping[str, Space]  # by descriptor


@cache
def shipped() -> Learnt:
    """What comes with the package."""
    with files("keypose.library.descriptors").joinpath("learnt.npz").open("rb") as file, np.load(file) as arrays:
        return unpacked(dict(arrays))


def packed(learnt: Learnt) -> dict[str, NDArray[np.generic]]:
    """The arrays of a file: half precision."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, space in learnt.spaces.items():
        arrays |= {f"{name}/{part}": getattr(space, part).astype(np.float16) for part in ("mean", "axes", "background")}
        arrays[f"{name}/firsts"] = space.firsts
    return arrays


def unpacked(arrays: Mapping[str, NDArray[np.generic]]) -> Learnt:
    """The opposite."""
    grouped: dict[str, dict[str, NDArray[np.generic]]] = {}
    for key, values in arrays.items():
        group, _, part = key.partition("/")
        grouped.setdefault(group, {})[part] = values if part == "firsts" else values.astype(np.float32)
    return Learnt({name: Space(**parts) for name, parts in grouped.items()})  # type: ignore[arg-type]


def distances(a: Singles, b: Singles) -> Singles:
    """Euclidean distances (A, B) between rows."""
    return _apart(a, b, a @ b.T)


def _apart(a: Singles, b: Singles, products: Singles) -> Singles:
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * products
    apart: Singles = np.sqrt(np.maximum(squares, 0.0))
    return apart
