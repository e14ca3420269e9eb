"""Expect an error by its class, code and fields; the wording is pinned in a few golden tests only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
import pytest

from keypose.cli.app import app
from keypose.cli.commands import running_command
from keypose.cli.error_text import format_flag
from keypose.errors import UNSET, Hint, MessageFields

Error = TypeVar("Error", bound=MessageFields)


class Pattern:
    """A value of a field that equals every text in which the regular expression is found.

    For texts that hold numbers of the test or words of other programs: ``raises(..., value=Pattern("^BadZipFile"))``.
    Of a ``Hint``, the form for users of Python is compared.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __eq__(self, other: object) -> bool:
        text = other.python if isinstance(other, Hint) else other
        return isinstance(text, str) and re.search(self.pattern, text) is not None

    def __hash__(self) -> int:
        return hash(self.pattern)

    def __repr__(self) -> str:
        return f"Pattern({self.pattern!r})"


@contextmanager
def raises(kind: type[Error], **fields: Any) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Expect exactly an error of class ``kind`` whose fields are the given ones.

    ``raises(OptionError, option="max_keys", value=0)``; at least one field is required, so that another error of the
    same class does not pass.
    """
    assert fields, "expected at least one field"
    with pytest.raises(kind) as info:
        yield info
    assert type(info.value) is kind, repr(info.value)
    found = {name: getattr(info.value, name) for name in fields}
    assert found == fields, str(info.value)


@contextmanager
def warns(kind: type[Error], **fields: Any) -> Iterator[pytest.WarningsRecorder]:
    """Expect a warning of class ``kind`` whose fields are the given ones, at least one; others may come with it."""
    assert fields, "expected at least one field"
    with pytest.warns(kind) as records:  # type: ignore[type-var]
        yield records
    found = [record.message for record in records if isinstance(record.message, kind)]
    assert any(all(getattr(each, name) == fields[name] for name in fields) for each in found), list(map(repr, found))


def check_error_response(response: httpx.Response, status: int, **fields: Any) -> dict[str, Any]:
    """Check an error response of the server by its status and fields; return the error."""
    assert response.status_code == status, response.text
    error: dict[str, Any] = response.json()["error"]
    assert error["status"] == status and error["message"].endswith(error["problem"]), error
    assert error["code"] and fields, "expected at least one field"
    assert {name: error[name] for name in fields} == fields, error
    return error


def check_json_error(output: str, **fields: Any) -> str:
    """Check the ``error_fields`` of the JSON of a failed command, or of its first file that failed; return the text.

    ``error`` is the text too.
    """
    assert fields, "expected at least one field"
    document: dict[str, Any] = json.loads(output)
    failed = document["failed"][0] if "failed" in document else document
    found = {"error": failed["error"]} | failed["error_fields"]
    assert {name: found.get(name) for name in fields} == fields, document
    return str(failed["error"])


def check_usage_error(command: str, document: dict[str, Any], message: str) -> None:
    """Check that the JSON document of a wrong command line has the option and the value that ``message`` names."""
    fields = document["error_fields"]
    assert document["error_kind"] == "UsageError" and message in document["error"]
    if fields["code"] == "unknown_option":
        flag = message.split(" is no option")[0].removeprefix("--").removeprefix("set ").replace("-", "_")
        assert fields["value"] in (flag, f"{flag}s"), fields  # --pin is given once for each of ``pins``
        return
    if fields["code"] == "missing_argument" or (fields["code"] == "conflicting_options" and "option" not in fields):
        assert fields["expected"], fields
        return
    if message.startswith("--") and document["error"].startswith(message):
        value = fields.get("value", UNSET)
        with running_command(app, command.split()):
            text = format_flag(fields["option"], value)
        assert message.startswith(text) or text.startswith(message), (text, message)
        assert "expected" not in message or fields["expected"], fields
