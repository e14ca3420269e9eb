"""Commands without the extras that they need: help and the pip command instead of a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from keypose.cli.commands import FILE_COMMANDS, LIBRARY_COMMANDS, OTHER_COMMANDS

EXTRAS = ("sqlalchemy", "psycopg", "fsspec", "distributed", "fastapi", "uvicorn", "pxr", "bpy", "pyarrow")
HIDE_EXTRAS = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"
RUN_PLAIN = f"{HIDE_EXTRAS}; from keypose.cli import main; sys.exit(main())"
NEEDS_LIBRARY = "a library of clips needs: pip install 'keypose[library]'"
ARGUMENTS = {
    "add": ["walk.bvh"],
    "search": ["walk.bvh"],
    "show": ["walk"],
    "tag": ["walk", "--add", "slow"],
    "rename": ["walk", "slow walk"],
    "describe": ["walk", "--note", "slow"],
    "remove": ["walk", "--yes"],
    "export": ["out/"],
}  # of the commands that need any


def run_plain(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program as if no extra were installed."""
    return subprocess.run(
        [sys.executable, "-c", RUN_PLAIN, *arguments], capture_output=True, text=True, timeout=120, cwd=folder
    )


@pytest.mark.parametrize("name", [command.name for command in LIBRARY_COMMANDS])
def test_a_library_command_names_the_extra(clip, name: str) -> None:
    folder = clip().parent
    result = run_plain("library", name, *ARGUMENTS.get(name, []), folder=folder)
    assert (result.returncode, result.stdout, result.stderr) == (1, "", f"error: {NEEDS_LIBRARY}\n")
    assert [path.name for path in folder.iterdir()] == ["walk.bvh"]


def test_the_extra_is_a_field_of_json() -> None:
    result = run_plain("library", "list", "--json")
    error = json.loads(result.stdout)
    assert (result.returncode, result.stderr, error["error_kind"]) == (1, "", "MissingExtra")
    assert error["error"] == NEEDS_LIBRARY


def test_serve_names_the_extra() -> None:
    result = run_plain("serve")
    assert (result.returncode, result.stderr) == (1, "error: the web app needs: pip install 'keypose[serve]'\n")


def test_a_mistyped_library_command_is_a_wrong_command_line() -> None:
    result = run_plain("library", "lst")
    assert result.returncode == 2
    assert result.stderr.startswith("error: 'lst' is no command of keypose library; did you mean keypose library list?")


@pytest.mark.parametrize("group", [[], ["library"]], ids=["keypose", "library"])
def test_help_needs_no_extra(group: list[str]) -> None:
    commands = LIBRARY_COMMANDS if group else FILE_COMMANDS + OTHER_COMMANDS
    lines = [[*group, "--help"], *([*group, command.name, "--help"] for command in commands)]
    code = f"{HIDE_EXTRAS}; from keypose.cli.app import run; sys.exit(any([run(l) for l in {lines}]))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("Usage: keypose") == len(lines)
