"""Learn the axes of part search without labels, and write them to a file.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.search.learn_parts   # the packaged file

From all of cmu30-more: principal axes of the features of each group, with mirror images. Each axis is divided by the
root of its spread, so that small variations are not negligible, and each group by its remaining spread, so that all
groups have the same weight.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.search import clips
from benchmarks.search.learn import fix_signs

from keypose.arrays import Floats
from keypose.library.canonical import canonical_body
from keypose.library.descriptors.description import posture
from keypose.library.search.part_features import (
    AXES,
    EVEN_AXES,
    IS_ODD,
    SPACES,
    Axes,
    Basis,
    group_features,
    pack_basis,
)

OUTPUT = Path(__file__).parents[2] / "src/keypose/library/search/part_basis.npz"


def measure_clips(clip_list: Sequence[clips.Clip]) -> list[dict[str, Floats]]:
    """Return the features of each clip that has a body, by group."""
    bodies = (canonical_body(clip.motion()) for clip in clip_list)
    return [group_features(posture(body)) for body in bodies if body is not None]


def learn(samples: Sequence[dict[str, Floats]]) -> Basis:
    """Learn the basis of these clips and their mirror images."""
    rows = {
        space: np.concatenate([clip[group] for clip in samples for group, of in SPACES.items() if of == space])
        for space in dict.fromkeys(SPACES.values())
    }
    return Basis(
        {space: _trunk_axes(numbers) if space == "trunk" else _limb_axes(numbers) for space, numbers in rows.items()}
    )


def _limb_axes(numbers: Floats) -> Axes:
    """Return the axes of left and right limbs together: each is the mirror image of the other."""
    return _scale_axes(numbers.mean(axis=0), *_principal_axes(numbers, AXES))


def _trunk_axes(numbers: Floats) -> Axes:
    """Return the axes of the trunk; with mirror images odd features have mean 0 and do not correlate with even ones."""
    even_spreads, even = _principal_axes(numbers * ~IS_ODD, EVEN_AXES)
    odd_spreads, odd = _principal_axes(np.concatenate((numbers * IS_ODD, -numbers * IS_ODD)), AXES - EVEN_AXES)
    mean = np.where(IS_ODD, 0.0, numbers.mean(axis=0))
    axes = np.concatenate((even * ~IS_ODD[:, None], odd * IS_ODD[:, None]), axis=1)
    return _scale_axes(mean, np.concatenate((even_spreads, odd_spreads)), axes)


def _principal_axes(numbers: Floats, n_axes: int) -> tuple[Floats, Floats]:
    """Return the largest variances (n_axes,) and their axes (N, n_axes)."""
    spreads, axes = np.linalg.eigh(np.cov(numbers.T))
    return spreads[::-1][:n_axes], fix_signs(axes[:, ::-1][:, :n_axes])


def _scale_axes(mean: Floats, spreads: Floats, axes: Floats) -> Axes:
    scale = spreads**-0.25 / np.sqrt(np.sqrt(spreads).sum())
    return Axes(mean.astype(np.float32), (axes * scale).astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    np.savez_compressed(arguments.out, **pack_basis(learn(measure_clips(clips.more()))))


if __name__ == "__main__":
    main()
