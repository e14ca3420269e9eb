"""Run one command line; turn errors into messages and exit codes.

0    success
1    bad input: one line on stderr names the file and the reason
2    wrong command line
70   a bug: please report it
130  interrupted by Ctrl-C
141  the reader of the output has closed it (``| head``)
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Literal, cast, get_args, get_origin

from cyclopts import (
    Argument,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    Token,
    UnknownCommandError,
    UnusedCliTokensError,
)

import keypose
from keypose.cli import output
from keypose.cli.commands import build_app, find_command, running_command, unknown_command_text
from keypose.cli.error_text import error_fields, render_error
from keypose.cli.output import BROKEN_PIPE, BUG, FAILED, INTERRUPTED, USAGE, OutputError, UsageError
from keypose.errors import FileError, KeyposeError, MessageFields, format_value

app = build_app()


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; print errors on stderr."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    if tokens[:1] == ["help"]:
        tokens = [*tokens[1:], "--help"]
    output.escape_unencodable()
    if sys.stdout is None:  # checked before any work whose result could not be printed
        output.print_error("the output (stdout) is closed, expected it open; > /dev/null prints nothing")
        return FAILED
    try:
        with running_command(app, tokens):
            code = _run(tokens)
        output.flush()
        return code
    except BrokenPipeError:
        output.discard_stdout()
        return BROKEN_PIPE
    except OutputError as error:
        output.discard_stdout()
        output.print_error(str(error))
        return FAILED


def _run(tokens: Sequence[str]) -> int:
    """Run a command and print its errors; errors of the output itself are left to ``run``."""
    try:
        _check_current_folder(tokens)
        code = app(tokens, console=output.help_console(), exit_on_error=False, print_error=False)
        return cast(int, code or 0)
    except (CycloptsError, UsageError) as error:
        usage_error = error if isinstance(error, UsageError) else _translate_parser_error(error, tokens)
        message = render_error(usage_error)
        _print_json_error(tokens, message, "UsageError", usage_error)
        output.print_error(message)
        output.print_hint(f"see: keypose {_command_prefix(tokens)}--help")
        return USAGE
    except (BrokenPipeError, OutputError):
        raise
    except KeyposeError as error:
        message = render_error(error)
        if not _print_json_error(tokens, message, type(error).__name__, error):
            output.print_error(message)
        return FAILED
    except KeyboardInterrupt:
        _print_json_error(tokens, "interrupted", "KeyboardInterrupt")
        return INTERRUPTED
    except Exception as error:  # outermost handler: report a bug instead of a traceback
        _print_json_error(tokens, str(error), type(error).__name__)
        return report_bug(type(error).__name__, str(error), traceback.format_exc())


def _translate_parser_error(error: CycloptsError, tokens: Sequence[str]) -> UsageError:
    """Return an error that the parser of command lines found as one of ours."""
    match error:
        case UnknownCommandError():
            return UsageError(unknown_command_text(app, tokens))
        case UnusedCliTokensError(unused_tokens=[_, *_] as unused):
            return UsageError(f"{' '.join(map(format_value, unused))}: expected no further argument")
        case CoercionError(token=Token(keyword=str(flag), value=value)) if expected := _expect(error.target_type):
            return UsageError(option=flag, value=value, expected=expected)
        case MissingArgumentError(argument=Argument(name=name), keyword=flag):
            if (flag or name).startswith("-"):
                return UsageError(code="missing_argument", option=flag or name, expected="a value")
            return UsageError(code="missing_argument", expected=name)
    return UsageError(str(error))


def _expect(kind: Any) -> str | None:
    """Return what is expected of an option of this type; None if cyclopts describes it."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return {float: "a number", bool: "no value"}.get(kind)


def _check_current_folder(tokens: Sequence[str]) -> None:
    """Raise FileError if the current folder does not exist, as paths are relative to it; --help does not need it."""
    if not _command_prefix(tokens) or "--help" in tokens:
        return
    try:
        os.getcwd()  # noqa: PTH109 - whether it raises is the question
    except OSError as error:
        raise FileError(
            f"the current folder cannot be found ({error.strerror})", hint="expected one that exists: cd to another"
        ) from None


def report_bug(kind: str, message: str, details: str) -> int:
    """Print what to include in a bug report; return the exit code."""
    output.print_error(f"a fault in keypose itself: {kind}: {message}")
    versions = f"keypose {keypose.__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    output.print_hint(f"please report it with the command, the file if you can, and this: {versions}")
    if os.environ.get("KEYPOSE_DEBUG") == "1":
        output.print_traceback(details)
    else:
        output.print_hint("KEYPOSE_DEBUG=1 shows where it happened")
    return BUG


def _print_json_error(tokens: Sequence[str], message: str, kind: str, error: MessageFields | None = None) -> bool:
    """Print an error as JSON if --json is given, and return whether it is. ``info`` always prints a list."""
    options = tokens[: tokens.index("--")] if "--" in tokens else tokens
    if "--json" not in options:
        return False
    fields = {} if error is None else {"error_fields": error_fields(error)}
    document = {"error": message, "error_kind": kind} | fields
    output.print_json([document] if _command_prefix(tokens) == "info " else document)
    return True


def _command_prefix(tokens: Sequence[str]) -> str:
    """Return the command (and subcommand) that the tokens start with, each followed by a blank; empty if none."""
    return "".join(f"{name} " for name in find_command(app, tokens))
