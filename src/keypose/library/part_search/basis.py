"""The axes of part search, learned from CMU, without labels, by ``benchmarks/search/learn_parts.py``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen
from keypose.library.descriptors.description import Singles
from keypose.library.part_search.body_features import GROUPS, SPACES

AXES = 8  # per group
EVEN_AXES = 5  # of the trunk, first; the others change sign in the mirror image
SIZE = AXES * len(GROUPS)  # of a sample
MAX_VALUE = 16.0  # limits the weight of jumps in the capture


@dataclass(frozen=True, eq=False)
class Axes(Frozen):
    """The mean, and the principal directions in which bodies differ, the strongest first."""

    mean: Singles  # (N,) of the features
    axes: Singles  # (N, AXES)


@dataclass(frozen=True, eq=False)
class Basis(Frozen):
    """Axes for arms, legs and the trunk; left and right share theirs."""

    spaces: Mapping[str, Axes]  # arm, leg, trunk

    def project(self, features: Mapping[str, Floats]) -> Floats:
        """Return vectors (S, SIZE) of the features of all groups: 0 is the mean body."""
        columns = [
            (features[group] - self.spaces[space].mean) @ self.spaces[space].axes for group, space in SPACES.items()
        ]
        return np.clip(np.concatenate(columns, axis=1), -MAX_VALUE, MAX_VALUE)


@cache
def load_shipped() -> Basis:
    """Return the basis that comes with the package."""
    with files("keypose.library.part_search").joinpath("basis.npz").open("rb") as file, np.load(file) as arrays:
        return unpack_basis(dict(arrays))


def pack_basis(basis: Basis) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a file."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, space in basis.spaces.items():
        arrays |= {f"{name}/mean": space.mean, f"{name}/axes": space.axes}
    return arrays


def unpack_basis(arrays: Mapping[str, NDArray[np.generic]]) -> Basis:
    """Return the basis of ``pack_basis``."""
    spaces = {
        name: Axes(arrays[f"{name}/mean"].astype(np.float32), arrays[f"{name}/axes"].astype(np.float32))
        for name in dict.fromkeys(SPACES.values())
    }
    return Basis(spaces)


def mirror_permutation() -> tuple[NDArray[np.intp], Singles]:
    """Return the source index and the sign of each number of a vector in the mirror image, for any basis."""
    partner = {group: group.replace("left", "*").replace("right", "left").replace("*", "right") for group in GROUPS}
    indices = np.concatenate([AXES * GROUPS.index(partner[group]) + np.arange(AXES) for group in GROUPS])
    signs = np.ones(SIZE, np.float32)
    signs[AXES * GROUPS.index("trunk") + EVEN_AXES :] = -1.0
    return indices, signs
