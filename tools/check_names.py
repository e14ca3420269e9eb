"""Check that names follow the vocabulary of the project: ``python tools/check_names.py``.

Identifiers of Python, TypeScript and C++ may not contain words that say nothing about their role (``told``, ``kept``),
limits are ``min`` and ``max``. A module is named after what it holds, a class by a noun and a function by a verb or a
noun, not by a participle or gerund alone. Prints one line per offence and exits with 1 if there is one. Needs the
standard library only.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "benchmarks", "tools", "blender", "core", "web/src")
SUFFIXES = (".py", ".pyi", ".ts", ".cpp", ".hpp")
NOT_CHECKED = ("compare_results.py", "compare_results_cases.py", "schema.d.ts")  # hold old or generated names

BANNED = {"told", "said", "heard", "kept", "asked", "shown", "lately", "straying", "unlikeness", "arriving", "leaving"}
LIMITS = {"least": "min", "most": "max", "greatest": "max", "usual": "default"}
PHRASES = (
    "least_squares",
    "most_common",
    "at_least",
    "at_most",
    "leastsquares",
    "topmost",
    "leftmost",
    "rightmost",
    "outermost",
)
# Words that end like a participle or gerund, but are established nouns.
NOUNS = {
    *("coding", "encoding", "embedding", "heading", "keyed", "listing", "logging", "mapping", "padding", "ranking"),
    *(
        "rendering",
        "retargeting",
        "routing",
        "sampling",
        "smoothing",
        "speed",
        "streaming",
        "string",
        "swing",
        "timing",
    ),
}

# Functions that return a changed copy, as ``sorted`` of Python does.
COPIES = {"mirrored"}

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PARTICIPLE = re.compile(r"[a-z]{2,}(ing|ed)|told|said|made|found|kept|held|heard|shown|drawn|thrown")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`", re.DOTALL)


def main() -> int:
    """Print every offence; return the exit code."""
    offences = [line for path in sorted(source_files()) for line in check_file(path)]
    print("\n".join(offences) or "all names follow the vocabulary")
    return 1 if offences else 0


def source_files() -> Iterator[Path]:
    """Yield the files whose names and identifiers are checked."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and path.name not in NOT_CHECKED and "node_modules" not in path.parts:
                yield path


def check_file(path: Path) -> Iterator[str]:
    """Yield the offences of one file."""
    where = path.relative_to(ROOT)
    last_word = path.stem.split("_")[-1]
    if PARTICIPLE.fullmatch(last_word) and last_word not in NOUNS:
        yield f"{where}: the module is named by a participle or gerund"
    text = path.read_text(encoding="utf-8")
    names = python_names(text) if path.suffix in (".py", ".pyi") else code_names(text)
    for name, line in names:
        problem = check_name(name, is_test=name.startswith("test_"))
        if problem:
            yield f"{where}:{line}: {name}: {problem}"
    if path.suffix in (".py", ".pyi"):
        for name, line in participle_definitions(text):
            yield f"{where}:{line}: {name}: a class or function is named by a participle or gerund"


def check_name(name: str, *, is_test: bool = False) -> str | None:
    """Return the fault of an identifier; None: there is none. Names of tests are sentences, and may contain limits."""
    plain = name.lower()
    for phrase in PHRASES:
        plain = plain.replace(phrase, "") if phrase in plain else plain
    words = [word.lower() for word in WORD.findall(name if plain == name.lower() else plain)]
    for word in words:
        if word in BANNED:
            return f"{word!r} says nothing about its role"
        if word in LIMITS and not is_test:
            return f"{word!r}: use {LIMITS[word]!r}"
    return None


def python_names(text: str) -> Iterator[tuple[str, int]]:
    """Yield the identifiers that Python code defines or uses, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value.lineno


def participle_definitions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the classes and functions of Python code whose only word is a participle or gerund, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            words = [word.lower() for word in WORD.findall(node.name)]
            if len(words) == 1 and PARTICIPLE.fullmatch(words[0]) and words[0] not in NOUNS | COPIES:
                yield node.name, node.lineno


def code_names(text: str) -> Iterator[tuple[str, int]]:
    """Yield the identifiers of TypeScript or C++, without comments and strings, with their lines."""
    code = NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        for match in IDENTIFIER.finditer(line):
            yield match[0], number


if __name__ == "__main__":
    sys.exit(main())
