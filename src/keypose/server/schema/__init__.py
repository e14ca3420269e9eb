"""Request and response types of the API. The TypeScript types are generated from these."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from keypose.clip_edit.field_checks import MAX_TEXT, check_field_count
from keypose.errors import UNSET
from keypose.options import declared_options, default_of

MAX_CLIPS = 200  # in one response
MAX_SKIP = 900  # hits of a search on earlier pages

ClipHash = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="sha256 of the clip's content")]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


def option_field(
    options: type[Any], name: str, *, default: Any = UNSET, max_value: float | None = None, description: str = ""
) -> Any:
    """Return a field with the default, the range and the help text of an option, unless they are given.

    ``max_value`` is a smaller limit of one request.
    """
    option = declared_options(options)[name]
    return Field(
        default_of(options, name) if default is UNSET else default,
        gt=option.above,
        ge=option.min_value,
        le=option.max_value if max_value is None else max_value,
        description=description or option.help,
    )


class RequestModel(BaseModel):
    """A request: unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    _check_field_count = model_validator(mode="before")(check_field_count)


class ResponseModel(BaseModel):
    """A response."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class ErrorDetails(ResponseModel):
    """An error: its code for programs, its message for people, and the fields of which the message is composed."""

    code: str = Field(description="A stable word; docs/api.md lists them.")
    status: int = Field(description="The HTTP status.")
    message: str = Field(description="Where and what is wrong, and what was expected.")
    problem: str = Field(description="The message without path, line and subject.")
    path: str | None = Field(default=None, description="Name of the file, without folders.")
    line: int | None = Field(default=None, description="Line of the file, from 1.")
    subject: str | None = Field(default=None, description="What the error is about if that is no file: a clip, a step.")
    option: str | None = Field(default=None, description="The field of the request.")
    value: str | int | float | bool | None = Field(default=None, description="Its value.")
    expected: str | None = Field(default=None, description="Valid values.")
    hint: str | None = Field(default=None, description="What to do about it.")


class ErrorResponse(ResponseModel):
    """Body of every error response."""

    error: ErrorDetails
