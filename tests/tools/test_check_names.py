"""tools/check_names.py finds names that break the vocabulary, and leaves plain ones alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "check_names.py"
_spec = importlib.util.spec_from_file_location("check_names", SCRIPT)
assert _spec is not None and _spec.loader is not None
check_names = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_names)


@pytest.mark.parametrize(
    "name", ["told", "_kept", "isKept", "KEPT_S", "AskedFor", "least_gap_frames", "MOST_KEYS", "usualKeys"]
)
def test_banned_words_are_found(name):
    assert check_names.check_name(name) is not None


@pytest.mark.parametrize(
    "name", ["min_gap_frames", "least_squares", "at_most", "most_common", "almost", "payload", "leastSquares"]
)
def test_plain_names_pass(name):
    assert check_names.check_name(name) is None


def test_names_of_tests_may_hold_limits_but_no_banned_words():
    assert check_names.check_name("test_at_least_two_keys", is_test=True) is None
    assert check_names.check_name("test_the_greatest_gap", is_test=True) is None
    assert check_names.check_name("test_what_is_told", is_test=True) is not None


def test_identifiers_of_code_without_comments_and_strings():
    code = 'const keys = "told"; // kept\n/* said\n */ let shown = `asked ${heard}`;'
    names = list(check_names.code_names(code))
    assert ("shown", 3) in names and ("heard", 3) in names
    assert not {"told", "kept", "said", "asked"} & {name for name, _ in names}


def test_texts_of_code_that_are_names():
    code = 'row("kept-row"); say("are kept"); // "told"\nget(`/api/${id}/shown`);'
    names = list(check_names.code_names(code, with_texts=True))
    assert ("kept-row", 1) in names and ("/api//shown", 2) in names
    assert not {"are kept", "told"} & {name for name, _ in names}


def test_every_kind_of_name_in_python():
    code = """
import keys as kept
try: ...
except OSError as told: ...
match value:
    case [heard, *said]: ...
    case shown: ...
def find(*, asked): ...
find(asked=column("kept_at"))
route("/api/told")
"a sentence about what was told"
"""
    names = {name for name, _ in check_names.python_names(code, with_texts=True)}
    assert {"kept", "told", "heard", "said", "shown", "asked", "kept_at", "/api/told"} <= names
    assert "a sentence about what was told" not in names
    assert "kept_at" not in {name for name, _ in check_names.python_names(code)}


def test_names_of_stylesheets_and_pages():
    css = ".card-kept, #told { color: #adada1; --most-px: 1px } /* .said */\n[data-asked] { top: 0.5px }"
    assert [(name, line) for name, line in check_names.markup_names(css, check_names.CSS_NAME) if name] == [
        ("card-kept", 1), ("told", 1), ("adada1", 1), ("--most-px", 1), ("data-asked", 2),
    ]  # fmt: skip
    html = '<!-- class="said" --><div id="told" class="card kept" data-asked>kept</div>'
    names = [name for name, _ in check_names.markup_names(html, check_names.HTML_NAME)]
    assert names == ["told", "card kept", "data-asked"]
    assert [name for name in names if check_names.check_name(name)] == names


def test_types_and_functions_of_code():
    code = "class Told {}\ninterface Edited {}\nstruct Waiting { int x; };\n// class Found\nenum class Kind {};"
    assert [name for name, _ in check_names.code_definitions(code)] == ["Told", "Edited", "Waiting", "Kind"]
    assert [name for name, _ in check_names.code_definitions(code) if check_names.is_participle(name)] == [
        "Told", "Edited", "Waiting",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stem", "is_offence"),
    [
        *(
            ("keeping", True),
            ("opened", True),
            ("taking_in", True),
            ("kept", True),
            ("key-kept", True),
            ("utils", True),
        ),
        *(("into", True), ("test_save_into", False), ("listing", False), ("speed", False), ("stored_file", False)),
        *(("query", False), ("wrapping_arithmetic", False)),
    ],
)
@pytest.mark.parametrize("suffix", [".py", ".ts", ".css", ".hpp"])
def test_modules_named_by_participles(tmp_path, monkeypatch, stem, suffix, is_offence):
    monkeypatch.setattr(check_names, "ROOT", tmp_path)
    path = tmp_path / f"{stem}{suffix}"
    path.write_text("")
    assert bool(list(check_names.check_file(path))) == is_offence


def test_folders_are_checked_and_generated_files_are_not(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check_names, "ROOT", tmp_path)
    for name in ("src/keeping/query.py", "src/static/told.py", "web/index.html", "web/src/schema.d.ts"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert check_names.main() == 1
    assert capsys.readouterr().out == "src/keeping: the folder is named by a participle or gerund\n"


def test_classes_and_functions_named_by_participles():
    code = "class Edited: ...\ndef _waiting(): ...\ndef heading(): ...\ndef find_edited(): ...\nclass EditedFile: ..."
    names = [name for name, _ in check_names.python_definitions(code)]
    assert [name for name in names if check_names.is_participle(name)] == ["Edited", "_waiting"]
