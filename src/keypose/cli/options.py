"""Options that several commands share: what they are called, what they say, how they are read."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from keypose.cli.exits import UsageError

if TYPE_CHECKING:
    from keypose.batch.reading import Reading
    from keypose.formats import Limits

ReferencePose = Annotated[
    Literal["auto", "keep", "drop"],
    Parameter(
        show_default=True,
        help="A T-pose before the movement: kept apart where recognised (auto), left in the movement (keep), "
        "or frame 0 always taken as one (drop).",
    ),
]
Asf = Annotated[
    Path | None,
    Parameter(help="The ASF skeleton of AMC files. Otherwise it is looked for beside each of them."),
]
Gaps = Annotated[
    Literal["fill", "refuse"],
    Parameter(show_default=True, help="Markers that a C3D file lost for some frames are filled in, or refused."),
]
Animation = Annotated[
    str | None,
    Parameter(help="Which animation of a file that holds several: its name, or its number from 0."),
]
ReadFps = Annotated[
    float | None,
    Parameter(help="The rate of files that state none (AMC), and at which keys (glTF, USD, FBX) are sampled."),
]
Jobs = Annotated[
    int | None,
    Parameter(
        alias="-j",
        help="How many files to work on at once. Otherwise one for each core, fewer for few files.",
    ),
]
Range = Annotated[
    str | None,
    Parameter(name="--range", help="Only these frames, START:END as info counts them, END not included."),
]
LimitOption = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="How much a file may ask for, NAME=NUMBER: joints, depth, frames, bytes (after decompression), "
        "expansion (memory for each byte of the file). May be given several times.",
    ),
]
Json = Annotated[bool, Parameter(negative="", help="Print one JSON document on stdout in place of text.")]


def limits_from(texts: tuple[str, ...]) -> Limits:
    """``joints=20000`` and the like, over the defaults."""
    from dataclasses import fields, replace

    from keypose.formats import Limits

    known = [f.name for f in fields(Limits)]
    limits = Limits()
    for text in texts:
        name, _, number = text.partition("=")
        if name not in known or not re.fullmatch(r"[0-9][0-9_]{0,17}", number):
            raise UsageError(f"--limit {text}: expected NAME=NUMBER with one of {', '.join(known)}")
        limits = replace(limits, **{name: int(number)})
    return limits


def range_from(text: str | None) -> tuple[int | None, int | None] | None:
    """``100:400`` as the start and end of a slice."""
    if text is None:
        return None
    found = re.fullmatch(r"(-?[0-9]{1,9})?:(-?[0-9]{1,9})?", text)
    if not found:
        raise UsageError(f"--range {text}: expected START:END in frames, such as 100:400, 100: or :400")
    return tuple(None if part is None else int(part) for part in found.groups())  # type: ignore[return-value]


def fps_from(fps: float | None, option: str) -> float | None:
    """A frame rate that can be one."""
    if fps is not None and not (math.isfinite(fps) and fps > 0):
        raise UsageError(f"{option} {fps:g}: expected a number above 0")
    return fps


def jobs_from(jobs: int | None, clips: int) -> int:
    """How many workers, where nothing was said."""
    from keypose.batch import default_jobs

    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    return default_jobs(clips) if jobs is None else jobs


def reading_from(
    reference_pose: Literal["auto", "keep", "drop"],
    asf: Path | None,
    gaps: Literal["fill", "refuse"],
    animation: str | None,
    read_fps: float | None,
    limit: tuple[str, ...],
) -> Reading:
    """How the files are to be read; an animation that reads as a number is one."""
    from keypose.batch.reading import Reading

    which = int(animation) if animation is not None and re.fullmatch(r"[0-9]{1,6}", animation) else animation
    return Reading(reference_pose, asf, gaps, which, fps_from(read_fps, "--read-fps"), limits_from(limit))
