"""docs/cli.md documents every JSON field of every command that has no test of its own for that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import keypose as kp
from keypose.library.analysis import FACET_ACTIONS
from support import cli_docs

WITHOUT_FILES = ["methods", "formats"]
WITH_ONE_FILE = ["info", "swings", "convert", "strip", "timeline", "curves", "path", "error-curve", "report", "compare"]
OUTPUT = {
    "convert": "x.glb",
    "strip": "x.svg",
    "timeline": "y.svg",
    "curves": "z.svg",
    "path": "p.svg",
    "error-curve": "e.svg",
}
# Parts of the output whose fields other pages describe.
ELSEWHERE = {"medians", "rows", "settings", "tags", "joints_by_channels", "rotation_orders", "steps"}


def field_names(value: object) -> set[str]:
    """Return the names of all fields of a document, at every level."""
    if isinstance(value, dict):
        inner = [field_names(item) for name, item in value.items() if name not in ELSEWHERE]
        return set(value).union(*inner)
    return set().union(*map(field_names, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("command", WITHOUT_FILES + WITH_ONE_FILE)
def test_fields_of_a_command(keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    kp.save(kp.demo_motion(fps=20)[180:240], "x.bvh")
    options = {"info": ["--joints"], "compare": ["--methods", "uniform", "--no-curves"], "swings": ["--actions"]}.get(
        command, []
    )
    files = ["x.bvh", *([OUTPUT[command]] if command in OUTPUT else [])] if command in WITH_ONE_FILE else []
    result = keypose(command, *files, *options, "--json")
    assert result.code == 0, result.out
    assert field_names(json.loads(result.out)) <= cli_docs.documented_fields(command)


def test_fields_of_an_error(keypose, tmp_path: Path) -> None:
    (tmp_path / "bad.bvh").write_text("HIERARCHY\n")
    result = keypose("convert", tmp_path / "bad.bvh", tmp_path / "x.glb", "--json")
    assert result.code == 1
    assert field_names(json.loads(result.out)) <= cli_docs.documented_fields("convert")


def test_fields_of_the_demo(keypose, tmp_path: Path) -> None:
    result = keypose("demo", tmp_path, "--fps", 20, "--json")
    assert field_names(json.loads(result.out)) <= cli_docs.documented_fields("demo")


def test_fields_of_the_library(keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    demo = kp.demo_motion(fps=20)
    kp.save(demo[20:80], "walk.bvh")
    kp.save(demo[180:240], "kick.bvh")
    for line in (
        ["add", "walk.bvh", "kick.bvh"],
        ["add", "kick.bvh", "--tag", "a"],
        ["list"],
        ["search", "kick.bvh", "--part", "10:40"],
        ["search", "kick.bvh", "--pose", "20"],
        ["search", "kick.bvh", "--ranker", "swings"],
        ["show", "kick"],
        ["tag", "kick", "--add", "b"],
        ["rename", "kick", "kicks"],
        ["describe", "kicks", "--note", "c"],
        ["export", "out"],
        ["stats"],
        ["verify"],
        ["rebuild"],
        ["remove", "kicks", "--yes"],
    ):
        result = keypose("library", *line, "--json")
        assert result.code == 0, result.out
        command = f"library {line[0]}"
        fields = field_names(json.loads(result.out))
        body_parts = {"left_foot", "hips", "spine", "chest", "neck", "head"}
        fields = {
            name
            for name in fields - set(FACET_ACTIONS)
            if name not in body_parts and not name.startswith(("left_", "right_"))
        }
        assert fields <= cli_docs.documented_fields(command) | cli_docs.documented_fields("library verify")
