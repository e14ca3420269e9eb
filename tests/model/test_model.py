from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import FrozenInstanceError, fields, replace
from types import ModuleType

import numpy as np
import pytest

import keypose as kp
from keypose import rotations as rot
from support.errors import raises


def small_skeleton() -> kp.Skeleton:
    return kp.Skeleton(
        names=("Hips", "Spine", "LeftUpLeg", "LeftLeg"),
        parents=[-1, 0, 0, 2],
        offsets=[[0, 0, 0], [0, 10, 0], [2, -1, 0], [0, -8, 0]],
        end_offsets=[[0, 5, 0], [0, -8, 1]],
        end_joints=[1, 3],
    )


def small_motion(frames: int = 50, fps: float = 120.0, seed: int = 0) -> kp.Motion:
    rng = np.random.default_rng(seed)
    skeleton = small_skeleton()
    translations = np.broadcast_to(skeleton.offsets, (frames, 4, 3)).copy()
    translations[:, 0] = np.cumsum(rng.normal(scale=0.1, size=(frames, 3)), axis=0) + np.array([0, 9, 0])
    rotations = rot.exp(np.cumsum(rng.normal(scale=0.05, size=(frames, 4, 3)), axis=0))
    return kp.Motion("small", skeleton, fps, translations, rotations, metres_per_unit=0.01)


