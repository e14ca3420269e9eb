"""``keypose error-curve``: plot the error for every number of keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.key_options import Joints
from keypose.cli.picture_options import (
    DEFAULT_ERROR_CURVE,
    DEFAULT_SOURCE,
    DEFAULT_WRITE,
    KEYS_GROUP,
    PICTURE_GROUP,
    ErrorCurveFlags,
    KeyFlags,
    PictureWriteFlags,
    SourceFlags,
)


def error_curve(
    file: Annotated[str, Parameter(help="A motion file.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    chart: ErrorCurveFlags = DEFAULT_ERROR_CURVE,
    height_px: Annotated[
        float, Parameter(show_default=True, help="Height of the picture, in px."), PICTURE_GROUP
    ] = 400.0,
    joints: Annotated[Joints, KEYS_GROUP] = (),
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
    from keypose.cli import picture_options as jobs
    from keypose.cli.options import drop_unset, parse_joints
    from keypose.cli.picture_options import check_picture_path, run_picture_job

    select_options = (keys or KeyFlags()).select_options() | drop_unset({"joints": parse_joints("--joints", joints)})
    style = drop_unset({"theme": chart.theme, "width_px": chart.width_px, "height_px": height_px, "title": chart.title})
    load_options, frames = source.load.load_options(), source.frame_range()
    target = check_picture_path(out, Path(file), overwrite=write.overwrite)
    drawn_style = jobs.build_style(style, chart.scale)
    job = jobs.ErrorCurveJob(Path(file), target, load_options, frames, drawn_style, select_options)
    return run_picture_job("Drawing", jobs.draw_error_curve, job, json=write.json, quiet=write.quiet)
