"""Feet that stand on the ground stay there under edits."""

from __future__ import annotations

import numpy as np
import pytest
from edit_cases import KINDS, assert_same_outside, assert_sound, bits, demo, demo_keyed, keyed_of, kicking, walk
from hypothesis import example, given
from hypothesis import strategies as st

import keypose as kp
import naive_feet as twin
from keypose.errors import OptionError
from keypose.inbetween.editing import edit
from keypose.inbetween.editing.feet import AIR_TOLERANCE_MM, EASY_MM, FOOT_TOLERANCE_MM
from keypose.inbetween.editing.footing import FADE_S, SLACK, held, levels, lift
from keypose.inbetween.editing.limbs import limbs
from keypose.rotations import angle_between

# What a nearly straight leg may be off even at keys, while its knee goes to the usual side.
EASED_MM = 0.27 * EASY_MM


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


def out_of_reach(before, change):
    """For each such foot: how far its old place is beyond the leg, less the slack that the knee is left, in mm."""
    contacts = before.sample(1.0).foot_contacts()
    old, new = before.sample(), change.keyed.sample()
    found = {}
    for column, side in enumerate(contacts.feet):
        leg = limbs(before.skeleton)[f"{side}_foot"]
        hip, knee, ankle = (new.world_positions()[:, j] for j in leg.joints)
        longest = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
        far = np.linalg.norm(old.world_positions()[:, leg.end] - hip, axis=-1)
        touching = contacts.touching[change.first : change.last + 1, column]
        beyond = (far - (1 - SLACK) * longest)[change.first : change.last + 1][touching]
        found[side] = np.maximum(beyond, 0.0) * old.mm_per_unit
    return found


def accelerations(motion, change):
    """(6,) the largest accelerations of ankles, toes and knees around the changed frames, in m/s^2."""
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
    loose, kept = (EDITS[name](edit(keyed), 240, unit, keep) for keep in (False, True))
    assert loose.range == kept.range
    assert max(s.max() for s in strays(keyed, loose).values()) > 4 * FOOT_TOLERANCE_MM
    reach, found = out_of_reach(keyed, kept), strays(keyed, kept)
    for side, stray in found.items():
        assert (stray <= FOOT_TOLERANCE_MM + EASED_MM + reach[side]).all()
        if "cubic" in kind:
            assert np.median(stray - reach[side]) < 0.2
    assert kept.missed * keyed.sample().mm_per_unit == pytest.approx(max(s.max() for s in found.values()))
    assert_same_outside(keyed, kept)
    assert_sound(kept.keyed)
    assert set(keyed.keys) <= set(kept.keyed.keys)
    # with the captured detail on top, feet stray by hardly more
    with_detail = max(s.max() for s in strays(keyed, kept, 1.0).values())
    assert with_detail < kept.missed * keyed.sample().mm_per_unit + 1.5 * FOOT_TOLERANCE_MM


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
        for frame in keyed.keys[contacts.touching[keyed.keys, column]].tolist():
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
    keyed = walk(data_dir) if clip == "walk" else kicking(data_dir)
    assert_smooth(keyed, SPREAD[name], frame)


@pytest.mark.parametrize("name", SPREAD)
@pytest.mark.parametrize("frame", [150, 300, 420])
def test_nothing_pops_in_the_demo(name, frame):
    motion = kp.demo_motion(fps=60)
    assert_smooth(keyed_of(motion, range(0, motion.n_frames, 15)), SPREAD[name], frame)


@pytest.mark.data
@pytest.mark.parametrize(("frame", "name"), [(192, "turn hips"), (240, "turn hips"), (312, "aside 10 cm")])
def test_knees_of_legs_that_were_straight_hardly_snap(data_dir, frame, name):
    """There the foot is held beyond the leg's reach until the knee bends, and the leg has no slack to give."""
    assert_smooth(walk(data_dir), SPREAD[name], frame, most=2.4)


def assert_smooth(keyed, operation, frame, most=1.3):
    old = keyed.sample()
    unit = 1000 / old.mm_per_unit
    loose, kept = (operation(edit(keyed), frame, unit, keep) for keep in (False, True))
    new = kept.keyed.sample()
    usual = np.maximum(accelerations(old, kept), accelerations(loose.keyed.sample(), kept))
    assert accelerations(new, kept).max() <= most * usual.max()
    contacts = keyed.sample(1.0).foot_contacts()
    for column, side in enumerate(contacts.feet):
        for part in ("foot", "toes"):
            j = keyed.skeleton.joint(f"{side}_{part}")
            before, after = (m.world_positions()[:, j, 1] * m.mm_per_unit for m in (old, new))
            lowest = np.minimum(before, levels(before[:, None], contacts.touching[:, column])[:, 0])
            sunk = np.where(contacts.touching[:, column], before, lowest) - after
            assert sunk.max() < AIR_TOLERANCE_MM + kept.missed * old.mm_per_unit
    assert_same_outside(keyed, kept)


