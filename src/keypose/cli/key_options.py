"""Options for choosing keys and for the curves between them, shared by all commands that choose keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

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


Keys = Annotated[int | None, Parameter(help="Number of keys.")]
ToleranceMm = Annotated[
    float | None, Parameter(help="Fewest keys whose curves keep every joint within this error, on a figure of 1.7 m.")
]
Auto = Annotated[bool, Parameter(negative="", help="Choose the number of keys from the error curve. Default.")]
Interpolation = Annotated[
    Literal["bezier", "natural", "linear"],
    Parameter(
        show_default=True,
        help="In-betweens: cubic curves fitted to the capture, natural splines, or straight lines.",
    ),
]
Rotation = Annotated[
    Literal["quaternion", "euler"],
    Parameter(show_default=True, help="Store rotations as quaternions, or as Euler angles in each joint's best order."),
]
SharedTangents = Annotated[
    bool, Parameter(negative="", help="Use one tangent per key instead of two: curves have no corners at keys.")
]
JumpPenalty = Annotated[float | None, Parameter(help="Weight of corners at keys in the fit: 0 none, 0.01 high.")]
Polish = Annotated[
    bool | None,
    Parameter(
        negative="--no-polish",
        help="Refit all tangents together to the world positions of joints. Default where possible.",
    ),
]
PolishWeight = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="Weight of a joint, body part or group in --polish. Default: feet=3. May be given several times.",
    ),
]


def parse_key_options(
    method: str,
    *,
    pin: Sequence[str],
    exclude: Sequence[str],
    joints: Sequence[str],
    weight: Sequence[str],
    objective: str | None,
    measure: str | None,
    min_gap_frames: int | None,
    max_gap_frames: int | None,
    loop: bool,
    settings: Sequence[str],
) -> dict[str, Any]:
    """Return the keywords of key selection that are set; ``settings`` are the values of --set."""
    from keypose.cli import options

    key_options = options.parse_method_options(
        options.find_method(method),
        {
            "pins": options.parse_frames("--pin", pin, contacts=True),
            "excluded": options.parse_frames("--exclude", exclude),
            "objective": objective,
            "measure": measure,
            "min_gap_frames": min_gap_frames,
            "max_gap_frames": max_gap_frames,
            "loop": loop,
            "interpolation": None,  # set by the curve options, so --set must not set it again
            "threads": None,
        },
        settings,
    )
    return key_options | options.drop_unset(
        {"joints": options.parse_joints(joints), "weights": options.parse_weights(weight)}
    )


def parse_curve_options(
    *,
    interpolation: str,
    rotation: str,
    shared_tangents: bool,
    jump_penalty: float | None,
    polish: bool | None,
    polish_weight: Sequence[str],
    threads: int | None,
    residual: bool,
) -> dict[str, Any]:
    """Return the keywords of curve fitting, without those that are None."""
    from keypose.cli import options

    curves = {
        "interpolation": interpolation,
        "rotation": rotation,
        "shared_tangents": shared_tangents,
        "jump_penalty": jump_penalty,
        "polish": polish,
        "polish_weights": options.parse_weights(polish_weight, "--polish-weight"),
        "threads": threads,
        "residual": residual,
    }
    return {name: value for name, value in curves.items() if value is not None}
