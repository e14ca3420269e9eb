"""Files and names at the edge: very many warnings or joints, numbers without end, names that are none."""

from __future__ import annotations

import json
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.batch import Outcome
from keypose.batch.describe import ClipInfo, describe
from keypose.cli import clip_view, info, output, said


@pytest.fixture
def described(clip) -> ClipInfo:
    """A small clip, in figures, with its tree."""
    path = clip()
    return describe(kp.load(path), path, tree=True)


def test_numbers_without_end_are_shown(described: ClipInfo, capfd: pytest.CaptureFixture[str]) -> None:
    for number in (float("inf"), float("nan"), 1e300):
        absurd = replace(described, fps=number, duration_s=number, height=number, height_m=number)
        output.show(clip_view.block(absurd, []))
        output.show(clip_view.table([absurd, absurd], 80))
        assert f"duration    {number:.3g} s\n" in capfd.readouterr().out
        output.show_json([said.document(Path("x"), Outcome(0, absurd))])
        document = json.loads(capfd.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert document[0]["height_m"] == (1e300 if number == 1e300 else None)
        assert document[0]["tree"][1]["offset"] == [0.0, 12.0, 0.5]


def test_offsets_that_overflow_have_no_height(keypose, clip) -> None:
    path = clip()
    path.write_text(path.read_text().replace("0 12 0.5", "0 1e200 1e200"))
    for more in ([], ["--joints"], ["--json"]):
        ran = keypose("info", path, *more)
        assert ran.code in (0, 1)
        assert "a fault" not in ran.err
        assert "RuntimeWarning" not in ran.err
    json.loads(ran.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_very_many_warnings_and_notes_are_told_apart_soon() -> None:
    notes = [f"joint {i}: repaired" for i in range(40_000)]
    warnings = [f"walk.bvh:{i}: {note}" for i, note in enumerate(notes[1:])]
    start = time.perf_counter()
    assert said.own_notes([*notes, notes[0], ""], warnings) == [notes[0]]
    assert time.perf_counter() - start < 5
    assert said.own_notes(["", "x"], []) == ["", "x"]


def test_no_more_is_said_of_one_clip_than_one_reads(
    described: ClipInfo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = tuple(f"thing {i}" for i in range(50))
    said.say_warnings(Path("walk.bvh"), texts)
    lines = capfd.readouterr().err.splitlines()
    assert (len(lines), lines[19], lines[20]) == (
        21,
        "warning: thing 19",
        "warning: walk.bvh: and 30 more; --json has all",
    )
    said.say_warnings(Path("walk.bvh"), texts[:20])
    assert len(capfd.readouterr().err.splitlines()) == 20
    said.say_notes([(Path("walk.bvh"), texts)])
    assert len(capfd.readouterr().err.splitlines()) == 21
    info._show([noted := replace(described, notes=texts)], [Outcome(0, noted)], joints=False)
    assert capfd.readouterr().out.count("note ") == 21


def test_very_many_joints_are_shown_in_part(described: ClipInfo, capfd: pytest.CaptureFixture[str]) -> None:
    root, chest = described.tree
    huge = replace(described, tree=(root, *[chest] * 99_999), joints=100_000, end_sites=99_999)
    start = time.perf_counter()
    output.show(clip_view.joint_table(huge, 80))
    assert time.perf_counter() - start < 20
    lines = capfd.readouterr().out.splitlines()
    assert lines[-1] == f"and {199_999 - clip_view.ROWS_SHOWN} more rows; --json has all"
    assert sum("Chest" in line or "(end)" in line for line in lines) == clip_view.ROWS_SHOWN - 1
    output.show(clip_view.joint_table(described, 80))
    assert "more rows" not in capfd.readouterr().out


def test_an_empty_name_is_not_the_current_folder(keypose, clip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clip().parent)
    for arguments in (["info", ""], ["convert", "", "out", "--to", "glb"]):
        ran = keypose(*arguments)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("error: an empty name, expected a file, a folder or a pattern")
    ran = keypose("info", "", "walk.bvh")
    assert ran.code == 1
    assert "walk.bvh" in ran.out
    for arguments in (["convert", "walk.bvh", ""], ["convert", "walk.bvh", "", "--to", "glb"], ["demo", ""]):
        assert keypose(*arguments).code == 2
    assert [path.name for path in Path().iterdir()] == ["walk.bvh"]


def test_nothing_is_written_outside_of_the_folder(keypose, clip, tmp_path: Path, monkeypatch) -> None:
    clip("y.bvh"), clip("here/k1/walk.bvh")
    monkeypatch.chdir(tmp_path / "here")
    before = sorted(tmp_path.rglob("*"))
    for pattern in ("k*/../../y.bvh", "k*/../k1/walk.bvh", "k?/.."):
        ran = keypose("convert", pattern, "out", "--to", "glb")
        assert ran.code == 1
        assert "outside of out: expected a pattern without .. after its first wildcard" in ran.err
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
    ran = keypose("convert", tmp_path / "takes", tmp_path / "out", "--to", "glb")
    assert ran.code == 1
    assert "which are one file on other systems: rename one" in ran.err
    assert not (tmp_path / "out").exists()


def test_a_run_into_the_same_folder_goes_on(keypose, clip, tmp_path: Path) -> None:
    clip("t/a.bvh"), clip("t/below/b.bvh")
    again = ("convert", tmp_path / "t", tmp_path / "t", "--to", "glb", "--skip-existing", "--json")
    assert len(json.loads(keypose(*again).out)["converted"]) == 2
    made = (tmp_path / "t/a.glb").stat().st_mtime_ns
    clip("t/c.bvh")
    report = json.loads(keypose(*again).out)
    assert [Path(item["source"]).name for item in report["converted"]] == ["c.bvh"]
    assert sorted(Path(item["source"]).name for item in report["skipped"]) == ["a.bvh", "b.bvh"]
    assert (tmp_path / "t/a.glb").stat().st_mtime_ns == made
    for existing in ([], ["--overwrite"]):
        ran = keypose("convert", tmp_path / "t", tmp_path / "t", "--to", "glb", *existing)
        assert ran.code == 1
        assert "is to be converted too; --skip-existing leaves both as they are" in ran.err
    assert (tmp_path / "t/a.glb").stat().st_mtime_ns == made


def test_absurd_numbers_for_the_demo(keypose, tmp_path: Path) -> None:
    for number in ("1e-320", "0.5", "0", "-1", "nan", "inf", "1e300"):
        ran = keypose("demo", tmp_path / "dd", f"--fps={number}")
        assert (ran.code, ran.err.count("\n")) == (1, 1)
        assert "frames per second, expected" in ran.err
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
        ran = keypose(*arguments)
        assert (ran.code, ran.err.count("\n")) == (1, 1)
        assert ran.err.startswith("error: ")
