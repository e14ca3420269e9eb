"""The wording of errors, warnings and notes on the command line: options as flags, hints that name commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.app import app
from keypose.cli.commands import running_command
from keypose.cli.error_text import error_fields, format_flag, render_error
from keypose.errors import UNSET, Hint, OptionError, UnknownJoint
from keypose.options import LoadOptions
from keypose.options.compare import ComparisonOptions
from support import acclaim
from support.c3d_writer import C3D, rotating_segments, walk
from support.usd_files import usda

PYTHON = re.compile(r"(?<![\w-])(fps|asf|gaps|animation|limits|reference_pose)=|Limits\(")


def amc(folder: Path) -> Path:
    return acclaim.write(folder)


def amc_without_skeleton(folder: Path) -> Path:
    acclaim.write(folder).with_suffix(".asf").unlink()
    return folder / "leg.amc"


def c3d_with_gaps(folder: Path) -> Path:
    (folder / "lost.c3d").write_bytes(C3D(walk(), [(2, 1)]).data())
    return folder / "lost.c3d"


def c3d_of_two_kinds(folder: Path) -> Path:
    (folder / "both.c3d").write_bytes(C3D(walk(9), segments=rotating_segments(9, 2)[0]).data())
    return folder / "both.c3d"


def glb(folder: Path) -> Path:
    kp.save(kp.demo_motion(fps=5.0), folder / "Walking.glb")
    return folder / "Walking.glb"


def usd_of_two(folder: Path) -> Path:
    pytest.importorskip("pxr")
    second = 'def SkelAnimation "Kick" { uniform token[] joints = ["a"]\nquatf[] rotations.timeSamples = { 0: [(1,0,0,0)] }\n}'
    (folder / "two.usda").write_text(usda(root=second))
    return folder / "two.usda"


def bvh(folder: Path) -> Path:
    kp.save(kp.demo_motion(fps=5.0), folder / "demo.bvh")
    return folder / "demo.bvh"


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (amc, [], "120 fps is assumed (the option fps, on the command line --read-fps, sets another)"),
        (amc_without_skeleton, [], "found none; give it with --asf FILE"),
        (c3d_with_gaps, ["--gaps", "refuse"], "expected no gaps; --gaps fill fills them"),
        (c3d_of_two_kinds, [], "in the file too; the animation 'rotations' reads"),
        (c3d_of_two_kinds, ["--animation", "rotation"], "--animation rotation, expected a name or a number"),
        (c3d_of_two_kinds, ["--animation", "rotation"], "; did you mean 'rotations'?"),
        (glb, ["--animation", "7"], ": --animation 7, expected a name or a number from 0 of: "),
        (glb, ["--animation", "two words"], ": --animation 'two words', expected a name"),
        (usd_of_two, [], "is read; the option animation chooses another"),
        (usd_of_two, ["--animation", "Kcik"], ": --animation Kcik, expected a name or a number from 0 of: 'Wave', 'Kick'"),
        (bvh, ["--limit", "joints=3"], "4 joints, more than the limit of 3; if the file is sound, raise it: --limit joints=NUMBER"),
        (bvh, ["--limit", "depth=2"], "raise it: --limit depth=NUMBER"),
        (bvh, ["--limit", "frames=2"], "raise it: --limit frames=NUMBER"),
        (bvh, ["--limit", "bytes=20"], "larger than the limit of 20 bytes; if the file is sound, raise it: --limit bytes=NUMBER"),
        (bvh, ["--limit", "expansion=0"], "raise it: --limit expansion=NUMBER"),
        (glb, ["--limit", "joints=3"], "raise it: --limit joints=NUMBER"),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)  # fmt: skip
def test_messages_name_options(
    keypose,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], Path],
    options: list[str],
    message: str,
) -> None:
    monkeypatch.setattr("keypose.formats.base.SMALL_MOTION_BYTES", 0)
    path = make(tmp_path)
    text = keypose("info", path, *options)
    assert message in text.out + text.err
    assert not PYTHON.search(text.out + text.err)
    assert text.err.count("error: ") <= 1
    document = json.loads(keypose("info", path, "--json", *options).out)[0]
    assert message in " ".join([document.get("error", ""), *document.get("notes", ()), *document["warnings"]])
    assert not PYTHON.search(json.dumps(document))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["walk.bvh", "x"], "x: no suffix, expected one of .bvh, "),
        (["walk.bvh", "x.glbb"], "; did you mean .glb?"),
        (["walk.bvh", "x.BHV"], "; did you mean .bvh?"),
        (["walk.bvh", "out", "--to", "gbl"], "--to: cannot write '.gbl'"),
        (["walk.bvh", "out", "--to", "gbl"], "; did you mean .glb?"),
        (["walk.bvh", "x.c3d"], "x.c3d: .c3d files can be read, but not written, expected one of .bvh"),
        (["wlak.bvh", "x.glb"], "wlak.bvh: no such file; did you mean walk.bvh?"),
        (["walk.bvh", "x.bvh", "--range", "1000:"], "--range 1000: holds no frame: the clip has 8 (0 to 7)"),
        (["walk.bvh", "x.bvh", "--range", ":0"], "--range :0 holds no frame"),
        (["walk.bvh", "x.bvh", "--range", "5:2"], "--range 5:2 holds no frame"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_suggestions(
    keypose, clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    clip("walk.bvh"), clip("other.bvh")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = keypose("convert", *arguments)
    assert result.code == 1
    assert message in result.err
    assert result.err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_rate_beyond_the_limits_names_the_option(keypose, tmp_path: Path) -> None:
    result = keypose("convert", bvh(tmp_path), tmp_path / "x.bvh", "--fps", "1e6")
    assert result.err.endswith("raise it: --limit frames=NUMBER\n")


def test_names_of_files_stay_as_they_are(keypose, clip) -> None:
    path = clip("asf=... fps=..., animation='x'.bvh", frames=0)
    assert keypose("info", path).err.startswith(f"error: {path}:")


def test_demo_with_invalid_options(keypose, tmp_path: Path) -> None:
    assert keypose("demo", tmp_path, "--seed", "-1").err.startswith("error: --seed -1, expected")


@pytest.mark.parametrize(
    ("command", "option", "value", "text"),
    [
        ("keys", "max_keys", 0, "--max-keys 0"),
        ("keys", "weights", {"hands": -1.0}, "--weight hands=-1"),
        ("keys", "pins", UNSET, "--pin"),
        ("keys", "frames", "3:", "--range 3:"),
        ("keys", "sigma_s", -1, "--set sigma_s=-1"),
        ("keys", "top_only", True, "--set top_only=true"),
        ("keys", "threshold", 0, "--threshold 0"),
        ("strip", "threshold", 0, "--threshold 0"),
        ("keys", "loop", True, "--loop"),
        ("strip", "rank", True, "--rank"),
        ("strip", "rank", "x", "--set rank=x"),
        ("keys", "rank", "x", "--set rank=x"),
        ("convert", "fps", 0.0, "--fps 0"),
        ("compare", "fps", 0.0, "--fps 0"),
        ("demo", "fps", 0.0, "--fps 0"),
        ("strip", "fps", 0.0, "--read-fps 0"),
        ("convert", "reference_pose", True, "--write-reference-pose"),
        ("convert", "reference_pose", "x", "--reference-pose x"),
        ("unbake", "residual", False, "--no-residual"),
        ("rebake", "residual", 20.0, "--residual 20"),
        ("info", "animation", "two words", "--animation 'two words'"),
        ("swings", "factor", 0.0, "factor 0"),
        ("strip", "width_px", 3, "--width-px 3"),
        ("library add", "tags", UNSET, "--tag"),
        ("methods", "width_px", 3, "--width-px 3"),
        ("", "width_px", 3, "--width-px 3"),
    ],
)
def test_options_as_they_are_typed(command: str, option: str, value: object, text: str) -> None:
    with running_command(app, command.split()):
        assert format_flag(option, value) == text


@pytest.mark.parametrize("command", ["convert", "unbake", "report", "swings", "compare", "strip", ""])
def test_a_class_of_options_decides_between_flags_with_the_same_keyword(command: str) -> None:
    with running_command(app, command.split()):
        assert format_flag("fps", 0.0, option_class=LoadOptions) == "--read-fps 0"
        if command in ("compare", ""):
            assert format_flag("fps", 0.0, option_class=ComparisonOptions) == "--fps 0"


@pytest.mark.parametrize("command", ["convert", "unbake", "report", "compare"])
@pytest.mark.parametrize("flag", ["--fps", "--read-fps"])
@pytest.mark.parametrize("rate", ["0", "1e9"])
def test_messages_name_the_flag_that_was_typed(keypose, tmp_path: Path, command: str, flag: str, rate: str) -> None:
    out = () if command in ("report", "compare") else (tmp_path / "x.glb",)
    result = keypose(command, bvh(tmp_path), *out, flag, rate)
    if (command, flag, rate) == ("compare", "--fps", "1e9"):  # a maximum rate
        assert result.code == 0
        return
    assert f" {flag} {float(rate):.12g}, expected a number " in result.err


def test_an_error_for_users_of_the_command_line() -> None:
    hint = Hint(python="give keys=", command="give --keys")
    error = OptionError(subject="walk", option="max_keys", value=0, expected="at least 1", hint=hint)
    assert render_error(error) == "walk: --max-keys 0, expected at least 1; give --keys"
    assert error_fields(error) == {
        "code": "option",
        "option": "max_keys",
        "value": 0,
        "expected": "at least 1",
        "hint": "give --keys",
    }
    assert error_fields(UnknownJoint("hed", ("head",)))["value"] == "hed"
