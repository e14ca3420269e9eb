"""``keypose timeline``: draw when each joint swings."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.options import Flags, with_flags
from keypose.cli.picture_options import (
    DEFAULT_CHART,
    DEFAULT_SOURCE,
    DEFAULT_WRITE,
    PICTURE_GROUP,
    ChartFlags,
    KeyFlags,
    Mark,
    PictureWriteFlags,
    SourceFlags,
)
from keypose.cli.swings import DEFAULT_BOUNDS, SwingBoundFlags
from keypose.options import SwingOptions

SWINGS_GROUP = Parameter(group=Group("Swings", sort_key=2))


@with_flags(omit=[each.name for each in fields(SwingOptions) if each.name != "threshold"])
class ThresholdFlags(Flags, SwingOptions):
    """How swings are found."""


DEFAULT_FIND = ThresholdFlags()


def timeline(
    file: Annotated[str, Parameter(help="A motion file, or NAME.swings.json.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    chart: ChartFlags = DEFAULT_CHART,
    joints: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Joints, body parts or groups to show, hands,head. Default: all that swing, except fingers and toes.",
        ),
        PICTURE_GROUP,
    ] = (),
    row_px: Annotated[float, Parameter(show_default=True, help="Height of a row, in px."), PICTURE_GROUP] = 15.0,
    find: Annotated[ThresholdFlags, SWINGS_GROUP] = DEFAULT_FIND,
    bounds: Annotated[SwingBoundFlags, SWINGS_GROUP] = DEFAULT_BOUNDS,
    mark: Mark = (),
    keys: KeyFlags | None = None,
    source: SourceFlags = DEFAULT_SOURCE,
    write: PictureWriteFlags = DEFAULT_WRITE,
) -> int:
    """Draw when each joint swings, and how far.

    A row of bars for each joint, grouped by limb; the larger the angle of a
    swing, the stronger its colour. Thin lines are rests, hatched bars are spans
    stored as keys, and green bars show feet on the ground. Keys are marked if an
    option selects or marks keys.

    For example:
      keypose timeline kick.bvh kick.svg
      keypose timeline kick.bvh kick.png --keys 24 --theme dark
      keypose timeline kick.bvh legs.svg --joints legs --mark 30,88,120
      keypose timeline kick.swings.json kick.svg
    """
    from keypose.batch.swings import SwingsLoader
    from keypose.cli import picture_options as jobs
    from keypose.cli import swings
    from keypose.cli.options import parse_joints
    from keypose.cli.picture_options import check_picture_path, parse_marked_frames, run_picture_job

    options = find.typed_options()
    swings.check_modes(sweep=False, bounds=bounds, options=options, others={})
    marked_frames = parse_marked_frames(mark, keys)
    select_options = None if keys is None else keys.select_options()
    style = {
        "theme": chart.theme,
        "width_px": chart.width_px,
        "row_px": row_px,
        "title": chart.title,
        "joints": parse_joints("--joints", joints) or None,
    }
    finding = SwingsLoader(
        source.load.load_options(), source.frame_range(), None, options, bounds.max_deg, bounds.max_mm
    )
    target = check_picture_path(out, Path(file), overwrite=write.overwrite)
    drawn_style = jobs.build_style(style, chart.scale)
    job = jobs.TimelineJob(Path(file), target, finding, drawn_style, marked_frames, select_options)
    return run_picture_job("Drawing", jobs.draw_timeline, job, json=write.json, quiet=write.quiet)
