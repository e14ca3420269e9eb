"""Faulty BVH files: repaired with a warning, or refused with line and reason."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose import rotations as rot
from keypose.limits import limit_hint
from support.bvh_files import HIERARCHY, ROWS, bvh_text
from support.errors import raises, warns


@pytest.mark.parametrize(
    ("change", "fields", "message", "frames"),
    [
        (
            lambda t: t.replace("Frames: 3", "Frames: 2"),
            {"code": "frame_count", "value": 2},
            "header declares 2 frames, but 3 rows follow",
            3,
        ),
        (
            lambda t: t.replace("Frames: 3", "Frames: 9"),
            {"code": "frame_count", "value": 9},
            "header declares 9 frames, but 3 rows follow",
            3,
        ),
        (lambda t: t.rsplit(" ", 4)[0], {"code": "incomplete_frame", "value": 6}, "last row has 6 of 10 numbers", 2),
        (lambda t: t.replace("Time: 0.02", "Time: 0"), {"code": "no_frame_rate", "line": 23}, "30 fps is assumed", 3),
        (
            lambda t: t.replace("2 22 4 -21", "2 22 4-21"),
            {"code": "missing_space", "value": 1},
            "have no space before their minus sign",
            3,
        ),
    ],
)
def test_repaired_with_a_warning(load_text, change, fields, message, frames):
    """The messages pin the wording of these warnings, which are notes too."""
    with warns(kp.FormatWarning, **fields) as records:
        m = load_text(change(bvh_text()))
    assert m.n_frames == frames and any(message in note for note in m.notes)
    assert any(message in str(record.message) for record in records)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (lambda t: t.replace("MOTION\n", ""), {"code": 'missing_data', "line": 26, "expected": 'one after the hierarchy'}),
        (lambda t: t.replace("OFFSET 0 -10 0", "OFFSET 0 -10"), {"code": 'inconsistent', "line": 8, "value": 2, "expected": '3'}),
        (lambda t: t.replace("OFFSET 0 -10 0", "OFFSET 0 ten 0"), {"code": 'bad_number', "line": 8, "value": 'ten', "expected": 'a finite number'}),
        (lambda t: t.replace("OFFSET 0 -10 0", "OFFSET 0 inf 0"), {"code": 'bad_number', "line": 8, "value": 'inf', "expected": 'a finite number'}),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS 1 Xrot"), {"code": 'syntax', "line": 9, "expected": '1 different ones of Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation'}),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation"), {"code": 'syntax', "line": 9, "expected": '2 different ones of Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation'}),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS 2 Xrotation Xrotation"), {"code": 'syntax', "line": 9, "expected": '2 different ones of Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation'}),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANNELS many"), {"code": 'syntax', "line": 9, "expected": 'a count of 0 to 6'}),
        (lambda t: t.replace("CHANNELS 1 Xrotation", "CHANELS 1 Xrotation"), {"code": 'syntax', "line": 9, "value": 'CHANELS', "expected": 'OFFSET, CHANNELS, JOINT, End Site or a brace'}),
        (lambda t: t.replace("JOINT Knee\n  {", "JOINT Knee\n"), {"code": 'syntax', "line": 8, "expected": "'{'"}),
        (lambda t: t.replace("JOINT Knee", "JOINT"), {"code": 'missing_data', "line": 6}),
        (lambda t: t.replace("JOINT Knee", "ROOT Knee"), {"code": 'syntax', "line": 6, "expected": 'JOINT inside another joint, ROOT outside, neither in an End Site'}),
        (lambda t: t.replace("  }\n}\nMOTION", "  }\nMOTION"), {"code": 'truncated', "line": 20, "expected": "'}'"}),
        (lambda t: t.replace("}\nMOTION", "}\n}\nMOTION"), {"code": 'syntax', "line": 21}),
        (lambda t: t.replace("ROOT Hips", ""), {"code": 'syntax', "line": 3}),
        (lambda t: t.replace("Frames: 3", "Frames: three"), {"code": 'bad_number', "line": 22, "value": 'three', "expected": 'a whole number'}),
        (lambda t: t.replace("Frame Time: 0.02", ""), {"code": 'missing_data', "line": 23}),
        (lambda t: t.replace("Time: 0.02", "Time: -1"), {"code": 'bad_number', "line": 23, "value": '-1', "expected": '1e-06 to 1000 seconds'}),
        (lambda t: t.replace("Time: 0.02", "Time: soon"), {"code": 'bad_number', "line": 23, "value": 'soon', "expected": 'a finite number'}),
        (lambda t: t.replace("1 21 2 11", "1 21 2"), {"code": 'inconsistent', "line": 25, "value": 9, "expected": '10'}),
        (lambda t: t.replace("1 21 2 11", "1 21 2 11 99"), {"code": 'inconsistent', "line": 25, "value": 11, "expected": '10'}),
        (lambda t: t.replace("1 21 2 11", "1 21 2 nan"), {"code": 'bad_number', "line": 25, "value": 'nan', "expected": 'a finite number'}),
        (lambda t: t.replace("14 15", "1,4 15"), {"code": 'bad_number', "line": 25, "value": '1,4', "expected": 'a finite number'}),
        (lambda t: t.split("0 20 0")[0], {"code": 'missing_data', "line": 23, "expected": 'at least one row of numbers'}),
        (lambda t: t.replace("CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation", "CHANNELS 7 Xposition"), {"code": 'syntax', "line": 5, "expected": 'a count of 0 to 6'}),
    ],
)  # fmt: skip
def test_errors_name_line_and_problem(load_text, change, fields):
    with raises(kp.FormatError, **fields):
        load_text(change(bvh_text()))


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (("OFFSET 0 -10 0", "OFFSET 0 -1e300 0"), {"line": 8, "value": "-1e300"}),
        (("0 20 0", "0 1e300 0"), {"subject": "frame 0, Yposition of Hips", "value": 1e300}),
        (("4 5 6 7", "4 5 6 1e300"), {"subject": "frame 0, Xrotation of Chest", "value": 1e300}),
    ],
)
def test_numbers_beyond_all_measure(load_text, change, fields):
    with raises(kp.FormatError, code="bad_number", **fields):
        load_text(bvh_text().replace(*change))


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        (lambda t: t.replace("15 16 17", "15 16"), {"code": "inconsistent", "line": 24, "value": 5, "expected": "10"}),
        (lambda t: t + "8\n", {"code": "inconsistent", "line": 24, "value": 5, "expected": "10"}),
        (lambda t: t.replace("Frames: 3", "Frames: 2"), {"code": "inconsistent", "line": 24}),
        (lambda t: t.replace("Frames: 3", f"Frames: {10**11}"), {"code": "inconsistent", "line": 24}),
        (
            lambda t: t.replace("15 16 17", "15 nan 17"),
            {"code": "bad_number", "line": 27, "value": "nan", "subject": "frame 1, Zrotation of Chest"},
        ),
    ],
)
def test_wrapped_frames_need_the_stated_number_of_numbers(load_text, change, fields):
    head, rows = bvh_text().split("Time: 0.02\n")
    halves = [half for row in rows.splitlines() for half in (" ".join(row.split()[:5]), " ".join(row.split()[5:]))]
    with raises(kp.FormatError, **fields):
        load_text(change(head + "Time: 0.02\n" + "\n".join(halves) + "\n"))


@pytest.mark.parametrize(
    ("short", "long"), [((0, 9), (2, 11)), ((2, 9), (0, 11)), ((0, 5), (2, 15))]
)  # a row, and how many numbers it has in place of 10
def test_rows_with_wrong_counts_are_not_read_as_wrapped(load_text, short, long):
    head, rows = bvh_text().split("Time: 0.02\n")
    lines = [row.split() for row in rows.splitlines()]
    for row, count in (short, long):
        lines[row] = (lines[row] + ["0"] * count)[:count]
    with raises(kp.FormatError, code="inconsistent", expected="10"):
        load_text(head + "Time: 0.02\n" + "".join(" ".join(line) + "\n" for line in lines))


def test_a_motion_header_far_down(load_text):
    far = bvh_text().replace("Frames: 3\n", "Frames: 3\n" + " " * 380 + "\n" * 300)
    m = load_text(far)
    assert m.n_frames == 3 and m.fps == 50


@pytest.mark.parametrize("word", ["1e308", "1e-300", "5000", "1_0", "\u0663"])
def test_frame_times_beyond_all_measure(load_text, word):
    with raises(kp.FormatError, code="bad_number", line=23):
        load_text(bvh_text(frame_time=word))


def test_many_words_on_one_line_take_linear_time(load_text):
    text = bvh_text(hierarchy=HIERARCHY.replace("OFFSET 0 0 0", "OFFSET 0 0 0 " * 200_000))
    start = time.perf_counter()
    load_text(text)
    assert time.perf_counter() - start < 5


def with_end_sites(count: int) -> str:
    return HIERARCHY.replace("    End Site\n", "    End Site{}\n" * count + "    End Site\n")


def test_end_sites_count_for_the_limits(load_text):
    with raises(kp.LimitError, line=10008, value=10001, hint=limit_hint("joints")):
        load_text(bvh_text(hierarchy=with_end_sites(20_000)))
    with raises(kp.LimitError, hint=limit_hint("expansion")):
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


def test_odd_names_can_be_read_back(tmp_path):
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


def test_limits(load_text):
    deep = (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
        + "".join(f"JOINT j{i}\n{{\n" for i in range(2000))
        + "}\n" * 2001
    )
    text = bvh_text([[1]], hierarchy=deep)
    with raises(kp.LimitError, line=2004, value=1001, hint=limit_hint("depth")):
        load_text(text)
    assert load_text(text, limits=kp.Limits(depth=3000)).n_joints == 2001
    with raises(kp.LimitError, line=204, value=101, hint=limit_hint("joints")):
        load_text(text, limits=kp.Limits(joints=100))
    with raises(kp.LimitError, value=3, hint=limit_hint("frames")):
        load_text(bvh_text(), limits=kp.Limits(frames=2))
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        load_text(bvh_text(), limits=kp.Limits(bytes=100))
    wide = "HIERARCHY\nROOT a\n{\nCHANNELS 1 Xrotation\n" + "JOINT j\n{\n}\n" * 9000 + "}\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        with raises(kp.LimitError, hint=limit_hint("expansion")):
            load_text(bvh_text([[1]] * 5000, hierarchy=wide))
