"""Learns, without labels, the axes of part search, and writes them to a file.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.learn_parts   # the shipped numbers

From all of cmu30-more: principal axes of each group's numbers, mirror images included. Each axis is divided by the root
of its spread, so that what varies less still counts, and each group by the spread that is left: all groups count as
much.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.search import clips
from benchmarks.search.learn import signed

from keypose.arrays import Floats
from keypose.library.canonical import canonical
from keypose.library.descriptors.posture import posture
from keypose.library.parts.basis import AXES, EVEN_AXES, Axes, Basis, packed
from keypose.library.parts.measure import ODD, SPACES, group_numbers

SHIPPED = Path(__file__).parents[2] / "src/keypose/library/parts/basis.npz"


def measured(sources: Sequence[clips.Clip]) -> list[dict[str, Floats]]:
    """The numbers of each clip that has a body, by group."""
    bodies = (canonical(clip.motion()) for clip in sources)
    return [group_numbers(posture(body)) for body in bodies if body is not None]


def learn(material: Sequence[dict[str, Floats]]) -> Basis:
    """The basis of these clips and their mirror images."""
    rows = {
        space: np.concatenate([clip[group] for clip in material for group, of in SPACES.items() if of == space])
        for space in dict.fromkeys(SPACES.values())
    }
    return Basis({space: _trunk(numbers) if space == "trunk" else _limb(numbers) for space, numbers in rows.items()})


def _limb(numbers: Floats) -> Axes:
    """Left ones and right ones together: each is the other's mirror image."""
    return _scaled(numbers.mean(axis=0), *_principal(numbers, AXES))


def _trunk(numbers: Floats) -> Axes:
    """With mirror images what is odd has no mean, and nothing to do with what is even."""
    even_spreads, even = _principal(numbers * ~ODD, EVEN_AXES)
    odd_spreads, odd = _principal(np.concatenate((numbers * ODD, -numbers * ODD)), AXES - EVEN_AXES)
    mean = np.where(ODD, 0.0, numbers.mean(axis=0))
    axes = np.concatenate((even * ~ODD[:, None], odd * ODD[:, None]), axis=1)
    return _scaled(mean, np.concatenate((even_spreads, odd_spreads)), axes)


def _principal(numbers: Floats, n_axes: int) -> tuple[Floats, Floats]:
    """The greatest spreads (n_axes,) and their axes (N, n_axes)."""
    spreads, axes = np.linalg.eigh(np.cov(numbers.T))
    return spreads[::-1][:n_axes], signed(axes[:, ::-1][:, :n_axes])


def _scaled(mean: Floats, spreads: Floats, axes: Floats) -> Axes:
    scale = spreads**-0.25 / np.sqrt(np.sqrt(spreads).sum())
    return Axes(mean.astype(np.float32), (axes * scale).astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=SHIPPED)
    given = parser.parse_args()
    np.savez_compressed(given.out, **packed(learn(measured(clips.more()))))


if __name__ == "__main__":
    main()
