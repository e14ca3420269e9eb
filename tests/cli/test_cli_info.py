from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats import readable_suffixes
from support.motions import motion


def test_one_file_is_a_block(keypose, clip) -> None:
    result = keypose("info", clip())
    assert (result.code, result.err) == (0, "")
    rows = dict(line.split(maxsplit=1) for line in result.out.splitlines()[1:])
    assert rows["format"] == "BVH"
    assert rows["frames"] == "8 at 40 fps"
    assert rows["duration"] == "0.20 s"
    assert rows["joints"] == "2, and 1 end sites"
    assert rows["channels"] == "9: 6 on 1, 3 on 1 joint; rotation order ZXY"
    assert rows["unit"] == "not stated"
    assert rows["recognised"] == "all 2 joints"


def test_how_the_height_was_found(keypose, tmp_path: Path) -> None:
    standing = kp.demo_motion(30)[:5]
    points = replace(standing, skeleton=replace(standing.skeleton, names=tuple("abcdefghijklmnopqrstuvwxyz")))
    for motion_, name in ((standing, "body"), (replace(points, up="Z"), "points")):
        kp.save(motion_, tmp_path / f"{name}.kps")
    block = keypose("info", tmp_path / "body.kps").out
    assert "height      1.7 units = 1.70 m, of the rest pose" in block
    documents = json.loads(keypose("info", tmp_path / "body.kps", tmp_path / "points.kps", "--json").out)
    assert [document["height_source"] for document in documents] == ["rest_pose", "frames"]


def test_several_files_are_a_table_in_their_order(keypose, clip, tmp_path: Path) -> None:
    result = keypose("info", clip("b.bvh"), clip("a.bvh", frames=5), clip("deep/c.bvh"))
    assert (result.code, result.err) == (0, "")
    title, *rows = [line for line in result.out.splitlines() if line.strip()]
    assert title == f"3 BVH clips in {tmp_path}"
    names = [row.split()[0] for row in rows if ".bvh" in row]
    assert names == ["b.bvh", "a.bvh", str(Path("deep", "c.bvh"))]
    assert [row.split()[1] for row in rows if ".bvh" in row] == ["8", "5", "8"]


def test_nothing_is_truncated_in_a_pipe(keypose, clip) -> None:
    name = "x" * 150 + ".bvh"
    result = keypose("info", clip(name), clip("b.bvh"))
    assert any(name in line for line in result.out.splitlines())


def test_joints_are_a_tree(keypose, clip) -> None:
    result = keypose("info", clip(), "--joints")
    tree = result.out.split("joint ")[1]
    assert [line.split() for line in tree.splitlines()[2:] if line.strip()] == [
        ["Hips", "hips", "XYZ", "ZXY", "0", "0", "0"],
        ["Chest", *tree.split("Chest")[1].split()[:1], "-", "ZXY", "0", "12", "0.5"],
        ["(end)", "0", "9", "1"],
    ]


def test_height_of_a_figure_whose_bones_have_no_length(keypose, tmp_path: Path) -> None:
    for name in ("box", "other"):
        kp.save(motion([-1, 0], np.zeros((2, 3)), name=name, metres_per_unit=1.0), tmp_path / f"{name}.glb")
    result = keypose("info", tmp_path / "box.glb")
    assert "height      none: its bones have no length" in result.out
    table = keypose("info", tmp_path).out
    assert "0 m" not in table and " - " in next(line for line in table.splitlines() if "box.glb" in line)


def test_json_holds_all_of_it(keypose, clip) -> None:
    good, bad = clip("good.bvh", stated=99), clip("bad.bvh", frames=0)
    result = keypose("info", good, bad, "--json", "--joints")
    assert (result.code, result.err) == (1, "")
    first, second = json.loads(result.out)
    assert first["path"] == str(good)
    expected = {"name": "good", "format": "BVH", "frames": 8, "fps": 40.0, "joints": 2, "end_sites": 1, "channels": 9}
    assert {key: first[key] for key in expected} == expected
    assert first["metres_per_unit"] is first["height_m"] is None
    assert first["recognised"] == 2
    assert [joint["name"] for joint in first["tree"]] == ["Hips", "Chest"]
    assert first["tree"][1]["parent"] == 0
    assert first["tree"][1]["end_sites"] == [[0, 9, 1]]
    assert "99 frames" in first["warnings"][0]
    assert "99 frames" in first["notes"][0]
    assert second["path"] == str(bad)
    assert second["error_kind"] == "FormatError"
    assert second["error"].startswith(f"{bad}:")
    assert "tree" not in json.loads(keypose("info", good, "--json").out)[0]


def test_warnings_are_printed_once(keypose, clip) -> None:
    result = keypose("info", clip(stated=99))
    assert result.code == 0
    assert result.err.startswith("warning: ")
    assert (result.out + result.err).count("99 frames") == 1


def test_bad_file_does_not_stop_the_others(keypose, clip, tmp_path: Path) -> None:
    page = tmp_path / "page.bvh"
    page.write_text("<!doctype html>")
    result = keypose("info", clip("a.bvh"), page, tmp_path / "none.bvh", clip("b.bvh"))
    assert result.code == 1
    assert "a.bvh" in result.out
    assert "b.bvh" in result.out
    first, second = result.err.splitlines()
    assert first.startswith(f"error: {page}: is an HTML page")
    assert second == f"error: {tmp_path / 'none.bvh'}: no such file"


