"""``keypose error-curve``: what every number of keys costs, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.choosing import Joints
from keypose.cli.picturing import (
    KEYS,
    LOOK,
    Choosing,
    Json,
    Overwrite,
    Quiet,
    Scale,
    Source,
    Theme,
    Title,
    WidthPx,
)

NO_CHOICE = Choosing()
AS_IT_IS = Source()


def error_curve(
    file: Annotated[str, Parameter(help="A motion file.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    theme: Theme = "light",
    width_px: WidthPx = 720.0,
    height_px: Annotated[float, Parameter(show_default=True, help="How high the picture is, in px."), LOOK] = 400.0,
    title: Title = None,
    scale: Scale = 2.0,
    joints: Annotated[Joints, KEYS] = (),
    choosing: Choosing = NO_CHOICE,
    source: Source = AS_IT_IS,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw the error for every number of keys.

    Cliffs, at which one more key buys much and the next ones little, are marked
    with their number of keys, and so is the number that is chosen. Along the top
    stands how many frames are left out. The error is what the method itself
    makes small; with --cost inbetween it is in mm.

    For example:
      keypose error-curve walk.bvh walk.svg
      keypose error-curve walk.bvh walk.png --cost inbetween --max-keys 60
      keypose error-curve walk.bvh hands.svg --joints hands --keys 12
    """
    from keypose.cli import picture_jobs as jobs
    from keypose.cli.keys_options import given, joints_from
    from keypose.cli.picturing import run, target_from

    chosen = choosing.options() | given({"joints": joints_from(joints)})
    look = {"theme": theme, "width_px": width_px, "height_px": height_px} | ({} if title is None else {"title": title})
    reading, frames = source.reading(), source.frames()
    target = target_from(out, Path(file), overwrite=overwrite)
    wanted = jobs.ErrorCurveWanted(Path(file), target, reading, frames, jobs.look_from(look, scale), chosen)
    return run("Drawing", jobs.draw_error_curve, wanted, json=json, quiet=quiet)