def read_arrays(instance: object) -> dict[str, np.ndarray]:
    values = {f.name: getattr(instance, f.name) for f in fields(instance)}  # type: ignore[arg-type]
    return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("duplicate", [lambda x: x, lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_arrays_are_read_only_and_stay_so(duplicate):
    motion = replace(small_motion(), reference_pose=kp.Pose(np.zeros((4, 3)), np.tile(rot.IDENTITY, (4, 1))))
    motion.world_positions()
    motion = duplicate(motion)
    for instance in (motion, motion.skeleton, motion.reference_pose):
        arrays = read_arrays(instance)
        assert arrays
        for name, array in arrays.items():
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            assert array.flags.c_contiguous, name
    with pytest.raises(ValueError, match="read-only"):
        motion.world_positions()[0, 0, 0] = 1.0
    with pytest.raises(FrozenInstanceError):
        motion.fps = 3.0


def test_the_callers_arrays_are_neither_shared_nor_locked():
    translations, rotations = np.zeros((5, 1, 3)), np.tile(rot.IDENTITY, (5, 1, 1))
    m = kp.Motion("x", kp.Skeleton(("a",), [-1], [[0, 0, 0]]), 30, translations, rotations)
    translations[2] = 7.0
    assert m.translations[2, 0, 0] == 0.0
    locked_view = translations[:]
    locked_view.setflags(write=False)
    m = kp.Motion("x", m.skeleton, 30, locked_view, rotations)
    translations[3] = 7.0
    assert m.translations[3, 0, 0] == 0.0


@pytest.mark.parametrize("kind", ["mapped", "buffer"])
def test_memory_writable_elsewhere_is_copied(tmp_path, kind):
    """A mapped file, or an array over a buffer, may change although the array itself is read-only."""
    m = small_motion()
    if kind == "mapped":
        np.save(tmp_path / "m.npy", m.translations)
        outside = np.load(tmp_path / "m.npy", mmap_mode="r")
    else:
        outside = np.ndarray(m.translations.shape, np.float64, bytearray(m.translations.tobytes()))
        outside.setflags(write=False)
    assert not np.shares_memory(replace(m, translations=outside).translations, outside)


def test_heights_by_blocks_equal_those_of_the_whole_clip(monkeypatch):
    lying = replace(small_motion(), up="X")
    points = np.concatenate((lying.world_positions(), lying.end_positions()), axis=1)
    monkeypatch.setattr("keypose.model.motion.BLOCK_POSES", 7 * 6)
    assert lying.height == pytest.approx(np.percentile(np.ptp(points[..., 0], axis=1), 95))


def test_slices_share_memory_with_the_whole():
    m = small_motion()
    part = m[10:20]
    assert part.n_frames == 10 and part.first_frame == 10
    assert np.shares_memory(part.rotations, m.rotations)
    assert m[-5:].first_frame == 45 and m[:].n_frames == 50


@pytest.mark.parametrize("wrong", [slice(5, 5), slice(60, 70), slice(0, 10, 2), slice(None, None, -1)])
def test_invalid_slices(wrong):
    with pytest.raises(kp.OptionError):
        small_motion()[wrong]


def test_whole_ratio_takes_existing_frames():
    m = small_motion(51)
    half = m.at_fps(60)
    assert half.fps == 60 and half.n_frames == 26
    np.testing.assert_array_equal(half.rotations, m.rotations[::2])
    nearly = replace(m, fps=1 / 0.0083333)  # CMU's rounded frame time
    np.testing.assert_array_equal(nearly.at_fps(30).translations, m.translations[::4])
    same = m.at_fps(120)
    np.testing.assert_array_equal(same.rotations, m.rotations)


def test_other_ratios_interpolate():
    m = small_motion(51)
    up = m.at_fps(240)
    assert up.n_frames == 101
    np.testing.assert_allclose(up.translations[::2], m.translations, atol=1e-12)
    assert rot.angle_between(up.rotations[::2], m.rotations).max() < 1e-9
    middle = up.rotations[1]
    np.testing.assert_allclose(
        rot.angle_between(m.rotations[0], middle), rot.angle_between(middle, m.rotations[1]), atol=1e-9
    )
    odd = m.at_fps(50)
    assert odd.n_frames == 21 and odd.duration_s == pytest.approx(m.duration_s, abs=0.02)
    assert small_motion(1).at_fps(77).n_frames == 1
    for wrong in (0, -3, np.nan, np.inf, 1e-320, 1e300, 1e12):
        with raises(kp.OptionError, option="fps"):
            m.at_fps(wrong)


def test_concatenation():
    m = small_motion()
    both = m[:20] + m[20:]
    np.testing.assert_array_equal(both.rotations, m.rotations)
    assert both.name == m.name and both.metres_per_unit == m.metres_per_unit
    assert kp.concatenate([m]).n_frames == m.n_frames
    with raises(kp.OptionError, expected="the same"):
        m + m.at_fps(60)
    with raises(kp.OptionError, expected="the same axis"):
        m + replace(m, up="Z")
    other = kp.Motion(
        "o",
        kp.Skeleton(("a",), [-1], [[0, 0, 0]]),
        120,
        np.zeros((2, 1, 3)),
        np.tile(rot.IDENTITY, (2, 1, 1)),
    )
    with raises(kp.OptionError, expected="the same skeleton"):
        m + other
    with raises(kp.OptionError, expected="at least one"):
        kp.concatenate([])


def test_joints_by_their_own_name_and_by_anatomy():
    m = small_motion()
    assert m.joint("LeftLeg") == 3 == m.joint("left_shin")
    assert m.joints(["LeftLeg", "Hips"]) == (0, 3)
    assert set(m.joints("left_leg")) >= {2, 3}
    with raises(kp.UnknownJoint, value="LeftLegg"):
        m.joint("LeftLegg")


def test_euler_curves_follow_the_joints_own_orders_and_never_wrap():
    frames = 200
    angles = np.linspace(0, 900, frames)  # two and a half rotations
    orders = ("ZXY", "XYZ", "YZX", "ZYX")
    rotations = np.stack(
        [rot.from_euler(np.deg2rad(np.stack((angles, 0.1 * angles / 9, 0 * angles), 1)), o) for o in orders],
        1,
    )
    skeleton = replace(small_skeleton(), rotation_orders=orders, channels=())
    m = kp.Motion("turns", skeleton, 30, np.zeros((frames, 4, 3)), rotations)
    curves = m.euler_curves()
    assert curves.shape == (frames, 4, 3)
    for j in range(4):
        np.testing.assert_allclose(curves[:, j, 0], angles, atol=1e-6)
        np.testing.assert_allclose(curves[:, j, 1], angles / 90, atol=1e-6)


def test_height_of_reference_rest_or_frames():
    m = small_motion()
    assert m.height == pytest.approx(15 + 17)  # 10 + 5 up, 1 + 8 + 8 down
    assert m.mm_per_unit == pytest.approx(1700 / 32)
    taller = kp.Pose(m.translations[0] * 2, np.tile(rot.IDENTITY, (4, 1)))
    assert replace(m, reference_pose=taller).height == pytest.approx(2 * (10 + 1 + 8) + 5 + 8)
    lying = replace(m, up="X")
    points = np.concatenate((m.world_positions(), m.end_positions()), axis=1)
    assert lying.height == pytest.approx(np.percentile(np.ptp(points[..., 0], axis=1), 95))


def test_a_figure_without_height_is_rejected():
    m = kp.Motion(
        "dot",
        kp.Skeleton(("a",), [-1], [[0, 0, 0]]),
        30,
        np.zeros((3, 1, 3)),
        np.tile(rot.IDENTITY, (3, 1, 1)),
    )
    assert m.height == 0
    with raises(kp.OptionError, code="no_height"):
        _ = m.mm_per_unit


def test_nearly_unit_rotations_are_normalised_and_others_rejected():
    m = small_motion()
    scaled = replace(m, rotations=m.rotations * 1.0005)
    np.testing.assert_allclose(np.linalg.norm(scaled.rotations, axis=-1), 1, atol=1e-15)
    assert replace(m, name="x").rotations is m.rotations
    with raises(kp.ModelError, option="motion rotations"):
        replace(m, rotations=m.rotations * 1.1)


def test_motions_are_made_while_another_thread_imports_numpy_ma(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))  # as it is at the start of its import
    assert small_motion(frames=2).n_frames == 2


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"fps": 0}, {"subject": "motion", "expected": "0.001 to 1e+06"}),
        ({"fps": float("nan")}, {"subject": "motion", "expected": "0.001 to 1e+06"}),
        ({"fps": 1e-320}, {"subject": "motion", "expected": "0.001 to 1e+06"}),
        ({"fps": 10**400}, {"subject": "motion", "expected": "a number"}),
        ({"fps": None}, {"subject": "motion", "expected": "a number"}),
        ({"first_frame": 1.5}, {"subject": "motion", "expected": "a whole number"}),
        ({"first_frame": 2**60}, {"subject": "motion", "problem": "the first frame's number is beyond all measure"}),
        ({"metres_per_unit": 1e-300}, {"subject": "motion", "expected": "1e-12 to 1e12 or None"}),
        ({"translations": np.zeros((50, 4, 3), complex)}, {"option": "motion translations", "expected": "plain ones"}),
        (
            {"translations": np.ma.masked_greater(np.ones((50, 4, 3)), 0)},
            {"option": "motion translations", "expected": "plain ones"},
        ),
        ({"up": "W"}, {"subject": "motion", "expected": "one of X, Y, Z, -X, -Y, -Z"}),
        ({"tolerance_mm": float("nan")}, {"subject": "motion", "expected": "0 to 1e+15, or None"}),
        ({"tolerance_mm": float("inf")}, {"subject": "motion", "expected": "0 to 1e+15, or None"}),
        ({"tolerance_mm": -0.1}, {"subject": "motion", "expected": "0 to 1e+15, or None"}),
        ({"tolerance_mm": "x"}, {"subject": "motion", "expected": "a number"}),
        ({"metres_per_unit": -1.0}, {"subject": "motion", "expected": "1e-12 to 1e12 or None"}),
        ({"translations": np.zeros((50, 3, 3))}, {"option": "motion translations", "expected": "(any, 4, 3)"}),
        (
            {"translations": np.full((50, 4, 3), np.nan)},
            {"option": "motion translations", "expected": "finite numbers up to 1e+15"},
        ),
        (
            {"translations": np.full((50, 4, 3), 1e300)},
            {"option": "motion translations", "expected": "finite numbers up to 1e+15"},
        ),
        ({"translations": [["x"] * 3] * 4}, {"option": "motion translations"}),
        ({"rotations": np.zeros((49, 4, 4))}, {"option": "motion rotations", "expected": "(50, 4, 4)"}),
        (
            {"translations": np.zeros((0, 4, 3)), "rotations": np.zeros((0, 4, 4))},
            {"subject": "motion", "expected": "at least one"},
        ),
        ({"reference_pose": kp.Pose(np.zeros((1, 3)), [rot.IDENTITY])}, {"subject": "motion", "expected": "4"}),
    ],
)
def test_mismatched_motions_are_rejected(changes, fields):
    with raises(kp.ModelError, **fields):
        replace(small_motion(), **changes)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"names": ()}, {"subject": "skeleton", "expected": "at least one"}),
        (
            {"names": ("a", "a", "b", "c")},
            {"subject": "skeleton", "problem": "the joint name 'a' is used more than once"},
        ),
        ({"parents": [-1, 0, 3, 0]}, {"subject": "skeleton", "expected": "-1 or an earlier joint"}),
        ({"parents": [-1, 0, -2, 0]}, {"subject": "skeleton", "expected": "-1 or an earlier joint"}),
        ({"parents": [-1, 0, 0.5, 0]}, {"option": "skeleton parents", "expected": "integers"}),
        ({"parents": [2**32 - 1, 0, 0, 0]}, {"problem": "numbers beyond 32 bits"}),
        ({"parents": [[-1], [0, 1]]}, {"option": "skeleton parents"}),
        ({"end_joints": [1, 2**32]}, {"problem": "numbers beyond 32 bits"}),
        ({"offsets": np.zeros((4, 2))}, {"option": "skeleton offsets", "expected": "(4, 3)"}),
        ({"rotation_orders": ("ZXY",) * 3}, {"subject": "skeleton", "problem": "4 joints but 3 rotation orders"}),
        (
            {"rotation_orders": ("ZXY",) * 3, "channels": ()},
            {"subject": "skeleton", "problem": "4 joints but 3 rotation orders"},
        ),
        ({"channels": ((),) * 3}, {"subject": "skeleton", "problem": "4 joints but 3 channel lists"}),
        (
            {"rotation_orders": ("ZXZ",) * 4, "channels": ()},
            {"subject": "skeleton", "expected": "one of XYZ, XZY, YXZ, YZX, ZXY, ZYX"},
        ),
        (
            {"channels": (("Wrotation",),) * 4},
            {
                "subject": "skeleton",
                "expected": "each of Xposition Yposition Zposition Xrotation Yrotation Zrotation at most once",
            },
        ),
        (
            {"channels": (("Xrotation", "Xrotation"),) * 4},
            {
                "subject": "skeleton",
                "expected": "each of Xposition Yposition Zposition Xrotation Yrotation Zrotation at most once",
            },
        ),
        (
            {"channels": (("Xrotation", "Zrotation"),) * 4},
            {"subject": "skeleton", "problem": "Hips has channels for XZ but rotation order ZXY"},
        ),
        ({"end_joints": [1, 4]}, {"subject": "skeleton", "problem": "an end site names a joint outside 0..3"}),
        ({"end_joints": [1]}, {"option": "skeleton end offsets", "expected": "(1, 3)"}),
    ],
)
def test_mismatched_skeletons_are_rejected(changes, fields):
    with raises(kp.ModelError, **fields):
        replace(small_skeleton(), **changes)


