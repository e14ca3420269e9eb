"""The help of every command: examples of values are marked as such, and the usage names the arguments below it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pkgutil import resolve_name
from typing import get_args

import pytest
from cyclopts import Argument

from keypose.cli.commands import FILE_COMMANDS, HELP, LIBRARY_COMMANDS, LIBRARY_HELP, OTHER_COMMANDS, Command, build_app
from support.cli_docs import find_rewritten, written_file
from support.errors import check_usage_error

COMMANDS = {
    **{command.name: command for command in (*FILE_COMMANDS, *OTHER_COMMANDS)},
    **{f"library {command.name}": command for command in LIBRARY_COMMANDS},
}
# A value as it is typed: hands,head or hands=3 or dask://host:8786.
VALUE = re.compile(
    r"(?<![\w.,=:/-])(?:[a-z0-9_]+(?:,[a-z0-9_]+)+|[a-z_]+=[0-9]+(?:[.][0-9]+)?|[a-z]+://\S+\w|[0-9]+x[0-9]+)"
)
BEFORE_VALUE = ("such as ", "Default: ")


def list_arguments(name: str) -> list[Argument]:
    """Return the arguments and options of a command."""
    command = build_app()
    for part in name.split():
        command = command[part]
    return [each for each in command.assemble_argument_collection() if each.parse]


def help_texts(name: str) -> dict[str, str]:
    """Return the help of the parameters of a command by flag or name."""
    return {each.name: each.parameter.help or "" for each in list_arguments(name)}


def bare_values(text: str) -> list[str]:
    """Return the example values in a text that no word introduces."""
    return [match[0] for match in VALUE.finditer(text) if not text[: match.start()].endswith(BEFORE_VALUE)]


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_of_values_are_introduced(name: str) -> None:
    assert {flag: values for flag, text in help_texts(name).items() if (values := bare_values(text))} == {}


def test_a_bare_value_is_found() -> None:
    assert bare_values("Joints that count, hands,head.") == ["hands,head"]
    assert bare_values("Weights, hands=3. Default: feet=3.") == ["hands=3"]
    assert bare_values("A cluster: dask://host:8786. Exactly this size: 320x90.") == ["dask://host:8786", "320x90"]
    assert bare_values("NAME=NUMBER, such as hands=3, or none.") == []


@pytest.mark.parametrize("name", COMMANDS)
def test_counts_are_whole_numbers(keypose: Callable, name: str) -> None:
    """None is rounded."""
    names = re.findall(r"\w+", COMMANDS[name].arguments)
    for argument in list_arguments(name):
        if int in (argument.hint, *get_args(argument.hint)):
            result = keypose(*name.split(), *names, argument.name, "3.5")
            error = f"error: {argument.name} 3.5, expected a whole number"
            assert (result.code, result.err.splitlines()[0]) == (2, error)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("keys a.bvh --keys", "--keys, expected a value"),
        ("keys a.bvh --keys few", "--keys few, expected a whole number"),
        ("keys a.bvh --tolerance-mm few", "--tolerance-mm few, expected a number"),
        ("convert a.bvh b.bvh -j few", "-j few, expected a whole number"),
        ("convert a.bvh b.bvh --overwrite=perhaps", "--overwrite perhaps, expected no value"),
        ("unbake a.bvh b.glb --rotation matrix", "--rotation matrix, expected one of quaternion, euler"),
        ("timeline a.bvh", "expected OUT"),
    ],
)
def test_wrong_values_are_reported_in_our_words(keypose: Callable, line: str, error: str) -> None:
    result = keypose(*line.split())
    assert (result.code, result.err.splitlines()[0]) == (2, f"error: {error}")
    command = line.split()[0]
    check_usage_error(command, json.loads(keypose(*line.split(), "--json").out), error)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_the_usage_names_the_arguments(command: Command) -> None:
    name = next(name for name, each in COMMANDS.items() if each is command)
    names = [word for flag in help_texts(name) if not flag.startswith(("-", "*")) for word in flag.split()]
    assert re.findall(r"\w+", command.arguments) == names


HELP_PAGES = {name: resolve_name(command.path).__doc__ for name, command in COMMANDS.items()}


@pytest.mark.parametrize("page", [*HELP_PAGES.values(), HELP, LIBRARY_HELP], ids=[*HELP_PAGES, "keypose", "library"])
def test_the_examples_can_be_run_one_after_another(page: str) -> None:
    """None writes a file that another one has written, nor a capture, because existing files are refused."""
    lines = [re.split(" {2,}", line)[0] for line in re.findall(r"^ +keypose (.*)$", page, re.MULTILINE)]
    commands = [shlex.split(line) for line in lines]
    assert commands
    assert find_rewritten(commands) == {}
    assert {"walk.bvh", "kick.bvh", "takes/"}.isdisjoint(name for words in commands for name in written_file(words))


def test_examples_that_write_the_same_file_are_found() -> None:
    lines = ["convert a.bvh x.glb", "convert b.bvh x.glb --fps 30", "convert a.bvh x.glb --overwrite", "info x.glb"]
    words = [tuple(line.split()) for line in lines]
    assert find_rewritten(words) == {("x.glb",): {words[0], words[1]}}
    assert find_rewritten([("report", "a.bvh", "-o", "x.html"), ("strip", "a.bvh", "b.bvh", "x/", "--to", "svg")]) == {}
    assert find_rewritten([("strip", "a", "x/", "--to", name) for name in ("svg", "png")]) == {}
