from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from support.errors import Pattern, check_json_error


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_one_file_to_another(keypose, clip, tmp_path: Path) -> None:
    for suffix in (".glb", ".bvh.gz", ".bvh"):
        target = tmp_path / f"out{suffix}"
        result = keypose("convert", clip(), target)
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith(f"{target}: 8 frames at 40 fps, ")
        again = kp.load(target)
        assert (again.n_frames, again.skeleton.names) == (8, ("Hips", "Chest"))


def test_range_and_rate(keypose, clip, tmp_path: Path) -> None:
    path, out = clip(frames=40), tmp_path / "out.bvh"
    assert keypose("convert", path, out, "--range", "10:30", "--fps", "20").code == 0
    loaded = kp.load(out)
    assert (loaded.n_frames, loaded.fps) == (10, 20.0)
    assert loaded.translations[:, 0, 0].tolist() == [float(i) for i in range(10, 30, 2)]
    for text, frames in (("5:", 35), (":5", 5), ("=-5:", 5), (":-5", 35), (":", 40)):
        option = ["--range", text] if not text.startswith("=") else [f"--range{text}"]
        assert keypose("convert", path, out, "--overwrite", *option).code == 0
        assert kp.load(out).n_frames == frames
    result = keypose("convert", path, out, "--overwrite", "--range", "100:200")
    assert result.code == 1
    assert "holds no frame" in result.err
    assert kp.load(out).n_frames == 40


def test_a_rate_beyond_the_limits(keypose, clip, tmp_path: Path) -> None:
    result = keypose("convert", clip(), tmp_path / "out.bvh", "--fps", "1e6", "--limit", "frames=1000")
    assert result.code == 1
    assert "more than the limit" in result.err
    for absurd in ("1e-320", "1e300"):
        result = keypose("convert", clip(), tmp_path / "out.bvh", "--fps", absurd)
        assert result.code == 1
        assert f"--fps {float(absurd):.12g}, expected a number from 0.001 to 1e+06" in result.err
        assert len(result.err) < 300
    assert not (tmp_path / "out.bvh").exists()


