"""Messages of the library name command line options instead of Python keywords."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.message_options import translate_keywords
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
        (amc, [], "120 fps is assumed (--read-fps sets another)"),
        (amc_without_skeleton, [], "found none; give it with --asf FILE"),
        (c3d_with_gaps, ["--gaps", "refuse"], "expected no gaps; --gaps fill fills them"),
        (c3d_of_two_kinds, [], "in the file too: --animation rotations reads them instead"),
        (c3d_of_two_kinds, ["--animation", "rotation"], "--animation rotation, expected one of"),
        (c3d_of_two_kinds, ["--animation", "rotation"], "; did you mean rotations?"),
        (glb, ["--animation", "7"], ": --animation 7, expected a name or a number from 0; there are: "),
        (glb, ["--animation", "two words"], ": --animation 'two words', expected a name"),
        (usd_of_two, [], "is read, choose with --animation NAME"),
        (usd_of_two, ["--animation", "Kcik"], ": --animation Kcik, but there is"),
        (bvh, ["--limit", "joints=3"], "4 joints, more than the limit of 3; if the file is sound, raise it: --limit joints=NUMBER"),
        (bvh, ["--limit", "depth=2"], "raise it: --limit depth=NUMBER"),
        (bvh, ["--limit", "frames=2"], "raise it: --limit frames=NUMBER"),
        (bvh, ["--limit", "bytes=20"], "larger than the limit of 20 bytes; to allow it: --limit bytes=NUMBER"),
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


def test_a_rate_beyond_the_limits_names_the_option(keypose, tmp_path: Path) -> None:
    result = keypose("convert", bvh(tmp_path), tmp_path / "x.bvh", "--fps", "1e6")
    assert result.err.endswith("to allow it: --limit frames=NUMBER\n")


def test_names_of_files_stay_as_they_are(keypose, clip) -> None:
    path = clip("asf=... fps=..., animation='x'.bvh", frames=0)
    assert keypose("info", path).err.startswith(f"error: {path}:")
    assert translate_keywords("a/fps=1, b", "a/fps=1,") == "a/fps=1, b"


def test_demo_with_invalid_options(keypose, tmp_path: Path) -> None:
    assert keypose("demo", tmp_path, "--seed", "-1").err.startswith("error: --seed -1, expected")
