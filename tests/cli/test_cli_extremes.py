"""Extreme files and names: many warnings or joints, infinite numbers, invalid names."""

from __future__ import annotations

import json
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.batch import Outcome
from keypose.batch.info import ClipInfo, describe
from keypose.batch.worker import list_other_notes
from keypose.cli import clip_view, info, messages, output
from keypose.errors import FormatWarning
from keypose.model import Note


@pytest.fixture
def clip_info(clip) -> ClipInfo:
    """The description of a small clip with its joint tree."""
    path = clip()
    return describe(kp.load(path), path, tree=True)


def test_infinite_numbers_are_printed(clip_info: ClipInfo, capfd: pytest.CaptureFixture[str]) -> None:
    for number in (float("inf"), float("nan"), 1e300):
        absurd = replace(clip_info, fps=number, duration_s=number, height=number, height_m=number)
        output.print_renderable(clip_view.build_block(absurd, []))
        output.print_renderable(clip_view.build_table([absurd, absurd], 80))
        assert f"duration    {number:.3g} s\n" in capfd.readouterr().out
        output.print_json([messages.info_document(Path("x"), Outcome(0, absurd))])
        document = json.loads(capfd.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert document[0]["height_m"] == (1e300 if number == 1e300 else None)
        assert document[0]["tree"][1]["offset"] == [0.0, 12.0, 0.5]


def test_offsets_that_overflow_have_no_height(keypose, clip) -> None:
    path = clip()
    path.write_text(path.read_text().replace("0 12 0.5", "0 1e200 1e200"))
    for more in ([], ["--joints"], ["--json"]):
        result = keypose("info", path, *more)
        assert result.code in (0, 1)
        assert "a fault" not in result.err
        assert "RuntimeWarning" not in result.err
    json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_many_warnings_and_notes_are_compared_quickly() -> None:
    notes = [f"joint {i}: repaired" for i in range(40_000)]
    warnings = [FormatWarning(note, path="walk.bvh", line=i) for i, note in enumerate(notes[1:])]
    start = time.perf_counter()
    assert list_other_notes([*notes, notes[0]], warnings) == (notes[0],)
    assert time.perf_counter() - start < 5


def test_messages_of_one_clip_are_limited(
    clip_info: ClipInfo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tuple(f"thing {i}" for i in range(50))
    warnings = [FormatWarning(text) for text in texts]
    messages.print_warnings(Path("walk.bvh"), warnings)
    lines = capfd.readouterr().err.splitlines()
    assert (len(lines), lines[19], lines[20]) == (
        21,
        "warning: thing 19",
        "warning: walk.bvh: and 30 more; --json has all",
    )
    messages.print_warnings(Path("walk.bvh"), warnings[:20])
    assert len(capfd.readouterr().err.splitlines()) == 20
    messages.print_notes([(Path("walk.bvh"), texts)])
    assert len(capfd.readouterr().err.splitlines()) == 21
    messages.print_notes([(Path(f"{n}.glb"), [Note(f"not read: prop {n}", "not_read")]) for n in range(3)])
    assert capfd.readouterr().err == "note: 0.glb: not read: prop 0 (and the like in 2 more clips)\n"
    messages.print_notes([(Path(f"{n}.glb"), [Note("not read: prop", "not_read")]) for n in range(3)])
    assert capfd.readouterr().err == "note: 3 clips: not read: prop\n"
    info._print_clips([noted := replace(clip_info, notes=texts)], [Outcome(0, noted)], joints=False)
    assert capfd.readouterr().out.count("note ") == 21


def test_many_joints_are_truncated(clip_info: ClipInfo, capfd: pytest.CaptureFixture[str]) -> None:
    root, chest = clip_info.tree
    huge = replace(clip_info, tree=(root, *[chest] * 99_999), joints=100_000, end_sites=99_999)
    start = time.perf_counter()
    output.print_renderable(clip_view.joint_table(huge, 80))
    assert time.perf_counter() - start < 20
    lines = capfd.readouterr().out.splitlines()
    assert lines[-1] == f"and {199_999 - clip_view.MAX_ROWS} more rows; --json has all"
    assert sum("Chest" in line or "(end)" in line for line in lines) == clip_view.MAX_ROWS - 1
    output.print_renderable(clip_view.joint_table(clip_info, 80))
    assert "more rows" not in capfd.readouterr().out


def test_an_empty_name_is_not_the_current_folder(keypose, clip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clip().parent)
    for arguments in (["info", ""], ["convert", "", "out", "--to", "glb"]):
        result = keypose(*arguments)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("error: an empty name, expected a file, a folder or a pattern")
    result = keypose("info", "", "walk.bvh")
    assert result.code == 1
    assert "walk.bvh" in result.out
    for arguments in (["convert", "walk.bvh", ""], ["convert", "walk.bvh", "", "--to", "glb"], ["demo", ""]):
        assert keypose(*arguments).code == 2
    assert [path.name for path in Path().iterdir()] == ["walk.bvh"]


def test_nothing_is_written_outside_of_the_folder(keypose, clip, tmp_path: Path, monkeypatch) -> None:
    clip("y.bvh"), clip("here/k1/walk.bvh")
    monkeypatch.chdir(tmp_path / "here")
    before = sorted(tmp_path.rglob("*"))
    for pattern in ("k*/../../y.bvh", "k*/../k1/walk.bvh", "k?/.."):
        result = keypose("convert", pattern, "out", "--to", "glb")
        assert result.code == 1
        assert "outside of out, expected a pattern without .. after its first wildcard" in result.err
        assert sorted(tmp_path.rglob("*")) == before
    assert keypose("convert", "../here/k*/walk.bvh", "out", "--to", "glb").code == 0
    assert (tmp_path / "here/out/k1/walk.glb").is_file()


@pytest.mark.parametrize(
    "names",
    [("walk.bvh", "WALK.bvh"), (unicodedata.normalize("NFC", "Läufe.bvh"), unicodedata.normalize("NFD", "läufe.bvh"))],
    ids=["case", "accents"],
)
def test_results_that_are_one_file_elsewhere(keypose, clip, tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        clip(f"takes/{name}")
    if len(list((tmp_path / "takes").iterdir())) < 2:
        pytest.skip("they are one file here")
    result = keypose("convert", tmp_path / "takes", tmp_path / "out", "--to", "glb")
    assert result.code == 1
    assert "which are one file on other systems: rename one" in result.err
    assert not (tmp_path / "out").exists()


def test_a_run_into_the_same_folder_goes_on(keypose, clip, tmp_path: Path) -> None:
    clip("t/a.bvh"), clip("t/below/b.bvh")
    again = ("convert", tmp_path / "t", tmp_path / "t", "--to", "glb", "--skip-existing", "--json")
    assert len(json.loads(keypose(*again).out)["converted"]) == 2
    modified_ns = (tmp_path / "t/a.glb").stat().st_mtime_ns
    clip("t/c.bvh")
    report = json.loads(keypose(*again).out)
    assert [Path(item["source"]).name for item in report["converted"]] == ["c.bvh"]
    assert sorted(Path(item["source"]).name for item in report["skipped"]) == ["a.bvh", "b.bvh"]
    assert (tmp_path / "t/a.glb").stat().st_mtime_ns == modified_ns
    for existing in ([], ["--overwrite"]):
        result = keypose("convert", tmp_path / "t", tmp_path / "t", "--to", "glb", *existing)
        assert result.code == 1
        assert "is to be converted too; --skip-existing leaves both as they are" in result.err
    assert (tmp_path / "t/a.glb").stat().st_mtime_ns == modified_ns


def test_absurd_numbers_for_the_demo(keypose, tmp_path: Path) -> None:
    for number in ("1e-320", "0.5", "0", "-1", "nan", "inf", "1e300"):
        result = keypose("demo", tmp_path / "dd", f"--fps={number}")
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert f"--fps {float(number):.12g}, expected a number from 1 to 10000" in result.err
    assert not (tmp_path / "dd").exists()
    assert keypose("demo", tmp_path / "dd", "--fps", "1").code == 0


def test_a_name_that_is_too_long_is_one_line(keypose, clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clip().parent)
    long = "a" * 300
    for arguments in (
        ["convert", "walk.bvh", f"{long}.bvh"],
        ["convert", "walk.bvh", long, "--to", "glb"],
        ["convert", f"{long}.bvh", "x.glb"],
        ["convert", f"{long}*.bvh", "out", "--to", "glb"],
        ["info", long],
        ["demo", long],
    ):
        result = keypose(*arguments)
        assert (result.code, result.err.count("\n")) == (1, 1)
        assert result.err.startswith("error: ")
