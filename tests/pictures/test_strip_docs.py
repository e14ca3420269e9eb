"""docs/strip.md: its examples and commands run, and its numbers are current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.app import run
from keypose.pictures.figure import MAX_HULLS
from keypose.pictures.figure.paint import MAX_SOLID_HULLS
from keypose.pictures.strip import LAYOUTS
from keypose.pictures.strip.canvas import HEIGHT_PX
from keypose.pictures.strip.scene import MIN_KEY_OPACITY
from keypose.pictures.view import ANGLES

PAGE = (Path(__file__).parents[2] / "docs" / "strip.md").read_text()
PROMISES = (Path(__file__).parents[2] / "benchmarks" / "pictures" / "expected.toml").read_text()


def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for example in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(example, "docs/strip.md", "exec"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("features.svg", "kick.png", "kick.svg", "methods.svg", "rows.png", "small.png", "three.png"),
    ]


def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("takes").mkdir()
    for name in ("kick.bvh", "takes/kick.bvh"):
        kp.save(kp.demo_motion(20), name)
    commands = re.findall(r"^    keypose (.*)$", PAGE, re.M)
    assert len(commands) == 6
    for command in commands:
        assert run([*command.split(), "-q", "--overwrite"]) == 0
    assert Path("pictures/kick.png").exists()


def test_its_numbers_are_those_of_the_pictures() -> None:
    assert set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M)) - {"layout"} == set(LAYOUTS)
    assert all(f"`{view}`" in PAGE for view in ANGLES)
    assert f"`height_px` ({HEIGHT_PX:g} for a row)" in PAGE
    assert (
        f"more than {MAX_SOLID_HULLS} parts is drawn as strokes, dashed on its right; one of more than {MAX_HULLS}"
        in PAGE
    )
    assert f"The least important pose has {100 * MIN_KEY_OPACITY:g} % opacity." in PAGE
    assert "strip_svg_ms = { at_most = 5.0 }" in PROMISES
    assert "strip_png_ms = { at_most = 120.0 }" in PROMISES
    assert "at most 5 ms as SVG and 120 ms as PNG" in PAGE
