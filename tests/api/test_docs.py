"""The documents: links, commands, public names and the examples of README.md; docs/selection.md has every method and option."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

import keypose as kp
from keypose.api.method_input import COMMON_OPTIONS
from keypose.cli.app import app
from keypose.errors import CODES
from support.cli_docs import find_rewritten, written_file

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "selection.md").read_text()
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md", "web/*.md")
    for path in ROOT.glob(pattern)
    if "node_modules" not in path.parts
)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
FILE_SUFFIXES = (".keyed", ".arrays")  # extras.keypose.keyed of glTF, and a media type
OPTION = re.compile(r"--?[a-z][a-z-]*")


def names(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub and Sphinx make from the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text()), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def commands(path: Path) -> list[list[str]]:
    """Return the arguments of every line of a document that calls ``keypose``."""
    lines = re.findall(r"^(?:\$ |    )keypose ([^\n]*)$", path.read_text(), re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@cache
def options_of(name: str) -> frozenset[str]:
    """Return the names of all options of a command."""
    command = app
    for word in name.split():
        command = command[word]
    arguments = command.assemble_argument_collection(parse_docstring=True)
    return frozenset(name for argument in arguments for name in argument.names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_every_link_leads_somewhere(path):
    for link in LINK.findall(FENCE.sub("", path.read_text())):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_every_named_file_exists(path):
    for name in re.findall(r"`((?:benchmarks|blender|core|docs|src|tests|tools|web)/[\w./*-]+)`", path.read_text()):
        assert list(ROOT.glob(name)) or list(path.parent.glob(name)), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_every_dotted_name_exists(path):
    for name in set(re.findall(r"\bkeypose(?:\.[a-z_]\w*)+", path.read_text())):
        if not name.endswith(FILE_SUFFIXES):
            resolve_name(name)


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_kp_has_every_name_that_is_used(path):
    for name in set(re.findall(r"\bkp\.(\w+)", path.read_text())):
        assert hasattr(kp, name), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_commands_have_only_existing_options(path):
    for words in commands(path):
        n_words = 2 if words[0] == "library" else 1
        if words[0].isupper():  # keypose COMMAND --help
            continue
        known = options_of(" ".join(words[:n_words]))
        named = {word.partition("=")[0] for word in words[n_words:] if OPTION.match(word)}
        assert named <= known | {"--help"}, words


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_the_commands_of_a_page_can_be_run_one_after_another(path):
    """No command writes a file that another one has written, nor a capture, because existing files are refused."""
    assert find_rewritten(commands(path)) == {}
    assert captures_that_are_read().isdisjoint(name for words in commands(path) for name in written_file(words))


def python_examples(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


def captures_that_are_read() -> set[str]:
    """Return the names of motion files that any example or command reads as its input."""
    names = {
        name
        for path in DOCUMENTS
        for code in python_examples(path)
        for name in re.findall(r'kp\.load\("([^"]+)"', code)
    }
    names |= {words[1] for path in DOCUMENTS for words in commands(path) if len(words) > 1}
    names |= {words[2] for path in DOCUMENTS for words in commands(path) if words[0] == "library" and len(words) > 2}
    return {name for name in names if name.endswith((".bvh", ".c3d", ".amc", ".fbx"))}


@pytest.mark.parametrize("path", DOCUMENTS, ids=names(DOCUMENTS))
def test_examples_do_not_replace_files_of_the_reader(path):
    """``save`` replaces existing files: no capture that another example reads, no file that the reader has edited."""
    captures = captures_that_are_read()
    assert "walk.bvh" in captures
    for code in python_examples(path):
        saved = re.findall(r'\bsave\([^\n]*"([^"\n]+)"', code)
        assert captures.isdisjoint(saved), saved
        read_again = set(saved) & set(re.findall(r'load_keyed\("([^"]+)"', code))
        assert all(name.endswith(".keys.json") for name in read_again), read_again


def test_every_command_is_in_the_list_of_the_reference():
    listed = re.findall(r"\[`([a-z-]+)`\]\(#keypose-", (ROOT / "docs" / "cli.md").read_text())
    assert {name for name in app if not name.startswith("-")} == set(listed)


def test_every_public_name_is_in_the_python_reference():
    reference = (ROOT / "docs" / "python.md").read_text()
    assert set(re.findall(r"`kp\.(\w+)", reference)) == set(kp.__all__)


def test_list_of_error_codes():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", (ROOT / "docs" / "error-codes.md").read_text(), re.MULTILINE)
    assert dict(rows) == dict(CODES) and len(rows) == len(CODES)


def test_every_page_is_in_the_list_of_pages():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.read_text())}
    assert set(index.parent.glob("*.md")) - {index} <= linked
    assert index.parent / "decisions" in linked


def test_the_readme_is_short_and_its_example_runs(tmp_path, monkeypatch):
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 120
    assert {"make demo", "make test"} <= set(re.findall(r"make \w+", readme))
    monkeypatch.chdir(tmp_path)
    motion = kp.demo_motion(fps=60)[380:740]
    (tmp_path / "takes").mkdir()
    kp.save(motion, "walk.bvh")
    kp.save(motion[100:200], "takes/kick.bvh")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    scope: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), scope)
    scope["lib"].close()  # type: ignore[attr-defined]
    written = {path.name for path in tmp_path.iterdir()}
    assert {"walk.glb", "final.glb", "walk.svg", "walk.html", "walk.kps", "clips.db"} <= written


@pytest.mark.parametrize("method", kp.methods(), ids=lambda row: row.name)
def test_every_method_and_option_is_documented(method):
    section = PAGE.split(f"\n### {method.name}\n")[1].split("\n### ")[0]
    assert set(method.options) <= set(re.findall(r"`(\w+)", section)), method.name
    assert f"| `{method.name}` |" in PAGE


def test_common_options_are_documented():
    assert set(COMMON_OPTIONS) - {"fps"} <= set(re.findall(r"`(\w+)", PAGE.split("## The methods")[0]))