def test_reference_pose_option(keypose, clip, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    assert keypose("convert", clip(), out, "--reference-pose", "drop").code == 0
    assert kp.load(out).n_frames == 7


def test_the_reference_pose_is_written_again_on_demand(keypose, clip, tmp_path: Path) -> None:
    source, out = clip(), tmp_path / "out.bvh"
    result = keypose("convert", source, out, "--reference-pose", "drop")
    message = "the reference pose (T-pose) is not written; --write-reference-pose writes it as frame 0"
    assert result.err == f"note: {source}: {message}\n"
    result = keypose("convert", source, out, "--reference-pose", "drop", "--write-reference-pose", "--overwrite")
    assert (result.code, result.err) == (0, "")
    assert "8 frames" in result.out
    before, after = (kp.load(path, reference_pose="keep") for path in (source, out))
    assert abs(before.translations - after.translations).max() < 1e-6
    result = keypose("convert", source, out, "--write-reference-pose", "--overwrite", "--json")
    payload = json.loads(result.out)["converted"][0]
    assert (payload["n_frames"], payload["reference_pose"], payload["notes"]) == (8, False, [])  # none was recognised


def test_dropped_reference_pose_is_reported_once(keypose, clip, tmp_path: Path) -> None:
    clip("takes/a.bvh"), clip("takes/b.bvh")
    result = keypose("convert", tmp_path / "takes", tmp_path / "out", "--to", "bvh", "--reference-pose", "drop")
    assert result.err.startswith("note: 2 clips: the reference pose (T-pose) is not written")
    assert result.err.count("\n") == 1


def test_the_folder_of_a_file_is_made(keypose, clip, tmp_path: Path) -> None:
    assert keypose("convert", clip(), tmp_path / "new" / "deep" / "walk.glb").code == 0
    assert names(tmp_path / "new") == ["deep/walk.glb"]
    assert keypose("convert", tmp_path / "none.bvh", tmp_path / "other" / "x.glb").code == 1
    assert not (tmp_path / "other").exists()  # nothing to write, no folder


def test_existing_files_need_overwrite(keypose, clip, tmp_path: Path) -> None:
    source, target = clip("a.bvh"), clip("b.bvh", frames=3)
    for option in ([], ["--no-overwrite"]):
        result = keypose("convert", source, target, *option)
        assert result.code == 1
        assert result.err.startswith(f"error: {target}: exists already")
        assert "--overwrite" in result.err
        assert kp.load(target).n_frames == 3
    assert keypose("convert", source, target, "--skip-existing").code == 0
    assert kp.load(target).n_frames == 3
    assert keypose("convert", source, target, "--overwrite").code == 0
    assert kp.load(target).n_frames == 8


def test_a_file_onto_itself(keypose, clip) -> None:
    path = clip()
    assert keypose("convert", path, path, "--overwrite", "--range", ":5").code == 0
    assert kp.load(path).n_frames == 5
    assert names(path.parent) == [path.name]


def test_a_folder_keeps_its_sub_folders(keypose, clip, tmp_path: Path) -> None:
    for name in ("takes/a.bvh", "takes/deep/b.v2.bvh", "takes/deep/er/c.BVH", "takes/notes.txt"):
        clip(name)
    out = tmp_path / "new" / "out"
    result = keypose("convert", tmp_path / "takes", out, "--to", "bvh.gz", "--jobs", "1")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("3 of 3 files converted in ")
    assert names(out) == ["a.bvh.gz", "deep/b.v2.bvh.gz", "deep/er/c.bvh.gz"]
    assert names(tmp_path / "takes") == ["a.bvh", "deep/b.v2.bvh", "deep/er/c.BVH", "notes.txt"]


def test_patterns_and_several_files(keypose, clip, tmp_path: Path) -> None:
    clip("x/1/a.bvh"), clip("x/2/a.bvh"), clip("b.bvh")
    assert (
        keypose("convert", tmp_path / "x" / "*" / "a.bvh", tmp_path / "b.bvh", tmp_path / "out", "--to", ".GLB").code
        == 0
    )
    assert names(tmp_path / "out") == ["1/a.glb", "2/a.glb", "b.glb"]


def test_one_file_into_a_folder(keypose, clip, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    result = keypose("convert", clip(), tmp_path / "out")
    assert result.code == 2
    assert "--to" in result.err
    assert keypose("convert", clip(), tmp_path / "out", "--to", "glb").code == 0
    assert keypose("convert", clip(), f"{tmp_path}/new/", "--to", "glb").code == 0
    assert names(tmp_path / "out") == names(tmp_path / "new") == ["walk.glb"]


def test_two_clips_of_one_name_are_refused_before_anything_is_written(keypose, clip, tmp_path: Path) -> None:
    import gzip

    first = clip("takes/a.bvh")
    (tmp_path / "takes" / "a.bvh.gz").write_bytes(gzip.compress(first.read_bytes()))
    clip("takes/0.bvh")
    result = keypose("convert", tmp_path / "takes", tmp_path / "out", "--to", "glb")
    assert result.code == 1
    assert "a.bvh and " in result.err
    assert "a.bvh.gz would both become" in result.err
    assert not (tmp_path / "out").exists()
    result = keypose("convert", clip("1/x.bvh"), clip("2/x.bvh"), tmp_path / "out", "--to", "glb")
    assert result.code == 1
    assert "would both become" in result.err


def test_an_input_is_not_overwritten_by_another(keypose, clip, tmp_path: Path) -> None:
    top, below = clip("x.glb"), clip("deep/x.bvh")
    result = keypose("convert", tmp_path / "deep", top, tmp_path, "--to", "glb", "--overwrite")
    assert result.code == 1
    assert kp.load(top).n_frames == kp.load(below).n_frames == 8


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["walk.bvh", "walk.xyz"], {"code": "unwritable", "path": "walk.xyz", "expected": Pattern("^one of .bvh, ")}),
        (["walk.bvh", "walk"], {"code": "unwritable", "error": Pattern("^walk: no suffix")}),
        (["walk.bvh", "out", "--to", "xyz"], {"option": "to", "expected": Pattern("^one of .bvh, ")}),
        (["walk.bvh", "other.bvh/walk.glb"], {"code": "file", "error": Pattern("the folder cannot be made")}),
        (["none.bvh", "walk.glb"], {"code": "no_such_file", "path": "none.bvh"}),
        (["none/*.bvh", "out", "--to", "glb"], {"code": "no_such_file", "error": Pattern("no motion file matches")}),
        (["empty", "out", "--to", "glb"], {"path": "empty", "error": Pattern("no motion files in this folder")}),
        (
            ["walk.bvh", "--to", "glb", "other.bvh/deep"],
            {"code": "file", "error": Pattern("the folder cannot be made")},
        ),
    ],
    ids=str,
)
def test_failures_are_one_line(
    keypose, clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], fields: dict[str, Any]
) -> None:
    clip(), clip("other.bvh")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    before = names(tmp_path)
    result, as_json = keypose("convert", *arguments), keypose("convert", *arguments, "--json")
    assert result.code == as_json.code == 1
    error = check_json_error(as_json.out, **fields)
    assert result.err.startswith("error: ") and result.err.endswith(f"{error}\n")
    assert result.err.count("\n") == 1
    assert names(tmp_path) == before


