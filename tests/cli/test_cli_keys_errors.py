"""Errors of ``keypose keys``: one line that names the option and the expected values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.cli.app import app
from keypose.cli.commands import running_command
from keypose.cli.error_text import render_error
from keypose.cli.options import option_flag
from support.errors import Pattern, check_json_error, check_usage_error, raises

OPTIONS = sorted({name for method in kp.methods() for name in method.options})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keys", "0"], "--keys 0, expected at least 1"),
        (["--keys", "many"], "--keys many, expected a whole number"),
        (["--keys", "4", "--auto"], "--keys cannot be combined with --auto"),
        (["--keys", "4", "--tolerance-mm", "5"], "--keys cannot be combined with --tolerance-mm"),
        (["--tolerance-mm", "nan"], "--tolerance-mm nan, expected millimetres, 0 or more"),
        (["--tolerance-mm=-1"], "--tolerance-mm -1, expected millimetres"),
        (["--method", "salint"], "expected one of salient, farthest, spread, synopsis, saliency, refine, "),
        (["--method", "salint"], "; did you mean salient?"),
        (["--range", "4"], "--range 4, expected START:END"),
        (["--weight", "hands"], "--weight hands, expected NAME=NUMBER, such as hands=3"),
        (["--weight", "hands=x"], "--weight hands=x, expected NAME=NUMBER"),
        (["--weight", "=3"], "--weight =3, expected NAME=NUMBER"),
        (["--weight", "hands=inf"], "--weight hands=inf, expected NAME=NUMBER"),
        (["--pin", "x"], "--pin x, expected frames from 0, such as 30,88, or the words contacts and extremes"),
        (["--pin", "3,,4"], "--pin 3,,4, expected no empty part"),
        (["--exclude", "contacts"], "--exclude contacts, expected frames from 0, such as 30,88\n"),
        (["--joints", ""], "--joints '', expected no empty part"),
        (["--objective", "min"], "--objective min, expected one of max, sum"),
        (["--cost", "low"], "--cost low, expected one of chord, integrated"),
        (["--features", "nothing"], "--features nothing, expected one of "),
        (["--set", "objective"], "--set objective, expected NAME=VALUE"),
        (["--set", "objective=sum"], "has an option of its own, --objective"),
        (["--set", "nonsense=1"], "--set nonsense is no option of salient; salient has --objective, --cost, --interpolation, --measure, --set limit_mm"),
        (["--method", "farthest", "--loop"], "--loop is no option of farthest, but of salient; farthest has none of its own"),
        (["--method", "saliency", "--set", "sigma=1"], "--set sigma is no option of saliency; did you mean sigma_s?"),
        (["--method", "saliency", "--threshold", "1"], "--threshold is no option of saliency, but of refine"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_a_wrong_command_line(keypose, walk: Path, arguments: list[str], message: str) -> None:
    result = keypose("keys", walk, *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert message in result.err
    assert result.err.endswith("\n  see: keypose keys --help\n")
    check_usage_error("keys", json.loads(keypose("keys", walk, *arguments, "--json").out), message.rstrip())


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (["--keys", "99999"], {"option": "keys", "value": 99999, "error": Pattern("is too many")}),
        (["--keys", "1"], {"option": "keys", "value": 1, "error": Pattern("is too few")}),
        (
            ["--range", "99999:"],
            {"option": "frames", "value": "99999:", "error": Pattern("holds no frame: the clip has 247 ")},
        ),
        (["--range", "9:5"], {"option": "frames", "value": "9:5", "error": Pattern("holds no frame")}),
        (["--pin", "99999"], {"option": "pins", "expected": "0 to 246"}),
        (["--exclude", "99999"], {"option": "excluded", "expected": "0 to 246"}),
        (["--range", "10:50", "--pin", "5"], {"option": "pins", "expected": "10 to 49"}),
        (
            ["--exclude", "0"],
            {"code": "no_selection", "value": "excluded", "hint": "choose a range without them by --range START:END"},
        ),
        (
            ["--joints", "hnads"],
            {"code": "joint", "value": "hnads", "hint": Pattern("^did you mean 'hands' or 'Head'.")},
        ),
        (
            ["--weight", "hnads=2"],
            {"code": "joint", "value": "hnads", "hint": Pattern("^did you mean 'hands' or 'Head'.")},
        ),
        (["--weight", "hands=-1"], {"option": "weights", "expected": "a number from 0 to 1e+12"}),
        (["--joints", "head", "--weight", "hands=2"], {"option": "weights", "hint": "name more with --joints"}),
        (["--min-gap-frames", "0"], {"option": "min_gap_frames", "value": 0, "expected": "at least 1"}),
        (["--max-gap-frames", "0"], {"option": "max_gap_frames", "value": 0, "expected": "at least 1"}),
        (["--max-keys", "0"], {"option": "max_keys", "value": 0, "expected": "at least 2"}),
        (["--threads", "0"], {"option": "threads", "value": 0, "expected": "at least 1"}),
        (["--smoothing-s", "-1"], {"option": "smoothing_s", "value": -1.0, "expected": "a number from 0 to 3600"}),
        (
            ["--loop"],
            {"option": "loop", "value": True, "hint": "--features root_matched ignores where the figure stands"},
        ),
        (
            ["--method", "saliency", "--set", "sigma_s=x"],
            {"option": "sigma_s", "value": "x", "expected": "a number above 0"},
        ),
        (
            ["--method", "saliency", "--set", "rank=x"],
            {"option": "rank", "value": "x", "expected": "one of auto, joint, body"},
        ),
        (["--set", "top_only=true"], {"option": "top_only", "value": True, "error": Pattern("is for cost inbetween")}),
        (
            ["--tolerance-mm", "0.001", "--max-keys", "4"],
            {
                "hint": Pattern("^with 4 keys it is "),
                "error": Pattern("^no selection of 2 to 4 keys stays within 0.001 mm"),
            },
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_clip_cannot_give_is_one_line(keypose, walk: Path, arguments: list[str], fields: dict[str, Any]) -> None:
    text, as_json = keypose("keys", walk, *arguments), keypose("keys", walk, *arguments, "--json")
    assert (text.code, text.out, as_json.code, as_json.err) == (1, "", 1, "")
    error = check_json_error(as_json.out, **fields)
    assert text.err == f"error: {walk}: {error}\n" and text.err.count("\n") == 1


def test_a_file_that_is_not_there(keypose, walk: Path) -> None:
    result = keypose("keys", walk.with_name("wlak.bvh"))
    assert (result.code, result.err) == (
        1,
        f"error: {walk.with_name('wlak.bvh')}: no such file; did you mean {walk}?\n",
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_messages_name_options(name: str) -> None:
    with running_command(app, ["keys"]):
        assert render_error(kp.OptionError(option=name, expected="more")) == f"{option_flag(name)}, expected more"


@pytest.mark.parametrize(("option", "method"), [("objective", "salient"), ("cost", "salient"), ("features", "uniform")])
def test_choices_match_the_api(keypose, walk: Path, motion: kp.Motion, option: str, method: str) -> None:
    with raises(kp.OptionError, option=option, value="nonsense") as refused:
        kp.ladder(motion, method, **{option: "nonsense"})
    error = keypose("keys", walk, f"--{option}", "nonsense").err.splitlines()[0]
    assert error == f"error: --{option} nonsense, expected {refused.value.expected}"
