"""The tolerance holds for every point of real clips.

Of long clips two groups from the middle: `python -m benchmarks.storage.all_clips` stores all of them whole, and all of
cmu30-more.
"""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

import keypose as kp
from keypose.storage import encode_kps
from keypose.storage.error import largest_error, tolerance_mm_per_unit
from reference import naive_storage_error as naive

pytestmark = pytest.mark.one_python

SPAN_S = 1.5  # two groups: one that uses the pose of the next, and the last
SUFFIXES = (".bvh", ".gz", ".amc", ".c3d", ".glb", ".gltf", ".usda")
# Folders and the minimum number of readable clips; FBX needs Blender and is left out here.
FOLDERS = {"cmu120": 21, "cmu30": 76, "asf-amc": 6, "c3d": 12, "gltf": 7, "formats": 20, "fbx": 2, "malformed": 15}
MORE, SEED = 40, 5  # of the more than a thousand clips of cmu30-more


def load_or_none(path: Path) -> kp.Motion | None:
    """Return the clip of a file, or None: some files have only a skeleton or are invalid on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        try:
            return kp.load(path)
        except kp.KeyposeError:
            return None


def middle(motion: kp.Motion) -> kp.Motion:
    frames = round(SPAN_S * motion.fps)
    start = max(0, (motion.n_frames - frames) // 2)
    return motion[start : start + frames]


def error_mm(motion: kp.Motion, tolerance_mm: float) -> float:
    """Return the largest error after storing a clip."""
    with kp.open_kps(encode_kps(motion, tolerance_mm=tolerance_mm)) as stored:
        assert stored.tolerance_mm == tolerance_mm or stored.lossless
        return largest_error(motion, stored.motion()).mm


def clips_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


@pytest.mark.data
@pytest.mark.one_python
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_clip_stays_within_a_millimetre(data_dir: Path, folder: str):
    paths = clips_in(data_dir / folder)
    same = {path.with_suffix(".bvh") for path in paths if path.suffix == ".amc"}  # the same clips
    motions = [motion for path in paths if path not in same and (motion := load_or_none(path)) is not None]
    assert len(motions) >= FOLDERS[folder]
    for motion in motions:
        assert error_mm(middle(motion), 1.0) <= 1.0, motion.name


@pytest.mark.data
def test_usd_too(data_dir: Path):
    pytest.importorskip("pxr")
    motions = [kp.load(path) for path in clips_in(data_dir / "usd")]
    assert len(motions) == 2 and all(error_mm(motion, 1.0) <= 1.0 for motion in motions)


@pytest.mark.data
@pytest.mark.one_python
def test_clips_of_other_subjects(data_dir: Path):
    clips = random.Random(SEED).sample(clips_in(data_dir / "cmu30-more"), MORE)
    for tolerance_mm, path in zip((0.1, 1.0, 1.0, 5.0) * (MORE // 4), clips, strict=True):
        assert error_mm(middle(kp.load(path)), tolerance_mm) <= tolerance_mm, path


@pytest.mark.data
@pytest.mark.parametrize("folder", ["cmu120", "cmu30", "c3d", "gltf", "formats"])
def test_other_tolerances(data_dir: Path, folder: str):
    clips = clips_in(data_dir / folder)
    some = [motion for path in clips[:: 1 + len(clips) // 4] if (motion := load_or_none(path)) is not None]
    for k, motion in enumerate(some):
        tolerance_mm = (0.1, 5.0, 0.02, 30.0)[k % 4]
        assert error_mm(middle(motion), tolerance_mm) <= tolerance_mm, motion.name


@pytest.mark.data
@pytest.mark.parametrize("tolerance_mm", [0.01, 0.1, 1.0, 5.0, 50.0])
def test_any_tolerance_holds_and_the_reference_agrees(data_dir: Path, tolerance_mm: float):
    motion = kp.load(data_dir / "cmu30/ball_kick/10_03.bvh")[:40]
    decoded = kp.open_kps(encode_kps(motion, tolerance_mm=tolerance_mm)).motion()
    result = largest_error(motion, decoded)
    assert 0.8 * tolerance_mm < result.mm <= tolerance_mm
    frame = slice(result.frame, result.frame + 1)
    slow = naive.largest_error(motion[frame], decoded[frame], tolerance_mm_per_unit(motion))[0]
    assert result.mm == pytest.approx(slow, rel=1e-9)


@pytest.mark.data
@pytest.mark.parametrize(
    "clip", ["formats/bvh/mixed-rotation-orders.bvh", "gltf/RobotExpressive.glb", "c3d/optotrak.c3d"]
)
def test_no_reference_point_exceeds_the_tolerance(data_dir: Path, clip: str):
    motion = load_or_none(data_dir / clip)[:8]
    decoded = kp.open_kps(encode_kps(motion, tolerance_mm=1.0)).motion()
    assert naive.largest_error(motion, decoded, tolerance_mm_per_unit(motion))[0] <= 1.0


@pytest.mark.data
def test_sizes_at_a_millimetre(data_dir: Path):
    # the full corpus, with the figures of the documentation, is in benchmarks/storage
    motion = kp.load(data_dir / "cmu120/07_05_walk.bvh")
    assert motion.n_frames * motion.n_joints * 40 / len(encode_kps(motion)) > 60
