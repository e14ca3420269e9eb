"""ASF/AMC: poses against a slow reference and BVH versions of the same clips, and the dialects of both files."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FormatError, OptionError
from keypose.formats.acclaim import amc, find_skeleton
from keypose.formats.acclaim.asf import read_skeleton
from keypose.formats.base import Source
from support.acclaim import AMC, ASF, amc_text, asf_text, naive_world, random_figure, swap, write
from support.errors import raises


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("radians", [False, True])
def test_poses_agree_with_the_slow_reference(tmp_path, seed, radians):
    rng = np.random.default_rng(seed)
    bones = random_figure(rng)
    order = ["tx", "ty", "tz", "rx", "ry", "rz"]
    rng.shuffle(order)
    position, orientation = rng.normal(size=3), rng.uniform(-180, 180, 3)
    dof = {"root": tuple(order)} | {b.name: b.dof for b in bones if b.dof}
    names = list(dof)
    rng.shuffle(names)  # an AMC has an order of its own
    frames = [{n: rng.uniform(-170, 170, len(dof[n])) for n in names} for _ in range(5)]
    path = write(tmp_path, asf_text(bones, order, position, orientation, radians), amc_text(frames, radians, dof))
    m = kp.load(path, reference_pose="keep")
    assert sorted(m.skeleton.names) == sorted(["root", *(b.name for b in bones)])
    for t, values in enumerate(frames):
        expected = naive_world(bones, order, position, orientation, values)
        for j, name in enumerate(m.skeleton.names):
            assert m.world_positions()[t, j] == pytest.approx(expected[name][0], abs=1e-9), (t, name)
        for e, j in enumerate(m.skeleton.end_joints):
            name = m.skeleton.names[j]
            if "l" not in dof.get(name, ()):
                assert m.end_positions()[t, e] == pytest.approx(expected[name][1], abs=1e-9), (t, name)


def test_a_turn_about_fixed_axes_by_hand(tmp_path):
    asf = swap(ASF, "axis 0 0 20 XYZ", "axis 0 0 0 XYZ")
    motion = ":DEGREES\n1\nroot 5 6 7 0 0 0\nthigh 90 0 90\nshin 0 0\n"
    m = kp.load(write(tmp_path, asf, motion))
    shin = m.world_positions()[0, m.joint("shin")]
    # The thigh points to -y; 90 degrees about x make it -z, then 90 degrees about z leave it there.
    assert shin == pytest.approx([5, 6, 3], abs=1e-12)


def test_fields_of_a_loaded_motion(tmp_path):
    m = kp.load(write(tmp_path))
    s = m.skeleton
    assert s.names == ("root", "thigh", "shin", "arm")
    assert s.parents.tolist() == [-1, 0, 1, 0]
    assert s.offsets == pytest.approx(np.array([[0, 0, 0], [0, 0, 0], [0, -4, 0], [0, 0, 0]]))
    assert s.end_joints.tolist() == [2, 3]
    assert s.end_offsets == pytest.approx(np.array([[3, -4, 0], [2.5, 0, 0]]))
    assert s.rotation_orders == ("ZYX",) * 4  # XYZ about fixed axes
    assert [len(c) for c in s.channels] == [6, 3, 3, 3]
    assert (m.name, m.n_frames, m.fps, m.first_frame, m.up) == ("leg", 3, 120.0, 1, "Y")
    assert m.metres_per_unit == pytest.approx(0.05644, abs=1e-5)
    assert m.notes[0] == "skeleton from the .asf file beside it"
    assert any("120 fps is assumed" in note for note in m.notes)


def test_fps_option(tmp_path):
    m = kp.load(write(tmp_path), fps=60)
    assert m.fps == 60.0
    assert not any("assumed" in note for note in m.notes)
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with raises(OptionError, option="fps"):
            kp.load(tmp_path / "leg.amc", fps=wrong)


def test_orders_follow_the_file(tmp_path):
    asf = swap(ASF, "order TX TY TZ RX RY RZ", "order RZ RX RY TX TY TZ")
    asf = swap(asf, "dof rx rz", "dof RZ RX")
    m = kp.load(write(tmp_path, asf))
    assert m.skeleton.rotation_orders == ("YXZ", "ZYX", "YXZ", "ZYX")
    assert m.translations[0, 0] == pytest.approx([10, 20, 30])


def test_moving_bones_have_position_channels(tmp_path):
    asf = swap(ASF, "dof rx rz", "dof rx tz")
    assert [len(c) for c in kp.load(write(tmp_path, asf)).skeleton.channels] == [6, 3, 6, 3]
    asf = swap(ASF, "dof rx ry rz", "dof rx ry l")
    assert [len(c) for c in kp.load(write(tmp_path, asf)).skeleton.channels] == [6, 3, 6, 3]
    asf = swap(ASF, "dof rx rz", "dof rx l")
    assert any("'shin' changes its length, but its end site" in n for n in kp.load(write(tmp_path, asf)).notes)


def test_a_unit_that_is_not_stated_is_not_invented(tmp_path):
    assert kp.load(write(tmp_path, swap(ASF, "  length 0.45\n", ""))).metres_per_unit is None


def test_a_direction_is_a_direction(tmp_path):
    m = kp.load(write(tmp_path, swap(ASF, "direction 0 -1 0", "direction 0 -7 0")))
    assert m.skeleton.offsets[2] == pytest.approx([0, -4, 0])


def test_the_reference_pose_option(tmp_path):
    path = write(tmp_path)
    m = kp.load(path, reference_pose="drop")
    assert (m.n_frames, m.first_frame) == (2, 2)
    assert m.reference_pose is not None
    with raises(OptionError, option="reference_pose", value="perhaps", expected="one of auto, keep, drop"):
        kp.load(path, reference_pose="perhaps")


# Radians and degrees


def test_radians_by_the_amc_or_by_the_asf(tmp_path):
    degrees = kp.load(write(tmp_path))
    rows = []
    for line in AMC.splitlines():
        words = line.split()
        fixed = 4 if words[0] == "root" else 1  # positions stay
        if words[0] in ("root", "thigh", "shin"):
            words[fixed:] = [repr(float(np.deg2rad(float(w)))) for w in words[fixed:]]
        rows.append(" ".join(words))
    text = "\n".join(rows) + "\n"
    in_amc = kp.load(write(tmp_path, motion=swap(text, ":DEGREES", ":radians")))
    assert in_amc.rotations == pytest.approx(degrees.rotations, abs=1e-14)
    asf = swap(ASF, "angle deg", "angle rad")
    asf = swap(asf, "axis 0 0 20", f"axis 0 0 {float(np.deg2rad(20))!r}")
    asf = swap(asf, "axis 30 -40 50", "axis " + " ".join(repr(float(v)) for v in np.deg2rad([30, -40, 50])))
    in_asf = kp.load(write(tmp_path, asf, swap(text, ":DEGREES\n", "")))
    assert in_asf.rotations == pytest.approx(degrees.rotations, abs=1e-14)
    amc_says_degrees = kp.load(write(tmp_path, asf, AMC))
    assert amc_says_degrees.rotations == pytest.approx(degrees.rotations, abs=1e-14)


def test_numbers_too_large_to_compute_with(tmp_path):
    motion = swap(swap(AMC, ":DEGREES", ":RADIANS"), "thigh 21", "thigh 1e308")
    with raises(FormatError, code="bad_number", value=2):
        kp.load(write(tmp_path, motion=motion))


# Dialects: the same file, written otherwise

DIALECTS = {
    "crlf": lambda t: t.replace("\n", "\r\n"),
    "old mac": lambda t: t.replace("\n", "\r"),
    "byte order mark": lambda t: "\ufeff" + t,
    "no last line end": lambda t: t.rstrip("\n"),
    "blank lines at the end": lambda t: t + "\n \n\n",
    "tabs and trailing blanks": lambda t: t.replace(" ", " \t ").replace("\n", " \n"),
    "indented": lambda t: "\n".join("  " + line for line in t.split("\n")),
    "blank lines": lambda t: t.replace("\n", "\n\n"),
    "comments": lambda t: t.replace("\n", " # remark\n"),
    "comments between": lambda t: t.replace("\n", "\n# remark 1 2 3\n"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("which", ["asf", "amc"])
def test_dialects(tmp_path, dialect, which):
    plain = kp.load(write(tmp_path))
    change = DIALECTS[dialect]
    asf, motion = (change(ASF), AMC) if which == "asf" else (ASF, change(AMC))
    m = kp.load(write(tmp_path, asf, motion))
    assert (m.rotations == plain.rotations).all()
    assert (m.translations == plain.translations).all()
    assert (m.n_frames, m.first_frame) == (3, 1)


def test_bones_in_another_order_in_some_frame(tmp_path):
    motion = swap(AMC, "thigh 21 -22 +23\nshin -.5 1.5E+1\n", "shin -.5 1.5E+1\nthigh 21 -22 +23\n")
    assert (kp.load(write(tmp_path, motion=motion)).rotations == kp.load(write(tmp_path)).rotations).all()


def test_a_still_bone_may_have_an_empty_line(tmp_path):
    motion = re.sub(r"(shin.*)", r"\1\narm", AMC)
    assert (kp.load(write(tmp_path, motion=motion)).rotations == kp.load(write(tmp_path)).rotations).all()


def test_frames_may_start_anywhere(tmp_path):
    motion = AMC.replace("\n3\n", "\n12\n").replace("\n2\n", "\n11\n").replace("\n1\n", "\n10\n")
    assert kp.load(write(tmp_path, motion=motion)).first_frame == 10


def test_bulk_and_line_by_line_read_the_same(tmp_path):
    path = write(tmp_path)
    asf = read_skeleton(Source(tmp_path / "leg.asf", ASF.encode()))
    source = Source(path, AMC.encode())
    body = amc._read_header(source)
    bulk, lines = amc._read_regular(source, asf, body), amc._read_lines(source, asf, body)
    assert bulk is not None
    for joint, start in lines.columns.items():
        width = len(asf.dof[joint])
        at = bulk.columns[joint]
        assert (bulk.values[:, at : at + width] == lines.values[:, start : start + width]).all()
    assert (bulk.first_frame, bulk.degrees) == (lines.first_frame, lines.degrees) == (1, True)


def test_a_skeleton_alone_is_one_frame_at_rest(tmp_path):
    write(
        tmp_path,
        swap(swap(ASF, "position 0 0 0", "position 1 2 3"), "orientation 0 0 0", "orientation 0 90 0"),
    )
    m = kp.load(tmp_path / "leg.asf")
    assert m.n_frames == 1
    assert any("rest pose" in note for note in m.notes)
    # Quarter turn about y: x goes to -z.
    assert m.world_positions()[0, m.joint("shin")] == pytest.approx([1, -2, 3])
    assert m.end_positions()[0, 1] == pytest.approx([1, 2, 0.5])


# Real files

BVH_NAMES = {
    "root": "Hips", "lhipjoint": "LHipJoint",
    "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot", "ltoes": "LeftToeBase",
    "rhipjoint": "RHipJoint", "rfemur": "RightUpLeg", "rtibia": "RightLeg", "rfoot": "RightFoot",
    "rtoes": "RightToeBase",
}  # fmt: skip
UPPER_BVH_NAMES = {
    "lowerneck": "Neck", "upperneck": "Neck1", "head": "Head",
    "lclavicle": "LeftShoulder", "lhumerus": "LeftArm", "lradius": "LeftForeArm", "lwrist": "LeftHand",
    "rclavicle": "RightShoulder", "rhumerus": "RightArm", "rradius": "RightForeArm", "rwrist": "RightHand",
}  # fmt: skip


@pytest.mark.data
def test_cmu_pairs_agree_with_their_bvh_versions(data_dir):
    folder = data_dir / "asf-amc"
    with (folder / "CROSSCHECK.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    for row in rows:
        pair, reference = kp.load(folder / row["amc"]), kp.load(folder / row["bvh"])
        assert find_skeleton(Source(folder / row["amc"], b"")).name == row["asf"]
        assert pair.n_frames == reference.n_frames == int(row["amc_frames"])
        a, b = pair.world_positions(), reference.world_positions()
        at = lambda name, pair=pair, a=a: a[:, pair.skeleton.names.index(name)]  # noqa: E731
        reference_at = lambda name, twin=reference, b=b: b[:, twin.skeleton.names.index(name)]  # noqa: E731
        for ours, theirs in BVH_NAMES.items():
            assert np.abs(at(ours) - reference_at(theirs)).max() < 1e-4, (row["motion"], ours)
        thorax = at("lowerneck") - at("thorax")  # the bone that the BVH leaves out
        assert np.linalg.norm(thorax, axis=1) == pytest.approx(
            float(row["thorax_bone_length_missing_in_bvh"]), abs=1e-4
        )
        for ours, theirs in UPPER_BVH_NAMES.items():
            assert np.abs(at(ours) - thorax - reference_at(theirs)).max() < 1e-4, (row["motion"], ours)
        assert pair.up == "Y"
        assert pair.metres_per_unit == pytest.approx(0.05644, abs=1e-5)


@pytest.mark.data
def test_real_files_are_parsed_in_bulk(data_dir):
    folder = data_dir / "asf-amc"
    asf_path = folder / "02.asf"
    asf = read_skeleton(Source(asf_path, asf_path.read_bytes()))
    for path in sorted(folder.glob("*.amc")):
        source = Source(path, path.read_bytes())
        assert amc._read_regular(source, asf, amc._read_header(source)) is not None, path.name
