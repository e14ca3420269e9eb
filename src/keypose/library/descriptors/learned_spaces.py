"""Projections learned from clips of CMU, without labels, by ``benchmarks/search/learn.py``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Frozen, Ints
from keypose.library.descriptors.description import EVEN_AXES, Singles, Windows

N_NEAREST = 5  # background clips that determine the rarity of a window
MIN_SPREAD = 1e-3
MIN_RARITY = 1e-6
_PARITY_SLICES = (
    slice(EVEN_AXES),
    slice(EVEN_AXES, None),
)  # numbers that stay in the mirror image, and that change sign


@dataclass(frozen=True, eq=False)
class Space(Frozen):
    """The space of one descriptor: the axes of its projection, and windows of background clips.

    In the mirror image, the first ``EVEN_AXES`` numbers of a vector stay, the others change sign.
    """

    mean: Singles  # (N,) of the features
    axes: Singles  # (N, D)
    background: Singles  # (B, D) windows of representative clips; their mirror images count too
    firsts: Ints  # (C,) first window of each of these clips

    def project(self, features: Floats) -> Singles:
        """Return vectors (W, D) of features (W, N)."""
        vectors: Singles = (features - self.mean).astype(np.float32) @ self.axes
        return vectors

    def windows(self, vectors: Singles, starts_s: ArrayLike, ends_s: ArrayLike) -> Windows:
        """Return ``vectors`` (W, D) with weights and background distance."""
        nearest = np.minimum.reduceat(self._background_distances(vectors), self.firsts, axis=1)  # (W, C)
        nearest_clips = np.partition(nearest, min(N_NEAREST, nearest.shape[1]) - 1, axis=1)[:, :N_NEAREST]
        rarity = np.maximum(nearest_clips.mean(axis=1), MIN_RARITY) ** 2
        weights = (rarity / rarity.sum()).astype(np.float32)
        clip_distances = weights @ nearest
        background_distance = (float(clip_distances.mean()), max(float(clip_distances.std()), MIN_SPREAD))
        return Windows(
            vectors, np.asarray(starts_s, np.float64), np.asarray(ends_s, np.float64), weights, background_distance
        )

    def _background_distances(self, vectors: Singles) -> Singles:
        """Return distances (W, B) to each background window or its mirror image, whichever is nearer."""
        even, odd = (vectors[:, part] @ self.background[:, part].T for part in _PARITY_SLICES)
        return _distances_from_products(vectors, self.background, even + np.abs(odd))


@dataclass(frozen=True, eq=False)
class LearnedSpaces(Frozen):
    """The learned spaces of all descriptors."""

    spaces: Mapping[str, Space]  # by descriptor


@cache
def load_shipped() -> LearnedSpaces:
    """Return the spaces that come with the package."""
    path = files("keypose.library.descriptors").joinpath("learned_spaces.npz")
    with path.open("rb") as file, np.load(file) as arrays:
        return unpack_spaces(dict(arrays))


def pack_spaces(learned: LearnedSpaces) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a file, in half precision."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, space in learned.spaces.items():
        arrays |= {f"{name}/{part}": getattr(space, part).astype(np.float16) for part in ("mean", "axes", "background")}
        arrays[f"{name}/firsts"] = space.firsts
    return arrays


def unpack_spaces(arrays: Mapping[str, NDArray[np.generic]]) -> LearnedSpaces:
    """Return the spaces of ``pack_spaces``."""
    grouped: dict[str, dict[str, NDArray[np.generic]]] = {}
    for key, values in arrays.items():
        group, _, part = key.partition("/")
        grouped.setdefault(group, {})[part] = values if part == "firsts" else values.astype(np.float32)
    return LearnedSpaces({name: Space(**parts) for name, parts in grouped.items()})  # type: ignore[arg-type]


def distances(a: Singles, b: Singles) -> Singles:
    """Return Euclidean distances (A, B) between rows."""
    return _distances_from_products(a, b, a @ b.T)


def _distances_from_products(a: Singles, b: Singles, products: Singles) -> Singles:
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * products
    clip_distances: Singles = np.sqrt(np.maximum(squares, 0.0))
    return clip_distances
