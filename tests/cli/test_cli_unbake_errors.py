"""Errors of ``keypose unbake``, and existing files that it must not change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.batch import unbake as batch
from support.errors import Pattern, check_json_error, check_usage_error


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


@pytest.fixture(autouse=True)
def folder(clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two clips."""
    clip("walk.bvh", frames=30), clip("other.bvh", frames=30)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([], "expected the files to unbake, and the output; keypose unbake IN OUT"),
        (["walk.bvh"], "expected the files to unbake"),
        (["walk.bvh", ""], "the last name, where to, is empty"),
        (["walk.bvh", "other.bvh", "x"], "expected the format of the files in it, such as --to glb"),
        (["walk.bvh", "other.bvh", "other.bvh"], "keypose unbake IN... out/ --to glb"),
        (["walk.bvh", "x.glb", "--keys", "4", "--auto"], "--keys cannot be combined with --auto"),
        (["walk.bvh", "x.glb", "--keys", "0"], "--keys 0, expected at least 1"),
        (["walk.bvh", "x.glb", "--tolerance-mm", "-1"], "--tolerance-mm -1, expected millimetres"),
        (["walk.bvh", "x.glb", "--fps", "0"], "--fps 0, expected a number above 0"),
        (["walk.bvh", "x.glb", "--range", "5"], "--range 5, expected START:END"),
        (["walk.bvh", "x.glb", "--method", "farhtest"], "did you mean farthest?"),
        (["walk.bvh", "x.glb", "--method", "farthest", "--pin", "4"], "--pin is no option of farthest, but of salient"),
        (["walk.bvh", "x.glb", "--set", "nonsense=1"], "--set nonsense is no option of salient; salient has --objective, --set cost"),
        (["walk.bvh", "x.glb", "--set", "threads=1"], "has an option of its own, --threads"),
        (["walk.bvh", "x.glb", "--set", "measure=mean"], "has an option of its own, --measure"),
        (["walk.bvh", "x.glb", "--method", "farthest", "--measure", "mean"], "--measure is no option of farthest, but of salient"),
        (["walk.bvh", "x.glb", "--set", "interpolation=linear"], "has an option of its own, --interpolation"),
        (["walk.bvh", "x.glb", "--polish-weight", "feet"], "--polish-weight feet, expected NAME=NUMBER"),
        (["walk.bvh", "x.glb", "--pin", "4,x"], "--pin x, expected frames from 0"),
        (["walk.bvh", "x.glb", "--weight", "hands"], "--weight hands, expected NAME=NUMBER"),
        (["walk.bvh", "x.glb", "--interpolation", "cubic"], "--interpolation cubic, expected one of bezier, natural, linear"),
        (["walk.bvh", "x.glb", "--overwrite", "--skip-existing"], "cannot be combined with"),
        (["walk.bvh", "x.glb", "--jobs", "0"], "--jobs 0, expected at least 1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_wrong_command_line_is_exit_code_2(keypose, folder: Path, line: list[str], message: str) -> None:
    before = names(folder)
    result = keypose("unbake", *line)
    assert (result.code, result.out) == (2, "")
    first, hint = result.err.splitlines()
    assert message in first
    assert hint.strip() == "see: keypose unbake --help"
    check_usage_error("unbake", json.loads(keypose("unbake", *line, "--json").out), message)
    assert names(folder) == before


WRITABLE = Pattern("^one of .bvh, .keys.json, .kps, .glb, ")


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (["walk.bvh", "x.xyz"], {"code": "unwritable", "error": Pattern("cannot write '.xyz'"), "expected": WRITABLE}),
        (["walk.bvh", "x"], {"code": "unwritable", "error": Pattern("^x: no suffix"), "hint": "a folder is made where --to says the format of the files in it"}),
        (["walk.bvh", "x", "--to", "gbl"], {"option": "to", "expected": WRITABLE, "error": Pattern("did you mean .glb.$")}),
        (["none.bvh", "x.glb"], {"code": "no_such_file", "error": Pattern("none.bvh: no such file")}),
        (["wlak.bvh", "x.glb"], {"code": "no_such_file", "error": Pattern("did you mean walk.bvh.$")}),
        (["none/*.bvh", "out", "--to", "glb"], {"code": "no_such_file", "error": Pattern("no motion file matches")}),
        (["walk.bvh", "x.glb", "--keys", "1000"], {"option": "keys", "value": 1000, "error": Pattern("has only 30 frames$")}),
        (["walk.bvh", "x.glb", "--pin", "30"], {"option": "pins", "expected": "one of 0 to 29"}),
        (["walk.bvh", "x.glb", "--joints", "tail"], {"code": "joint", "value": "tail"}),
        (["walk.bvh", "x.glb", "--range", "100:"], {"option": "frames", "value": "100:", "error": Pattern("holds no frame")}),
        (["walk.bvh", "x.glb", "--fps", "1e9"], {"option": "fps", "value": 1e9, "expected": "a number from 0.001 to 1e+06"}),
        (["walk.bvh", "x.glb", "--method", "farthest", "--tolerance-mm", "5"], {"option": "tolerance_mm", "value": 5.0, "expected": "a number of keys with it, or the method salient"}),
        (["walk.bvh", "other.bvh/x.glb"], {"code": "file", "error": Pattern("the folder cannot be made")}),
        (["walk.bvh", "x.glb", "--polish", "--rotation", "euler"], {"option": "polish", "value": True, "error": Pattern("needs interpolation bezier, rotation quaternion")}),
        (["walk.bvh", "x.glb", "--interpolation", "linear", "--shared-tangents"], {"option": "shared_tangents", "error": Pattern("only interpolation bezier has free tangents")}),
        (["walk.bvh", "x.glb", "--jump-penalty", "-1"], {"option": "jump_penalty", "value": -1.0, "expected": "a number from 0 to 1e+06"}),
        (["walk.bvh", "x.glb", "--set", "cost=chord"], {"code": "unknown_option", "value": "cost", "error": Pattern("unbake has no option 'cost'")}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_failures_are_one_line(keypose, folder: Path, line: list[str], fields: dict[str, Any]) -> None:
    before = names(folder)
    result, as_json = keypose("unbake", *line), keypose("unbake", *line, "--json")
    assert (result.code, result.out) == (as_json.code, "") == (1, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert check_json_error(as_json.out, **fields) in result.err
    assert names(folder) == before


def test_existing_files_need_overwrite(keypose, folder: Path) -> None:
    result = keypose("unbake", "walk.bvh", "other.bvh", "--keys", 4)
    assert result.code == 1
    assert result.err.startswith("error: other.bvh: exists already; --overwrite")
    (folder / "x.keys.json").write_text("precious")
    (folder / "x.glb.keys.json").write_text("precious too")
    for option in ([], ["--no-overwrite"], ["--skip-existing"]):
        result = keypose("unbake", "walk.bvh", "x.glb", "--keys", 4, *option)
        assert result.code == 1
        assert result.err.startswith("error: x.glb.keys.json: exists already, and another result may need it")
    assert not (folder / "x.glb").exists()
    assert (folder / "x.keys.json").read_text() == "precious"
    (folder / "x.glb.keys.json").unlink()
    assert keypose("unbake", "walk.bvh", "x.glb", "--keys", 4, "--no-keys").code == 0
    assert (folder / "x.keys.json").read_text() == "precious"
    assert keypose("unbake", "walk.bvh", "x.glb", "--keys", 4, "--skip-existing").code == 0
    assert (folder / "x.keys.json").read_text() == "precious"
    assert keypose("unbake", "walk.bvh", "x.glb", "--keys", 4, "--overwrite").code == 0
    assert kp.load_keyed(folder / "x.keys.json").n_keys == 4


def test_a_second_try_keeps_the_keys_of_the_first(keypose, folder: Path) -> None:
    """Another format or number of keys is not refused, and each result gets its own detail back."""
    assert keypose("unbake", "walk.bvh", "x.glb", "--keys", 4).code == 0
    first = (folder / "x.keys.json").read_bytes()
    second = keypose("unbake", "walk.bvh", "x.gltf", "--keys", 6, "--json")
    assert second.code == 0
    assert json.loads(second.out)["unbaked"][0]["keys_file"] == "x.gltf.keys.json"
    assert (folder / "x.keys.json").read_bytes() == first
    for name, n_keys in (("x.glb", 4), ("x.gltf", 6)):
        rebaked = json.loads(keypose("rebake", name, "final.bvh", "--overwrite", "--json").out)
        assert (rebaked["keys"], rebaked["original_keys"]) == (n_keys, n_keys), name
    assert keypose("unbake", "walk.bvh", "x.glb", "--keys", 5, "--overwrite").code == 0
    assert kp.load_keyed(folder / "x.keys.json").n_keys == 5
    assert keypose("unbake", "walk.bvh", "x.gltf", "--keys", 7, "--overwrite").code == 0
    assert [kp.load_keyed(folder / f"x{each}.keys.json").n_keys for each in ("", ".gltf")] == [5, 7]
    (folder / "x.glb").unlink()
    assert keypose("unbake", "walk.bvh", "x.glb", "--keys", 6, "--overwrite").code == 0
    assert [kp.load_keyed(folder / f"x{each}.keys.json").n_keys for each in ("", ".glb")] == [5, 6]


def test_results_do_not_share_a_keys_file(keypose, folder: Path) -> None:
    (folder / "walk.keys.json").write_text("precious")
    kp.save(kp.load(folder / "walk.bvh"), folder / "walk.glb.bvh")
    before = names(folder)
    result = keypose("unbake", "walk.bvh", "walk.glb.bvh", ".", "--to", "glb", "--keys", 4)
    assert result.code == 1
    assert result.err.startswith("error: walk.glb.keys.json: would hold the keys of both walk.glb and walk.glb.glb")
    assert names(folder) == before


def test_a_run_that_is_repeated(keypose, folder: Path) -> None:
    first = keypose("unbake", ".", ".", "--to", "keys.json", "--keys", 4)
    assert first.code == 0
    there = {name: (folder / name).read_bytes() for name in names(folder)}
    assert sorted(there) == ["other.bvh", "other.keys.json", "walk.bvh", "walk.keys.json"]
    again = keypose("unbake", ".", ".", "--to", "keys.json", "--keys", 4, "--skip-existing")
    assert (again.code, again.out) == (0, "2 existing skipped\n")
    assert {name: (folder / name).read_bytes() for name in names(folder)} == there


def test_keys_beside_a_result_are_no_clips_of_their_own(keypose, folder: Path) -> None:
    assert keypose("unbake", "walk.bvh", "other.bvh", "out", "--to", "glb", "--keys", 4).code == 0
    kp.save(kp.unbake(kp.load("walk.bvh"), keys=4), folder / "out" / "more.bvh")  # with more.bvh.keys.json beside it
    listed = json.loads(keypose("info", "out", "--json").out)
    assert [Path(clip["path"]).name for clip in listed] == ["more.bvh", "other.glb", "walk.glb"]
    assert keypose("convert", "out", "back", "--to", "bvh").code == 0
    assert names(folder / "back") == ["more.bvh", "other.bvh", "walk.bvh"]


def test_a_folder_of_keys_is_captures_again(keypose, folder: Path) -> None:
    assert keypose("unbake", "walk.bvh", "keys/walk.keys.json", "--keys", 4).code == 0
    assert keypose("unbake", "keys", "out", "--to", "bvh", "--keys", 9).code == 0
    assert kp.load_keyed(folder / "out" / "walk.keys.json").n_keys == 9
    assert keypose("unbake", "keys", "keys", "--to", "bvh", "--keys", 9).code == 0
    assert names(folder / "keys") == ["walk.bvh", "walk.bvh.keys.json", "walk.keys.json"]
    assert [kp.load_keyed(folder / "keys" / f"walk{each}.keys.json").n_keys for each in ("", ".bvh")] == [4, 9]


def test_a_clip_is_not_replaced_by_its_own_keys(keypose, folder: Path) -> None:
    assert keypose("unbake", "walk.bvh", "few.bvh.keys.json", "--keys", 4).code == 0
    before = (folder / "few.bvh.keys.json").read_bytes()
    result = keypose("unbake", "few.bvh.keys.json", "few.bvh", "--keys", 6, "--overwrite")
    assert result.code == 1
    assert "few.bvh.keys.json: is to be unbaked itself" in result.err
    assert (folder / "few.bvh.keys.json").read_bytes() == before
    assert keypose("unbake", "few.bvh.keys.json", "few.bvh", "--keys", 6, "--no-keys").code == 0


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=["fails", "interrupted"])
def test_both_files_or_none(keypose, folder: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    before = names(folder)
    real = batch.save

    def save(what: kp.KeyedMotion, path: Path, **options: Any) -> None:
        if path.suffix == ".glb":
            raise error
        real(what, path, **options)

    monkeypatch.setattr(batch, "save", save)
    result = keypose("unbake", "walk.bvh", "x.glb", "--keys", 4)
    assert result.code == (130 if isinstance(error, KeyboardInterrupt) else 70)
    assert names(folder) == before


def test_interrupted_run_prints_remaining_files(keypose, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, done = batch.unbake, []

    def unbake(*arguments: object, **options: object) -> kp.KeyedMotion:
        if done:
            raise KeyboardInterrupt
        done.append(True)
        return real(*arguments, **options)

    monkeypatch.setattr(batch, "unbake", unbake)
    result = keypose("unbake", "walk.bvh", "other.bvh", "out", "--to", "bvh", "--keys", 4, "--jobs", 1)
    assert result.code == 130
    assert names(folder / "out") == ["walk.bvh", "walk.keys.json"]
    assert "interrupted with 1 file to go; --skip-existing continues from here" in result.err
    assert "1 of 2 clips unbaked" in result.out


@pytest.mark.parametrize(("target", "minimum"), [("x.glb", "0.01"), ("x.bvh", "0.001")])
def test_a_tolerance_below_what_the_format_can_hold(keypose, folder: Path, target: str, minimum: str) -> None:
    result = keypose("unbake", "walk.bvh", target, "--tolerance-mm", "1e-7")
    assert (
        result.code != 0 and f"expected more than {minimum}, or a .keys.json file, which rounds nothing" in result.err
    )
    assert target not in names(folder)
    assert keypose("unbake", "walk.bvh", "x.keys.json", "--tolerance-mm", "1e-7").code == 0


@pytest.mark.parametrize("tolerance_mm", [0.1, 5.0])
def test_the_file_keeps_the_tolerance(keypose, folder: Path, tolerance_mm: float) -> None:
    capture = kp.load("walk.bvh")
    for target in ("x.glb", "x.bvh", "x.keys.json"):
        assert keypose("unbake", "walk.bvh", target, "--tolerance-mm", tolerance_mm, "--overwrite").code == 0
        assert kp.score(capture, kp.load(target)).max_mm <= tolerance_mm
