"""Render errors and warnings for users of the command line: options as flags, hints that name commands."""

from __future__ import annotations

import re
from functools import cache
from math import isfinite
from pathlib import PurePath
from typing import Any

from keypose.errors import UNSET, Hint, MessageFields, compose_message, format_value

_PLAIN_WORD = re.compile(r"[\w.:,=/@%+-]+")  # typed without quotes
# Values that follow the flag of a swing edit, such as --scale right_leg=1.3; they have no flag of their own.
_WORDS = {"factor": "factor", "degrees": "degrees", "by_s": "seconds"}


def render_error(error: MessageFields) -> str:
    """Return the message of an error or warning as users of the command line need it."""
    return compose_message(error, "command", format_flag)


def format_flag(option: str, value: Any = UNSET) -> str:
    """Return a keyword and its value as typed: ``--max-keys 0``, ``--set sigma_s=0``; without a value the flag."""
    if option == "rank" and value is True:  # of pictures; a method has an option of that name, which is a word
        return "--rank"
    flag = (
        option
        if option.startswith("-")
        else _WORDS.get(option) or _flags().get(option) or f"--{option.replace('_', '-')}"
    )
    is_setting = flag.startswith("--set ")
    if value is UNSET or (value is True and not is_setting):
        return flag
    return f"{flag}{'=' if is_setting else ' '}{_format_argument(value)}"


@cache
def _flags() -> dict[str, str]:
    """Return the flags that differ from the keyword, by keyword; options of methods without a flag are set by --set."""
    from keypose import options
    from keypose.cli.options import field_flag, option_flag
    from keypose.methods import METHODS
    from keypose.options import compare, library

    flags = {name: option_flag(name) for method in METHODS.values() for name in method.options}
    declared: dict[str, str] = {}  # of options with the same name the first counts: that of reading files
    for module in (options, library, compare):
        for group in vars(module).values():
            if isinstance(group, type) and group.__module__ == module.__name__ and group.__name__.endswith("Options"):
                for name, option in options.declared_options(group).items():
                    if not option.flag.startswith("--no-"):
                        declared.setdefault(name, field_flag(name, option))
    return flags | declared | {"frames": "--range"}


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
