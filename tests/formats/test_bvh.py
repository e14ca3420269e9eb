from __future__ import annotations

import csv
import gzip
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
import naive
from keypose import rotations as rot

HIERARCHY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Knee
  {
    OFFSET 0 -10 0
    CHANNELS 1 Xrotation
    End Site
    {
      OFFSET 0 -9 1
    }
  }
  JOINT Chest
  {
    OFFSET 0 12 0.5
    CHANNELS 3 Yrotation Zrotation Xrotation
  }
}
"""
ROWS = [
    [0, 20, 0, 1, 2, 3, 4, 5, 6, 7],
    [1, 21, 2, 11, 12, 13, 14, 15, 16, 17],
    [2, 22, 4, -21, 22, 23, 24, -5, 46, 1],
]


def bvh_text(rows=ROWS, *, hierarchy=HIERARCHY, frames=None, frame_time="0.02", eol="\n") -> str:
    lines = [*hierarchy.splitlines(), "MOTION", f"Frames: {len(rows) if frames is None else frames}"]
    lines += [f"Frame Time: {frame_time}", *(" ".join(map(str, row)) for row in rows)]
    return eol.join(lines) + eol


@pytest.fixture
def load_text(tmp_path):
    def load(text: str | bytes, name: str = "x.bvh", **options) -> kp.Motion:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return kp.load(path, **options)

    return load


def test_a_small_file_is_what_it_says(load_text):
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
    """As Blender reads it: a root with both stands where its channels say."""
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
def test_whole_names_are_kept(load_text, tmp_path, name):
    m = load_text(bvh_text(hierarchy=HIERARCHY.replace("Knee", name)))
    assert m.skeleton.names[1] == name
    kp.save(m, tmp_path / "again.bvh")
    assert kp.load(tmp_path / "again.bvh").skeleton.names[1] == name


def test_a_name_used_twice_gets_a_number(load_text):
    with pytest.warns(kp.FormatWarning, match="numbered: Knee.001"):
        m = load_text(bvh_text(hierarchy=HIERARCHY.replace("Chest", "Knee")))
    assert m.skeleton.names == ("Hips", "Knee", "Knee.001")


@pytest.mark.parametrize(
    ("change", "message", "frames"),
    [
        (lambda t: t.replace("Frames: 3", "Frames: 2"), "header says 2 frames, 3 rows follow", 3),
        (lambda t: t.replace("Frames: 3", "Frames: 9"), "header says 9 frames, 3 rows follow", 3),
        (lambda t: t.rsplit(" ", 4)[0], "last row has 6 of 10 numbers", 2),
        (lambda t: t.replace("Time: 0.02", "Time: 0"), "30 fps is assumed", 3),
        (lambda t: t.replace("2 22 4 -21", "2 22 4-21"), "lack the blank", 3),
    ],
)
def test_repaired_with_a_warning(load_text, change, message, frames):
    with pytest.warns(kp.FormatWarning, match=message):
        m = load_text(change(bvh_text()))
    assert m.n_frames == frames and any(message.split()[-1] in note for note in m.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("MOTION\n", ""), r"x.bvh:26: no MOTION section"),
        (lambda t: t.replace("OFFSET 0 -10 0", "OFFSET 0 -10"), r"x.bvh:8: OFFSET with 2 numbers, expected 3"),
        (lambda t: t.replace("OFFSET 0 -10 0", "OFFSET 0 ten 0"), r"x.bvh:8: 'ten' as a coordinate"),
        (lambda t: t.replace("OFFSET 0 -10 0", "OFFSET 0 inf 0"), r"x.bvh:8: 'inf'"),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS 1 Xrot"), r"x.bvh:9: CHANNELS 1 Xrot, expected"),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation"), r"x.bvh:9: CHANNELS 2 Xrotation, expected"),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation Xrotation"), r"x.bvh:9: .*different"),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS many"), r"x.bvh:9: CHANNELS many"),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANELS 1 Xrotation"), r"x.bvh:9: 'CHANELS', expected OFFSET"),
        (lambda t: t.replace("JOINT Knee\n  {", "JOINT Knee\n"), r"x.bvh:8: 'OFFSET' after JOINT Knee, expected '{'"),
        (lambda t: t.replace("JOINT Knee", "JOINT"), r"x.bvh:6: JOINT without a name"),
        (lambda t: t.replace("JOINT Knee", "ROOT Knee"), r"x.bvh:6: ROOT in the wrong place"),
        (lambda t: t.replace("  }\n}\nMOTION", "  }\nMOTION"), r"ends inside Hips"),
        (lambda t: t.replace("}\nMOTION", "}\n}\nMOTION"), r"x.bvh:21: '}' without"),
        (lambda t: t.replace("ROOT Hips", ""), r"x.bvh:3: '{' without"),
        (lambda t: t.replace("Frames: 3", "Frames: three"), r"x.bvh:22: Frames: 'three', expected a whole number"),
        (lambda t: t.replace("Frame Time: 0.02", ""), r"no 'Frame Time:'"),
        (lambda t: t.replace("Time: 0.02", "Time: -1"), r"x.bvh:23: Frame Time: -1"),
        (lambda t: t.replace("Time: 0.02", "Time: soon"), r"x.bvh:23: 'soon' as Frame Time"),
        (lambda t: t.replace("1 21 2 11", "1 21 2"), r"x.bvh:25: frame 1 has 9 numbers, expected 10"),
        (lambda t: t.replace("1 21 2 11", "1 21 2 11 99"), r"x.bvh:25: frame 1 has 11 numbers, expected 10"),
        (lambda t: t.replace("1 21 2 11", "1 21 2 nan"), r"x.bvh:25: frame 1, Zrotation of Hips: 'nan' is not finite"),
        (lambda t: t.replace("14 15", "1,4 15"), r"x.bvh:25: frame 1, Xrotation of Knee: '1,4' is not a number"),
        (lambda t: t.split("0 20 0")[0], r"no frames"),
        (lambda t: t.replace("CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation", "CHANNELS 7 Xposition"), "expected a count of 0 to 6"),
    ],
)  # fmt: skip
def test_errors_say_where_and_what(load_text, change, message):
    with pytest.raises(kp.FormatError, match=message):
        load_text(change(bvh_text()))


@pytest.mark.parametrize(
    "change", [("OFFSET 0 -10 0", "OFFSET 0 -1e300 0"), ("0 20 0", "0 1e300 0"), ("4 5 6 7", "4 5 6 1e300")]
)
def test_numbers_beyond_all_measure(load_text, change):
    places = r"x.bvh:8: '-1e300'|x.bvh: frame 0, (Yposition of Hips|Xrotation of Chest): 1e\+300"
    with pytest.raises(kp.FormatError, match=places):
        load_text(bvh_text().replace(*change))


def test_a_motion_header_far_down(load_text):
    far = bvh_text().replace("Frames: 3\n", "Frames: 3\n" + " " * 380 + "\n" * 300)
    m = load_text(far)
    assert m.n_frames == 3 and m.fps == 50


@pytest.mark.parametrize("word", ["1e308", "1e-300", "5000", "1_0", "\u0663"])
def test_frame_times_beyond_all_measure(load_text, word):
    with pytest.raises(kp.FormatError, match=r"x.bvh:23: .*Frame Time"):
        load_text(bvh_text(frame_time=word))


def test_many_words_on_one_line_take_linear_time(load_text):
    text = bvh_text(hierarchy=HIERARCHY.replace("OFFSET 0 0 0", "OFFSET 0 0 0 " * 200_000))
    start = time.perf_counter()
    load_text(text)
    assert time.perf_counter() - start < 5


def with_end_sites(count: int) -> str:
    return HIERARCHY.replace("    End Site\n", "    End Site{}\n" * count + "    End Site\n")


def test_end_sites_count_for_the_limits(load_text):
    with pytest.raises(kp.LimitError, match="joints"):
        load_text(bvh_text(hierarchy=with_end_sites(20_000)))
    with pytest.raises(kp.LimitError, match="times the file's own size"):
        load_text(bvh_text([ROWS[0]] * 2000, hierarchy=with_end_sites(9000)))


def test_control_characters_and_endless_names_stay_out_of_messages(load_text):
    with pytest.raises(kp.FormatError) as caught:
        load_text(bvh_text(hierarchy=HIERARCHY.replace("Knee\n  {", "\x1b]0;owned\x07\n")))
    assert "\x1b" not in str(caught.value) and "owned" in str(caught.value)
    with pytest.raises(kp.FormatError) as caught:
        load_text(bvh_text(hierarchy=HIERARCHY.replace("Knee\n  {", "n" * 100_000 + "\n")))
    assert len(str(caught.value)) < 1000


def test_a_figure_of_micrometres_keeps_its_shape(load_text, tmp_path):
    m = load_text(bvh_text())
    s = m.skeleton
    tiny = replace(s, offsets=s.offsets * 1e-7, end_offsets=s.end_offsets * 1e-7)
    small = replace(m, skeleton=tiny, translations=m.translations * 1e-7)
    kp.save(small, tmp_path / "again.bvh")
    again = kp.load(tmp_path / "again.bvh")
    np.testing.assert_allclose(again.world_positions(), small.world_positions(), atol=1e-6 * small.height)


def test_what_is_saved_can_be_read(tmp_path):
    skeleton = kp.Skeleton(("a{", "a}", "\ud800"), [-1, 0, 0], np.zeros((3, 3)), channels=((), (), ()))
    still = kp.Motion("x", skeleton, 30, np.zeros((2, 3, 3)), np.tile(rot.IDENTITY, (2, 3, 1)))
    kp.save(still, tmp_path / "x.bvh")
    again = kp.load(tmp_path / "x.bvh")
    assert again.n_frames == 2 and again.skeleton.names == ("a_", "a_.001", "\ufffd")


@pytest.mark.parametrize(
    ("word", "fps"),
    [
        (".0083333", 120), ("0.008333", 120), ("0.0333333", 30), (".03333", 30), ("0.016667", 60), ("0.0416667", 24),
        ("0.04", 25), ("0.01", 100), ("0.0333667", 1 / 0.0333667), ("0.033", 1 / 0.033), ("0.0417083", 1 / 0.0417083),
        ("8.3333e-3", 120), ("2", 0.5),
    ],
)  # fmt: skip
def test_a_rounded_frame_time_means_the_whole_rate(load_text, tmp_path, word, fps):
    m = load_text(bvh_text(frame_time=word))
    assert m.fps == pytest.approx(fps, rel=1e-12)
    kp.save(m, tmp_path / "again.bvh")
    assert kp.load(tmp_path / "again.bvh").fps == pytest.approx(m.fps, rel=1e-12)


def test_limits_are_kept(load_text):
    deep = (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
        + "".join(f"JOINT j{i}\n{{\n" for i in range(2000))
        + "}\n" * 2001
    )
    text = bvh_text([[1]], hierarchy=deep)
    with pytest.raises(kp.LimitError, match="levels of joints"):
        load_text(text)
    assert load_text(text, limits=kp.Limits(depth=3000)).n_joints == 2001
    with pytest.raises(kp.LimitError, match=r"x.bvh.*joints"):
        load_text(text, limits=kp.Limits(joints=100))
    with pytest.raises(kp.LimitError, match="frames"):
        load_text(bvh_text(), limits=kp.Limits(frames=2))
    with pytest.raises(kp.LimitError, match="bytes"):
        load_text(bvh_text(), limits=kp.Limits(bytes=100))
    wide = "HIERARCHY\nROOT a\n{\nCHANNELS 1 Xrotation\n" + "JOINT j\n{\n}\n" * 9000 + "}\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        with pytest.raises(kp.LimitError, match="times the file's own size"):
            load_text(bvh_text([[1]] * 5000, hierarchy=wide))


def same_motion(a: kp.Motion, b: kp.Motion) -> None:
    assert b.skeleton.names == a.skeleton.names and b.skeleton.channels == a.skeleton.channels
    assert b.skeleton.rotation_orders == a.skeleton.rotation_orders
    assert b.skeleton.parents.tolist() == a.skeleton.parents.tolist()
    np.testing.assert_allclose(b.skeleton.offsets, a.skeleton.offsets, atol=1e-6)
    np.testing.assert_allclose(b.skeleton.end_offsets, a.skeleton.end_offsets, atol=1e-6)
    assert b.skeleton.end_joints.tolist() == a.skeleton.end_joints.tolist()
    assert 1 / b.fps == pytest.approx(1 / a.fps, abs=1e-12)
    assert np.rad2deg(rot.angle_between(a.rotations, b.rotations)).max() < 1e-4
    assert np.abs(a.translations - b.translations).max() <= 1e-6


def test_written_and_read_again(load_text, tmp_path):
    m = load_text(bvh_text())
    kp.save(m, tmp_path / "again.bvh")
    same_motion(m, kp.load(tmp_path / "again.bvh"))
    kp.save(m, tmp_path / "again.bvh.gz")
    assert gzip.decompress((tmp_path / "again.bvh.gz").read_bytes()) == (tmp_path / "again.bvh").read_bytes()
    same_motion(m, kp.load(tmp_path / "again.bvh.gz"))


def test_movement_outside_the_channels_gets_channels(load_text, tmp_path):
    m = load_text(bvh_text())
    turns, places = m.rotations.copy(), m.translations.copy()
    turns[1, 1] = rot.from_euler(np.array([0.1, 0.2, 0.3]), "XYZ")
    places[2, 2] += (0, 1, 0)
    changed = replace(m, rotations=turns, translations=places)
    with pytest.warns(kp.FormatWarning) as caught:
        kp.save(changed, tmp_path / "again.bvh")
    assert {w.message.args[0].split()[2] for w in caught} == {"Knee", "Chest"}
    again = kp.load(tmp_path / "again.bvh")
    assert again.skeleton.channels[1] == ("Xrotation", "Yrotation", "Zrotation")
    assert len(again.skeleton.channels[2]) == 6
    np.testing.assert_allclose(again.world_positions(), changed.world_positions(), atol=1e-5)


def with_t_pose(frames: int = 40) -> list[list[float]]:
    rng = np.random.default_rng(5)
    movement = np.cumsum(rng.normal(scale=0.5, size=(frames, 10)), axis=0)
    movement += [0, 20, 0, 40, 50, 60, 70, -60, 50, 40]
    return [[0, 20, 0, *[0] * 7], *movement.tolist()]


def test_the_reference_pose_is_kept_apart_and_can_be_written_back(load_text, tmp_path):
    text = bvh_text(with_t_pose())
    m = load_text(text)
    assert m.n_frames == 40 and m.first_frame == 1 and "reference pose" in m.notes[0]
    assert m.reference_pose is not None and m.reference_pose.rotations.tolist() == [list(rot.IDENTITY)] * 3
    kept = load_text(text, reference_pose="keep")
    assert kept.n_frames == 41 and kept.reference_pose is None
    np.testing.assert_array_equal(kept.rotations[1:], m.rotations)
    kp.save(m, tmp_path / "without.bvh")
    assert kp.load(tmp_path / "without.bvh", reference_pose="keep").n_frames == 40
    kp.save(m, tmp_path / "with.bvh", reference_pose=True)
    again = kp.load(tmp_path / "with.bvh")
    assert again.n_frames == 40 and again.reference_pose is not None


def test_movement_without_a_reference_pose_keeps_its_first_frame(load_text):
    text = bvh_text(with_t_pose()[1:])
    assert load_text(text).n_frames == 40
    assert load_text(text, reference_pose="drop").n_frames == 39
    with pytest.raises(kp.OptionError, match="reference_pose"):
        load_text(text, reference_pose="yes")


# Real files


@pytest.mark.data
def test_every_exporters_file_loads_and_survives_writing(data_dir, tmp_path):
    files = sorted((data_dir / "formats/bvh").glob("*.bvh"))
    assert len(files) >= 22
    for path in files:
        m = kp.load(path)
        assert np.isfinite(m.world_positions()).all(), path
        kp.save(m, tmp_path / "again.bvh")
        same_motion(m, kp.load(tmp_path / "again.bvh", reference_pose="keep"))


def frames_by_twin(path: Path) -> np.ndarray:
    text = path.read_bytes().decode("utf-8-sig").replace("\r", "")
    return naive.parse_rows(
        text.split("Frame Time:")[1].split("\n", 1)[1],
        len(text.split("Frame Time:")[1].split("\n")[1].split()),
    )


@pytest.mark.data
def test_poses_of_real_files_are_those_of_the_slow_twin(data_dir):
    for path in sorted((data_dir / "formats/bvh").glob("*.bvh")):
        m = kp.load(path, reference_pose="keep")
        rows = frames_by_twin(path)
        assert len(rows) == m.n_frames
        some = np.linspace(0, m.n_frames - 1, 4).astype(int)
        translations, matrices = naive.poses_from_channels(rows[some], m.skeleton.channels, m.skeleton.offsets)
        np.testing.assert_array_equal(m.translations[some], translations, err_msg=path.name)
        np.testing.assert_allclose(rot.to_matrix(m.rotations[some]), matrices, atol=1e-9, err_msg=path.name)
        positions, _ = naive.forward(m.skeleton.parents, translations, m.rotations[some])
        np.testing.assert_allclose(m.world_positions()[some], positions, atol=1e-9 * max(1, np.abs(positions).max()))


@pytest.mark.data
def test_malformed_files_behave_as_expected(data_dir):
    outcomes = {}
    for row in csv.DictReader((data_dir / "malformed/EXPECT.csv").read_text().splitlines()):
        path = data_dir / row["path"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcomes[path.stem] = (kp.load(path), [str(w.message) for w in caught])
            except kp.KeyposeError as error:
                outcomes[path.stem] = (None, [str(error)])
        motion, messages = outcomes[path.stem]
        expect = row["expect"]
        if expect.startswith("ok with warning"):
            assert motion is not None and messages, row
        elif expect.startswith("ok") and "error" not in expect:
            assert motion is not None and not messages, (row, messages)
        elif expect == "clear error":
            assert motion is None and path.name in messages[0], row
        else:
            assert messages, row  # a warning or an error, never silence
    assert len(outcomes) == 24
    assert outcomes["leading-dot-frame-time"][0].fps == pytest.approx(120, abs=0.01)
    assert outcomes["truncated-last-row"][0].n_frames == 19
    assert outcomes["frames-header-3069_rows-3070"][0].n_frames == 3070
    assert "names" not in outcomes["names-with-spaces"][1]
    assert any(" " in name for name in outcomes["names-with-spaces"][0].skeleton.names)
    assert any(":" in name for name in outcomes["names-colon-dot"][0].skeleton.names)
    assert "frame 4, Yrotation of Hips" in outcomes["nan-values"][1][0]
    wrap = outcomes["gimbal-wrap"][0]
    assert np.abs(np.diff(wrap.euler_curves(), axis=0)).max() < 30


@pytest.mark.data
def test_glued_numbers_are_those_of_the_unglued_file(data_dir):
    """The file is the plain synthetic one with blanks removed before minus signs."""
    folder = data_dir / "malformed/synthetic"
    with pytest.warns(kp.FormatWarning, match="minus sign"):
        glued = kp.load(folder / "glued-numbers.bvh")
    text = (folder / "glued-numbers.bvh").read_text().split("Frame Time:")[1].split("\n", 1)[1]
    import re

    rows = naive.parse_rows(re.sub(r"(?<=[0-9])-", " -", text), 15)
    translations, _ = naive.poses_from_channels(rows, glued.skeleton.channels, glued.skeleton.offsets)
    np.testing.assert_array_equal(glued.translations, translations)


@pytest.mark.data
def test_the_cmu_t_pose_is_recognised_in_every_clip_and_nowhere_else(data_dir):
    for folder in ("cmu120", "cmu120/swings"):
        for path in sorted((data_dir / folder).glob("*.bvh")):
            m = kp.load(path)
            assert m.reference_pose is not None, path.name
            if folder == "cmu120":
                assert 62.8 <= m.mm_per_unit <= 67.9, (path.name, m.mm_per_unit)
    for path in sorted((data_dir / "cmu30").rglob("*.bvh")):  # the T-pose was dropped from these
        assert kp.load(path).reference_pose is None, path.name
