"""Rebake: unedited, edited, moved in time, and after export to another program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.api.rebake import rebake
from keypose.errors import UNSET, OptionError
from keypose.metrics import position_errors_mm
from keypose.rotations import angle_between, conjugate, exp, from_euler, multiply, rotate
from support.errors import Pattern, raises

KEYS = [0, 14, 30, 47, 60, 89]


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)[:90]


@pytest.fixture(scope="module")
def keyed(motion: kp.Motion) -> kp.KeyedMotion:
    return kp.unbake(motion, KEYS)


def edit_joint(keyed: kp.KeyedMotion, joint: int = 3) -> kp.KeyedMotion:
    """Return the keys with a joint rotated at one key and, as in a file, without the residual."""
    rotations = keyed.rotations.values.copy()
    rotations[2, joint] = multiply(rotations[2, joint], exp(np.array([0.0, 0.3, 0.2])))
    return replace(keyed, rotations=keyed.rotations.with_values(rotations), residual=None)


def reorder_joints(motion: kp.Motion, order: list[int]) -> kp.Motion:
    """Return the motion with its joints in another order."""
    s = motion.skeleton
    new = {old: n for n, old in enumerate(order)}
    skeleton = kp.Skeleton(
        [s.names[j] for j in order],
        [new[int(s.parents[j])] if s.parents[j] >= 0 else -1 for j in order],
        s.offsets[order],
    )
    return replace(motion, skeleton=skeleton, translations=motion.translations[:, order],
                   rotations=motion.rotations[:, order], reference_pose=None)  # fmt: skip


REST_HINT = Pattern("^keep the bones' rest pose and export them with the body that is bound to them")

# Unedited


@pytest.mark.one_python
@pytest.mark.parametrize("interpolation", ["bezier", "natural", "linear"])
@pytest.mark.parametrize("rotation_kind", ["quaternion", "euler"])
@pytest.mark.parametrize("keys", [KEYS, [0, 89], [20, 40, 70], [45]])
def test_without_an_edit_the_whole_residual_gives_the_original_back(motion, interpolation, rotation_kind, keys):
    keyed = kp.unbake(motion, keys, interpolation=interpolation, rotation=rotation_kind)
    for timing in ("auto", "keys", "frames"):
        for edit in (keyed, replace(keyed, residual=None)):
            assert position_errors_mm(motion, rebake(edit, keyed, 1.0, timing=timing)).max() < 1e-6
        assert rebake(keyed, keyed, 0.0, timing=timing).rotations.tolist() == keyed.sample().rotations.tolist()
    assert position_errors_mm(motion, rebake(keyed.sample(), keyed, 1.0)).max() < 1e-6
    np.testing.assert_array_equal(rebake(keyed, keyed).rotations, keyed.sample(0.7).rotations)


@pytest.mark.data
def test_a_real_clip(data_dir: Path):
    motion = kp.load(data_dir / "cmu120" / "49_06_cartwheel.bvh").at_fps(60)
    keyed = kp.unbake(motion, keys=24)
    assert position_errors_mm(motion, rebake(replace(keyed, residual=None), keyed, 1.0)).max() < 1e-6
    half = rebake(replace(keyed, residual=None), keyed, 0.5)
    assert 0 < kp.score(motion, half).mean_mm < kp.score(motion, keyed).mean_mm


# Edited


def test_the_detail_lies_on_the_edit_in_each_joints_own_frame(keyed):
    edit = edit_joint(keyed)
    result = rebake(edit, keyed, 0.7)
    plain = edit.sample()
    detail = keyed.residual
    for frame in (7, 22, 38):
        np.testing.assert_allclose(
            result.rotations[frame], multiply(plain.rotations[frame], exp(0.7 * detail.rotations[frame])), atol=1e-12
        )
        shifts = rotate(plain.rotations[frame], 0.7 * detail.shifts[frame])
        np.testing.assert_allclose(result.translations[frame], plain.translations[frame] + shifts, atol=1e-12)
    assert angle_between(result.rotations[30, 3], keyed.sample(0.7).rotations[30, 3]) > 0.3
    unchanged = result.rotations[:14], keyed.sample(0.7).rotations[:14]
    np.testing.assert_array_equal(*unchanged)
    assert result.notes == keyed.notes and result.name == edit.name


def test_a_key_that_was_moved_takes_its_detail_along(keyed):
    later = replace(keyed, keys=[0, 14, 36, 47, 60, 89], residual=None)
    result = rebake(later, keyed, 1.0)
    by_hand = replace(later, residual=keyed.residual.retime(keyed.keys.astype(float), later.keys.astype(float)))
    np.testing.assert_allclose(result.rotations, by_hand.sample(1.0).rotations, atol=1e-12)
    np.testing.assert_array_equal(rebake(by_hand, keyed, 1.0).rotations, by_hand.sample(1.0).rotations)
    by_frames = rebake(later, keyed, 1.0, timing="frames")
    assert angle_between(by_frames.rotations[20], result.rotations[20]).max() > 1e-3
    plain = later.sample()
    np.testing.assert_allclose(
        by_frames.rotations[20], multiply(plain.rotations[20], exp(keyed.residual.rotations[20])), atol=1e-12
    )


def test_an_edit_that_carries_its_own_detail_gets_that(motion, keyed):
    edit = kp.edit(keyed)
    edit.move_key(30, 33)
    edit.delete_key(47)
    np.testing.assert_array_equal(rebake(edit.keyed, keyed, 1.0).rotations, edit.keyed.sample(1.0).rotations)


def test_as_many_keys_as_before_but_not_the_same_ones(motion, keyed):
    """One key removed and another inserted: keys at the same frame still correspond."""
    other = kp.unbake(motion, [0, 30, 38, 47, 60, 89], residual=False)
    result = rebake(other, keyed, 1.0)
    np.testing.assert_array_equal(result.rotations, rebake(other, keyed, 1.0, timing="frames").rotations)
    assert not any("moved" in note for note in result.notes)
    by_keys = rebake(other, keyed, 1.0, timing="keys")
    assert angle_between(by_keys.rotations, result.rotations).max() > 1e-3
    assert any("moved in time" in note for note in by_keys.notes)


def test_all_keys_moved_onto_each_others_frames(motion):
    """Every key 15 frames later, where the next one was: the n-th keys still correspond."""
    keyed = kp.unbake(motion, [0, 15, 30, 45, 60])
    later = replace(keyed, keys=keyed.keys + 15, residual=None)
    result = rebake(later, keyed, 1.0)
    np.testing.assert_allclose(result.rotations[15:76], keyed.sample(1.0).rotations[:61], atol=1e-12)
    assert "rebake: 5 keys were moved in time together with the detail" in result.notes


def test_with_another_number_of_keys_time_is_the_same_in_both(motion, keyed):
    fewer = replace(kp.unbake(motion, [0, 30, 60, 89]), residual=None)
    np.testing.assert_array_equal(
        rebake(fewer, keyed, 1.0).rotations, rebake(fewer, keyed, 1.0, timing="frames").rotations
    )
    with raises(OptionError, option="timing", value="keys"):
        rebake(fewer, keyed, timing="keys")


def test_another_frame_rate(motion, keyed):
    fast = keyed.sample(fps=60.0)
    result = rebake(fast, keyed, 1.0)
    assert result.fps == 60.0 and result.n_frames == fast.n_frames
    assert position_errors_mm(motion, replace(motion, translations=result.translations[::2],
                                              rotations=result.rotations[::2])).max() < 1e-6  # fmt: skip
    nearly = replace(keyed.sample(), fps=30.0003)  # as in a file that rounds the frame time
    assert position_errors_mm(motion, rebake(nearly, keyed, 1.0)).max() < 1e-6


def test_frames_beyond_the_original_hold_its_last_detail(keyed):
    plain = keyed.sample()
    longer = plain + plain[-5:]
    result = rebake(longer, keyed, 1.0)
    last = multiply(longer.rotations[-5:], exp(np.broadcast_to(keyed.residual.rotations[-1], (5, plain.n_joints, 3))))
    assert angle_between(result.rotations[-5:], last).max() < 1e-7
    assert result.notes[-1] == "rebake: the last 5 frames lie beyond the original's end and hold its last detail"


# Exported to another program


@pytest.mark.parametrize("suffix", ["bvh", "glb"])
def test_through_a_file_and_back(motion, keyed, tmp_path: Path, suffix):
    kp.save(keyed.sample(), tmp_path / f"edit.{suffix}")
    result = rebake(kp.load(tmp_path / f"edit.{suffix}"), keyed, 1.0)
    assert np.abs(result.world_positions() - motion.world_positions()).max() * motion.mm_per_unit < 0.01


def test_joints_are_matched_by_name(motion, keyed):
    turned_around = sorted(range(motion.n_joints), key=lambda j: (len(chain(motion.skeleton, j)), -j))
    result = rebake(reorder_joints(keyed.sample(), turned_around), keyed, 1.0)
    assert result.notes == motion.notes
    errors = np.abs(result.world_positions() - motion.world_positions()[:, turned_around])
    assert errors.max() * motion.mm_per_unit < 1e-6


def chain(skeleton: kp.Skeleton, joint: int) -> list[int]:
    """Return a joint and all its ancestors."""
    return [joint] if skeleton.parents[joint] < 0 else [joint, *chain(skeleton, int(skeleton.parents[joint]))]


def test_joints_that_only_one_side_has_are_noted(motion, keyed):
    plain = keyed.sample()
    s = plain.skeleton
    n = motion.n_joints
    leaf = max(set(range(n)) - set(s.parents.tolist()))
    residual = [j for j in range(n) if j != leaf]
    fewer = reorder_joints(plain, residual)
    above = kp.Skeleton(  # an object above the root, as in exported scenes
        ("Armature", *fewer.skeleton.names), [-1, *(fewer.skeleton.parents + 1)], [[0, 0, 0], *fewer.skeleton.offsets]
    )
    tilt = from_euler(np.array([0.0, 0.0, -np.pi / 2]), "ZYX")
    scene = replace(
        fewer,
        skeleton=above,
        translations=np.concatenate((np.zeros((90, 1, 3)), fewer.translations), axis=1),
        rotations=np.concatenate((np.broadcast_to(tilt, (90, 1, 4)), fewer.rotations), axis=1),
    )
    result = rebake(scene, keyed, 1.0)
    expected = rotate(np.broadcast_to(tilt, (90, n - 1, 4)), motion.world_positions()[:, residual])
    np.testing.assert_allclose(result.world_positions()[:, 1:], expected, atol=1e-6 / motion.mm_per_unit)
    np.testing.assert_array_equal(result.rotations[:, 0], scene.rotations[:, 0])
    assert "rebake: no detail for Armature: not in the original" in result.notes
    assert f"rebake: detail of {s.names[leaf]} left out: not in the edit" in result.notes


@pytest.mark.parametrize("scale", [1.0, 0.01, 39.37])
@pytest.mark.parametrize("turn", [None, (0.0, 0.0, np.pi / 2), (0.4, -1.0, 2.0)])
def test_other_units_and_axes(motion, keyed, scale, turn):
    frame = from_euler(np.array(turn or (0.0, 0.0, 0.0)), "ZYX")

    def elsewhere(clip: kp.Motion) -> kp.Motion:
        skeleton = replace(clip.skeleton, offsets=scale * rotate(frame, clip.skeleton.offsets))
        rotations = multiply(multiply(np.broadcast_to(frame, clip.rotations.shape), clip.rotations), conjugate(frame))
        return replace(
            clip, skeleton=skeleton, translations=scale * rotate(frame, clip.translations), rotations=rotations
        )

    result = rebake(elsewhere(keyed.sample()), keyed, 1.0)
    expected = elsewhere(motion)
    assert np.abs(result.world_positions() - expected.world_positions()).max() / scale * motion.mm_per_unit < 1e-6
    assert angle_between(result.rotations, expected.rotations).max() < 1e-6


def test_other_bones_are_refused(keyed):
    plain = keyed.sample()
    offsets = plain.skeleton.offsets.copy()
    offsets[4] *= 1.3
    with raises(OptionError, code="different_motions", value=plain.skeleton.names[4], hint=REST_HINT):
        rebake(replace(plain, skeleton=replace(plain.skeleton, offsets=offsets)), keyed)
    mirrored = plain.skeleton.offsets * [-1.0, 1.0, 1.0]  # no rotation does that
    with raises(OptionError, code="different_motions", value="LeftToeBase", hint=REST_HINT):
        rebake(replace(plain, skeleton=replace(plain.skeleton, offsets=mirrored)), keyed)
    roots = plain.skeleton.offsets.copy()
    roots[0] += 5.0  # the rest position of the root is irrelevant, as it moves
    rebake(replace(plain, skeleton=replace(plain.skeleton, offsets=roots)), keyed)


def test_points_without_bones_go_by_their_units():
    skeleton = kp.Skeleton(("a", "b"), [-1, -1], np.zeros((2, 3)))
    positions = np.cumsum(np.random.default_rng(0).normal(size=(30, 2, 3)), axis=0)
    rotations = np.broadcast_to([1.0, 0, 0, 0], (30, 2, 4))
    markers = kp.Motion("markers", skeleton, 30.0, positions, rotations, metres_per_unit=0.001)
    keyed = kp.unbake(markers, [0, 10, 29])
    in_metres = replace(keyed.sample(), translations=0.001 * keyed.sample().translations, metres_per_unit=1.0)
    np.testing.assert_allclose(rebake(in_metres, keyed, 1.0).translations, 0.001 * positions, atol=1e-12)
    unsaid = replace(keyed.sample(), metres_per_unit=None)
    np.testing.assert_allclose(rebake(unsaid, keyed, 1.0).translations, positions, atol=1e-12)


# Bad arguments


def test_rebake_rejects_wrong_arguments(motion, keyed):
    with raises(OptionError, code="no_residual"):
        rebake(keyed, replace(keyed, residual=None))
    with raises(OptionError, expected="the KeyedMotion that was edited"):
        rebake(keyed, motion)
    with raises(OptionError, expected="the edited KeyedMotion or Motion"):
        rebake("walk.glb", keyed)
    with raises(OptionError, option="residual", value="all"):
        rebake(keyed, keyed, "all")
    with raises(OptionError, option="residual", expected="a number of at most 10"):
        rebake(keyed, keyed, float("nan"))
    with raises(OptionError, option="timing", value="never"):
        rebake(keyed, keyed, timing="never")
    with raises(OptionError, option="timing", value="keys"):
        rebake(motion, keyed, timing="keys")
    names = tuple(f"bone {j}" for j in range(motion.n_joints))
    stranger = replace(motion, skeleton=replace(motion.skeleton, names=names))
    problem = Pattern(r"^no joint of the edit \(bone 0, .* and 20 more\) has the name of one of the original \(Hips, ")
    with raises(OptionError, code="different_motions", value=UNSET, problem=problem):
        rebake(stranger, keyed)
