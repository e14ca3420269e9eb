"""Foot contacts are restored after edits of keyed motions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import keypose as kp
from keypose.curves.edit import edit
from keypose.curves.edit.feet import (
    AIR_TOLERANCE_MM,
    BLEND_MM,
    FADE_S,
    FOOT_TOLERANCE_MM,
    SLACK,
    contact_levels,
    contact_weights,
    foot_lift,
)
from keypose.curves.edit.reach import find_limbs
from keypose.errors import OptionError
from keypose.rotations import angle_between
from reference import naive_feet as twin
from support.edit_cases import KINDS, assert_same_outside, assert_sound, bits, build_keyed, demo, demo_keyed, kick, walk
from support.errors import Pattern, raises

# Allowed error of a nearly straight leg at keys, while its knee blends to the hinge side.
EASED_MM = 0.27 * BLEND_MM


def foot_errors_mm(before, change, residual=0.0):
    """Return for each foot with contacts in the range the distances of its ankle from before, in mm."""
    contacts = before.sample(1.0).foot_contacts()
    frames = np.arange(change.first, change.last + 1)
    old, new = before.sample(residual), change.keyed.sample(residual)
    errors = {}
    for column, side in enumerate(contacts.feet):
        contact_frames = frames[contacts.in_contact[frames, column]]
        if len(contact_frames):
            j = before.skeleton.joint(f"{side}_foot")
            away = new.world_positions()[contact_frames, j] - old.world_positions()[contact_frames, j]
            errors[side] = np.linalg.norm(away, axis=-1) * old.mm_per_unit
    return errors


def excess_reach_mm(before, change):
    """Return for each such foot how far its old position is beyond the reach of the leg less its slack, in mm."""
    contacts = before.sample(1.0).foot_contacts()
    old, new = before.sample(), change.keyed.sample()
    excess = {}
    for column, side in enumerate(contacts.feet):
        leg = find_limbs(before.skeleton)[f"{side}_foot"]
        hip, knee, ankle = (new.world_positions()[:, j] for j in leg.joints)
        full_length = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
        far = np.linalg.norm(old.world_positions()[:, leg.end] - hip, axis=-1)
        in_contact = contacts.in_contact[change.first : change.last + 1, column]
        beyond = (far - (1 - SLACK) * full_length)[change.first : change.last + 1][in_contact]
        excess[side] = np.maximum(beyond, 0.0) * old.mm_per_unit
    return excess


def accelerations(motion, change):
    """Return (6,) the largest accelerations of ankles, toes and knees around the changed frames, in m/s^2."""
    joints = [
        motion.skeleton.joint(f"{side}_{part}") for side in ("left", "right") for part in ("foot", "toes", "shin")
    ]
    metres = motion.world_positions()[max(0, change.first - 2) : change.last + 3, joints] * motion.mm_per_unit / 1000
    return np.linalg.norm(np.diff(metres, n=2, axis=0), axis=-1).max(axis=0) * motion.fps**2


EDITS = {
    "shift": lambda e, frame, unit, keep: e.shift(
        frame, by=(0.03 * unit, -0.04 * unit, 0.02 * unit), spread_s=0.5, keep_feet=keep
    ),
    "hips": lambda e, frame, unit, keep: e.rotate(
        frame, "hips", axis=(0, 1, 0), degrees=20, space="world", spread_s=0.5, keep_feet=keep
    ),
    "thigh": lambda e, frame, unit, keep: e.rotate(frame, "left_thigh", axis=(1, 0, 0), degrees=15, keep_feet=keep),
}
SPREAD = {
    "lower 5 cm": lambda e, frame, unit, keep: e.shift(frame, by=(0, -0.05 * unit, 0), spread_s=0.5, keep_feet=keep),
    "lower 15 cm": lambda e, frame, unit, keep: e.shift(frame, by=(0, -0.15 * unit, 0), spread_s=0.5, keep_feet=keep),
    "aside 10 cm": lambda e, frame, unit, keep: e.shift(frame, by=(0.1 * unit, 0, 0), spread_s=0.5, keep_feet=keep),
    "turn hips": EDITS["hips"],
    "bow hips": lambda e, frame, unit, keep: e.rotate(
        frame, "hips", axis=(1, 0, 0), degrees=20, space="world", spread_s=0.5, keep_feet=keep
    ),
}


@pytest.mark.data
@pytest.mark.one_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EDITS)
def test_real_feet_stay(data_dir, kind, name):
    keyed = walk(data_dir, kind)
    unit = 1000 / keyed.sample().mm_per_unit
    loose, planted = (EDITS[name](edit(keyed), 240, unit, keep) for keep in (False, True))
    if keyed.is_per_joint:  # the legs may have keys farther away
        assert planted.first <= loose.first and planted.last >= loose.last
    else:
        assert loose.range == planted.range
    assert max(s.max() for s in foot_errors_mm(keyed, loose).values()) > 4 * FOOT_TOLERANCE_MM
    reach, errors = excess_reach_mm(keyed, planted), foot_errors_mm(keyed, planted)
    for side, stray in errors.items():
        assert (stray <= FOOT_TOLERANCE_MM + EASED_MM + reach[side]).all()
        if "cubic" in kind:
            assert np.median(stray - reach[side]) < 0.2
    assert planted.missed * keyed.sample().mm_per_unit == pytest.approx(max(s.max() for s in errors.values()))
    assert_same_outside(keyed, planted)
    assert_sound(planted.keyed)
    assert set(keyed.keys) <= set(planted.keyed.keys)
    # with the residual, errors are hardly larger
    with_detail = max(s.max() for s in foot_errors_mm(keyed, planted, 1.0).values())
    share = 2.5 if kind == "straight per joint" else 1.5  # few straight spans leave more to the residual
    assert with_detail < planted.missed * keyed.sample().mm_per_unit + share * FOOT_TOLERANCE_MM


@pytest.mark.data
def test_at_keys_place_and_turn_are_the_old_ones(data_dir):
    keyed = walk(data_dir)
    unit = 1000 / keyed.sample().mm_per_unit
    new = EDITS["shift"](edit(keyed), 240, unit, True).keyed
    contacts = keyed.sample(1.0).foot_contacts()
    old, now = keyed.sample(), new.sample()
    count = 0
    for column, side in enumerate(contacts.feet):
        ankle, toes = (keyed.skeleton.joint(f"{side}_{part}") for part in ("foot", "toes"))
        for frame in keyed.keys[contacts.in_contact[keyed.keys, column]].tolist():
            count += 1
            for j in (ankle, toes):
                off = now.world_positions()[frame, j] - old.world_positions()[frame, j]
                assert np.linalg.norm(off) * old.mm_per_unit < EASED_MM
            turned = angle_between(now.world_rotations()[frame, ankle], old.world_rotations()[frame, ankle])
            np.testing.assert_allclose(turned, 0, atol=1e-6)
    assert count > 20


@pytest.mark.data
@pytest.mark.parametrize("name", SPREAD)
@pytest.mark.parametrize(("clip", "frame"), [("walk", 120), ("walk", 360), ("kicking", 400), ("kicking", 500)])
def test_nothing_pops_and_no_foot_sinks(data_dir, clip, frame, name):
    keyed = walk(data_dir) if clip == "walk" else kick(data_dir)
    assert_smooth(keyed, SPREAD[name], frame)


@pytest.mark.parametrize("name", SPREAD)
@pytest.mark.parametrize("frame", [150, 300, 420])
def test_nothing_pops_in_the_demo(name, frame):
    motion = kp.demo_motion(fps=60)
    assert_smooth(build_keyed(motion, range(0, motion.n_frames, 15)), SPREAD[name], frame)


@pytest.mark.data
@pytest.mark.parametrize(("frame", "name"), [(192, "turn hips"), (240, "turn hips"), (312, "aside 10 cm")])
def test_knees_of_legs_that_were_straight_hardly_snap(data_dir, frame, name):
    """There the foot is held beyond the leg's reach until the knee bends, and the leg has no slack to give."""
    assert_smooth(walk(data_dir), SPREAD[name], frame, max_ratio=2.4)


