"""Motions that no capture brings: the promise holds on them, and all that a motion says besides comes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import lossy_motions
import numpy as np
import pytest
from hypothesis import given, settings

import keypose as kp
from keypose.storage import stored_bytes
from keypose.storage.codec import encode
from keypose.storage.error import largest_error

FACTS = ("name", "fps", "up", "metres_per_unit", "first_frame")
FINER = ("markers", "spins", "pops of half a turn", "hinges, pairs, fixed turns", "1e9 units away", "one frame")


@pytest.mark.parametrize("what", list(lossy_motions.EXOTIC))
def test_the_bound_holds_and_all_else_is_the_same(what: str, tmp_path: Path):
    motion = lossy_motions.EXOTIC[what]()
    for tolerance_mm in (1.0, 0.01) if what in FINER else (1.0,):
        file = tmp_path / "clip.kps"
        kp.save(motion, file, tolerance_mm=tolerance_mm)
        again = kp.load(file)
        assert largest_error(motion, again).mm <= tolerance_mm
        for fact in FACTS:
            assert getattr(again, fact) == getattr(motion, fact)
        assert again.notes[: len(motion.notes)] == motion.notes
        s, t = motion.skeleton, again.skeleton
        assert (t.names, t.rotation_orders, t.channels) == (s.names, s.rotation_orders, s.channels)
        for array in ("parents", "offsets", "end_joints", "end_offsets"):
            assert np.array_equal(getattr(t, array), getattr(s, array))


@settings(max_examples=40, deadline=None)
@given(lossy_motions.motions())
def test_the_bound_holds_on_any_motion(motion: kp.Motion):
    data = stored_bytes(motion, tolerance_mm=1.0)
    again = kp.open_kps(lambda start, stop: data[start:stop]).motion()
    assert largest_error(motion, again).mm <= 1.0


def test_the_same_motion_makes_the_same_bytes():
    motion = lossy_motions.EXOTIC["hinges, pairs, fixed turns"]()
    assert encode(motion, 1.0) == encode(motion, 1.0)


@pytest.mark.parametrize("what", ["three roots", "spins", "23.976 fps", "all places move"])
def test_any_part_is_the_part_of_the_whole(what: str, tmp_path: Path):
    motion = lossy_motions.EXOTIC[what]()
    kp.save(motion, tmp_path / "clip.kps")
    whole = kp.load(tmp_path / "clip.kps")
    rng = np.random.default_rng(0)
    with kp.open_kps(tmp_path / "clip.kps") as stored:
        for _ in range(12):
            start, stop = sorted(rng.choice(motion.n_frames + 1, 2, replace=False).tolist())
            part = stored.frames(start, stop)
            assert np.array_equal(part.rotations, whole.rotations[start:stop])
            assert np.array_equal(part.translations, whole.translations[start:stop])


def test_a_glitch_of_a_hundred_metres_stays_within_the_tolerance():
    motion = lossy_motions.EXOTIC["n fps frames"]()
    places = motion.translations.copy()
    places[40, 0] += 1e5 / motion.mm_per_unit
    coded = encode(replace(motion, translations=places), 1.0)
    assert coded.kind == 1


@pytest.mark.parametrize("factor", [1e-150, 1e12])
def test_figures_beyond_all_measure_are_kept_without_loss_if_need_be(factor: float, tmp_path: Path):
    motion = lossy_motions.EXOTIC["n fps frames"]()
    s = motion.skeleton
    scaled = replace(
        motion,
        skeleton=replace(s, offsets=s.offsets * factor, end_offsets=s.end_offsets * factor),
        translations=motion.translations * factor,
    )
    kp.save(scaled, tmp_path / "clip.kps")
    assert largest_error(scaled, kp.load(tmp_path / "clip.kps")).mm <= 1.0
