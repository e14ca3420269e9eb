"""Options that say which keys to choose, for every command that chooses some."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

Pin = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="Frames that must be keys, 30,88, and the word contacts for where feet touch and leave the ground.",
    ),
]
Exclude = Annotated[tuple[str, ...], Parameter(negative="", help="Frames that must not be keys, 30,88.")]
Joints = Annotated[tuple[str, ...], Parameter(negative="", help="Joints, body parts or groups that count, hands,head.")]
Weight = Annotated[
    tuple[str, ...],
    Parameter(negative="", help="How much a joint, body part or group counts, hands=3. May be given several times."),
]
LeastGap = Annotated[int | None, Parameter(help="Fewest frames from one key to the next.")]
GreatestGap = Annotated[
    int | None, Parameter(help="Most frames from one key to the next. Long takes then need little memory.")
]
Loop = Annotated[
    bool, Parameter(negative="", help="The last pose is the first again: find the best keys on the circle.")
]
Threads = Annotated[int | None, Parameter(help="Processor cores for one clip. Otherwise all for long clips.")]
Objective = Annotated[
    Literal["max", "sum"] | None, Parameter(help="The cost of keys: the largest of their spans, or the sum.")
]
Measure = Annotated[
    Literal["max", "mean"] | None,
    Parameter(
        help="What the in-betweens of a span cost: their largest error, or the mean of all, best with --objective sum."
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
