"""The promise on real clips: no point of any of them is farther off than the tolerance."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import keypose as kp
import naive_storage_error as naive
from keypose.storage.error import largest_error

SUFFIXES = (".bvh", ".amc", ".c3d", ".glb", ".gltf")
MORE_EVERY = 60  # of cmu30-more, which has more than a thousand clips


def loaded(path: Path) -> kp.Motion | None:
    """The clip of a file, if it holds one: skeletons alone and files that are there to be refused do not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        try:
            return kp.load(path)
        except kp.KeyposeError:
            return None


def error_mm(motion: kp.Motion, file: Path, tolerance_mm: float) -> float:
    kp.save(motion, file, tolerance_mm=tolerance_mm)
    return largest_error(motion, kp.load(file)).mm


def clips_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.stat().st_size < 4_000_000)


@pytest.mark.one_python
@pytest.mark.parametrize("folder", ["cmu120", "cmu30", "asf-amc", "c3d", "gltf", "formats"])
def test_every_clip_stays_within_a_millimetre(data_dir: Path, folder: str, tmp_path: Path):
    motions = [motion for path in clips_in(data_dir / folder) if (motion := loaded(path)) is not None]
    assert len(motions) >= 2
    for motion in motions:
        assert error_mm(motion, tmp_path / "clip.kps", 1.0) <= 1.0, motion.name


def test_clips_of_other_subjects(data_dir: Path, tmp_path: Path):
    clips = sorted((data_dir / "cmu30-more").rglob("*.bvh*"))[::MORE_EVERY]
    assert len(clips) >= 15
    for path in clips:
        assert error_mm(kp.load(path), tmp_path / "clip.kps", 5.0) <= 5.0, path


@pytest.mark.parametrize("tolerance_mm", [0.01, 0.1, 1.0, 5.0, 50.0])
def test_any_tolerance_is_kept_and_used(data_dir: Path, tmp_path: Path, tolerance_mm: float):
    motion = kp.load(data_dir / "cmu30/ball_kick/10_03.bvh")
    error = error_mm(motion, tmp_path / "clip.kps", tolerance_mm)
    assert 0.9 * tolerance_mm < error <= tolerance_mm
    slow = naive.largest_error(motion, kp.load(tmp_path / "clip.kps"), motion.mm_per_unit)[0]
    assert error == pytest.approx(slow, rel=1e-6)


def test_sizes_at_a_millimetre(data_dir: Path, tmp_path: Path):
    # the whole corpus, and the figures that the documents state, are in benchmarks/storage
    kp.save(kp.load(data_dir / "cmu120/07_05_walk.bvh"), tmp_path / "clip.kps")
    assert 517 * 31 * 40 / (tmp_path / "clip.kps").stat().st_size > 60
