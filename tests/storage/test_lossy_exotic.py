"""Unusual motions: the tolerance holds, and all other fields are restored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.rotations import exp
from keypose.storage import encode_kps
from keypose.storage.codec import encode
from keypose.storage.error import largest_error
from keypose.storage.groups import WITHIN_TOLERANCE
from support import lossy_motions
from support.lossy_shapes import animate, chain

pytestmark = pytest.mark.one_python
FACTS = ("name", "fps", "up", "metres_per_unit", "first_frame", "n_frames")
OTHERS_MM = (1e-3, 0.1, 5.0, 1000.0)
relaxed = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def assert_within(motion: kp.Motion, decoded: kp.Motion, tolerance_mm: float) -> None:
    assert largest_error(motion, decoded).mm <= tolerance_mm
    for fact in FACTS:
        assert getattr(decoded, fact) == getattr(motion, fact)
    assert decoded.notes[: len(motion.notes)] == motion.notes
    s, t = motion.skeleton, decoded.skeleton
    assert (t.names, t.rotation_orders, t.channels) == (s.names, s.rotation_orders, s.channels)
    for array in ("parents", "offsets", "end_joints", "end_offsets"):
        assert np.array_equal(getattr(t, array), getattr(s, array))
    assert (decoded.reference_pose is None) == (motion.reference_pose is None)
    if motion.reference_pose is not None and decoded.reference_pose is not None:
        assert np.array_equal(decoded.reference_pose.translations, motion.reference_pose.translations)
        assert np.allclose(decoded.reference_pose.rotations, motion.reference_pose.rotations, atol=1e-15)


@pytest.mark.parametrize("name", list(lossy_motions.EXOTIC))
def test_the_bound_holds_and_all_else_is_the_same(name: str, tmp_path: Path):
    motion = lossy_motions.EXOTIC[name]()
    kp.save(motion, tmp_path / "clip.kps", tolerance_mm=1.0)
    assert_within(motion, kp.load(tmp_path / "clip.kps"), 1.0)
    with kp.open_kps(tmp_path / "clip.kps") as stored:
        assert stored.tolerance_mm == 1.0, "lossless takes far more than any of these needs"


@pytest.mark.parametrize("name", [name for name in lossy_motions.EXOTIC if name not in lossy_motions.LARGE])
def test_other_tolerances(name: str):
    """From 0.001 mm to 1 m, a different tolerance for each motion."""
    motion = lossy_motions.EXOTIC[name]()
    tolerance_mm = OTHERS_MM[list(lossy_motions.EXOTIC).index(name) % len(OTHERS_MM)]
    assert_within(motion, kp.open_kps(encode_kps(motion, tolerance_mm=tolerance_mm)).motion(), tolerance_mm)


@relaxed
@given(lossy_motions.motions(), st.sampled_from((1.0, 1.0, 1e-3, 0.1, 20.0, 1e4)))
def test_the_bound_holds_on_any_motion(motion: kp.Motion, tolerance_mm: float):
    data = encode_kps(motion, tolerance_mm=tolerance_mm)
    assert_within(motion, kp.open_kps(lambda start, stop: data[start:stop]).motion(), tolerance_mm)


@settings(relaxed, max_examples=10)
@given(metres=st.floats(-1e4, 1e4), frame=st.integers(0, 69), joint=st.integers(0, 4))
@example(metres=1e4, frame=0, joint=0)
@example(metres=1e4, frame=69, joint=4)
def test_one_glitch_of_up_to_ten_kilometres(metres: float, frame: int, joint: int):
    motion = animate(chain(5), 70)
    positions = motion.translations.copy()
    positions[frame, joint, 1] += 1e3 * metres / motion.mm_per_unit
    motion = replace(motion, translations=positions)
    assert encode(motion, 1.0).kind == WITHIN_TOLERANCE
    assert_within(motion, kp.open_kps(encode_kps(motion, tolerance_mm=1.0)).motion(), 1.0)


@pytest.mark.parametrize("factor", [1e-150, 1e-12, 1e12])
@pytest.mark.parametrize("unit", [None, 1e-12, 1e12])
def test_extreme_figures_fall_back_to_lossless(factor: float, unit: float | None):
    motion = replace(animate(chain(5), 40), metres_per_unit=unit)
    s = motion.skeleton
    scaled = replace(
        motion,
        skeleton=replace(s, offsets=s.offsets * factor, end_offsets=s.end_offsets * factor),
        translations=motion.translations * factor,
    )
    assert_within(scaled, kp.open_kps(encode_kps(scaled)).motion(), 1.0)


def test_a_propeller():
    """Nearly half a turn per frame in one direction: angles grow to thousands of radians."""
    n_frames = 3000
    angles = np.arange(n_frames)[:, None, None] * [0.0, 0.0, 3.0]
    motion = replace(animate(chain(1), n_frames, 500.0), rotations=exp(angles))
    coded_frames = encode(motion, 1.0)
    assert coded_frames.kind == WITHIN_TOLERANCE and sum(map(len, coded_frames.bodies)) < n_frames
    assert_within(motion, kp.open_kps(encode_kps(motion)).motion(), 1.0)
