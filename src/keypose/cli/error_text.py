"""Render errors and warnings for users of the command line: options as flags, hints that name commands."""

from __future__ import annotations

import re
from functools import partial
from math import isfinite
from pathlib import PurePath
from typing import Any

from keypose.cli.commands import CommandFlag, command_flags
from keypose.errors import UNSET, Hint, MessageFields, compose_message, format_value

_PLAIN_WORD = re.compile(r"[\w.:,=/@%+-]+")  # typed without quotes
# Values that follow the flag of a swing edit, such as --scale right_leg=1.3; they have no flag of their own.
_WORDS = {"factor": "factor", "degrees": "degrees", "by_s": "seconds"}


def render_error(error: MessageFields) -> str:
    """Return the message of an error or warning as users of the command line need it."""
    return compose_message(error, "command", partial(format_flag, option_class=error.option_class))


def format_flag(option: str, value: Any = UNSET, *, option_class: type[Any] | None = None) -> str:
    """Return a keyword and its value as typed: ``--max-keys 0``, ``--set sigma_s=0``; without a value the flag.

    The flag is that of the running command; ``option_class`` decides between several with the same keyword.
    """
    flag = option if option.startswith("-") else _WORDS.get(option) or _find_flag(option, value, option_class)
    is_setting = flag.startswith("--set ")
    if value is UNSET or (value is True and not is_setting) or _is_off(flag, value):
        return flag
    return f"{flag}{'=' if is_setting else ' '}{_format_argument(value)}"


def _find_flag(option: str, value: Any, option_class: type[Any] | None) -> str:
    """Return the flag that sets an option; options of methods without a flag are set by --set."""
    from keypose.cli.options import field_flag
    from keypose.methods import METHODS
    from keypose.options import declared_options

    command = command_flags()
    flags = {each.flag for each in command}
    declared = None if option_class is None else declared_options(option_class).get(option)
    if declared is not None and (not flags or field_flag(option, declared) in flags):
        return field_flag(option, declared)
    for each in command:
        if each.keyword == option and _can_set(each, value):
            return each.flag
    is_setting = "--set" in flags and any(option in method.options for method in METHODS.values())
    return f"--set {option}" if is_setting else f"--{option.replace('_', '-')}"


def _can_set(flag: CommandFlag, value: Any) -> bool:
    """Return whether a flag can set its keyword to ``value``; UNSET: to any but the one that --no-... sets."""
    if flag.flag.startswith("--no-"):
        return value is False
    return not flag.is_switch or value is UNSET or value is True


def _is_off(flag: str, value: Any) -> bool:
    return value is False and flag.startswith("--no-")


def _format_argument(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str() if _PLAIN_WORD.fullmatch(value):
            return value
        case PurePath():
            return _format_argument(str(value))
        case float():
            return f"{value:.12g}"  # 4, not 4.0
        case dict():
            return ",".join(f"{name}={_format_argument(item)}" for name, item in value.items())
        case _:
            return format_value(value)


def error_fields(error: MessageFields) -> dict[str, Any]:
    """Return the fields that are set, without the problem, as JSON."""
    fields = {
        name: getattr(error, name) for name in ("code", "path", "line", "byte", "option", "value", "expected", "hint")
    }
    if error.option is not None:
        fields["option"] = error.option.lstrip("-").replace("-", "_")
    is_set = {name: item for name, item in fields.items() if item is not None and item is not UNSET}
    return {name: _to_json(item) for name, item in is_set.items()}


def _to_json(value: Any) -> str | int | float | bool:
    if isinstance(value, Hint):
        return value.command
    if isinstance(value, float) and not isfinite(value):  # JSON has no such number
        return format_value(value)
    return value if isinstance(value, str | int | float) else format_value(value)
