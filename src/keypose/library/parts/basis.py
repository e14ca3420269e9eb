"""The axes that part search measures along, learnt without labels from CMU by ``benchmarks/search/learn_parts.py``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Frozen
from keypose.library.descriptors.noun import Singles
from keypose.library.parts.measure import GROUPS, SPACES

AXES = 8  # of each group
EVEN_AXES = 5  # of the trunk's come first; the others change sign in a mirror
SIZE = AXES * len(GROUPS)  # numbers of a sample
MOST = 16.0  # no number is larger: a jump of the capture must not outweigh all else


@dataclass(frozen=True, eq=False)
class Axes(Frozen):
    """What is usual, and the directions in which bodies differ, the strongest first."""

    mean: Singles  # (N,) of the numbers as measured
    axes: Singles  # (N, AXES)


@dataclass(frozen=True, eq=False)
class Basis(Frozen):
    """Axes for arms, legs and the trunk; left and right share theirs."""

    spaces: Mapping[str, Axes]  # arm, leg, trunk

    def project(self, measured: Mapping[str, Floats]) -> Floats:
        """Vectors (S, SIZE) of the numbers of all groups: 0 is the usual body."""
        columns = [
            (measured[group] - self.spaces[space].mean) @ self.spaces[space].axes for group, space in SPACES.items()
        ]
        return np.clip(np.concatenate(columns, axis=1), -MOST, MOST)


@cache
def shipped() -> Basis:
    """What comes with the package."""
    with files("keypose.library.parts").joinpath("basis.npz").open("rb") as file, np.load(file) as arrays:
        return unpacked(dict(arrays))


def packed(basis: Basis) -> dict[str, NDArray[np.generic]]:
    """The arrays of a file."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, space in basis.spaces.items():
        arrays |= {f"{name}/mean": space.mean, f"{name}/axes": space.axes}
    return arrays


def unpacked(arrays: Mapping[str, NDArray[np.generic]]) -> Basis:
    """The opposite."""
    spaces = {
        name: Axes(arrays[f"{name}/mean"].astype(np.float32), arrays[f"{name}/axes"].astype(np.float32))
        for name in dict.fromkeys(SPACES.values())
    }
    return Basis(spaces)


def mirror() -> tuple[NDArray[np.intp], Singles]:
    """Where each number of a vector comes from in a mirror, and with which sign; any basis."""
    partner = {group: group.replace("left", "*").replace("right", "left").replace("*", "right") for group in GROUPS}
    places = np.concatenate([AXES * GROUPS.index(partner[group]) + np.arange(AXES) for group in GROUPS])
    signs = np.ones(SIZE, np.float32)
    signs[AXES * GROUPS.index("trunk") + EVEN_AXES :] = -1.0
    return places, signs
