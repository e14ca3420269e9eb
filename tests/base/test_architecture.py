"""ARCHITECTURE.md: every package, file, function and field that it names exists; the table agrees with the import contract."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.compare import Comparison
from keypose.model import Curves, Features, Residual, Skeleton
from keypose.pictures.svg import Picture

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "keypose"
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
TABLE = [line.split("|")[1] for line in TEXT.splitlines() if line.startswith("| `")]
TYPES, CORE = TEXT.split("## Types")[1].split("## Reading")[0], TEXT.split("- `core/`: ")[1].split("\n- `")[0]
WALKS = {walk.split("\n")[0].strip(): walk for walk in TEXT.split("## Four walks")[1].split("\n### ")[1:]}
FILE = r"[\w./]+\.(?:py|ts|cpp)"
NAME = r"#?[A-Za-z_]\w*(?:\.\w+)?"
DOCUMENTED_TYPES = (kp.Motion, kp.KeyedMotion, kp.Ladder, kp.Selection, kp.Swings, kp.Score,
                    Comparison, Curves, Features, Picture, Residual, Skeleton)  # fmt: skip


def resolve(path: str) -> Path:
    return (ROOT if path.startswith(("web/", "core/")) else SOURCE) / path


@cache
def defined_names(path: Path) -> frozenset[str]:
    """Return functions, classes, methods, attributes and constants of a file, methods also as ``Class.method``."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        classes = re.findall(r"\bclass (\w+)", text)
        methods = re.findall(r"^  (?:async )?(\w+)\(", text, re.MULTILINE)
        functions = re.findall(r"\b(?:class|function|const|interface|type) (\w+)", text)
        return frozenset((*functions, *methods, *(f"{owner}.{method}" for owner in classes for method in methods)))
    names = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        if isinstance(node, ast.AnnAssign):
            names.add(ast.unparse(node.target))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.update(each.arg for each in (*node.args.args, *node.args.kwonlyargs))
        if isinstance(node, ast.ClassDef):
            names.update(f"{node.name}.{each.name}" for each in node.body
                         if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))  # fmt: skip
            attributes = re.findall(r"self\.(\w+)(?:: [^=\n]+)? = ", ast.unparse(node))
            names.update((*attributes, *(f"{node.name}.{each}" for each in attributes)))
    return frozenset(names)


@pytest.mark.parametrize("walk", WALKS)
def test_functions_named_after_a_file_are_defined_in_it(walk):
    """Both as ```file`: `function``` and as ```function` (`file`)``."""
    pairs = re.findall(rf"`({FILE})`: `({NAME})`", WALKS[walk])
    pairs += [(path, name) for name, path in re.findall(rf"`({NAME})` \(`({FILE})`\)", WALKS[walk])]
    assert len(pairs) > 8
    assert [pair for pair in pairs if pair[1] not in defined_names(resolve(pair[0]))] == []


@pytest.mark.parametrize("walk", WALKS)
def test_every_name_of_a_walk_is_defined_in_one_of_its_files(walk):
    files = [resolve(path) for path in re.findall(rf"`({FILE})`", WALKS[walk])]
    assert [file for file in files if not file.is_file()] == []
    defined = frozenset().union(*map(defined_names, files))
    names = set(re.findall(rf"`({NAME})`", WALKS[walk])) - {path.name for path in files} - {"walk.glb"}
    assert sorted(names - defined) == []


def test_every_package_and_module_is_in_one_row_of_the_table():
    listed = [name.removesuffix(".py").rstrip("/") for row in TABLE for name in re.findall(r"`([\w./]+)`", row)]
    modules = {
        path.stem for path in SOURCE.iterdir() if path.suffix in (".py", ".pyi") or (path / "__init__.py").exists()
    }
    assert sorted(listed) == sorted(modules - {"__init__", "__main__"})


def test_the_rows_of_the_table_follow_the_import_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [re.findall(r"\w+", layer) for layer in reversed(contract["layers"])]
    row_of = {name.removesuffix(".py").rstrip("/"): row
              for row, text in enumerate(TABLE) for name in re.findall(r"`([\w./]+)`", text)}  # fmt: skip
    rows = [sorted(row_of[name] for name in layer) for layer in layers]
    assert [pair for pair in pairwise(rows) if pair[0][-1] > pair[1][0]] == []


@pytest.mark.parametrize("cls", DOCUMENTED_TYPES, ids=lambda cls: cls.__name__)
def test_fields_of_types_exist(cls):
    (listed,) = re.findall(rf"\*\*{cls.__name__}\*\*\s+`\(([^`]*)\)`", TYPES)
    names = [name.strip() for name in listed.split(",")]
    fields = list(cls.__dataclass_fields__)
    assert [name for name in names if name != "..." and name not in fields] == []
    assert "..." in names or names == fields


def test_the_types_section_has_no_type_without_a_check():
    assert set(re.findall(r"\*\*(\w+)\*\*\s+`\(\w+,", TYPES)) == {cls.__name__ for cls in DOCUMENTED_TYPES}


def test_files_of_the_kernels_exist():
    stems = {path.stem for path in (ROOT / "core").iterdir() if path.suffix in (".cpp", ".hpp")}
    for name in re.findall(r"`(\w+\*?)`", CORE):
        assert name in stems or any(re.fullmatch(name.replace("*", ".*"), stem) for stem in stems), name


def test_the_named_kernels_alone_use_the_python_api():
    """``module.cpp``, ``arguments.hpp`` and four pairs of files, as the text states."""
    using = {path.name for path in (ROOT / "core").iterdir() if re.search(r"nanobind|Python\.h", path.read_text())}
    modules = re.findall(r"`(\w+_module)`", CORE)
    assert len(modules) == 4
    assert using == {
        "module.cpp",
        "arguments.hpp",
        *(f"{name}{suffix}" for name in modules for suffix in (".cpp", ".hpp")),
    }
