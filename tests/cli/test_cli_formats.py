"""``keypose formats``: the table of formats, and the installed extras."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest
from rich.console import Console

from keypose.cli.formats import formats
from keypose.formats import FORMATS


def test_formats_are_those_of_the_table(keypose) -> None:
    rows = json.loads(keypose("formats", "--json").out)
    assert [row["name"] for row in rows] == [format_.name for format_ in FORMATS]
    by_name = {row["name"]: row for row in rows}
    assert by_name["BVH"]["suffixes"] == [".bvh", ".bvh.gz"]
    assert by_name["BVH"]["write"]
    keeping = {name for name, row in by_name.items() if row["write_keys"]}
    assert {"GLB", "glTF", "Keypose keys"} <= keeping
    assert not keeping & {"BVH", "USD", "FBX", "C3D"}
    assert {name for name, row in by_name.items() if row["read_keys"]} >= {"GLB", "glTF", "Keypose keys"}
    assert (by_name["BVH"]["extra"], by_name["USD"]["extra"], by_name["FBX"]["extra"]) == (None, "usd", "fbx")
    text = keypose("formats").out
    assert all(row["name"] in text for row in rows)


def test_suffixes_are_not_split_at_80_columns(keypose, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keypose.cli.output.stdout_console", lambda: Console(width=80, highlight=False))
    words = keypose("formats").out.split()
    assert {suffix for format_ in FORMATS for suffix in format_.all_suffixes} <= set(words)


def hide_modules(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let these modules look as if they were not installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in names else real(name))


def test_extras_are_declared() -> None:
    declared = metadata("keypose").get_all("Provides-Extra") or []
    assert {format_.extra.name for format_ in FORMATS if format_.extra is not None} <= set(declared)


def test_missing_extra_prints_install_command(keypose, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_modules(monkeypatch, "bpy", "pxr")
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    assert not any(row["installed"] for row in json.loads(keypose("formats", "--json").out) if row["extra"])
    assert "pip install 'keypose[usd]'" in keypose("formats").out


@pytest.mark.parametrize("has_it", [True, False])
def test_blender_may_be_in_another_python(
    keypose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_it: bool
) -> None:
    python = tmp_path / "python"  # answers like a Python with or without the module
    python.write_text(f'#!/bin/sh\n{sys.executable} "$@"; exit {0 if has_it else 1}\n')
    python.chmod(0o755)
    hide_modules(monkeypatch, "bpy")
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(python))
    rows = {row["name"]: row for row in json.loads(keypose("formats", "--json").out)}
    for name in ("FBX", "Blender"):
        assert (rows[name]["installed"], rows[name]["python"]) == (has_it, str(python) if has_it else None)
    assert (rows["USD"]["installed"], rows["USD"]["python"]) == (True, None)
    text = keypose("formats").out
    assert ("blender, installed" in text) == (f"that of KEYPOSE_BLENDER_PYTHON={python}" in text) == has_it
    assert ("pip install 'keypose[blender]'" in text) == (f"{python}: does not start" in text) == (not has_it)
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(tmp_path / "none"))
    assert "blender, not installed" in keypose("formats").out


def test_install_commands_are_not_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_modules(monkeypatch, "bpy", "pxr")
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    console = Console(width=80, highlight=False, force_terminal=True, color_system=None)
    monkeypatch.setattr("keypose.cli.output.stdout_console", lambda: console)
    with console.capture() as text:
        formats()
    lines = [line.rstrip() for line in text.get().splitlines()]
    assert all(len(line) <= 80 for line in lines)
    for extra in ("usd", "fbx", "blender"):
        assert any(f"pip install 'keypose[{extra}]'" in line for line in lines)
