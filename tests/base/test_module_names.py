"""Modules, files and folders that are named as text, in code, configuration and documentation, exist."""

from __future__ import annotations

import ast
import fnmatch
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import keypose
from keypose.cli.commands import FILE_COMMANDS, LIBRARY_COMMANDS, OTHER_COMMANDS, Command
from keypose.server.workers import process

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "keypose"
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
COMMANDS = (*FILE_COMMANDS, *LIBRARY_COMMANDS, *OTHER_COMMANDS)

# Modules that other processes run, with the function or table that they need there.
WORKERS = {
    "keypose.batch.worker": "main",
    "keypose.server.workers.worker": "main",
    process.CLIP_TASKS: "TASKS",
    process.UPLOAD_TASKS: "TASKS",
    process.SEARCH_TASKS: "TASKS",
}
PROGRAMS = ("keypose", "keypose.server.openapi")  # run by ``python -m``
# Files of the package that are read by name: package and file.
RESOURCES = (
    ("keypose.library", "results_page.css"),
    ("keypose.library", "results_page.js"),
    ("keypose.library.descriptors", "learned_spaces.npz"),
    ("keypose.library.search", "part_basis.npz"),
    ("keypose.pictures", "page.css"),
    ("keypose.pictures", "page.js"),
    ("keypose.pictures.report", "player.css"),
    ("keypose.pictures.report", "player.js"),
    ("keypose.pictures.report", "scene.js"),
)
SCRIPTS = ("main.py", "usd_reader.py", "fbx_reader.py", "blend_reader.py", "blend_writer.py")  # of subprocess_readers
NO_MODULES = {"keypose.zip"}  # the name of a download

MODULE_NAME = re.compile(r"(?<![\w./-])keypose(?:\.[a-z_][a-z0-9_]*)+")
FILE_NAME = re.compile(r"[\w./-]*\w\.py|[\w.-][\w./-]*/")


def module_exists(name: str) -> bool:
    path = SOURCE.joinpath(*name.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file() or path.with_suffix(".pyi").is_file()


def member_exists(name: str) -> bool:
    """Return whether a dotted name is a module or a member of one."""
    module, _, member = name.rpartition(".")
    return module_exists(name) or (module_exists(module) and hasattr(importlib.import_module(module), member))


@pytest.mark.parametrize("module", WORKERS)
def test_worker_modules_have_their_entry(module: str) -> None:
    assert getattr(importlib.import_module(module), WORKERS[module])


@pytest.mark.parametrize("module", PROGRAMS)
def test_programs_exist(module: str) -> None:
    package = importlib.import_module(module)
    importlib.import_module(f"{module}.__main__" if hasattr(package, "__path__") else module)


@pytest.mark.parametrize(("package", "name"), RESOURCES)
def test_resource_files_exist(package: str, name: str) -> None:
    assert files(package).joinpath(name).is_file()


def test_resource_files_are_listed() -> None:
    suffixes = {".css", ".js", ".npz"}
    paths = {path for path in SOURCE.rglob("*") if path.suffix in suffixes and "static" not in path.parts}
    listed = {SOURCE.joinpath(*package.split(".")[1:], name) for package, name in RESOURCES}
    assert paths == listed


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_of_child_processes_exist(name: str) -> None:
    assert (SOURCE / "formats" / "subprocess_readers" / name).is_file()


def test_scripts_of_child_processes_are_listed() -> None:
    named = {
        match
        for path in (SOURCE / "formats").rglob("*.py")
        for match in re.findall(r'(?:ExternalLibrary\("\w+", |_HERE / )"(\w+\.py)"', path.read_text("utf-8"))
    }
    assert named == set(SCRIPTS)


@pytest.mark.parametrize("name", sorted(keypose.__all__))
def test_public_names_are_importable(name: str) -> None:
    assert getattr(keypose, name) is not None


def test_entry_points_are_importable() -> None:
    for entry in PYPROJECT["project"]["scripts"].values():
        module, _, function = entry.partition(":")
        assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.path)
def test_commands_exist_and_their_summary_is_their_docstring(command: Command) -> None:
    module, _, function = command.path.partition(":")
    docstring = inspect.getdoc(getattr(importlib.import_module(module), function)) or ""
    assert docstring.partition("\n")[0] == command.summary


def test_import_contract_names_modules() -> None:
    contract = PYPROJECT["tool"]["importlinter"]["contracts"][0]
    layers = {name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")}
    pairs = {name.strip() for line in contract["ignore_imports"] for name in line.split("->")}
    names = {f"keypose.{layer}" for layer in layers} | {name.removesuffix(".**") for name in pairs}
    assert [name for name in sorted(names) if not module_exists(name)] == []


def test_per_file_ignores_match_files() -> None:
    paths = [path.relative_to(ROOT).as_posix() for folder in ("src", "tests", "benchmarks", "tools", "blender")
             for path in (ROOT / folder).rglob("*.py")]  # fmt: skip
    patterns = PYPROJECT["tool"]["ruff"]["lint"]["per-file-ignores"]
    assert [pattern for pattern in patterns if not fnmatch.filter(paths, pattern)] == []


def test_cmake_lists_the_sources_of_core() -> None:
    text = (ROOT / "CMakeLists.txt").read_text("utf-8")
    sources = re.search(r"nanobind_add_module\(([^)]*)\)", text)
    assert sources is not None
    listed = re.findall(r"core/\w+\.cpp", sources[1])
    assert sorted(listed) == sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "core").glob("*.cpp"))
    assert set(re.findall(r"core/\w+\.cpp", text)) == set(listed)  # compile options of files by name


def test_modules_in_strings_exist() -> None:
    """Dotted names in string constants of the package and in the Makefile: worker programs, messages, tables."""
    names = set(MODULE_NAME.findall((ROOT / "Makefile").read_text("utf-8")))
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.update(MODULE_NAME.findall(node.value))
    assert {"keypose.batch.worker", "keypose.server.openapi"} <= names
    assert [name for name in sorted(names - NO_MODULES) if not member_exists(name)] == []


def docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def test_files_in_docstrings_exist() -> None:
    """A file or folder in double backquotes is below the folder of the module, of a package above it, or of the project."""
    missing = []
    for path in SOURCE.rglob("*.py"):
        folders = [ROOT, *(folder for folder in path.parents if folder.is_relative_to(SOURCE))]
        names = [name for text in docstrings(path) for name in re.findall(r"``([^`\n]+)``", text)]
        missing += [
            f"{path.relative_to(ROOT)}: {name}"
            for name in filter(FILE_NAME.fullmatch, names)
            if not any((folder / name).exists() for folder in folders)
        ]
    assert missing == []


def test_files_in_the_architecture_exist() -> None:
    """A file or folder in backquotes is in the package that its line names first, in the package, or in the project."""
    missing = []
    for number, line in enumerate((ROOT / "ARCHITECTURE.md").read_text("utf-8").splitlines(), start=1):
        names = [name for name in re.findall(r"`([^`]+)`", line) if FILE_NAME.fullmatch(name)]
        packages = [SOURCE / name for name in names if (SOURCE / name).is_dir()][: 1 if line.startswith("|") else 0]
        folders = [ROOT, SOURCE, *packages]
        missing += [f"{number}: {name}" for name in names if not any((folder / name).exists() for folder in folders)]
    assert missing == []
