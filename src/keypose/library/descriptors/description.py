"""The description of a clip, the motion from which it is computed, and learned projections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Frozen, Ints, freeze
from keypose.cache import cache_weakly
from keypose.library.canonical import FPS, INDEX, CanonicalBody

Singles = NDArray[np.float32]

AXES = 64  # of every descriptor
EVEN_AXES = 44  # number of axes that do not change in the mirror image, the first ones; the others change sign

FEET = tuple(INDEX[f"{side}_{part}"] for side in ("left", "right") for part in ("foot", "toes"))
FLOOR_PERCENTILE = 5.0

N_NEAREST = 5  # background clips that determine the rarity of a window
MIN_SPREAD = 1e-3
MIN_RARITY = 1e-6
_PARITY_SLICES = (
    slice(EVEN_AXES),
    slice(EVEN_AXES, None),
)  # numbers that do not change in the mirror image, and that change sign


@dataclass(frozen=True, eq=False)
class Windows(Frozen):
    """The vectors of one descriptor, one for each window of a clip; the distance of similar windows is small."""

    vectors: Singles  # (W, D)
    starts_s: Floats  # (W,) seconds from the start of the clip
    ends_s: Floats  # (W,)
    weights: Singles  # (W,) with sum 1; windows that are rare in other clips have larger weights
    background_distance: tuple[float, float]  # mean and spread of the distances to unrelated clips

    def __len__(self) -> int:
        return len(self.vectors)


@dataclass(frozen=True, eq=False)
class Description(Frozen):
    """Vectors of a clip by descriptor: ``clip`` of the whole clip, ``windows`` of parts of it."""

    clip: Mapping[str, Windows]  # one window each
    windows: Mapping[str, Windows]

    @property
    def all(self) -> dict[str, Windows]:
        """All descriptors of the clip and of its windows."""
        return {**self.clip, **self.windows}

    def mirror(self) -> Description:
        """Return the description of the mirror image: some signs change; weights and background distances do not."""
        return Description(
            {name: _mirror(windows) for name, windows in self.clip.items()},
            {name: _mirror(windows) for name, windows in self.windows.items()},
        )


def _mirror(windows: Windows) -> Windows:
    signs = np.where(np.arange(windows.vectors.shape[1]) < EVEN_AXES, 1.0, -1.0).astype(np.float32)
    return replace(windows, vectors=freeze(windows.vectors * signs))


@dataclass(frozen=True, eq=False)
class Posture(Frozen):
    """A body in the frame of its hips and heading: X to its left, Y up, Z ahead; metres, seconds, radians."""

    positions: Floats  # (T, 17, 3) from the hips
    travel: Floats  # (T, 3) velocity of the hips
    turn_rate: Floats  # (T,) change of heading per second, to the left
    heights: Floats  # (T,) of the hips above the clip's floor

    @cached_property
    def velocities(self) -> Floats:
        """Velocities of the joints in the body's frame, (T, 17, 3)."""
        return freeze(per_second(self.positions))


@cache_weakly
def posture(body: CanonicalBody) -> Posture:
    """Return the posture of each frame of ``body``; cached, read-only."""
    p = body.positions
    floor = np.percentile(p[:, FEET, 1].min(axis=1), FLOOR_PERCENTILE)
    return Posture(
        positions=freeze(rotate_about_y(p - p[:, :1], -body.heading[:, None])),
        travel=freeze(rotate_about_y(per_second(body.root), -body.heading)),
        turn_rate=freeze(per_second(body.heading)),
        heights=freeze(p[:, 0, 1] - floor),
    )


def rotate_about_y(points: Floats, angles: Floats) -> Floats:
    """Return points (..., 3) rotated about Y by ``angles`` (...), to the left."""
    c, s = np.cos(angles), np.sin(angles)
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack((c * x + s * z, y, c * z - s * x), axis=-1)


def per_second(values: Floats) -> Floats:
    """Return the rate of change of ``values`` (T, ...); 0 for a single frame."""
    return np.asarray(np.gradient(values, axis=0) * FPS) if len(values) > 1 else np.zeros_like(values)


@dataclass(frozen=True, eq=False)
class Space(Frozen):
    """The space of one descriptor: the axes of its projection, and windows of background clips.

    In the mirror image, the first ``EVEN_AXES`` numbers of a vector do not change, the others change sign.
    """

    mean: Singles  # (N,) of the features
    axes: Singles  # (N, D)
    background: Singles  # (B, D) windows of representative clips; their mirror images are also used
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