def assert_smooth(keyed, operation, frame, max_ratio=1.3):
    old = keyed.sample()
    unit = 1000 / old.mm_per_unit
    loose, planted = (operation(edit(keyed), frame, unit, keep) for keep in (False, True))
    new = planted.keyed.sample()
    reference = np.maximum(accelerations(old, planted), accelerations(loose.keyed.sample(), planted))
    assert accelerations(new, planted).max() <= max_ratio * reference.max()
    contacts = keyed.sample(1.0).foot_contacts()
    for column, side in enumerate(contacts.feet):
        for part in ("foot", "toes"):
            j = keyed.skeleton.joint(f"{side}_{part}")
            before, after = (m.world_positions()[:, j, 1] * m.mm_per_unit for m in (old, new))
            lowest = np.minimum(before, contact_levels(before[:, None], contacts.in_contact[:, column])[:, 0])
            sunk = np.where(contacts.in_contact[:, column], before, lowest) - after
            assert sunk.max() < AIR_TOLERANCE_MM + planted.missed * old.mm_per_unit
    assert_same_outside(keyed, planted)


@pytest.mark.data
def test_a_foot_that_has_just_left_the_ground_does_not_fall(data_dir):
    """Hips 20 cm lower, and a contact that ends in the middle of it: the foot fell by as much within three frames."""
    keyed = kp.unbake(kp.load(data_dir / "cmu120" / "07_05_walk.bvh"), keys=26)
    frame = int(keyed.keys[np.abs(keyed.keys - 239).argmin()])
    e = edit(keyed)
    change = e.shift(frame, by=(0, -3, 0), spread_s=0.5, keep_feet=True)
    loose = edit(keyed).shift(frame, by=(0, -3, 0), spread_s=0.5)
    old, new = keyed.sample(), change.keyed.sample()
    reference = np.maximum(accelerations(old, change), accelerations(loose.keyed.sample(), change))
    assert (accelerations(new, change) <= 1.3 * reference).all()
    assert change.missed * old.mm_per_unit < FOOT_TOLERANCE_MM
    contact = keyed.sample(1.0).foot_contacts().in_contact[:, 1]
    toes = keyed.skeleton.joint("right_toes")
    level = old.world_positions()[contact, toes, 1].min()
    after = new.world_positions()[change.first : change.last + 1, toes, 1]
    assert (level - after.min()) * old.mm_per_unit < FOOT_TOLERANCE_MM
    leaves = next(f for f in range(frame - 20, frame + 20) if contact[f] and not contact[f + 1])
    steps = np.diff(new.world_positions()[leaves - 2 : leaves + 12, keyed.skeleton.joint("right_foot"), 1])
    assert np.abs(steps).max() * old.mm_per_unit < 5
    e.undo()
    assert bits(e.keyed) == bits(keyed)