def test_folders_and_patterns(keypose, clip, tmp_path: Path) -> None:
    for name in ("takes/a.bvh", "takes/deep/b.BVH", "takes/.hidden.bvh", "takes/.git/c.bvh", "takes/notes.txt"):
        clip(name)
    listed = json.loads(keypose("info", tmp_path / "takes", "--json").out)
    assert [Path(clip["path"]).name for clip in listed] == ["a.bvh", "b.BVH"]
    listed = json.loads(keypose("info", tmp_path / "takes" / "**" / "*.bvh", tmp_path / "takes", "--json").out)
    assert [Path(clip["path"]).name for clip in listed] == ["a.bvh", "b.BVH"]  # each once
    assert keypose("info", tmp_path / "takes" / "notes.*").code == 0  # a pattern with a suffix matches it


def test_a_folder_without_motion_files(keypose, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = keypose("info", tmp_path / "empty", tmp_path / "*.bvh", "--json")
    assert result.code == 1
    folder, pattern = (document["error"] for document in json.loads(result.out))
    assert "no motion files in this folder" in folder
    assert all(suffix in folder for suffix in readable_suffixes())
    assert pattern.endswith("*.bvh: no motion file matches")


def test_inputs_that_are_no_files(keypose, tmp_path: Path) -> None:
    (tmp_path / "link.bvh").symlink_to(tmp_path / "gone.bvh")
    (tmp_path / "folder.bvh").mkdir()
    assert keypose("info", tmp_path / "link.bvh").err == f"error: {tmp_path / 'link.bvh'}: no such file\n"
    assert "no motion files in this folder" in keypose("info", tmp_path / "folder.bvh").err
    assert keypose("info", "x" * 5000).code == 1
    assert keypose("info", "").code == 1


@pytest.mark.parametrize(
    "name", ["with space.bvh", "[red]walk[bold].bvh", "walk[1].bvh", "-walk.bvh", "two\nlines.bvh", "\x1b[2Jx.bvh"]
)
def test_names_are_printed_literally(keypose, clip, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clip(name).parent)
    escaped = name.encode("unicode_escape").decode()
    one = keypose("info", "--", name)
    assert one.code == 0
    assert one.out.splitlines()[0] == escaped
    clip("other.bvh")
    assert any(
        line.split("  ")[0].strip() == escaped for line in keypose("info", "--", name, "other.bvh").out.splitlines()
    )
    clip(name, frames=0)
    failed = keypose("info", "--", name)
    assert failed.code == 1
    assert failed.err.startswith(f"error: {escaped}:")
    assert failed.err.count("\n") == 1


def test_names_inside_files_are_printed_literally(keypose, clip) -> None:
    result = keypose("info", clip(root="[bold]Hips\x1b[2J\x9b", joint=":boom: [/]"), "--joints")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert r"[bold]Hips\x1b[2J\x9b" in result.out
    assert ":boom: [/]" in result.out


def test_limits_are_settings(keypose, clip) -> None:
    path = clip(frames=30)
    result = keypose("info", path, "--limit", "frames=20")
    assert result.code == 1
    assert "limit of 20" in result.err
    assert "--limit frames=NUMBER" in result.err
    assert keypose("info", path, "--limit", "frames=30", "--limit", "joints=3").code == 0
    assert keypose("info", path, "--limit", "frames=30", "--limit", "joints=1").code == 1


def test_several_workers_give_the_same_answer(program, clip, tmp_path: Path) -> None:
    for i in range(12):
        clip(f"takes/{i:02d}.bvh", frames=i)  # the first has none
    alone, together = (program("info", tmp_path / "takes", "--json", "--jobs", n) for n in (1, 2))
    assert alone == together
    assert alone.code == 1
    assert [document.get("frames") for document in json.loads(alone.out)] == [None, *range(1, 12)]


def test_skeletons_of_amc_files_are_not_clips(tmp_path: Path) -> None:
    from keypose.batch.file_discovery import discover_clips

    for name in ("s/01.asf", "s/01_01.amc", "s/deep/02.ASF", "t/03.asf", "t/x.bvh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    inputs = discover_clips([str(tmp_path)])
    assert [file.relative.as_posix() for file in inputs.files] == [
        "s/01_01.amc",
        "s/deep/02.ASF",
        "t/03.asf",
        "t/x.bvh",
    ]
    assert [f.relative.as_posix() for f in discover_clips([str(tmp_path / "s" / "*")]).files] == [
        "01_01.amc",
        "deep/02.ASF",
    ]
    assert [f.path.name for f in discover_clips([str(tmp_path / "s" / "01.asf")]).files] == ["01.asf"]


@pytest.mark.data
def test_every_real_file_is_described_or_fails_in_one_line(program, data_dir: Path) -> None:
    result = program("info", data_dir / "formats", data_dir / "malformed", "--json", "--jobs", 2)
    documents = json.loads(result.out)
    assert result.err == ""
    assert len(documents) > 40
    for document in documents:
        assert ("error" in document) != ("frames" in document)
        assert document.get("error_kind") in (None, "FormatError", "LimitError", "FileError", "MissingExtra")
