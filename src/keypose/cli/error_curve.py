"""``keypose error-curve``: plot the error for every number of keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli import picture_options as jobs
from keypose.cli.options import Flags, with_flags
from keypose.cli.picture_options import (
    DEFAULT_JOINTS,
    DEFAULT_SOURCE,
    DEFAULT_WRITE,
    KEYS_GROUP,
    PICTURE_GROUP,
    JointFlags,
    KeyFlags,
    PictureWriteFlags,
    SourceFlags,
    check_picture_path,
    run_picture_job,
)
from keypose.options.pictures import ErrorPlotOptions, PngOptions


@with_flags(only=("theme", "width_px", "height_px", "title", "scale"))
@dataclass(frozen=True)
class ErrorPlotFlags(Flags, PngOptions, ErrorPlotOptions):
    """The appearance of an error curve."""


DEFAULT_CHART = ErrorPlotFlags()


def error_curve(
    file: Annotated[str, Parameter(help="A motion file.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    chart: Annotated[ErrorPlotFlags, PICTURE_GROUP] = DEFAULT_CHART,
    joints: Annotated[JointFlags, KEYS_GROUP] = DEFAULT_JOINTS,
    keys: KeyFlags | None = None,
    source: SourceFlags = DEFAULT_SOURCE,
    write: PictureWriteFlags = DEFAULT_WRITE,
) -> int:
    """Draw the error for every number of keys.

    Cliffs, at which one more key reduces the error much and the next ones little,
    are marked with their number of keys, as is the selected number. The top axis
    shows how many frames are removed. The error is the cost that the method
    minimises; with --cost inbetween it is in mm.

    For example:
      keypose error-curve walk.bvh walk.svg
      keypose error-curve walk.bvh walk.png --cost inbetween --max-keys 60
      keypose error-curve walk.bvh hands.svg --joints hands --keys 12
    """
    select_options = (keys or KeyFlags()).select_options() | joints.typed_options()
    load_options, frames = source.load.load_options(), source.frame_range()
    target = check_picture_path(out, Path(file), overwrite=write.overwrite)
    job = jobs.ErrorCurveJob(Path(file), target, load_options, frames, jobs.build_style(chart), select_options)
    return run_picture_job("Drawing", jobs.draw_error_curve, job, json=write.json, quiet=write.quiet)
