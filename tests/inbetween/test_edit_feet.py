"""Feet that stand on the ground stay there under edits."""

from __future__ import annotations

import numpy as np
import pytest
from edit_cases import KINDS, assert_same_outside, assert_sound, demo, demo_keyed, keyed_of, walk

import keypose as kp
from keypose.errors import OptionError
from keypose.inbetween.editing import edit
from keypose.inbetween.editing.feet import FOOT_TOLERANCE_MM
from keypose.rotations import angle_between


def strays(before, change, residual=0.0):
    """For each foot that touches in the range: how far the ankle is from its old place, in mm, over the contact frames."""
    contacts = before.sample(1.0).foot_contacts()
    frames = np.arange(change.first, change.last + 1)
    old, new = before.sample(residual), change.keyed.sample(residual)
    found = {}
    for column, side in enumerate(contacts.feet):
        touching = frames[contacts.touching[frames, column]]
        if len(touching):
            j = before.skeleton.joint(f"{side}_foot")
            away = new.world_positions()[touching, j] - old.world_positions()[touching, j]
            found[side] = np.linalg.norm(away, axis=-1) * old.mm_per_unit
    return found


EDITS = {
    "shift": lambda e, frame, unit, keep: e.shift(
        frame, by=(0.03 * unit, -0.04 * unit, 0.02 * unit), spread_s=0.5, keep_feet=keep
    ),
    "hips": lambda e, frame, unit, keep: e.rotate(
        frame, "hips", axis=(0, 1, 0), degrees=20, space="world", spread_s=0.5, keep_feet=keep
    ),
    "thigh": lambda e, frame, unit, keep: e.rotate(frame, "left_thigh", axis=(1, 0, 0), degrees=15, keep_feet=keep),
}


@pytest.mark.data
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EDITS)
def test_real_feet_stay(data_dir, kind, name):
    keyed = walk(data_dir, kind)
    unit = 1000 / keyed.sample().mm_per_unit
    loose, kept = (EDITS[name](edit(keyed), 240, unit, keep) for keep in (False, True))
    assert loose.range == kept.range
    assert max(s.max() for s in strays(keyed, loose).values()) > 4 * FOOT_TOLERANCE_MM
    limit = FOOT_TOLERANCE_MM + kept.missed * keyed.sample().mm_per_unit
    for stray in strays(keyed, kept).values():
        assert stray.max() <= limit + 1e-6
        if "cubic" in kind:
            assert np.median(stray) < 0.3 * limit
    assert_same_outside(keyed, kept)
    assert_sound(kept.keyed)
    assert set(keyed.keys) <= set(kept.keyed.keys)
    # with the captured detail on top, feet stray by hardly more
    assert max(s.max() for s in strays(keyed, kept, 1.0).values()) < limit + FOOT_TOLERANCE_MM


@pytest.mark.data
def test_at_keys_place_and_turn_are_the_old_ones(data_dir):
    keyed = walk(data_dir)
    unit = 1000 / keyed.sample().mm_per_unit
    change = EDITS["shift"](edit(keyed), 240, unit, True)
    new, off = change.keyed, change.missed + 1e-9
    assert off * keyed.sample().mm_per_unit < 0.5
    contacts = keyed.sample(1.0).foot_contacts()
    old, now = keyed.sample(), new.sample()
    count = 0
    for column, side in enumerate(contacts.feet):
        j = keyed.skeleton.joint(f"{side}_foot")
        for frame in keyed.keys[contacts.touching[keyed.keys, column]].tolist():
            count += 1
            np.testing.assert_allclose(now.world_positions()[frame, j], old.world_positions()[frame, j], atol=off)
            turned = angle_between(now.world_rotations()[frame, j], old.world_rotations()[frame, j])
            np.testing.assert_allclose(turned, 0, atol=1e-6)
    assert count > 20


def test_keys_are_inserted_where_contacts_begin_and_end():
    """Far apart keys: between them a foot lands and leaves."""
    keyed = keyed_of(kp.demo_motion(fps=60)[:300], (0, 75, 150, 225, 299))
    change = edit(keyed).shift(150, by=(0.05, -0.05, 0.1), keep_feet=True)
    more = sorted(set(change.keyed.keys.tolist()) - set(keyed.keys.tolist()))
    assert more and f"{len(more)} key" in change.note and change.first < more[0] and more[-1] < change.last
    contacts = keyed.sample(1.0).foot_contacts().touching
    ends = np.flatnonzero(np.diff(contacts.astype(int), axis=0).any(axis=1))
    assert set(more) & {int(f) for end in ends for f in (end, end + 1)}
    for stray in strays(keyed, change).values():
        assert stray.max() <= FOOT_TOLERANCE_MM + change.missed * keyed.sample().mm_per_unit + 1e-6
    assert_same_outside(keyed, change)


def test_legs_that_do_not_reach_say_so():
    keyed = demo_keyed()
    change = edit(keyed).shift(40, by=(0, 3, 0), keep_feet=True)
    assert change.missed > 1
    at = change.keyed.sample().world_positions()
    assert np.isfinite(at).all()
    assert_same_outside(keyed, change)


def test_the_foot_that_is_moved_goes_free():
    keyed = demo_keyed()
    touching = keyed.sample(1.0).foot_contacts()
    side = touching.feet[int(touching.touching[40].argmax())]
    assert touching.touching[40].any()
    e = edit(keyed)
    j = keyed.skeleton.joint(f"{side}_foot")
    e.reach(40, f"{side}_foot", by=(0, 0.05, 0), keep_feet=True)
    moved = e.keyed.sample().world_positions()[40, j] - keyed.sample().world_positions()[40, j]
    np.testing.assert_allclose(moved, (0, 0.05, 0), atol=1e-9)


def test_without_a_residual_the_curves_tell_the_contacts():
    keyed = keyed_of(demo(), range(0, 90, 6), residual=False)
    touching = keyed.sample().foot_contacts().touching
    frame = next(int(k) for k in keyed.keys[2:] if touching[k].any())
    change = edit(keyed).shift(frame, by=(0.02, -0.03, 0), keep_feet=True)
    for column, side in enumerate(("left", "right")):
        if touching[frame, column]:
            j = keyed.skeleton.joint(f"{side}_foot")
            now, then = (k.sample().world_positions()[frame, j] for k in (change.keyed, keyed))
            np.testing.assert_allclose(now, then, atol=change.missed + 1e-9)
    assert change.missed < 0.02


def test_feet_that_did_not_move_are_left_alone():
    keyed = demo_keyed()
    plain, kept = (
        edit(keyed).rotate(40, "head", axis=(0, 1, 0), degrees=20, keep_feet=keep).keyed for keep in (False, True)
    )
    assert (plain.rotations.values == kept.rotations.values).all() and plain.n_keys == kept.n_keys


def test_a_figure_without_legs_says_so():
    skeleton = kp.Skeleton(("Hips", "Spine"), np.array([-1, 0]), np.array([[0, 0, 0], [0, 1, 0]], float))
    motion = kp.Motion("stick", skeleton, 30, np.tile(skeleton.offsets, (5, 1, 1)), np.tile((1.0, 0, 0, 0), (5, 2, 1)))
    with pytest.raises(OptionError, match="no foot"):
        edit(keyed_of(motion, (0, 4))).shift(0, by=(0, 1, 0), keep_feet=True)


def test_the_history_says_that_feet_were_kept():
    e = edit(demo_keyed())
    e.shift(40, by=(0, -0.02, 0), keep_feet=True)
    assert e.history == ("shift(40, by=(0, -0.02, 0), keep_feet=True)",)
    assert demo().n_frames == e.keyed.n_frames
