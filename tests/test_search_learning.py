"""What the descriptors learn, and from whom."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.search.clips import everything, more
from benchmarks.search.descriptors import drawn, fixed
from benchmarks.search.learn import principal


@pytest.mark.parametrize("n_rows", [5, 12, 40])
def test_principal_axes_are_those_of_the_covariance(n_rows: int) -> None:
    rows = (np.random.default_rng(n_rows).normal(size=(n_rows, 12)) * np.arange(1, 13)).astype(np.float32)
    mean, axes = principal(rows, 3)
    np.testing.assert_allclose(mean, rows.mean(axis=0), atol=1e-5)
    covariance = np.cov(rows.T.astype(np.float64))
    values, vectors = np.linalg.eigh(covariance)
    for axis, value, vector in zip(axes.T, values[::-1], vectors.T[::-1], strict=False):
        assert abs(axis @ vector) == pytest.approx(1.0, abs=1e-3)
        assert axis @ covariance @ axis == pytest.approx(value, rel=1e-3)
        assert axis[np.abs(axis).argmax()] > 0


@pytest.mark.data
@pytest.mark.parametrize("seed", range(6))
def test_halvings_are_halves(seed: int, data_dir: Path) -> None:
    assert data_dir.is_dir()
    halving = drawn(seed)
    clips = np.bincount([halving[clip.subject] for clip in everything()])
    assert len(clips) == 2 and abs(clips[0] - clips[1]) < 0.2 * len(everything())
    assert set(halving) == set(fixed()) and halving != fixed()
    learnt_from = [{clip.subject for clip in more() if halving[clip.subject] == half} for half in (0, 1)]
    assert not learnt_from[0] & learnt_from[1]
