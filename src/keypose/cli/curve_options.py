"""Options for the number of keys and for the curves between them, shared by ``unbake`` and ``report``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter

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
    from keypose.cli import option_parsers

    key_options = option_parsers.parse_method_options(
        option_parsers.find_method(method),
        {
            "pins": option_parsers.parse_frames("--pin", pin, contacts=True),
            "excluded": option_parsers.parse_frames("--exclude", exclude),
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
    return key_options | option_parsers.drop_unset(
        {"joints": option_parsers.parse_joints(joints), "weights": option_parsers.parse_weights(weight)}
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
    from keypose.cli import option_parsers

    curves = {
        "interpolation": interpolation,
        "rotation": rotation,
        "shared_tangents": shared_tangents,
        "jump_penalty": jump_penalty,
        "polish": polish,
        "polish_weights": option_parsers.parse_weights(polish_weight, "--polish-weight"),
        "threads": threads,
        "residual": residual,
    }
    return {name: value for name, value in curves.items() if value is not None}
