"""Read and write BVH in every dialect."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose import rotations as rot
from reference import naive
from support.bvh_files import HIERARCHY, ROWS, bvh_text, same_motion
from support.errors import raises, warns


def test_a_small_file(load_text):
    m = load_text(bvh_text())
    s = m.skeleton
    assert s.names == ("Hips", "Knee", "Chest") and s.parents.tolist() == [-1, 0, 0]
    assert s.offsets.tolist() == [[0, 0, 0], [0, -10, 0], [0, 12, 0.5]]
    assert s.channels[1] == ("Xrotation",) and s.rotation_orders == ("ZXY", "XYZ", "YZX")
    assert s.end_joints.tolist() == [1] and s.end_offsets.tolist() == [[0, -9, 1]]
    assert (m.name, m.n_frames, m.fps, m.first_frame, m.notes) == ("x", 3, 50.0, 0, ())
    translations, matrices = naive.poses_from_channels(ROWS, s.channels, s.offsets)
    np.testing.assert_array_equal(m.translations, translations)
    np.testing.assert_allclose(rot.to_matrix(m.rotations), matrices, atol=1e-12)


def test_position_channels_replace_the_offset(load_text):
    """As in Blender: position channels win over the OFFSET."""
    m = load_text(bvh_text(hierarchy=HIERARCHY.replace("OFFSET 0 0 0", "OFFSET 5 6 7")))
    assert m.world_positions()[0, 0].tolist() == [0, 20, 0]
    assert m.skeleton.offsets[0].tolist() == [5, 6, 7]


def test_a_missing_position_channel_keeps_the_offset(load_text):
    hierarchy = HIERARCHY.replace("OFFSET 0 0 0", "OFFSET 5 6 7").replace(
        "CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 4 Yposition"
    )
    m = load_text(bvh_text([row[2:] for row in ROWS], hierarchy=hierarchy))
    assert m.translations[0, 0].tolist() == [5, 0, 7]


VARIANTS = {
    "crlf": lambda t: t.replace("\n", "\r\n"),
    "mixed line ends": lambda t: t.replace("\n", "\r\n", 9),
    "carriage returns": lambda t: t.replace("\n", "\r"),
    "byte order mark": lambda t: "\ufeff" + t,
    "tabs and trailing blanks": lambda t: t.replace(" ", "\t").replace("\n", " \t\n").replace("End\tSite", "End Site").replace("Frame\tTime", "Frame Time"),
    "lower case": lambda t: t.lower().replace("hips", "Hips").replace("knee", "Knee").replace("chest", "Chest"),
    "braces on the line": lambda t: t.replace("Hips\n{", "Hips {").replace("Knee\n  {", "Knee {").replace("End Site\n    {", "End Site {"),
    "offset and channels on one line": lambda t: t.replace("0 0 0\n  CH", "0 0 0 CH"),
    "blank lines": lambda t: t.replace("\n", "\n\n"),
    "scientific notation": lambda t: t.replace(" 20 ", " 2.0E+01 "),
    "no last line end": lambda t: t.rstrip(),
    "blanks before": lambda t: "\n  " + t,
}  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_in_every_dialect(load_text, variant):
    plain, other = load_text(bvh_text(), "plain.bvh"), load_text(VARIANTS[variant](bvh_text()), "other.bvh")
    assert other.skeleton.names == plain.skeleton.names and other.skeleton.channels == plain.skeleton.channels
    np.testing.assert_array_equal(other.rotations, plain.rotations)
    np.testing.assert_array_equal(other.translations, plain.translations)
    assert other.fps == plain.fps and other.notes == ()


@pytest.mark.parametrize("name", ["Left Knee", "mixamorig:Knee", "knee.L", "TORSO#", "Knie_ß", "JOINT", "[red]", "a/b"])
def test_names_are_unchanged(load_text, tmp_path, name):
    m = load_text(bvh_text(hierarchy=HIERARCHY.replace("Knee", name)))
    assert m.skeleton.names[1] == name
    kp.save(m, tmp_path / "again.bvh")
    assert kp.load(tmp_path / "again.bvh").skeleton.names[1] == name


def test_a_name_used_twice_gets_a_number(load_text):
    with warns(kp.FormatWarning, code="repeated_name", value="Knee.001"):
        m = load_text(bvh_text(hierarchy=HIERARCHY.replace("Chest", "Knee")))
    assert m.skeleton.names == ("Hips", "Knee", "Knee.001")


def test_written_and_read_again(load_text, tmp_path):
    m = load_text(bvh_text())
    kp.save(m, tmp_path / "again.bvh")
    same_motion(m, kp.load(tmp_path / "again.bvh"))
    kp.save(m, tmp_path / "again.bvh.gz")
    assert gzip.decompress((tmp_path / "again.bvh.gz").read_bytes()) == (tmp_path / "again.bvh").read_bytes()
    same_motion(m, kp.load(tmp_path / "again.bvh.gz"))


def test_movement_outside_the_channels_gets_channels(load_text, tmp_path):
    m = load_text(bvh_text())
    rotations, positions = m.rotations.copy(), m.translations.copy()
    rotations[1, 1] = rot.from_euler(np.array([0.1, 0.2, 0.3]), "XYZ")
    positions[2, 2] += (0, 1, 0)
    edited = replace(m, rotations=rotations, translations=positions)
    with pytest.warns(kp.FormatWarning) as caught:
        kp.save(edited, tmp_path / "again.bvh")
    assert {w.message.args[0].split()[2] for w in caught} == {"Knee", "Chest"}
    again = kp.load(tmp_path / "again.bvh")
    assert again.skeleton.channels[1] == ("Xrotation", "Yrotation", "Zrotation")
    assert len(again.skeleton.channels[2]) == 6
    np.testing.assert_allclose(again.world_positions(), edited.world_positions(), atol=1e-5)


def with_t_pose(frames: int = 40) -> list[list[float]]:
    rng = np.random.default_rng(5)
    movement = np.cumsum(rng.normal(scale=0.5, size=(frames, 10)), axis=0)
    movement += [0, 20, 0, 40, 50, 60, 70, -60, 50, 40]
    return [[0, 20, 0, *[0] * 7], *movement.tolist()]


def test_the_reference_pose_is_split_off_and_can_be_written_back(load_text, tmp_path):
    text = bvh_text(with_t_pose())
    m = load_text(text)
    assert m.n_frames == 40 and m.first_frame == 1 and "reference pose" in m.notes[0]
    assert m.reference_pose is not None and m.reference_pose.rotations.tolist() == [list(rot.IDENTITY)] * 3
    unsplit = load_text(text, reference_pose="keep")
    assert unsplit.n_frames == 41 and unsplit.reference_pose is None
    np.testing.assert_array_equal(unsplit.rotations[1:], m.rotations)
    kp.save(m, tmp_path / "without.bvh")
    assert kp.load(tmp_path / "without.bvh", reference_pose="keep").n_frames == 40
    kp.save(m, tmp_path / "with.bvh", reference_pose=True)
    again = kp.load(tmp_path / "with.bvh")
    assert again.n_frames == 40 and again.reference_pose is not None


def test_movement_without_a_reference_pose_keeps_its_first_frame(load_text):
    text = bvh_text(with_t_pose()[1:])
    assert load_text(text).n_frames == 40
    assert load_text(text, reference_pose="drop").n_frames == 39
    with raises(kp.OptionError, option="reference_pose", value="yes", expected="one of auto, keep, drop"):
        load_text(text, reference_pose="yes")
