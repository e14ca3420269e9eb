"""Errors carry fields; their text for Python users is composed from these in one place."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import keypose as kp
from keypose.cli.error_text import render_error
from keypose.errors import (
    CODES,
    MAX_MESSAGE_CHARACTERS,
    OMISSION,
    UNSET,
    Conflict,
    FileError,
    FormatError,
    FormatWarning,
    Hint,
    KeyposeError,
    LimitError,
    MessageFields,
    MissingExtra,
    ModelError,
    OptionError,
    UnknownJoint,
    compose_message,
    format_count,
    format_count_range,
)
from keypose.server.error_responses import error_details
from support.errors import raises

HINT = Hint(python="kp.open_kps(path)[2.0:4.0] reads it", command="keypose restore walk.kps OUT --from-s 2 --to-s 4")

ERRORS = {
    "max_keys=0, expected at least 1": OptionError(option="max_keys", value=0, expected="at least 1"),
    "joints: 90 joints, expected at most 40": OptionError("90 joints", option="joints", expected="at most 40"),
    "loop=True needs a Motion": OptionError("needs a Motion", option="loop", value=True),
    "weights=None, expected a mapping": OptionError(option="weights", value=None, expected="a mapping"),
    "step 2, rotate: degrees=0.5, expected none": OptionError(
        subject="step 2, rotate", option="degrees", value=np.float64(0.5), expected="none"
    ),
    "expected frames from 0 to 9": OptionError(expected="frames from 0 to 9"),
    "walk.bvh:41: 5 channels, expected 3 or 6": FormatError("walk.bvh", "5 channels", line=41, expected="3 or 6"),
    "walk.kps: byte 96: damaged; kp.open_kps(path)[2.0:4.0] reads it": FormatError(
        "walk.kps", "damaged", byte=96, hint=HINT
    ),
    "walk.bvh: 99999 joints": LimitError("walk.bvh", "99999 joints"),
    "walk.bvh: no such file": FileError("no such file", code="no_such_file", path="walk.bvh"),
    "reading USD needs: pip install 'keypose[usd]'": MissingExtra("reading USD needs", "pip install 'keypose[usd]'"),
    "rotations: not numbers": ModelError("rotations: not numbers"),
    "the draft is at revision 3": Conflict("the draft is at revision 3"),
    "no joint or body part 'hed'; did you mean 'head'? known: head, neck": UnknownJoint("hed", ("head", "neck")),
    "walk.bvh:2: a tab, expected a blank": FormatWarning("a tab", path="walk.bvh", line=2, expected="a blank"),
}


@pytest.mark.parametrize(("message", "error"), ERRORS.items(), ids=ERRORS)
def test_the_message_is_composed_from_the_fields(message: str, error: MessageFields) -> None:
    assert str(error) == message
    assert error.args == (message,)


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_fields_survive_pickling(error: MessageFields) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (repr(copy), vars(copy)) == (repr(error), vars(error))
    assert [getattr(copy, name) for name in error.FIELDS] == [getattr(error, name) for name in error.FIELDS]


def test_a_value_that_cannot_be_pickled_is_sent_as_its_text() -> None:
    error = OptionError(option="keys", value=lambda: 3, expected="a number")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert repr(copy.value) == "function"
    assert str(pickle.loads(pickle.dumps(copy))) == str(error)


def test_a_value_that_is_not_given_is_not_none() -> None:
    assert OptionError("none").value is UNSET
    assert pickle.loads(pickle.dumps(OptionError("none"))).value is UNSET


class NoRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


NESTED_LIST: list[object] = []
for _ in range(5000):
    NESTED_LIST = [NESTED_LIST]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10**5000, "keys=int"),
        (np.zeros((40, 40)), "keys=ndarray"),
        ("x" * 100, f"keys={'x' * 60!r}..."),
        ("three", "keys='three'"),
        (NESTED_LIST, "keys=list"),
        (NoRepr(), "keys=NoRepr"),
    ],
    ids=["digits", "array", "long text", "text", "nested too deeply", "repr raises"],
)
def test_long_values_are_shortened(value: object, text: str) -> None:
    assert str(OptionError(option="keys", value=value, expected="a number")) == f"{text}, expected a number"


@pytest.mark.parametrize(
    "error",
    [
        OptionError("x" * 100_000, option="keys", value=3, expected="at least 4", hint="try more"),
        OptionError("few", expected="at least 4", hint="y" * 100_000 + "try more"),
        UnknownJoint("z" * 100_000, ["a" * 5000 for _ in range(500)]),
        FormatWarning("x" * 100_000, path="z" * 100_000, hint="try more"),
    ],
)
def test_long_messages_lose_their_middle(error: MessageFields) -> None:
    message = str(error)
    assert 2000 < len(message) <= MAX_MESSAGE_CHARACTERS and OMISSION in message
    assert message.endswith(("try more", ", ...")) and str(pickle.loads(pickle.dumps(error))) == message
    for text in (render_error(error), error_details(error).hint if isinstance(error, KeyposeError) else None):
        assert text is None or len(text) <= MAX_MESSAGE_CHARACTERS


def test_an_error_with_other_fields() -> None:
    error = UnknownJoint("hed", ("head", "neck"))
    copy = error.with_fields(path="walk.bvh")
    assert (type(copy), copy.name, copy.choices) == (UnknownJoint, "hed", ("head", "neck"))
    assert str(copy) == f"walk.bvh: {error}" == copy.args[0]
    assert error.path is None


def test_an_error_of_another_class_keeps_the_fields() -> None:
    inner = OptionError(subject="head", option="degrees", value=7, expected="none")
    outer = ModelError.from_error(inner, subject="step 2")
    assert (outer.subject, outer.option, outer.value, outer.code) == ("step 2: head", "degrees", 7, "option")
    assert str(outer) == "step 2: head: degrees=7, expected none"


def test_a_hint_has_a_form_for_each_audience() -> None:
    error = FormatError("walk.kps", "damaged", hint=HINT)
    assert compose_message(error, "command") == f"walk.kps: damaged; {HINT.command}"


@pytest.mark.parametrize(
    ("kind", "code", "base"),
    [
        (Conflict, "conflict", KeyposeError),
        (FileError, "file", OSError),
        (FormatError, "format", ValueError),
        (LimitError, "limit", FormatError),
        (MissingExtra, "missing_extra", ImportError),
        (ModelError, "model", ValueError),
        (OptionError, "option", ValueError),
        (UnknownJoint, "joint", LookupError),
    ],
)
def test_every_class_has_a_code_and_a_built_in_base(kind: type[KeyposeError], code: str, base: type) -> None:
    assert (kind.code, issubclass(kind, base), issubclass(kind, KeyposeError)) == (code, True, True)


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (lambda m: kp.select(m, keys=0), {"option": "keys", "value": 0}),
        (lambda m: kp.select(m, tolerance_mm=-1.0), {"option": "tolerance_mm", "value": -1.0}),
        (lambda m: kp.select(m, keys=3, cost="best"), {"option": "cost", "value": "best"}),
        (lambda m: kp.unbake(m, keys=5, rotation="matrix"), {"option": "rotation", "value": "matrix"}),
        (lambda m: kp.swings(m, window_s=0.0), {"option": "window_s", "value": 0.0}),
    ],
    ids=["keys", "tolerance", "cost", "rotation", "window"],
)
def test_public_functions_name_the_option(call: Callable[[kp.Motion], object], fields: dict[str, object]) -> None:
    with raises(OptionError, code="option", **fields):
        call(kp.demo_motion(fps=10.0))


@pytest.mark.parametrize(
    ("call", "fields"),
    [
        (lambda m: kp.load("a.bvh", limits=True), {"option": "limits"}),
        (lambda m: kp.open_kps("a.kps", limits=np.zeros(0)), {"option": "limits"}),
        (lambda m: kp.concatenate("auto"), {"option": "motions", "value": "auto"}),
        (lambda m: kp.concatenate([m, None]), {"option": "motions"}),
        (lambda m: kp.concatenate(np.zeros(0)), {"option": "motions"}),
        (lambda m: kp.timeline(kp.swings(m), True), {"option": "path", "value": True}),
        (lambda m: kp.report(m, b"a.html"), {"option": "path", "value": b"a.html"}),
        (lambda m: kp.demo_motion(NoRepr()), {"expected": "a number from 1 to 10000"}),
        (lambda m: kp.ladder(m, NESTED_LIST), {"option": "method"}),
        (lambda m: kp.compare(m, [np.zeros(2)]), {"option": "method"}),
        (lambda m: kp.ladder(m, joints=NESTED_LIST), {"problem": "list is no joint name"}),
        (lambda m: kp.timeline(kp.swings(m), theme=NESTED_LIST), {"problem": "theme list"}),
    ],
)
def test_values_of_wrong_types_are_option_errors(
    call: Callable[[kp.Motion], object], fields: dict[str, object]
) -> None:
    with raises(OptionError, code="option", **fields):
        call(kp.demo_motion(fps=10.0)[:20])


@cache
def codes_in_source() -> dict[str, str]:
    """Return the codes that classes and calls of the package spell out, each with a file that does."""
    package = Path(kp.__file__).parent
    found = {}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            values: list[ast.expr] = []
            if isinstance(node, ast.Call):
                values = [each.value for each in node.keywords if each.arg == "code"]
            elif isinstance(node, ast.ClassDef):
                for each in node.body:
                    if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                        targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                        names = [target.id for target in targets if isinstance(target, ast.Name)]
                        values += [each.value] if "code" in names else []
            for value in values:
                for part in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        found[part.value] = str(path.relative_to(package))
    return found


def test_every_code_is_in_the_table() -> None:
    assert {code: path for code, path in codes_in_source().items() if code not in CODES} == {}


def test_every_code_of_the_table_is_used() -> None:
    assert [code for code in CODES if code not in codes_in_source()] == []


@pytest.mark.parametrize(
    ("number", "separator", "text"),
    [(0, "", "0 keys"), (1, "", "1 key"), (2, "", "2 keys"), (1200, "", "1200 keys"), (1200, ",", "1,200 keys"), (1, ",", "1 key")],
)  # fmt: skip
def test_a_count_has_the_number_of_its_noun(number: int, separator: Literal["", ","], text: str) -> None:
    assert format_count(number, "key", separator) == text


def test_a_range_of_one_number_is_a_count() -> None:
    assert format_count_range(2, 1200, "key", ",") == "2 to 1,200 keys"
    assert format_count_range(1, 1, "key") == "1 key"
