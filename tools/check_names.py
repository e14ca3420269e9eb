"""Check that names follow the vocabulary of the project: ``python tools/check_names.py``.

Names may not contain words that say nothing about their role (``told``, ``kept``), limits are ``min`` and ``max``.
Names are the identifiers of Python, TypeScript, JavaScript and C++, the classes, ids and variables of CSS and HTML, and
texts in the code of the product that consist of one name: columns, JSON fields, paths of routes, flags, classes.

A module or folder is named after what it holds, a class by a noun and a function by a verb or a noun, not by a
participle or gerund alone. Prints one line per offence and exits with 1 if there is one. Needs the standard library
only.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "benchmarks", "tools", "blender", "core", "web/src")
FILES = ("web/index.html",)
PYTHON, CODE, MARKUP = (".py", ".pyi"), (".ts", ".js", ".mjs", ".cpp", ".hpp"), (".css", ".html")
NOT_CHECKED = ("schema.d.ts", "static", "node_modules")  # generated or installed
PRODUCT = ("src", "web", "blender")  # where texts are checked, too

BANNED = {
    *("told", "said", "heard", "kept", "asked", "shown", "thrown", "lately"),
    *("straying", "unlikeness", "arriving", "leaving", "shelf", "workbench", "workshop"),
}
EXEMPT = {"src/keypose/formats/kps.py": ("arriving", "leaving")}  # members of version 1 of .kps files
NO_NOUNS = {"into", "misc", "util", "utils"}  # as the last word of a module
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
    "wrapping",  # arithmetic
}

# Functions that return a changed copy, as ``sorted`` of Python does.
COPIES = {"mirrored"}

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PARTICIPLE = re.compile(r"[a-z]{2,}(ing|ed)|told|said|made|found|kept|held|heard|shown|drawn|thrown")
GERUND = re.compile(r"[a-z]{2,}ing")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
TEXT_OF_NAMES = re.compile(r"[A-Za-z_/{}.:-][\w/{}.:-]*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|<!--.*?-->", re.DOTALL)
NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)", re.DOTALL
)
PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")  # of a template text
DEFINITION = re.compile(r"\b(?:class|struct|interface|type|enum|function)\s+(?:class\s+)?(\w+)")
CSS_NAME = re.compile(r"[.#](-?[A-Za-z_][\w-]*)|(--[\w-]+)|\[(data-[\w-]+)|@keyframes\s+([\w-]+)")
HTML_NAME = re.compile(r"\b(?:class|id|name|for)=\"([^\"]*)\"|\b(data-[\w-]+)")


def main() -> int:
    """Print every offence; return the exit code."""
    paths = sorted(source_files())
    folders = sorted({folder for path in paths for folder in path.relative_to(ROOT).parents})
    offences = [line for folder in folders for line in check_module(folder, folder.name, "folder")]
    offences += [line for path in paths for line in check_file(path)]
    print("\n".join(offences) or "all names follow the vocabulary")
    return 1 if offences else 0


def source_files() -> Iterator[Path]:
    """Yield the files whose names and identifiers are checked."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in PYTHON + CODE + MARKUP and not set(path.parts) & set(NOT_CHECKED):
                yield path
    yield from (ROOT / file for file in FILES)


def check_file(path: Path) -> Iterator[str]:
    """Yield the offences of one file."""
    where = path.relative_to(ROOT)
    yield from check_module(where, path.stem, "module")
    text = path.read_text(encoding="utf-8")
    is_product = where.parts[0] in PRODUCT
    if path.suffix in PYTHON:
        names, definitions = python_names(text, with_texts=is_product), python_definitions(text)
    elif path.suffix in CODE:
        names, definitions = code_names(text, with_texts=is_product), code_definitions(text)
    else:
        names, definitions = markup_names(text, CSS_NAME if path.suffix == ".css" else HTML_NAME), iter(())
    for name, line in names:
        problem = check_name(name, is_test=name.startswith("test_"), exempt=EXEMPT.get(where.as_posix(), ()))
        if problem:
            yield f"{where}:{line}: {name}: {problem}"
    for name, line in definitions:
        if is_participle(name):
            yield f"{where}:{line}: {name}: a class or function is named by a participle or gerund"