@pytest.mark.data
def test_a_foot_that_has_just_left_the_ground_does_not_fall(data_dir):
    """Hips 20 cm lower, and a contact that ends in the middle of it: the foot fell by as much within three frames."""
    keyed = kp.unbake(kp.load(data_dir / "cmu120" / "07_05_walk.bvh"), keys=26)
    frame = int(keyed.keys[np.abs(keyed.keys - 239).argmin()])
    e = edit(keyed)
    change = e.shift(frame, by=(0, -3, 0), spread_s=0.5, keep_feet=True)
    loose = edit(keyed).shift(frame, by=(0, -3, 0), spread_s=0.5)
    old, new = keyed.sample(), change.keyed.sample()
    usual = np.maximum(accelerations(old, change), accelerations(loose.keyed.sample(), change))
    assert (accelerations(new, change) <= 1.3 * usual).all()
    assert change.missed * old.mm_per_unit < FOOT_TOLERANCE_MM
    contact = keyed.sample(1.0).foot_contacts().touching[:, 1]
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
    keyed = kicking(data_dir)
    unit = 1000 / keyed.sample().mm_per_unit
    contacts = keyed.sample(1.0).foot_contacts()
    share = [held(contacts.touching[:, column], FADE_S * keyed.fps) for column in range(2)]
    frame, column = next((k, c) for k in keyed.keys.tolist() for c in range(2) if 40 < k < 600 and share[c][k] == 0)
    loose, kept = (edit(keyed).shift(frame, by=(0.05 * unit, 0.02 * unit, 0), keep_feet=keep) for keep in (False, True))
    j = keyed.skeleton.joint(f"{contacts.feet[column]}_foot")
    now, wanted = (change.keyed.sample().world_positions()[frame, j] for change in (kept, loose))
    np.testing.assert_array_equal(now, wanted)


def test_pasted_toes_do_not_dig_in():
    keyed = demo_keyed()
    contacts = keyed.sample(1.0).foot_contacts()
    side = contacts.feet[int(contacts.touching[40].argmax())]
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
    keyed = keyed_of(kp.demo_motion(fps=60)[:300], (0, 75, 150, 225, 299))
    change = edit(keyed).shift(150, by=(0.05, -0.05, 0.1), keep_feet=True)
    more = sorted(set(change.keyed.keys.tolist()) - set(keyed.keys.tolist()))
    assert more and f"{len(more)} key" in change.note and change.first < more[0] and more[-1] < change.last
    contacts = keyed.sample(1.0).foot_contacts().touching
    ends = np.flatnonzero(np.diff(contacts.astype(int), axis=0).any(axis=1))
    assert set(more) & {int(f) for end in ends for f in (end, end + 1)}
    reach = out_of_reach(keyed, change)
    for side, stray in strays(keyed, change).items():
        assert (stray <= FOOT_TOLERANCE_MM + EASED_MM + reach[side]).all()
    assert_same_outside(keyed, change)


@pytest.mark.parametrize(
    "keys", [range(90), (0, 38, 39, 40, 41, 42, 89), (*range(0, 40, 2), 40, 41, 44, 45, 60, 61, 89)]
)
def test_keys_without_frames_between_them(keys):
    keyed = keyed_of(demo(), keys)
    for by in ((0, -0.15, 0), (0.1, 0.05, 0)):
        change = edit(keyed).shift(40, by=by, spread_s=0.2, keep_feet=True)
        reach = out_of_reach(keyed, change)
        for side, stray in strays(keyed, change).items():
            assert (stray <= FOOT_TOLERANCE_MM + EASED_MM + reach[side]).all()
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


touches = st.lists(st.booleans(), min_size=1, max_size=40).filter(any).map(np.array)


@given(touches, st.floats(0.5, 12))
def test_the_share_of_a_correction_is_that_of_the_nearest_contacts(touching, fade_frames):
    share = held(touching, fade_frames)
    np.testing.assert_allclose(share, twin.held(touching, fade_frames), atol=1e-12)
    assert (share[touching] == 1).all() and (share >= 0).all() and (share <= 1).all()


@given(touches, st.integers(0, 1000))
def test_the_floor_is_what_contacts_tell(touching, seed):
    heights = np.random.default_rng(seed).normal(size=(len(touching), 2))
    np.testing.assert_allclose(levels(heights, touching), twin.levels(heights, touching), atol=1e-12)


@given(st.floats(-10, 10), st.floats(-10, 10))
@example(2.4e-258, 1.2e-142)
def test_a_lifted_point_is_above_the_floor_and_not_above_where_it_was(drop, room):
    lifted = float(lift(np.array([[drop]]), np.array([[room]]))[0])
    assert 0 <= lifted <= max(drop, 0.0) + 1e-12
    assert max(drop, 0.0) - lifted <= max(room, 0.0) + 1e-12
    if 0 < drop < room / 4:  # far from the floor it goes where it goes
        assert lifted <= 0.001 * drop
