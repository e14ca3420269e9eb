from __future__ import annotations

import json
from pathlib import Path

import pytest

from keypose.formats import readable_suffixes


def test_one_file_is_a_block(keypose, clip) -> None:
    ran = keypose("info", clip())
    assert (ran.code, ran.err) == (0, "")
    rows = dict(line.split(maxsplit=1) for line in ran.out.splitlines()[1:])
    assert rows["format"] == "BVH"
    assert rows["frames"] == "8 at 40 fps"
    assert rows["duration"] == "0.20 s"
    assert rows["joints"] == "2, and 1 end sites"
    assert rows["channels"] == "9: 6 on 1, 3 on 1 joints; turns ZXY"
    assert rows["unit"] == "not stated"
    assert rows["recognised"] == "all 2 joints"


def test_several_files_are_a_table_in_their_order(keypose, clip, tmp_path: Path) -> None:
    ran = keypose("info", clip("b.bvh"), clip("a.bvh", frames=5), clip("deep/c.bvh"))
    assert (ran.code, ran.err) == (0, "")
    title, *rows = [line for line in ran.out.splitlines() if line.strip()]
    assert title == f"3 BVH clips in {tmp_path}"
    names = [row.split()[0] for row in rows if ".bvh" in row]
    assert names == ["b.bvh", "a.bvh", str(Path("deep", "c.bvh"))]
    assert [row.split()[1] for row in rows if ".bvh" in row] == ["8", "5", "8"]


def test_nothing_is_cut_where_nobody_looks(keypose, clip) -> None:
    name = "x" * 150 + ".bvh"
    ran = keypose("info", clip(name), clip("b.bvh"))
    assert any(name in line for line in ran.out.splitlines())


def test_joints_are_a_tree(keypose, clip) -> None:
    ran = keypose("info", clip(), "--joints")
    tree = ran.out.split("joint ")[1]
    assert [line.split() for line in tree.splitlines()[2:] if line.strip()] == [
        ["Hips", "hips", "XYZ", "ZXY", "0", "0", "0"],
        ["Chest", *tree.split("Chest")[1].split()[:1], "-", "ZXY", "0", "12", "0.5"],
        ["(end)", "0", "9", "1"],
    ]


def test_json_holds_all_of_it(keypose, clip) -> None:
    good, bad = clip("good.bvh", stated=99), clip("bad.bvh", frames=0)
    ran = keypose("info", good, bad, "--json", "--joints")
    assert (ran.code, ran.err) == (1, "")
    first, second = json.loads(ran.out)
    assert first["path"] == str(good)
    wanted = {"name": "good", "format": "BVH", "frames": 8, "fps": 40.0, "joints": 2, "end_sites": 1, "channels": 9}
    assert {key: first[key] for key in wanted} == wanted
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


def test_warnings_are_said_once(keypose, clip) -> None:
    ran = keypose("info", clip(stated=99))
    assert ran.code == 0
    assert ran.err.startswith("warning: ")
    assert (ran.out + ran.err).count("99 frames") == 1


def test_a_fault_in_one_file_leaves_the_others(keypose, clip, tmp_path: Path) -> None:
    page = tmp_path / "page.bvh"
    page.write_text("<!doctype html>")
    ran = keypose("info", clip("a.bvh"), page, tmp_path / "none.bvh", clip("b.bvh"))
    assert ran.code == 1
    assert "a.bvh" in ran.out
    assert "b.bvh" in ran.out
    first, second = ran.err.splitlines()
    assert first.startswith(f"error: {page}: is an HTML page")
    assert second == f"error: {tmp_path / 'none.bvh'}: no such file"


