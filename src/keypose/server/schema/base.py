"""What all types of the API have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MOST_CLIPS = 200  # in one answer
MOST_NAMES = 1000  # of joints in one request
MOST_TEXT = 1000  # characters

ClipHash = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="sha256 of the clip's content")]
Frame = Annotated[int, Field(ge=0, le=(1 << 31) - 1)]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Told(BaseModel):
    """A request: what is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Said(BaseModel):
    """An answer."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Problem(Said):
    """Why a request has no answer."""

    kind: str = Field(description="The class of the error, as in Python.")
    message: str
    line: int | None = Field(None, description="The line of the file, from 1.")
    remedy: str | None = Field(None, description="What to do about it.")


class Failed(Said):
    """Every error looks like this."""

    error: Problem
