"""Options of the operations on one clip that the web app offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from keypose.options import Option

MAX_TOLERANCE_MM = 1e4
MAX_KEYS = 20_000
MAX_FRAME = (1 << 31) - 1

Residual: TypeAlias = Annotated[
    float, Option("Share of the captured detail that is added: 0 none, 1 all.", min_value=0.0, max_value=2.0)
]


@dataclass(frozen=True)
class ClipKeyOptions:
    """How many keys are chosen; None: decided by the clip."""

    keys: Annotated[int | None, Option("Number of keys.", min_value=2, max_value=MAX_KEYS)] = None
    max_keys: Annotated[
        int | None, Option("Largest number of keys on the error curve.", min_value=2, max_value=MAX_KEYS)
    ] = None
    tolerance_mm: Annotated[
        float | None,
        Option(
            "Fewest keys whose curves keep every joint within this error, on a figure of 1.7 m; none: within 1 % of "
            "the height, as automatic keys.",
            above=0.0,
            max_value=MAX_TOLERANCE_MM,
        ),
    ] = None
    first_frame: Annotated[int | None, Option("First frame of the range.", min_value=0, max_value=MAX_FRAME)] = None
    last_frame: Annotated[int | None, Option("Last frame of the range.", min_value=0, max_value=MAX_FRAME)] = None


@dataclass(frozen=True)
class DetailOptions:
    """What is added to curves."""

    residual: Residual = 0.0
