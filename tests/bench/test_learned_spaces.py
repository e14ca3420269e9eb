"""What the descriptors learn, and from whom."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from benchmarks.search.clips import all_clips, more, retime
from benchmarks.search.descriptors import fixed_split, random_split
from benchmarks.search.learn import fix_signs, principal_axes

import keypose as kp
from keypose.arrays import Floats
from keypose.library.analysis import ANALYSIS_VERSION
from keypose.library.canonical import CanonicalBody, canonical_body

# A mirror of twelve numbers: the first eight change places in pairs, two of these pairs and the last two their sign.
MIRROR = (
    np.array([1, 0, 3, 2, 5, 4, 7, 6, 8, 9, 10, 11], np.int32),
    np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0]),
)


def rows_of(n_rows: int) -> Floats:
    return np.random.default_rng(n_rows).normal(size=(n_rows, 12)) * np.arange(1, 13) + np.arange(12)


@pytest.mark.parametrize("n_rows", [5, 12, 40])
def test_principal_axes_are_those_of_the_covariance_with_mirror_images(n_rows: int) -> None:
    rows, (places, signs) = rows_of(n_rows), MIRROR
    every = np.concatenate((rows, rows[:, places] * signs))
    mean, axes = principal_axes(rows, MIRROR, n_axes=6, n_even=4)
    np.testing.assert_allclose(mean, every.mean(axis=0), atol=1e-5)
    covariance = np.cov(every.T)
    values, vectors = np.linalg.eigh(covariance)
    parities = [np.sign(vector @ (vector[places] * signs)) for vector in vectors.T]
    for kind, some in ((1.0, axes.T[:4]), (-1.0, axes.T[4:])):
        strongest = [k for k in reversed(range(12)) if parities[k] == kind]
        for axis, k in zip(some, strongest, strict=False):
            assert abs(axis @ vectors[:, k]) == pytest.approx(1.0, abs=1e-3)
            assert axis @ covariance @ axis == pytest.approx(values[k], rel=1e-3)


def test_axes_are_the_same_or_the_opposite_in_a_mirror_to_the_last_bit() -> None:
    places, signs = MIRROR
    mean, axes = principal_axes(rows_of(40), MIRROR, n_axes=6, n_even=4)
    np.testing.assert_array_equal(mean[places] * signs, mean)
    np.testing.assert_array_equal(axes[places] * signs[:, None], axes * np.array([1, 1, 1, 1, -1, -1]))


def test_the_sign_of_an_axis_does_not_hang_on_which_of_two_twins_is_larger() -> None:
    axis = np.array([0.1, -0.5, 0.5, 0.3, 0.7, -0.7])
    wobble = 1e-12 * np.random.default_rng(1).normal(size=(6, 50))
    made = fix_signs(np.concatenate((axis[:, None] + wobble, -axis[:, None] + wobble), axis=1))
    np.testing.assert_allclose(made, np.tile(-axis[:, None], 100), atol=1e-11)  # the first of more than 0.35


def test_retimed_clips_are_shorter_or_longer_and_go_the_same_way() -> None:
    body = canonical_body(kp.demo_motion())
    assert body is not None
    for speed in (0.85, 1.0, 1.15, 2.0):
        made = retime(body, speed)
        assert made.n_frames == int((body.n_frames - 1) / speed + 1e-9) + 1
        np.testing.assert_array_equal(made.positions[0], body.positions[0])
    np.testing.assert_array_equal(retime(body, 1.0).positions, body.positions)
    np.testing.assert_allclose(retime(body, 2.0).positions, body.positions[::2])
    np.testing.assert_allclose(
        retime(body, 0.5).positions[1::2], (body.positions[1:] + body.positions[:-1]) / 2, atol=1e-12
    )
    assert retime(CanonicalBody(body.positions[:1]), 1.2).n_frames == 1


# Learned data is part of an analysis: other numbers need another version, or libraries would compare incomparable
# vectors.
LEARNT = {
    3: {
        "descriptors/learned_spaces.npz": "5aa5c33fb187306b23f98c57604cd86456613531382eaff5929d86d6a6c9ef75",
        "search/part_basis.npz": "198e9bfdd21dd7fd34f6890ced9f277c5fda432cb2213883153ff65ec4b5ab1e",
    },
}


def test_what_was_learnt_changes_with_the_version_of_the_analysis() -> None:
    package = files("keypose.library")
    found = {path: hashlib.sha256((package / path).read_bytes()).hexdigest() for path in LEARNT[max(LEARNT)]}
    assert ANALYSIS_VERSION in LEARNT, "a new version: write down what was learnt for it"
    assert found == LEARNT[ANALYSIS_VERSION], "learnt again: raise ANALYSIS_VERSION, and write down what was learnt"
    assert len({tuple(hashes.values()) for hashes in LEARNT.values()}) == len(LEARNT)


@pytest.mark.data
@pytest.mark.parametrize("seed", range(6))
def test_halvings_are_halves(seed: int, data_dir: Path) -> None:
    assert data_dir.is_dir()
    halving = random_split(seed)
    clips = np.bincount([halving[clip.subject] for clip in all_clips()])
    assert len(clips) == 2 and abs(clips[0] - clips[1]) < 0.2 * len(all_clips())
    assert set(halving) == set(fixed_split()) and halving != fixed_split()
    learnt_from = [{clip.subject for clip in more() if halving[clip.subject] == half} for half in (0, 1)]
    assert not learnt_from[0] & learnt_from[1]
