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
    code = 'const keys = "told"; // kept\n/* said\n */ let shown = 1;'
    assert [(name, line) for name, line in check_names.code_names(code) if name == "shown"] == [("shown", 3)]
    assert not {"told", "kept", "said"} & {name for name, _ in check_names.code_names(code)}


@pytest.mark.parametrize(
    ("stem", "is_offence"),
    [("keeping", True), ("opened", True), ("listing", False), ("speed", False), ("query", False)],
)
def test_modules_named_by_participles(tmp_path, monkeypatch, stem, is_offence):
    monkeypatch.setattr(check_names, "ROOT", tmp_path)
    (tmp_path / f"{stem}.py").write_text("value = 1\n")
    assert bool(list(check_names.check_file(tmp_path / f"{stem}.py"))) == is_offence


def test_classes_and_functions_named_by_participles():
    code = "class Edited: ...\ndef _waiting(): ...\ndef heading(): ...\ndef find_edited(): ...\nclass EditedFile: ..."
    assert [name for name, _ in check_names.participle_definitions(code)] == ["Edited", "_waiting"]
