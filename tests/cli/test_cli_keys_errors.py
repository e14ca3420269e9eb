"""Errors of ``keypose keys``: one line that names the option and the expected values."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.error_text import render_error
from keypose.cli.options import option_flag
from support.errors import check_usage_error, raises

OPTIONS = sorted({name for method in kp.methods() for name in method.options})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keys", "0"], "--keys 0, expected at least 1"),
        (["--keys", "many"], '"many"'),
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
        (["--pin", "x"], "--pin x, expected frames from 0, such as 30,88, or the word contacts"),
        (["--pin", "3,,4"], "--pin 3,,4, expected no empty part"),
        (["--exclude", "contacts"], "--exclude contacts, expected frames from 0, such as 30,88\n"),
        (["--joints", ""], "--joints '', expected no empty part"),
        (["--objective", "min"], '"max", "sum"'),
        (["--cost", "low"], '"chord", "integrated"'),
        (["--features", "nothing"], '"root_matched"'),
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
    check_usage_error(json.loads(keypose("keys", walk, *arguments, "--json").out), message.rstrip())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keys", "99999"], ": --keys 99999 is too many: salient has selections of 2 to "),
        (["--keys", "1"], ": --keys 1 is too few: salient needs at least 2 here"),
        (["--range", "99999:"], ": --range 99999: holds no frame: the clip has "),
        (["--range", "9:5"], ": --range 9:5 holds no frame"),
        (["--pin", "99999"], ": --pin: frame 99999, expected 0 to "),
        (["--exclude", "99999"], ": --exclude: frame 99999, expected 0 to "),
        (["--range", "10:50", "--pin", "5"], ": --pin: frame 5, expected 10 to 49"),
        (["--exclude", "0"], "choose a range without them by --range START:END"),
        (["--joints", "hnads"], ": no joint or body part 'hnads'; did you mean 'hands' or "),
        (["--weight", "hnads=2"], "did you mean 'hands' or "),
        (["--weight", "hands=-1"], ": --weight hands=-1, expected a number from 0"),
        (["--joints", "head", "--weight", "hands=2"], "name more with --joints"),
        (["--min-gap-frames", "0"], ": --min-gap-frames 0, expected at least 1"),
        (["--max-gap-frames", "0"], ": --max-gap-frames 0, expected at least 1"),
        (["--max-keys", "0"], ": --max-keys 0, expected at least 2"),
        (["--threads", "0"], ": --threads 0, expected at least 1"),
        (["--smoothing-s", "-1"], ": --smoothing-s -1, expected a number from 0 to 3600"),
        (["--loop"], ": --loop needs a last pose like the first"),
        (["--loop"], "; --features root_matched ignores where the figure stands"),
        (["--method", "saliency", "--set", "sigma_s=x"], ": --set sigma_s=x, expected a number above 0"),
        (["--method", "saliency", "--set", "rank=x"], ": --set rank=x, expected one of auto, joint, body"),
        (["--set", "top_only=true"], ": --set top_only=true is for cost inbetween"),
        (["--tolerance-mm", "0.001", "--max-keys", "4"], ": no selection of 2 to 4 keys stays within 0.001 mm"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_a_clip_cannot_give_is_one_line(keypose, walk: Path, arguments: list[str], message: str) -> None:
    result = keypose("keys", walk, *arguments)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"error: {walk}: ")
    assert message in result.err
    assert result.err.count("\n") == 1
    command_result = keypose("keys", walk, *arguments, "--json")
    assert (command_result.code, command_result.err) == (1, "")
    assert result.err == f"error: {walk}: {json.loads(command_result.out)['error']}\n"


def test_a_file_that_is_not_there(keypose, walk: Path) -> None:
    result = keypose("keys", walk.with_name("wlak.bvh"))
    assert (result.code, result.err) == (
        1,
        f"error: {walk.with_name('wlak.bvh')}: no such file; did you mean {walk}?\n",
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_messages_name_options(name: str) -> None:
    error = kp.OptionError(option=name, value=0.5, expected="more")
    assert render_error(error) in (
        f"{option_flag(name)} 0.5, expected more",
        f"{option_flag(name)}=0.5, expected more",
    )


@pytest.mark.parametrize(("option", "method"), [("objective", "salient"), ("cost", "salient"), ("features", "uniform")])
def test_choices_match_the_api(keypose, walk: Path, motion: kp.Motion, option: str, method: str) -> None:
    with raises(kp.OptionError, option=option, value="nonsense") as refused:
        kp.ladder(motion, method, **{option: "nonsense"})
    known = str(refused.value.expected).removeprefix("one of ").split(", ")
    text = keypose("keys", walk, f"--{option}", "nonsense").err
    assert re.findall(r'"(\w+)"', text.split("Choose from")[1]) == known
