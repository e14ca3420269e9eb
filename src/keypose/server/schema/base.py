"""What all types of the API have in common."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

MOST_CLIPS = 200  # in one answer
MOST_SKIPPED = 900  # hits of a search that stood in answers before
MOST_NAMES = 1000  # of joints in one request
MOST_TEXT = 1000  # characters
MOST_FIELDS = 100  # of one object, known or not
DEEPEST = 4  # lists and objects in each other, in what is not typed
LARGEST = 1 << 53  # whole numbers that JSON can tell apart

ClipHash = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="sha256 of the clip's content")]
Frame = Annotated[int, Field(ge=0, le=(1 << 31) - 1)]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


def few(value: Any) -> Any:
    """Refuses an object with very many fields before each of them is looked at."""
    if isinstance(value, dict) and len(value) > MOST_NAMES:
        raise ValueError(f"{len(value)} entries, expected at most {MOST_NAMES}")
    return value


def plain(value: Any) -> Any:
    """Refuses what no option is: deep, long, or a number that is none."""
    left, seen = [(value, 0)], 0
    while left:
        one, depth = left.pop()
        seen += 1
        if depth > DEEPEST or seen > MOST_NAMES:
            raise ValueError(f"too much in it, expected at most {MOST_NAMES} values, {DEEPEST} in each other")
        if isinstance(one, dict):
            left += [(each, depth + 1) for each in one.values()]
        elif isinstance(one, list):
            left += [(each, depth + 1) for each in one]
        elif isinstance(one, float) and not math.isfinite(one):
            raise ValueError(f"{one}, expected a finite number")
        elif isinstance(one, int) and abs(one) > LARGEST:
            raise ValueError("a number beyond all bounds, expected a smaller one")
    return value


Few = BeforeValidator(few)
Plain = BeforeValidator(plain)


class Told(BaseModel):
    """A request: what is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, told: Any) -> Any:
        if isinstance(told, dict) and len(told) > MOST_FIELDS:
            raise ValueError(f"{len(told)} fields, expected those that are described")
        return told


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