def test_several_roots_and_default_channels():
    s = kp.Skeleton(("a", "b", "c"), [-1, -1, 1], np.zeros((3, 3)))
    assert s.roots == (0, 1)
    assert [len(c) for c in s.channels] == [6, 6, 3]


def test_html_repr():
    m = small_motion()
    assert "50 frames at 120 fps" in repr(m) and "4 joints" in repr(m.skeleton)
    assert "<svg" in m._repr_html_() and "50" in m._repr_html_()
    assert len(m) == 50


def test_one_pose_at_a_time():
    m = small_motion()
    np.testing.assert_array_equal(m[7].rotations, m.rotations[7])
    np.testing.assert_array_equal(m[-1].translations, m.translations[-1])
    assert len(list(m)) == 50 and repr(m[np.int64(3)]) == "Pose(4 joints)"
    for wrong in (50, -51, "3", 1.5, None):
        with pytest.raises(kp.OptionError):
            m[wrong]


def test_names_in_another_case_and_invalid_names():
    m = small_motion()
    assert m.joint("leftleg") == 3 and m.joints(["HIPS"]) == (0,)
    with raises(kp.UnknownJoint, value="qqq"):
        m.joint("qqq")
    with raises(kp.UnknownJoint, value="LeftLeeg"):
        m.joints(["LeftLeeg"])
    with raises(kp.OptionError, expected="text such as 'Hips'"):
        m.joint(3)
    with raises(kp.OptionError, option="fps", value="30", expected="a number from 0.001 to 1e+06"):
        m.at_fps("30")
