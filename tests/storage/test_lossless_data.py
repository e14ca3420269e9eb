"""Lossless storage of real motions: exact, small and fast."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import keypose as kp
from keypose.storage import encode_kps
from keypose.storage.lossless import encode_lossless
from support.lossless_motions import assert_round_trip

pytestmark = pytest.mark.one_python


@pytest.mark.data
def test_every_clip_of_cmu_at_120_fps_in_an_eighth_of_its_text(data_dir):
    stored = text = 0
    for path in sorted((data_dir / "cmu120").rglob("*.bvh")):
        motion = kp.load(path)
        data = encode_kps(motion, lossless=True)
        back = kp.open_kps(data).motion()
        assert back.translations.tobytes() == motion.translations.tobytes(), path
        assert back.rotations.tobytes() == motion.rotations.tobytes(), path
        stored, text = stored + len(data), text + path.stat().st_size
    assert 8.0 * stored < text


@pytest.mark.data
def test_some_clips_of_cmu_at_30_fps(data_dir):
    stored = text = 0
    for path in sorted((data_dir / "cmu30").rglob("*.bvh"))[::19]:
        motion = kp.load(path)
        data = encode_kps(motion, lossless=True)
        assert kp.open_kps(data).motion().rotations.tobytes() == motion.rotations.tobytes(), path
        stored, text = stored + len(data), text + path.stat().st_size
    assert 5.5 * stored < text


@pytest.mark.data
@pytest.mark.parametrize(
    ("pattern", "max_files", "ratio"),  # of the bytes in memory
    [
        ("asf-amc/*_*.amc", 2, 2.5),
        ("c3d/*.c3d", 5, 4.0),
        ("gltf/*.gl*", 7, 1.9),
        ("usd/*.usda", 2, 5.0),
    ],
)
def test_motions_of_other_formats(data_dir, pattern, max_files, ratio):
    if pattern.startswith("usd"):
        pytest.importorskip("pxr")
    stored = raw = n_checked = 0
    for path in sorted(data_dir.glob(pattern)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            try:
                motion = kp.load(path)[:150]
            except kp.KeyposeError:
                continue
        coded_frames = encode_lossless(motion)
        assert_round_trip(motion, coded_frames)
        stored += len(coded_frames.parameters) + sum(map(len, coded_frames.bodies))
        raw += motion.translations.nbytes + motion.rotations.nbytes
        n_checked += 1
        if n_checked == max_files:
            break
    assert n_checked >= min(max_files, 2) and ratio * stored < raw


@pytest.mark.data
def test_decoding_is_much_faster_than_playing(data_dir):
    motion = kp.load(data_dir / "cmu120/86_01_mixed-jumps-kicks-punches.bvh")[:600]
    stored = kp.open_kps(encode_kps(motion, lossless=True))
    fastest = np.inf
    for _ in range(5):
        start = time.process_time()
        stored.motion()
        fastest = min(fastest, time.process_time() - start)
    assert motion.duration_s > 100 * fastest