def check_module(where: Path, name: str, kind: str) -> Iterator[str]:
    """Yield the offences of the name of a module or folder."""
    words = [word.lower() for word in re.split(r"[_.-]", name) if word]
    problem = next(filter(None, (check_name(word, is_test=True) for word in words)), None)
    if problem:
        yield f"{where}: the {kind} is named {name}: {problem}"
    elif words and words[0] != "test" and words[-1] in NO_NOUNS:
        yield f"{where}: the {kind} is named {name}, which says nothing about what it holds"
    elif any(PARTICIPLE.fullmatch(word) and word not in NOUNS for word in words[-1:]) or any(
        GERUND.fullmatch(word) and word not in NOUNS for word in words
    ):
        yield f"{where}: the {kind} is named by a participle or gerund"


def check_name(name: str, *, is_test: bool = False, exempt: Collection[str] = ()) -> str | None:
    """Return the fault of an identifier; None: there is none. Names of tests are sentences, and may contain limits."""
    plain = name.lower()
    for phrase in PHRASES:
        plain = plain.replace(phrase, "") if phrase in plain else plain
    words = [word.lower() for word in WORD.findall(name if plain == name.lower() else plain)]
    for word in words:
        if word in BANNED and word not in exempt:
            return f"{word!r} says nothing about its role"
        if word in LIMITS and not is_test:
            return f"{word!r}: use {LIMITS[word]!r}"
    return None


def python_names(text: str, *, with_texts: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the identifiers that Python code defines or uses, with their lines; ``with_texts`` also texts of names."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.keyword(arg=str(name)) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.Constant(value=str(value)) if with_texts and TEXT_OF_NAMES.fullmatch(value):
                yield value, node.lineno


def python_definitions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the classes and functions of Python code, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def is_participle(name: str) -> bool:
    """Return whether the only word of a name is a participle or gerund."""
    words = [word.lower() for word in WORD.findall(name)]
    return len(words) == 1 and bool(PARTICIPLE.fullmatch(words[0])) and words[0] not in NOUNS | COPIES


def code_names(text: str, *, with_texts: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the identifiers of TypeScript, JavaScript or C++, without those in comments, with their lines.

    ``with_texts``: also texts of names. Expressions in template texts are code.
    """
    for match in NOT_CODE.finditer(text):
        literal, line = match["text"], text.count("\n", 0, match.start()) + 1
        if literal is None:
            continue
        if literal[0] == "`":
            yield from ((name, line) for part in PLACEHOLDER.findall(literal) for name in IDENTIFIER.findall(part))
            literal = PLACEHOLDER.sub("", literal)
        if with_texts and TEXT_OF_NAMES.fullmatch(literal[1:-1]):
            yield literal[1:-1], line
    yield from find_names(blank(NOT_CODE, text), IDENTIFIER)


def code_definitions(text: str) -> Iterator[tuple[str, int]]:
    """Yield the types and functions that TypeScript, JavaScript or C++ defines by name, with their lines."""
    return find_names(blank(NOT_CODE, text), DEFINITION)


def markup_names(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Yield the classes, ids and variables of CSS or HTML, with their lines."""
    return find_names(blank(COMMENT, text), pattern)


def find_names(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """Yield what the groups of a pattern match, or the whole match if it has none, with its line."""
    for number, line in enumerate(text.splitlines(), 1):
        for match in pattern.finditer(line):
            yield next(filter(None, match.groups()), match[0]), number


def blank(pattern: re.Pattern[str], text: str) -> str:
    """Return a text without what a pattern matches, with the same lines."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


if __name__ == "__main__":
    sys.exit(main())
