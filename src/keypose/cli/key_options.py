"""Options for choosing keys, shared by all commands that choose keys."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

Pin = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="Frames that must be keys, 30,88; the word contacts adds frames in which feet touch or leave the ground.",
    ),
]
Exclude = Annotated[tuple[str, ...], Parameter(negative="", help="Frames that must not be keys, 30,88.")]
Joints = Annotated[tuple[str, ...], Parameter(negative="", help="Joints, body parts or groups that count, hands,head.")]
Weight = Annotated[
    tuple[str, ...],
    Parameter(negative="", help="Weight of a joint, body part or group, hands=3. May be given several times."),
]
MinGap = Annotated[int | None, Parameter(help="Minimum number of frames from one key to the next.")]
MaxGap = Annotated[
    int | None,
    Parameter(help="Maximum number of frames from one key to the next. Reduces the memory needed for long takes."),
]
Loop = Annotated[bool, Parameter(negative="", help="The motion is a loop whose last pose equals its first.")]
Threads = Annotated[int | None, Parameter(help="Processor cores for one clip. Default: all for long clips.")]
Objective = Annotated[
    Literal["max", "sum"] | None, Parameter(help="Cost of a selection: the largest cost of its spans, or their sum.")
]
Measure = Annotated[
    Literal["max", "mean"] | None,
    Parameter(
        help="Cost of the in-betweens of a span: their largest error, or their mean error (best with --objective sum)."
    ),
]
Set = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        negative="",
        help="Any other option of the method, NAME=VALUE: keypose methods lists them. May be given several times.",
    ),
]
