"""Bars for pictures match the tracks."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import keypose as kp
from keypose.model import FootContacts
from keypose.swings import KeyedSpan, Rest, Swing, Swings, Track, swings

DEMO_MOTION = kp.demo_motion(fps=60)
DEMO = swings(DEMO_MOTION, left_out="feet")
TIMELINE = DEMO.timeline()


def test_a_row_for_each_joint_in_order():
    assert [row.joint for row in TIMELINE.rows] == list(DEMO.skeleton.names)
    assert [row.body_part for row in TIMELINE.rows] == list(DEMO.skeleton.anatomy.body_parts)
    assert (TIMELINE.fps, TIMELINE.n_frames, TIMELINE.duration_s) == (60.0, DEMO.n_frames, DEMO.duration_s)
    assert {row.body_part for row in TIMELINE.rows if row.left_out} == {
        DEMO.skeleton.anatomy.body_parts[j] for j in DEMO.skeleton.joints("feet")
    }


def test_the_bars_are_the_swings_rests_and_keys_of_a_track():
    for row, track in zip(TIMELINE.rows, DEMO.tracks, strict=True):
        assert list(row.bars) == sorted(row.bars, key=lambda bar: bar.start)
        swing_bars = [bar for bar in row.bars if bar.kind == "swing"]
        assert [(b.start, b.end) for b in swing_bars] == [(s.start, s.end) for s in track.swings]
        np.testing.assert_allclose([b.angle_deg for b in swing_bars], np.rad2deg(track.angles), rtol=1e-12)
        for bar, swing in zip(swing_bars, track.swings, strict=True):
            assert bar.axis == tuple(swing.axis)
            assert bar.deg_per_s == pytest.approx(swing.angle_deg / (swing.end - swing.start) * 60)
        assert [(b.start, b.end) for b in row.bars if b.kind == "rest"] == [(r.start, r.end) for r in track.rests]
        assert [(b.start, b.end) for b in row.bars if b.kind == "keys"] == [(k.start, k.end) for k in track.keyed]
        assert all((b.start_s, b.end_s) == (b.start / 60, b.end / 60) for b in row.bars)
        assert all(b.angle_deg is b.axis is b.deg_per_s is None for b in row.bars if b.kind != "swing")


def mixed_swings() -> Swings:
    """One joint that swings, rests and is keyed."""
    name = DEMO.skeleton.names[0]
    rotations = np.tile((1.0, 0.0, 0.0, 0.0), (3, 1))
    track = Track.build(
        name,
        rotations[0],
        [Swing(name, 10, 19, rotations[0], (0, 1, 0), np.pi / 2)],
        [KeyedSpan([30, 35, 39], rotations)],
        [Rest(name, 25, 25, rotations[0])],
    )
    return DEMO.replace_tracks({0: track})


def test_bars_of_all_kinds_come_in_order_and_are_counted():
    row = mixed_swings().timeline().row(DEMO.skeleton.names[0])
    assert [(bar.kind, bar.start, bar.end) for bar in row.bars] == [
        ("swing", 10, 19),
        ("rest", 25, 25),
        ("keys", 30, 39),
    ]
    assert {kind: row.count_frames(kind) for kind in ("swing", "rest", "keys")} == {"swing": 10, "rest": 1, "keys": 10}
    assert not row.left_out
    assert row.bars[0].angle_deg == pytest.approx(90) and row.bars[0].deg_per_s == pytest.approx(90 / (9 / 60))


def test_contacts_are_the_frames_at_which_feet_touch():
    in_contact = np.zeros((DEMO.n_frames, len(DEMO.contacts.feet)), bool)
    for bar in TIMELINE.contacts:
        flags = in_contact[bar.start : bar.end + 1, DEMO.contacts.feet.index(bar.foot)]
        assert not flags.any()
        flags[:] = True
        assert (bar.start_s, bar.end_s) == (bar.start / 60, bar.end / 60)
    assert (in_contact == DEMO.contacts.in_contact).all() and in_contact.any()
    assert [s.start for s in TIMELINE.contacts] == sorted(s.start for s in TIMELINE.contacts)


def test_a_foot_that_stands_at_both_ends_and_one_that_never_does():
    in_contact = np.zeros((DEMO.n_frames, 2), bool)
    in_contact[[0, 1, -1], 0] = True
    bars = replace(DEMO, contacts=FootContacts(("left", "right"), in_contact)).timeline().contacts
    last = DEMO.n_frames - 1
    assert [(s.foot, s.start, s.end) for s in bars] == [("left", 0, 1), ("left", last, last)]
    assert replace(DEMO, contacts=None).timeline().contacts == ()


def test_a_timeline_is_a_value():
    assert TIMELINE == DEMO.timeline() == pickle.loads(pickle.dumps(TIMELINE))
    with pytest.raises(FrozenInstanceError):
        TIMELINE.rows = ()  # type: ignore[misc]


def every_frame_keyed(joint: int) -> Track:
    return Track(DEMO.skeleton.names[joint], DEMO.tracks[joint].mean_rotation, keyed=(
        KeyedSpan(np.arange(DEMO.n_frames), DEMO_MOTION.rotations[:, joint]),
    ))  # fmt: skip


def test_a_key_on_every_frame_alone_is_not_left_out():
    foot, hips = DEMO.skeleton.joint("left_foot"), 0
    swings_with_keys = DEMO.replace_tracks({hips: every_frame_keyed(hips)})
    rows = swings_with_keys.timeline().rows
    assert rows[foot].left_out and not rows[hips].left_out
    assert (swings_with_keys.n_keys, DEMO.n_keys) == (DEMO.n_frames, 0)
    swing_track = replace(mixed_swings().tracks[0], joint=DEMO.skeleton.names[foot])
    edited = DEMO.replace_tracks({foot: swing_track})  # as by an edit: listed, but without a key on every frame
    assert not edited.timeline().rows[foot].left_out and edited.n_keys == 3


@pytest.mark.data
def test_a_real_clip_has_bars_of_its_own_length(data_dir):
    clip = swings(kp.load(next((data_dir / "cmu120" / "swings").glob("*.bvh"))))
    timeline = clip.timeline()
    assert max(bar.end for row in timeline.rows for bar in row.bars) == clip.n_frames - 1
    assert all(a.end < b.start for row in timeline.rows for a, b in zip(row.bars, row.bars[1:], strict=False))
    assert {row.body_part for row in timeline.rows if row.left_out} >= {"left_toes", "right_toes", "left_thumb1"}
