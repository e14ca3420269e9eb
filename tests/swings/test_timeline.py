"""Bars for pictures: they say what the tracks hold."""

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
    assert [row.part for row in TIMELINE.rows] == list(DEMO.skeleton.anatomy.parts)
    assert (TIMELINE.fps, TIMELINE.n_frames, TIMELINE.duration_s) == (60.0, DEMO.n_frames, DEMO.duration_s)
    assert {row.part for row in TIMELINE.rows if row.left_out} == {
        DEMO.skeleton.anatomy.parts[j] for j in DEMO.skeleton.joints("feet")
    }


def test_the_bars_are_the_swings_rests_and_keys_of_a_track():
    for row, track in zip(TIMELINE.rows, DEMO.tracks, strict=True):
        assert list(row.bars) == sorted(row.bars, key=lambda bar: bar.start)
        swung = [bar for bar in row.bars if bar.kind == "swing"]
        assert [(b.start, b.end) for b in swung] == [(s.start, s.end) for s in track.swings]
        np.testing.assert_allclose([b.angle_deg for b in swung], np.rad2deg(track.angles), rtol=1e-12)
        for bar, swing in zip(swung, track.swings, strict=True):
            assert bar.axis == tuple(swing.axis)
            assert bar.deg_per_s == pytest.approx(swing.angle_deg / (swing.end - swing.start) * 60)
        assert [(b.start, b.end) for b in row.bars if b.kind == "rest"] == [(r.start, r.end) for r in track.rests]
        assert [(b.start, b.end) for b in row.bars if b.kind == "keys"] == [(k.start, k.end) for k in track.keyed]
        assert all((b.start_s, b.end_s) == (b.start / 60, b.end / 60) for b in row.bars)
        assert all(b.angle_deg is b.axis is b.deg_per_s is None for b in row.bars if b.kind != "swing")


def mixed() -> Swings:
    """One joint that swings, rests and is keyed."""
    name = DEMO.skeleton.names[0]
    turned = np.tile((1.0, 0.0, 0.0, 0.0), (3, 1))
    track = Track.of(
        name,
        turned[0],
        [Swing(name, 10, 19, turned[0], (0, 1, 0), np.pi / 2)],
        [KeyedSpan([30, 35, 39], turned)],
        [Rest(name, 25, 25, turned[0])],
    )
    return DEMO.with_tracks({0: track})


def test_bars_of_all_kinds_come_in_order_and_are_counted():
    row = mixed().timeline().row(DEMO.skeleton.names[0])
    assert [(bar.kind, bar.start, bar.end) for bar in row.bars] == [
        ("swing", 10, 19),
        ("rest", 25, 25),
        ("keys", 30, 39),
    ]
    assert {kind: row.frames(kind) for kind in ("swing", "rest", "keys")} == {"swing": 10, "rest": 1, "keys": 10}
    assert not row.left_out
    assert row.bars[0].angle_deg == pytest.approx(90) and row.bars[0].deg_per_s == pytest.approx(90 / (9 / 60))


def test_contacts_are_the_frames_at_which_feet_touch():
    touching = np.zeros((DEMO.n_frames, len(DEMO.contacts.feet)), bool)
    for standing in TIMELINE.contacts:
        some = touching[standing.start : standing.end + 1, DEMO.contacts.feet.index(standing.foot)]
        assert not some.any()
        some[:] = True
        assert (standing.start_s, standing.end_s) == (standing.start / 60, standing.end / 60)
    assert (touching == DEMO.contacts.touching).all() and touching.any()
    assert [s.start for s in TIMELINE.contacts] == sorted(s.start for s in TIMELINE.contacts)


def test_a_foot_that_stands_at_both_ends_and_one_that_never_does():
    touching = np.zeros((DEMO.n_frames, 2), bool)
    touching[[0, 1, -1], 0] = True
    some = replace(DEMO, contacts=FootContacts(("left", "right"), touching)).timeline().contacts
    last = DEMO.n_frames - 1
    assert [(s.foot, s.start, s.end) for s in some] == [("left", 0, 1), ("left", last, last)]
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
    some = DEMO.with_tracks({hips: every_frame_keyed(hips)})
    rows = some.timeline().rows
    assert rows[foot].left_out and not rows[hips].left_out
    assert (some.n_keys, DEMO.n_keys) == (DEMO.n_frames, 0)
    swinging = replace(mixed().tracks[0], joint=DEMO.skeleton.names[foot])
    edited = DEMO.with_tracks({foot: swinging})  # as by an edit: named, but no longer kept frame by frame
    assert not edited.timeline().rows[foot].left_out and edited.n_keys == 3


@pytest.mark.data
def test_a_real_clip_has_bars_of_its_own_length(data_dir):
    clip = swings(kp.load(next((data_dir / "cmu120" / "swings").glob("*.bvh"))))
    drawn = clip.timeline()
    assert max(bar.end for row in drawn.rows for bar in row.bars) == clip.n_frames - 1
    assert all(a.end < b.start for row in drawn.rows for a, b in zip(row.bars, row.bars[1:], strict=False))
    assert {row.part for row in drawn.rows if row.left_out} >= {"left_toes", "right_toes", "left_thumb1"}
