"""``keypose timeline``: when each joint swings, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from keypose.cli.picturing import (
    LOOK,
    Choosing,
    Json,
    Mark,
    Overwrite,
    Quiet,
    Scale,
    Source,
    Theme,
    Title,
    WidthPx,
)

SWINGS = Parameter(group=Group("Which swings", sort_key=2))
NO_CHOICE = Choosing()
AS_IT_IS = Source()


def timeline(
    file: Annotated[str, Parameter(help="A motion file, or NAME.swings.json.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    joints: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Joints, body parts or groups that have a row, hands,head. Otherwise all that swing, but for fingers "
            "and toes.",
        ),
        LOOK,
    ] = (),
    theme: Theme = "light",
    width_px: WidthPx = 960.0,
    row_px: Annotated[float, Parameter(show_default=True, help="How high a row is, in px."), LOOK] = 15.0,
    title: Title = None,
    scale: Scale = 2.0,
    threshold: Annotated[
        float | None, Parameter(help="How much the axis of one swing may change, in radians. Otherwise 0.4."), SWINGS
    ] = None,
    within_deg: Annotated[
        float | None, Parameter(help="The smallest swings that keep every turn within so many degrees."), SWINGS
    ] = None,
    within_mm: Annotated[
        float | None, Parameter(help="The smallest swings that keep every joint within so many mm."), SWINGS
    ] = None,
    mark: Mark = (),
    choosing: Choosing = NO_CHOICE,
    source: Source = AS_IT_IS,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw when each joint swings, and how far.

    A row of bars for each joint, grouped by limb; the larger the angle of a
    swing, the stronger its colour. Thin lines are rests, hatched bars are kept
    by keys, and green ones show feet on the ground. Keys are marked where
    something is said about them.

    For example:
      keypose timeline kick.bvh kick.svg
      keypose timeline kick.bvh kick.png --keys 24 --theme dark
      keypose timeline kick.bvh legs.svg --joints legs --mark 30,88,120
      keypose timeline kick.swings.json kick.svg
    """
    from keypose.batch.swings import Finding
    from keypose.cli import picture_jobs as jobs
    from keypose.cli import swings_options
    from keypose.cli.keys_options import joints_from
    from keypose.cli.picturing import marked_from, run, target_from

    options = swings_options.given({"threshold": threshold})
    within = {"--within-deg": within_deg, "--within-mm": within_mm}
    swings_options.check_modes(sweep=False, within=within, options=options, others={})
    marked = marked_from(mark, choosing)
    chosen = choosing.options() if choosing.wants_keys else None
    look = {
        "theme": theme,
        "width_px": width_px,
        "row_px": row_px,
        "title": title,
        "joints": joints_from(joints) or None,
    }
    finding = Finding(source.reading(), source.frames(), None, options, within_deg, within_mm)
    target = target_from(out, Path(file), overwrite=overwrite)
    wanted = jobs.TimelineWanted(Path(file), target, finding, jobs.look_from(look, scale), marked, chosen)
    return run("Drawing", jobs.draw_timeline, wanted, json=json, quiet=quiet)
