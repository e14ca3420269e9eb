"""Tables on terminals of different widths: one line per row for any name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from keypose.batch.info import ClipInfo, InfoJob, describe_clip
from keypose.cli import clip_view
from keypose.cli.output import format_duration, shorten

NAMES = ("a.bvh", "formats/bvh/blender_mixed-3-6ch_dot-names_reactidle.bvh", "x" * 150 + ".bvh", "名前" * 40 + ".bvh")


def lines(renderable: RenderableType, width: int) -> list[str]:
    console = Console(width=width, highlight=False)
    with console.capture() as text:
        console.print(renderable)
    return text.get().splitlines()


@pytest.fixture
def info(clip) -> ClipInfo:
    return describe_clip(InfoJob(clip(), tree=True))


@pytest.mark.parametrize("width", [60, 80, 120, 10_000])
def test_a_clip_is_one_line(info: ClipInfo, width: int) -> None:
    clips = [replace(info, path=f"takes/{name}", frames=1000 + n) for n, name in enumerate(NAMES)]
    text = lines(clip_view.build_table(clips, width), width)
    assert all(cell_len(line) <= width for line in text)
    for n, name in enumerate(NAMES):
        (row,) = [line for line in text if f" {1000 + n} " in line]
        name_2 = row.split()[0]
        assert name_2 == name if cell_len(name_2) == cell_len(name) else "…" in name_2
        assert name_2.endswith(name[-6:])
        assert name_2.startswith(name[:2])
    assert text[0] == "4 BVH clips in takes"
    assert text[-1].strip() == "4 clips, 4006 frames, 0.80 s"
    assert ("known" in text[2]) == ("recognised as body parts" in text[-2]) == (width >= 80)


def test_names_that_fit_keep_all_columns(info: ClipInfo) -> None:
    text = lines(clip_view.build_table([replace(info, path="a.bvh"), replace(info, path="b.bvh")], 80), 80)
    assert text[2].split() == ["file", "frames", "fps", "length", "joints", "up", "height", "known"]


@pytest.mark.parametrize(
    ("width", "headings", "last"),
    [
        (120, "joint part moves order x y z", "0 12.3 -0.5"),
        (82, "joint part moves order x y z", "0 12 -0.5"),
        (78, "joint part moves order length", "12"),
        (72, "joint part moves order", "ZXY"),
        (50, "joint part moves order", "ZXY"),
    ],
)
def test_joints_have_the_width_they_need(info: ClipInfo, width: int, headings: str, last: str) -> None:
    name = "mixamorig:" + "RightHandMiddle" * 2
    root, chest = info.tree
    tree = (root, replace(chest, name=name, body_part="right_hand", offset=(-0.0, 12.34567, -0.5004)))
    text = lines(clip_view.joint_table(replace(info, tree=tree), width), width)
    assert all(cell_len(line) <= width for line in text)
    assert text[1].split() == headings.split()
    row = text[4].rstrip()
    assert (name in row) == (width > 50)
    assert row.endswith("Middle  right_hand  -      ZXY" if last == "ZXY" else last) or row.split()[-3:] == last.split()
    assert len(text) == 7


def test_zero_has_no_sign(keypose, clip) -> None:
    path = clip()
    path.write_text(path.read_text().replace("OFFSET 0 12 0.5", "OFFSET -0 -0.0 0.5"))
    (row,) = [line.split() for line in keypose("info", path, "--joints").out.splitlines() if "Chest" in line]
    assert row[-3:] == ["0", "0", "0.5"]


def test_the_middle_is_left_out() -> None:
    assert shorten("walk.bvh", 8) == "walk.bvh"
    assert shorten("a_long_walk.bvh", 10) == "a_l…lk.bvh"
    assert cell_len(shorten("名前" * 9, 10)) <= 10
    assert all(len(shorten("abcdefgh", width)) == width for width in range(1, 9))


def test_first_frame_of_the_source_is_printed(keypose, clip) -> None:
    path = clip()
    assert "8 at 40 fps\n" in keypose("info", path).out
    result = keypose("info", path, "--reference-pose", "drop")
    assert "7 at 40 fps; the first is number 1 in the source\n" in result.out


def test_long_times() -> None:
    assert [format_duration(s) for s in (1.5, 100, 5999, 6000, 36_000)] == [
        "1.50 s",
        "1:40 min",
        "99:59 min",
        "1:40 h",
        "10:00 h",
    ]


def test_equal_notes_are_printed_once(keypose, tmp_path: Path) -> None:

    from support import acclaim

    for name in ("leg", "arm", "toe"):
        acclaim.write(tmp_path, name=name)
    result = keypose("info", tmp_path)
    assert result.err.splitlines() == [
        "note: 3 clips: skeleton from the .asf file beside it",
        "note: 3 clips: the file does not state its frame rate; 120 fps is assumed (the option fps, on the command line --read-fps, sets another)",
    ]
    result = keypose("info", tmp_path, "--asf", tmp_path / "arm.asf")
    assert result.err.splitlines()[0] == "note: 3 clips: skeleton from the given .asf file"
    result = keypose("convert", tmp_path / "toe.amc", tmp_path / "x.bvh")
    assert result.err.splitlines()[0] == f"note: {tmp_path / 'toe.amc'}: skeleton from the .asf file beside it"
