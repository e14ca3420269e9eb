"""Options of comparisons of methods, and of the generated motion of the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from keypose.options import Option

Inbetweens: TypeAlias = Literal["linear", "fitted", "polished"]


@dataclass(frozen=True)
class ComparisonOptions:
    """What is compared."""

    methods: Annotated[
        tuple[str, ...] | None,
        Option(
            "Methods to compare, such as salient,uniform. There are those of keypose methods, salient-inbetween (the "
            "keys that unbake chooses), and the references per-curve and pca. Default: all."
        ),
    ] = None
    removed_percent: Annotated[
        tuple[float, ...],
        Option(
            "Percent of the frames to remove, such as 80,90. Default: 80, 90, 95 and 97.5.",
            min_value=0.0,
            max_value=100.0,
        ),
    ] = (80.0, 90.0, 95.0, 97.5)
    inbetweens: Annotated[
        tuple[Inbetweens, ...],
        Option("In-betweens: linear, fitted (cubics), polished (as unbake writes them). Default: linear,fitted."),
    ] = ("linear", "fitted")
    curves: Annotated[
        bool,
        Option(
            "Compare at further numbers of keys, from 1 to 25 % of the frames.",
            flag="--no-curves",
            flag_help="Only the percentages of the table: about three times as fast.",
        ),
    ] = True
    fps: Annotated[
        float | None,
        Option("Compare at this rate; slower clips at their own. Default: all at their own.", flag="--fps", above=0.0),
    ] = None


@dataclass(frozen=True)
class DemoOptions:
    """The generated motion of the demo."""

    fps: Annotated[float, Option("The frame rate of the motion.", flag="--fps", min_value=1.0, max_value=10_000.0)] = (
        120.0
    )
    seed: Annotated[int, Option("The seed of small random movements.", min_value=0)] = 0
