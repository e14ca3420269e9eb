"""``keypose timeline``: draw when each joint swings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.picture_options import (
    PICTURE_GROUP,
    Json,
    KeyOptions,
    Mark,
    Overwrite,
    Quiet,
    Scale,
    SourceOptions,
    Theme,
    Title,
    WidthPx,
)

SWINGS_GROUP = Parameter(group=Group("Swings", sort_key=2))
DEFAULT_KEY_OPTIONS = KeyOptions()
DEFAULT_SOURCE = SourceOptions()


def timeline(
    file: Annotated[str, Parameter(help="A motion file, or NAME.swings.json.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    joints: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Joints, body parts or groups to show, hands,head. Default: all that swing, except fingers and toes.",
        ),
        PICTURE_GROUP,
    ] = (),
    theme: Theme = "light",
    width_px: WidthPx = 960.0,
    row_px: Annotated[float, Parameter(show_default=True, help="Height of a row, in px."), PICTURE_GROUP] = 15.0,
    title: Title = None,
    scale: Scale = 2.0,
    threshold: Annotated[
        float | None,
        Parameter(help="Maximum change of the axis within a swing, in radians. Default: 0.4."),
        SWINGS_GROUP,
    ] = None,
    max_deg: Annotated[
        float | None,
        Parameter(help="Find the smallest swings whose rotations are all within this error, in degrees."),
        SWINGS_GROUP,
    ] = None,
    max_mm: Annotated[
        float | None,
        Parameter(help="Find the smallest swings whose joint positions are all within this error, in mm."),
        SWINGS_GROUP,
    ] = None,
    mark: Mark = (),
    key_options: KeyOptions = DEFAULT_KEY_OPTIONS,
    source: SourceOptions = DEFAULT_SOURCE,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
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

    options = swings.drop_unset({"threshold": threshold})
    bounds = {"--max-deg": max_deg, "--max-mm": max_mm}
    swings.check_modes(sweep=False, bounds=bounds, options=options, others={})
    marked_frames = parse_marked_frames(mark, key_options)
    select_options = key_options.select_options() if key_options.is_set else None
    style = {
        "theme": theme,
        "width_px": width_px,
        "row_px": row_px,
        "title": title,
        "joints": parse_joints(joints) or None,
    }
    finding = SwingsLoader(source.load_options(), source.frame_range(), None, options, max_deg, max_mm)
    target = check_picture_path(out, Path(file), overwrite=overwrite)
    job = jobs.TimelineJob(Path(file), target, finding, jobs.build_style(style, scale), marked_frames, select_options)
    return run_picture_job("Drawing", jobs.draw_timeline, job, json=json, quiet=quiet)
