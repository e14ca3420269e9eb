"""Read and write BVH in every dialect."""

from __future__ import annotations

import gzip
import warnings
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose import rotations as rot
from keypose.batch.stored_file import read_channel_table
from keypose.model import note_code
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
    with warns(
        kp.FormatWarning,
        code="channels_added",
        value=2,
        problem="2 of 3 joints move outside their channels (Knee, Chest)",
    ) as records:
        kp.save(edited, tmp_path / "again.bvh")
    assert len(records) == 1
    one = replace(m, rotations=rotations)
    with warns(
        kp.FormatWarning, code="channels_added", value=1, problem="joint Knee moves outside its channels (Xrotation)"
    ):
        kp.save(one, tmp_path / "one.bvh")
    again = kp.load(tmp_path / "again.bvh")
    assert again.skeleton.channels[1] == ("Xrotation", "Yrotation", "Zrotation")
    assert len(again.skeleton.channels[2]) == 6
    np.testing.assert_allclose(again.world_positions(), edited.world_positions(), atol=1e-5)


@pytest.mark.parametrize(("share", "n_channels"), [(0.5e-6, 3), (2e-6, 6)])
def test_positions_rounded_to_32_bits_need_no_channels(tmp_path, share, n_channels):
    m = kp.demo_motion(fps=10)
    shift = np.zeros((1, m.n_joints, 3))
    shift[:, 1:, 1] = share * m.height
    rounded = replace(m, translations=m.translations + shift)
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        kp.save(rounded, tmp_path / "x.bvh")
    assert [record.message.code for record in records] == ["channels_added"] * (n_channels == 6)
    assert {len(channels) for channels in kp.load(tmp_path / "x.bvh").skeleton.channels[1:]} == {n_channels}


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


def wrap_frames(text: str, width: int, *, across_frames: bool = False) -> str:
    """Return the text with at most ``width`` numbers on a line of the frames."""
    head, rows = text.split("Frame Time: 0.02\n")
    lines = [rows.split()] if across_frames else [row.split() for row in rows.splitlines()]
    pieces = [" ".join(line[at : at + width]) for line in lines for at in range(0, len(line), width)]
    return f"{head}Frame Time: 0.02\n" + "\n".join(pieces) + "\n"


@pytest.mark.parametrize("across_frames", [False, True])
@pytest.mark.parametrize(("width", "eol"), [(1, "\n"), (4, "\r\n"), (7, "\r")])
def test_frames_wrapped_over_several_lines(load_text, width, eol, across_frames):
    text = wrap_frames(bvh_text(), width, across_frames=across_frames)
    m = load_text(text.replace("\n", eol))
    plain = load_text(bvh_text())
    np.testing.assert_array_equal(m.translations, plain.translations)
    np.testing.assert_array_equal(m.rotations, plain.rotations)
    assert plain.notes == () and list(map(note_code, m.notes)) == ["wrapped_lines"]


def test_all_frames_on_one_line(load_text):
    m = load_text(wrap_frames(bvh_text(), 10**6, across_frames=True))
    np.testing.assert_array_equal(m.rotations, load_text(bvh_text()).rotations)
    assert list(map(note_code, m.notes)) == ["wrapped_lines"]


def test_a_single_wrapped_frame(load_text):
    text = bvh_text(ROWS[:1])
    np.testing.assert_array_equal(load_text(wrap_frames(text, 4)).rotations, load_text(text).rotations)


def test_lossless_storage_of_wrapped_frames(tmp_path):
    path = tmp_path / "wrapped.bvh"
    path.write_text(wrap_frames(bvh_text(), 4))
    table = read_channel_table(path, kp.load(path))
    assert table is not None
    np.testing.assert_array_equal(table.values, ROWS)