@pytest.mark.data
def test_far_from_contacts_a_foot_goes_where_the_edit_takes_it(data_dir):
    keyed = kick(data_dir)
    unit = 1000 / keyed.sample().mm_per_unit
    contacts = keyed.sample(1.0).foot_contacts()
    share = [contact_weights(contacts.in_contact[:, column], FADE_S * keyed.fps) for column in range(2)]
    frame, column = next((k, c) for k in keyed.keys.tolist() for c in range(2) if 40 < k < 600 and share[c][k] == 0)
    loose, planted = (
        edit(keyed).shift(frame, by=(0.05 * unit, 0.02 * unit, 0), keep_feet=keep) for keep in (False, True)
    )
    j = keyed.skeleton.joint(f"{contacts.feet[column]}_foot")
    now, expected = (change.keyed.sample().world_positions()[frame, j] for change in (planted, loose))
    np.testing.assert_array_equal(now, expected)


def test_pasted_toes_do_not_dig_in():
    keyed = demo_keyed()
    contacts = keyed.sample(1.0).foot_contacts()
    side = contacts.feet[int(contacts.in_contact[40].argmax())]
    toes = f"{side}_toes"
    e = edit(keyed)
    e.rotate(40, toes, axis=(1, 0, 0), degrees=40)
    pose = e.copy(40)
    pasted = edit(keyed).paste(40, pose, keep_feet=True).keyed
    j = keyed.skeleton.joint(toes)
    turned = angle_between(pasted.sample().world_rotations()[40, j], keyed.sample().world_rotations()[40, j])
    assert turned < 1e-6


def test_keys_are_inserted_where_contacts_begin_and_end():
    """Far apart keys: between them a foot lands and leaves."""
    keyed = build_keyed(kp.demo_motion(fps=60)[:300], (0, 75, 150, 225, 299))
    change = edit(keyed).shift(150, by=(0.05, -0.05, 0.1), keep_feet=True)
    more = sorted(set(change.keyed.keys.tolist()) - set(keyed.keys.tolist()))
    assert more and f"{len(more)} key" in change.note and change.first < more[0] and more[-1] < change.last
    contacts = keyed.sample(1.0).foot_contacts().in_contact
    ends = np.flatnonzero(np.diff(contacts.astype(int), axis=0).any(axis=1))
    assert set(more) & {int(f) for end in ends for f in (end, end + 1)}
    reach = excess_reach_mm(keyed, change)
    for side, stray in foot_errors_mm(keyed, change).items():
        assert (stray <= FOOT_TOLERANCE_MM + EASED_MM + reach[side]).all()
    assert_same_outside(keyed, change)


@pytest.mark.parametrize(
    "keys", [range(90), (0, 38, 39, 40, 41, 42, 89), (*range(0, 40, 2), 40, 41, 44, 45, 60, 61, 89)]
)
def test_keys_without_frames_between_them(keys):
    keyed = build_keyed(demo(), keys)
    for by in ((0, -0.15, 0), (0.1, 0.05, 0)):
        change = edit(keyed).shift(40, by=by, spread_s=0.2, keep_feet=True)
        reach = excess_reach_mm(keyed, change)
        for side, stray in foot_errors_mm(keyed, change).items():
            assert (stray <= FOOT_TOLERANCE_MM + EASED_MM + reach[side]).all()
        assert_same_outside(keyed, change)


