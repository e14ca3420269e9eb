"""Options that several commands share, and functions that parse them."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from keypose.cli.exit_codes import UsageError

if TYPE_CHECKING:
    from keypose.batch.load_options import ClipLoadOptions
    from keypose.formats import Limits

ReferencePose = Annotated[
    Literal["auto", "keep", "drop"],
    Parameter(
        show_default=True,
        help="A T-pose before the movement: separated if recognised (auto), left in the movement (keep), "
        "or frame 0 always separated (drop).",
    ),
]
Asf = Annotated[
    Path | None,
    Parameter(help="The ASF skeleton of AMC files. Default: searched for beside each file."),
]
Gaps = Annotated[
    Literal["fill", "refuse"],
    Parameter(show_default=True, help="Fill in markers that a C3D file lost for some frames, or refuse the file."),
]
Animation = Annotated[
    str | None,
    Parameter(help="Which animation of a file with several: its name, or its index from 0."),
]
ReadFps = Annotated[
    float | None,
    Parameter(help="Frame rate of files that state none (AMC), and for sampling keys (glTF, USD, FBX)."),
]
Jobs = Annotated[
    int | None,
    Parameter(
        alias="-j",
        help="Number of files processed at once. Default: one per core, fewer for few files.",
    ),
]
Range = Annotated[
    str | None,
    Parameter(name="--range", help="Only these frames, START:END as numbered by info, END not included."),
]
LimitOption = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="Limits on the size of a file, NAME=NUMBER: joints, depth, frames, bytes (after decompression), "
        "expansion (memory per byte of the file). May be given several times.",
    ),
]
Json = Annotated[bool, Parameter(negative="", help="Print one JSON document on stdout instead of text.")]


def parse_limits(texts: tuple[str, ...]) -> Limits:
    """Parse ``joints=20000`` into limits; others keep their defaults."""
    from dataclasses import fields, replace

    from keypose.formats import Limits

    limit_names = [f.name for f in fields(Limits)]
    limits = Limits()
    for text in texts:
        name, _, number = text.partition("=")
        if name not in limit_names or not re.fullmatch(r"[0-9][0-9_]{0,17}", number):
            raise UsageError(f"--limit {text}: expected NAME=NUMBER with one of {', '.join(limit_names)}")
        limits = replace(limits, **{name: int(number)})
    return limits


def parse_range(text: str | None) -> tuple[int | None, int | None] | None:
    """Parse ``100:400`` into the start and end of a slice."""
    if text is None:
        return None
    match = re.fullmatch(r"(-?[0-9]{1,9})?:(-?[0-9]{1,9})?", text)
    if not match:
        raise UsageError(f"--range {text}: expected START:END in frames, such as 100:400, 100: or :400")
    return tuple(None if part is None else int(part) for part in match.groups())  # type: ignore[return-value]


def check_fps(fps: float | None, option: str) -> float | None:
    """Return ``fps``; raise UsageError if it is not a positive number."""
    if fps is not None and not (math.isfinite(fps) and fps > 0):
        raise UsageError(f"{option} {fps:g}: expected a number above 0")
    return fps


def resolve_jobs(jobs: int | None, n_clips: int) -> int:
    """Return the number of workers: ``jobs``, or the default for ``n_clips`` if None."""
    from keypose.batch import default_jobs

    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    return default_jobs(n_clips) if jobs is None else jobs


def parse_load_options(
    reference_pose: Literal["auto", "keep", "drop"],
    asf: Path | None,
    gaps: Literal["fill", "refuse"],
    animation: str | None,
    read_fps: float | None,
    limit: tuple[str, ...],
) -> ClipLoadOptions:
    """Return how files are read; a numeric ``animation`` is an index."""
    from keypose.batch.load_options import ClipLoadOptions

    animation_key = int(animation) if animation is not None and re.fullmatch(r"[0-9]{1,6}", animation) else animation
    return ClipLoadOptions(
        reference_pose, asf, gaps, animation_key, check_fps(read_fps, "--read-fps"), parse_limits(limit)
    )