def test_folders_and_patterns(keypose, clip, tmp_path: Path) -> None:
    for name in ("takes/a.bvh", "takes/deep/b.BVH", "takes/.hidden.bvh", "takes/.git/c.bvh", "takes/notes.txt"):
        clip(name)
    listed = json.loads(keypose("info", tmp_path / "takes", "--json").out)
    assert [Path(clip["path"]).name for clip in listed] == ["a.bvh", "b.BVH"]
    listed = json.loads(keypose("info", tmp_path / "takes" / "**" / "*.bvh", tmp_path / "takes", "--json").out)
    assert [Path(clip["path"]).name for clip in listed] == ["a.bvh", "b.BVH"]  # each once
    assert keypose("info", tmp_path / "takes" / "notes.*").code == 0  # a pattern that says a suffix takes it


def test_a_folder_without_motion_files(keypose, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = keypose("info", tmp_path / "empty", tmp_path / "*.bvh", "--json")
    assert ran.code == 1
    folder, pattern = (document["error"] for document in json.loads(ran.out))
    assert "no motion files in this folder" in folder
    assert all(suffix in folder for suffix in readable_suffixes())
    assert pattern.endswith("*.bvh: no motion file matches")


def test_what_is_no_file(keypose, tmp_path: Path) -> None:
    (tmp_path / "link.bvh").symlink_to(tmp_path / "gone.bvh")
    (tmp_path / "folder.bvh").mkdir()
    assert keypose("info", tmp_path / "link.bvh").err == f"error: {tmp_path / 'link.bvh'}: no such file\n"
    assert "no motion files in this folder" in keypose("info", tmp_path / "folder.bvh").err
    assert keypose("info", "x" * 5000).code == 1
    assert keypose("info", "").code == 1


@pytest.mark.parametrize(
    "name", ["with space.bvh", "[red]walk[bold].bvh", "walk[1].bvh", "-walk.bvh", "two\nlines.bvh", "\x1b[2Jx.bvh"]
)
def test_names_are_shown_literally(keypose, clip, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clip(name).parent)
    shown = name.encode("unicode_escape").decode()
    one = keypose("info", "--", name)
    assert one.code == 0
    assert one.out.splitlines()[0] == shown
    clip("other.bvh")
    assert any(
        line.split("  ")[0].strip() == shown for line in keypose("info", "--", name, "other.bvh").out.splitlines()
    )
    clip(name, frames=0)
    failed = keypose("info", "--", name)
    assert failed.code == 1
    assert failed.err.startswith(f"error: {shown}:")
    assert failed.err.count("\n") == 1


def test_names_inside_files_are_shown_literally(keypose, clip) -> None:
    ran = keypose("info", clip(root="[bold]Hips\x1b[2J\x9b", joint=":boom: [/]"), "--joints")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert r"[bold]Hips\x1b[2J\x9b" in ran.out
    assert ":boom: [/]" in ran.out


def test_limits_are_settings(keypose, clip) -> None:
    path = clip(frames=30)
    ran = keypose("info", path, "--limit", "frames=20")
    assert ran.code == 1
    assert "limit of 20" in ran.err
    assert "--limit frames=NUMBER" in ran.err
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
    from keypose.batch.inputs import expand

    for name in ("s/01.asf", "s/01_01.amc", "s/deep/02.ASF", "t/03.asf", "t/x.bvh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = expand([str(tmp_path)])
    assert [file.relative.as_posix() for file in found.files] == ["s/01_01.amc", "s/deep/02.ASF", "t/03.asf", "t/x.bvh"]
    assert [f.relative.as_posix() for f in expand([str(tmp_path / "s" / "*")]).files] == ["01_01.amc", "deep/02.ASF"]
    assert [f.path.name for f in expand([str(tmp_path / "s" / "01.asf")]).files] == ["01.asf"]


@pytest.mark.data
def test_every_real_file_is_shown_or_refused_in_one_line(program, data_dir: Path) -> None:
    ran = program("info", data_dir / "formats", data_dir / "malformed", "--json", "--jobs", 2)
    documents = json.loads(ran.out)
    assert ran.err == ""
    assert len(documents) > 40
    for document in documents:
        assert ("error" in document) != ("frames" in document)
        assert document.get("error_kind") in (None, "FormatError", "LimitError", "FileError", "MissingExtra")
