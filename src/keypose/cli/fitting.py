"""Options that say how many keys and what goes between them, for every command that unbakes; and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter

Keys = Annotated[int | None, Parameter(help="So many keys.")]
ToleranceMm = Annotated[
    float | None, Parameter(help="Fewest keys whose curves leave no joint farther off, on a figure of 1.7 m.")
]
Auto = Annotated[
    bool, Parameter(negative="", help="As many keys as the error curve says. So it is where nothing is said.")
]
Interpolation = Annotated[
    Literal["bezier", "natural", "linear"],
    Parameter(
        show_default=True,
        help="What goes between keys: cubic curves fitted to the capture, natural splines, or straight lines.",
    ),
]
Rotation = Annotated[
    Literal["quaternion", "euler"],
    Parameter(show_default=True, help="How turns are kept: as quaternions, or as angles in each joint's best order."),
]
SharedTangents = Annotated[
    bool, Parameter(negative="", help="Curves pass through every key without a corner: one slope, not two.")
]
JumpPenalty = Annotated[float | None, Parameter(help="How much corners at keys cost the fit: 0 nothing, 0.01 much.")]
Polish = Annotated[
    bool | None,
    Parameter(
        negative="--no-polish",
        help="Fit the slopes once more, all together, to where joints are. So it is where it can be.",
    ),
]
PolishWeight = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="How much a joint, body part or group counts in that, feet=3 if nothing is said. May be given several "
        "times.",
    ),
]


def choosing_from(
    method: str,
    *,
    pin: Sequence[str],
    exclude: Sequence[str],
    joints: Sequence[str],
    weight: Sequence[str],
    objective: str | None,
    measure: str | None,
    least_gap_frames: int | None,
    greatest_gap_frames: int | None,
    loop: bool,
    settings: Sequence[str],
) -> dict[str, Any]:
    """The options of choosing keys that something was said about; ``settings`` are those of --set."""
    from keypose.cli import keys_options as told

    choosing = told.options_from(
        told.method_from(method),
        {
            "pins": told.frames_from("--pin", pin, contacts=True),
            "excluded": told.frames_from("--exclude", exclude),
            "objective": objective,
            "measure": measure,
            "least_gap_frames": least_gap_frames,
            "greatest_gap_frames": greatest_gap_frames,
            "loop": loop,
            "interpolation": None,  # said of the curves, and so of the search; no more by --set
            "threads": None,
        },
        settings,
    )
    return choosing | told.given({"joints": told.joints_from(joints), "weights": told.weights_from(weight)})


def fitting_from(
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
    """The options of fitting curves; those about which nothing was said and that have no default are left out."""
    from keypose.cli import keys_options as told

    curves = {
        "interpolation": interpolation,
        "rotation": rotation,
        "shared_tangents": shared_tangents,
        "jump_penalty": jump_penalty,
        "polish": polish,
        "polish_weights": told.weights_from(polish_weight, "--polish-weight"),
        "threads": threads,
        "residual": residual,
    }
    return {name: value for name, value in curves.items() if value is not None}
