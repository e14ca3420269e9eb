"""Tests of every command: help, exit codes, and escaped messages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cyclopts import App

import keypose as kp
from keypose.cli.app import app
from keypose.cli.commands import FILE_COMMANDS, LIBRARY_COMMANDS, OTHER_COMMANDS, SYNONYMS
from keypose.cli.output import escape_unprintable
from support import cli_docs

GROUPS = ("library",)  # of commands
TOP = sorted(name for name in app if not name.startswith("-"))
COMMANDS = sorted(
    [name for name in TOP if name not in GROUPS]
    + [f"{group} {name}" for group in GROUPS for name in app[group] if not name.startswith("-")]
)


def app_of(command: str) -> App:
    """Return the cyclopts app of a command; ``library add`` is in a group."""
    command_app = app
    for name in command.split():
        command_app = command_app[name]
    return command_app


def options_of(command: str) -> list[tuple[str, str]]:
    """Return the help text of every option and argument of a command, by each of its names."""
    arguments = app_of(command).assemble_argument_collection(parse_docstring=True)
    own = [argument for argument in arguments if argument.parse and not argument.children]  # not groups of options
    return [(name, argument.parameter.help or "") for argument in own for name in argument.names]


def test_the_commands_are_there() -> None:
    assert {"info", "convert", "demo", "formats"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_is_explained(command: str) -> None:
    assert app_of(command).help.strip()
    for name, text in options_of(command):
        assert len(text) > 10, f"{command} {name} has no help"
        assert text[0].isupper(), f"{command} {name}: {text}"
        assert text.endswith("."), f"{command} {name}: {text}"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples_and_every_option(keypose, command: str) -> None:
    result = keypose(*command.split(), "--help")
    assert result.code == 0
    assert re.search(rf"For example:\n  keypose {command}", result.out)
    assert all(name in result.out for name, _ in options_of(command) if name.startswith("-"))
    assert max(map(len, result.out.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_docs_have_every_command_with_its_options(command: str) -> None:
    assert cli_docs.find_section(f"`keypose {command}`"), f"docs/cli.md has no section for {command}"
    options = {name for name, _ in options_of(command) if name.startswith("-")}
    assert options <= cli_docs.own_options(command) | cli_docs.common_options(command)
    assert cli_docs.common_options(command) <= options
    assert not cli_docs.excepted_options(command) & options - {"--limit"}  # of library list and search: another option


def test_docs_name_only_existing_options() -> None:
    known = {name for command in COMMANDS for name, _ in options_of(command)} | {"--help", "--version"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", cli_docs.PAGE.read_text())) <= known


def test_help_and_version(keypose) -> None:
    result = keypose("--help")
    assert result.code == 0
    assert all(command in result.out for command in TOP)
    for group in GROUPS:
        listed = keypose(group, "--help")
        assert listed.code == 0 and listed == keypose("help", group)
        assert all(command.removeprefix(f"{group} ") in listed.out for command in COMMANDS if command.startswith(group))
    assert keypose("help") == result
    assert keypose("help", "convert") == keypose("convert", "--help")
    assert keypose("--version").out.strip() == keypose("-V").out.strip() == kp.__version__


def test_paragraphs_of_help_fit_in_80_columns() -> None:
    texts = {command: app_of(command).help for command in ("", *GROUPS, *COMMANDS)}
    assert not {command for command, text in texts.items() if any(len(line.strip()) > 80 for line in text.splitlines())}


def test_help_does_not_wait_for_numpy() -> None:
    probe = "import sys; from keypose.cli.app import run; run(['--help']); print('numpy' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert completed.stdout.endswith("False\n")


def test_the_program_and_the_module_are_the_same(program) -> None:
    script = Path(sys.executable).with_name("keypose")
    completed = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert completed.stdout == program("--help").out


@pytest.mark.parametrize(
    "line",
    [
        ["nonsense"],
        ["--nonsense"],
        ["info"],
        ["info", "a.bvh", "--nonsense"],
        ["info", "a.bvh", "--limit", "joints"],
        ["info", "a.bvh", "--limit", "legs=4"],
        ["info", "a.bvh", "--limit", "joints=-4"],
        ["info", "a.bvh", "--jobs", "0"],
        ["info", "a.bvh", "--jobs", "many"],
        ["info", "a.bvh", "--gaps", "perhaps"],
        ["info", "a.bvh", "--read-fps", "nan"],
        ["convert"],
        ["convert", "a.bvh"],
        ["convert", "a.bvh", "b.bvh", "c"],
        ["convert", "a.bvh", "b.bvh", "--range", "4"],
        ["convert", "a.bvh", "b.bvh", "--range", "x:y"],
        ["convert", "a.bvh", "b.bvh", "--fps", "0"],
        ["convert", "a.bvh", "b.bvh", "--overwrite", "--skip-existing"],
        ["formats", "extra"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_exit_code_2(keypose, line: list[str]) -> None:
    result = keypose(*line)
    assert result.code == 2
    assert result.out == ""
    first, hint = result.err.splitlines()
    assert first.startswith("error: ")
    assert hint.strip().startswith("see: keypose ")
    assert hint.endswith("--help")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("unbak walk.bvh", "'unbak' is no command of keypose; did you mean keypose unbake?"),
        ("search walk.bvh", "'search' is no command of keypose; did you mean keypose library search?"),
        ("delete walk", "'delete' is no command of keypose; did you mean keypose library remove?"),
        ("library delete walk", "'delete' is no command of keypose library; did you mean keypose library remove?"),
        ("library info walk", "'info' is no command of keypose library; did you mean keypose info?"),
        ("library verfy", "'verfy' is no command of keypose library; did you mean keypose library verify?"),
        ("verfy", "'verfy' is no command of keypose; did you mean keypose verify?"),
        ("library nonsense", "'nonsense' is no command of keypose library"),
        ("--nonsense", "--nonsense is no option of keypose"),
    ],
)
def test_wrong_commands_name_the_most_similar_one(keypose, line: str, message: str) -> None:
    """The messages pin the wording."""
    assert keypose(*line.split()).err.splitlines()[0] == f"error: {message}"


@pytest.mark.parametrize("name", sorted(SYNONYMS))
def test_synonyms_of_commands_are_no_commands(name: str) -> None:
    names = [command.name for command in (*FILE_COMMANDS, *LIBRARY_COMMANDS, *OTHER_COMMANDS)]
    assert name not in names and SYNONYMS[name] in names


def test_no_command_shows_the_help(keypose) -> None:
    result = keypose()
    assert result.code == 0
    assert "Commands" in result.out


def test_a_bug_is_reported_without_a_traceback(keypose, clip, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("oh [bold]no")

    for place in ("keypose.batch.file_discovery.load", "keypose.cli.info.discover_clips"):
        with monkeypatch.context() as patch:
            patch.setattr(place, broken)
            result = keypose("info", clip())
            assert result.code == 70
            assert result.err.startswith("error: a fault in keypose itself: ZeroDivisionError: oh [bold]no")
            assert f"keypose {kp.__version__}, Python 3." in result.err
            assert "Traceback" not in result.err
            patch.setenv("KEYPOSE_DEBUG", "1")
            result = keypose("info", clip())
            assert result.code == 70
            assert "Traceback" in result.err
            assert "in broken" in result.err


def test_an_interrupt_is_quiet(keypose, clip, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("keypose.batch.file_discovery.load", interrupt)
    result = keypose("info", clip())
    assert (result.code, result.out, result.err) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
@pytest.mark.parametrize("arguments", [["info"], ["info", "--json"], ["info", "--joints"], ["--help"], ["formats"]])
def test_broken_pipe_is_no_error(clip, arguments: list[str]) -> None:
    files = [str(clip())] if arguments[0] == "info" else []
    reading, writing = os.pipe()
    os.close(reading)
    try:
        completed = subprocess.run(
            [sys.executable, "-m", "keypose", *arguments, *files], stdout=writing, stderr=subprocess.PIPE, timeout=60
        )
    finally:
        os.close(writing)
    assert completed.stderr == b""
    assert completed.returncode == 141


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_broken_pipe_in_the_middle_is_noticed(clip, unbuffered: str) -> None:
    path = clip()
    command = [
        sys.executable,
        "-m",
        "keypose",
        "info",
        "--json",
        "--joints",
        *[path.parent / f"{i}.bvh" for i in range(2000)],
    ]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.read(1) == b"["
    running.stdout.close()  # more output than a pipe holds
    with running.stderr as stderr:
        assert stderr.read() == b""
    assert running.wait(60) == 141


@pytest.mark.parametrize("text", ["plain [red]text[/red]", "näïve 名前 \\x1b"])
def test_visible_text_is_not_escaped(text: str) -> None:
    assert escape_unprintable(text) == text


def test_control_characters_are_escaped() -> None:
    hostile = "a\x1b[2Jb\nc\rd\x07e\x9bf\u202eg\u2028h\udcffi\x7fj\x00"
    escaped = escape_unprintable(hostile)
    assert escaped.isprintable()
    assert escaped == r"a\x1b[2Jb\nc\rd\x07e\x9bf\u202eg\u2028h\udcffi\x7fj\x00"


def test_a_terminal_without_unicode_is_no_error(program, clip) -> None:
    result = program("info", clip("名前.bvh"), env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert result.code == 0
    assert r"\u540d\u524d.bvh" in result.out


def test_exit_codes_are_those_of_the_documents() -> None:
    from keypose.cli import output

    text = cli_docs.PAGE.read_text()
    assert output.INTERRUPTED == 128 + signal.SIGINT
    for code in (output.FAILED, output.USAGE, output.BUG, output.INTERRUPTED, output.BROKEN_PIPE):
        assert f"| {code} |" in text


def test_public_names_are_found_and_others_are_not() -> None:
    assert all(getattr(kp, name) is not None for name in kp.__all__)
    assert set(kp.__all__) <= set(dir(kp))
    with pytest.raises(AttributeError, match="nonsense"):
        kp.nonsense  # noqa: B018