def test_unreachable_feet_are_reported():
    keyed = demo_keyed()
    change = edit(keyed).shift(40, by=(0, 3, 0), keep_feet=True)
    assert change.missed > 1
    at = change.keyed.sample().world_positions()
    assert np.isfinite(at).all()
    assert_same_outside(keyed, change)


def test_the_foot_that_is_moved_goes_free():
    keyed = demo_keyed()
    contacts = keyed.sample(1.0).foot_contacts()
    side = contacts.feet[int(contacts.in_contact[40].argmax())]
    assert contacts.in_contact[40].any()
    e = edit(keyed)
    j = keyed.skeleton.joint(f"{side}_foot")
    e.reach(40, f"{side}_foot", by=(0, 0.05, 0), keep_feet=True)
    moved = e.keyed.sample().world_positions()[40, j] - keyed.sample().world_positions()[40, j]
    np.testing.assert_allclose(moved, (0, 0.05, 0), atol=1e-9)


def test_without_a_residual_contacts_come_from_the_curves():
    keyed = build_keyed(demo(), range(0, 90, 6), residual=False)
    in_contact = keyed.sample().foot_contacts().in_contact
    frame = next(int(k) for k in keyed.keys[2:] if in_contact[k].any())
    change = edit(keyed).shift(frame, by=(0.02, -0.03, 0), keep_feet=True)
    for column, side in enumerate(("left", "right")):
        if in_contact[frame, column]:
            j = keyed.skeleton.joint(f"{side}_foot")
            now, then = (k.sample().world_positions()[frame, j] for k in (change.keyed, keyed))
            np.testing.assert_allclose(now, then, atol=change.missed + 1e-9)
    assert change.missed < 0.02


def test_feet_that_did_not_move_are_left_alone():
    keyed = demo_keyed()
    plain, planted = (
        edit(keyed).rotate(40, "head", axis=(0, 1, 0), degrees=20, keep_feet=keep).keyed for keep in (False, True)
    )
    assert (plain.rotations.values == planted.rotations.values).all() and plain.n_keys == planted.n_keys


def test_figure_without_legs_is_rejected():
    skeleton = kp.Skeleton(("Hips", "Spine"), np.array([-1, 0]), np.array([[0, 0, 0], [0, 1, 0]], float))
    motion = kp.Motion("stick", skeleton, 30, np.tile(skeleton.offsets, (5, 1, 1)), np.tile((1.0, 0, 0, 0), (5, 2, 1)))
    with raises(OptionError, code="no_body", subject="stick", problem=Pattern("^no leg with thigh, shin and foot ")):
        edit(build_keyed(motion, (0, 4))).shift(0, by=(0, 1, 0), keep_feet=True)


def test_history_records_keep_feet():
    e = edit(demo_keyed())
    e.shift(40, by=(0, -0.02, 0), keep_feet=True)
    assert e.history == ("shift(40, by=(0, -0.02, 0), keep_feet=True)",)
    assert demo().n_frames == e.keyed.n_frames


contact_flags = st.lists(st.booleans(), min_size=1, max_size=40).filter(any).map(np.array)


@given(contact_flags, st.floats(0.5, 12))
def test_contact_weights_match_the_reference(in_contact, fade_frames):
    share = contact_weights(in_contact, fade_frames)
    np.testing.assert_allclose(share, twin.contact_weights(in_contact, fade_frames), atol=1e-12)
    assert (share[in_contact] == 1).all() and (share >= 0).all() and (share <= 1).all()


@given(contact_flags, st.integers(0, 1000))
def test_contact_levels_match_the_reference(in_contact, seed):
    heights = np.random.default_rng(seed).normal(size=(len(in_contact), 2))
    np.testing.assert_allclose(
        contact_levels(heights, in_contact), twin.contact_levels(heights, in_contact), atol=1e-12
    )


@given(st.floats(-10, 10), st.floats(-10, 10))
@example(2.4e-258, 1.2e-142)
def test_foot_lift_stays_between_floor_and_old_height(drop, room):
    lifted = float(foot_lift(np.array([[drop]]), np.array([[room]]))[0])
    assert 0 <= lifted <= max(drop, 0.0) + 1e-12
    assert max(drop, 0.0) - lifted <= max(room, 0.0) + 1e-12
    if 0 < drop < room / 4:  # far from the floor it goes where it goes
        assert lifted <= 0.001 * drop
