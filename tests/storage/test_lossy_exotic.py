"""Motions that no capture brings: the promise holds on them, and all that a motion says besides comes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lossy_motions
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lossy_shapes import chain, moved

import keypose as kp
from keypose.rotations import exp
from keypose.storage import stored_bytes
from keypose.storage.codec import encode
from keypose.storage.error import largest_error
from keypose.storage.groups import WITHIN_TOLERANCE

pytestmark = pytest.mark.one_python
FACTS = ("name", "fps", "up", "metres_per_unit", "first_frame", "n_frames")
OTHERS_MM = (1e-3, 0.1, 5.0, 1000.0)
relaxed = settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))


def assert_held(motion: kp.Motion, again: kp.Motion, tolerance_mm: float) -> None:
    assert largest_error(motion, again).mm <= tolerance_mm
    for fact in FACTS:
        assert getattr(again, fact) == getattr(motion, fact)
    assert again.notes[: len(motion.notes)] == motion.notes
    s, t = motion.skeleton, again.skeleton
    assert (t.names, t.rotation_orders, t.channels) == (s.names, s.rotation_orders, s.channels)
    for array in ("parents", "offsets", "end_joints", "end_offsets"):
        assert np.array_equal(getattr(t, array), getattr(s, array))
    assert (again.reference_pose is None) == (motion.reference_pose is None)
    if motion.reference_pose is not None and again.reference_pose is not None:
        assert np.array_equal(again.reference_pose.translations, motion.reference_pose.translations)
        assert np.allclose(again.reference_pose.rotations, motion.reference_pose.rotations, atol=1e-15)


@pytest.mark.parametrize("what", list(lossy_motions.EXOTIC))
def test_the_bound_holds_and_all_else_is_the_same(what: str, tmp_path: Path):
    motion = lossy_motions.EXOTIC[what]()
    kp.save(motion, tmp_path / "clip.kps", tolerance_mm=1.0)
    assert_held(motion, kp.load(tmp_path / "clip.kps"), 1.0)
    with kp.open_kps(tmp_path / "clip.kps") as stored:
        assert stored.tolerance_mm == 1.0, "lossless takes far more than any of these needs"


@pytest.mark.parametrize("what", [what for what in lossy_motions.EXOTIC if what not in lossy_motions.LARGE])
def test_other_tolerances(what: str):
    """From a thousandth of a millimetre to a metre, for each motion another."""
    motion = lossy_motions.EXOTIC[what]()
    tolerance_mm = OTHERS_MM[list(lossy_motions.EXOTIC).index(what) % len(OTHERS_MM)]
    assert_held(motion, kp.open_kps(stored_bytes(motion, tolerance_mm=tolerance_mm)).motion(), tolerance_mm)


@relaxed
@given(lossy_motions.motions(), st.sampled_from((1.0, 1.0, 1e-3, 0.1, 20.0, 1e4)))
def test_the_bound_holds_on_any_motion(motion: kp.Motion, tolerance_mm: float):
    data = stored_bytes(motion, tolerance_mm=tolerance_mm)
    assert_held(motion, kp.open_kps(lambda start, stop: data[start:stop]).motion(), tolerance_mm)


@settings(relaxed, max_examples=10)
@given(metres=st.floats(-1e4, 1e4), frame=st.integers(0, 69), joint=st.integers(0, 4))
@example(metres=1e4, frame=0, joint=0)
@example(metres=1e4, frame=69, joint=4)
def test_one_glitch_of_up_to_ten_kilometres(metres: float, frame: int, joint: int):
    motion = moved(chain(5), 70)
    places = motion.translations.copy()
    places[frame, joint, 1] += 1e3 * metres / motion.mm_per_unit
    motion = replace(motion, translations=places)
    assert encode(motion, 1.0).kind == WITHIN_TOLERANCE
    assert_held(motion, kp.open_kps(stored_bytes(motion, tolerance_mm=1.0)).motion(), 1.0)


@pytest.mark.parametrize("factor", [1e-150, 1e-12, 1e12])
@pytest.mark.parametrize("unit", [None, 1e-12, 1e12])
def test_figures_beyond_all_measure_are_kept_without_loss_if_need_be(factor: float, unit: float | None):
    motion = replace(moved(chain(5), 40), metres_per_unit=unit)
    s = motion.skeleton
    scaled = replace(
        motion,
        skeleton=replace(s, offsets=s.offsets * factor, end_offsets=s.end_offsets * factor),
        translations=motion.translations * factor,
    )
    assert_held(scaled, kp.open_kps(stored_bytes(scaled)).motion(), 1.0)


def test_a_propeller():
    """Nearly half a turn a frame, always the same way: angles grow to thousands of radians."""
    n_frames = 3000
    turns = np.arange(n_frames)[:, None, None] * [0.0, 0.0, 3.0]
    motion = replace(moved(chain(1), n_frames, 500.0), rotations=exp(turns))
    coded = encode(motion, 1.0)
    assert coded.kind == WITHIN_TOLERANCE and sum(map(len, coded.bodies)) < n_frames
    assert_held(motion, kp.open_kps(stored_bytes(motion)).motion(), 1.0)
