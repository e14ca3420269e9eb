"""Expect an error by its class, code and fields; the wording is pinned in a few golden tests only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
import pytest

from keypose.errors import MessageFields

Error = TypeVar("Error", bound=MessageFields)


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


def check_error_response(response: httpx.Response, status: int, **fields: Any) -> dict[str, Any]:
    """Check an error response of the server by its status and fields; return the error."""
    assert response.status_code == status, response.text
    error: dict[str, Any] = response.json()["error"]
    assert error["status"] == status and error["message"].endswith(error["problem"]), error
    assert error["code"] and fields, "expected at least one field"
    assert {name: error[name] for name in fields} == fields, error
    return error