def test_failures_are_listed_at_the_end(program, clip, tmp_path: Path) -> None:
    for i in range(10):
        clip(f"takes/{i}.bvh", frames=0 if i in (3, 7) else 4, stated=9 if i == 5 else None)
    result = program("convert", tmp_path / "takes", tmp_path / "out", "--to", "glb", "--jobs", 2)
    assert result.code == 1
    assert result.out.startswith("8 of 10 files converted")
    warning, *errors = result.err.splitlines()
    assert warning.startswith(f"warning: {tmp_path / 'takes' / '5.bvh'}")
    assert [line.split(".bvh")[0] for line in errors] == [f"error: {tmp_path / 'takes' / i}" for i in "37"]
    assert len(names(tmp_path / "out")) == 8
    again = program("convert", tmp_path / "takes", tmp_path / "out", "--to", "glb", "--skip-existing", "--json")
    summary = json.loads(again.out)
    assert (again.code, again.err) == (1, "")
    assert (len(summary["converted"]), len(summary["failed"]), len(summary["skipped"])) == (0, 2, 8)


def test_json_and_quiet(keypose, clip, tmp_path: Path) -> None:
    source, target = clip(stated=9), tmp_path / "out.glb"
    result = keypose("convert", source, target, "--json")
    summary = json.loads(result.out)
    converted = summary["converted"][0]
    assert (result.code, result.err) == (0, "")
    assert (converted["source"], converted["target"], converted["n_frames"], converted["fps"]) == (
        str(source),
        str(target),
        8,
        40.0,
    )
    assert converted["bytes"] == target.stat().st_size
    assert "9 frames" in converted["warnings"][0]
    assert (summary["failed"], summary["skipped"], summary["interrupted"], summary["n_remaining"]) == ([], [], False, 0)
    result = keypose("convert", source, target, "--overwrite", "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_keys_stay_keys_where_there_is_a_place_for_them(keypose, tmp_path: Path) -> None:
    motion = kp.demo_motion(fps=10.0)[:60]
    kp.save(kp.unbake(motion, keys=9), tmp_path / "walk.keys.json")
    assert keypose("convert", tmp_path / "walk.keys.json", tmp_path / "walk.glb").code == 0
    assert kp.load_keyed(tmp_path / "walk.glb").n_keys == 9
    assert keypose("convert", tmp_path / "walk.keys.json", tmp_path / "walk.bvh").code == 0
    assert kp.load(tmp_path / "walk.bvh").n_frames == 60
    assert names(tmp_path) == ["walk.bvh", "walk.glb", "walk.keys.json"]
    assert keypose("convert", tmp_path / "walk.keys.json", tmp_path / "part.glb", "--range", "10:30").code == 0
    assert kp.load(tmp_path / "part.glb").n_frames == 20


@pytest.mark.data
def test_real_files_of_every_exporter_become_glb(program, data_dir: Path, tmp_path: Path) -> None:
    result = program("convert", data_dir / "formats" / "bvh", tmp_path, "--to", "glb", "--jobs", 2, "--json")
    summary = json.loads(result.out)
    assert (result.code, summary["failed"]) == (0, [])
    assert len(summary["converted"]) == len(names(tmp_path)) >= 20
