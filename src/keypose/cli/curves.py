"""``keypose curves``: the angles of joints against time, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

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

NO_CHOICE = Choosing()
AS_IT_IS = Source()


def curves(
    file: Annotated[str, Parameter(help="A motion file.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    joints: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Joints, body parts or groups to show, hands,head. Otherwise the four that vary most.",
        ),
        LOOK,
    ] = (),
    values: Annotated[
        Literal["auto", "euler", "positions"],
        Parameter(show_default=True, help="Euler angles, or positions in the world; auto: positions for markers only."),
        LOOK,
    ] = "auto",
    no_saliency: Annotated[bool, Parameter(negative="", help="Leave out the saliency below the curves."), LOOK] = False,
    theme: Theme = "light",
    width_px: WidthPx = 960.0,
    panel_px: Annotated[
        float, Parameter(show_default=True, help="How high each joint's curves are, in px."), LOOK
    ] = 130.0,
    title: Title = None,
    scale: Scale = 2.0,
    mark: Mark = (),
    choosing: Choosing = NO_CHOICE,
    source: Source = AS_IT_IS,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw the motion curves of joints.

    A panel for each joint shows its three angles against time, below them how
    salient each frame is (Bulut and Capin), and as rings the extrema that stand
    out. Keys are dots on the curves, where something is said about them.

    For example:
      keypose curves walk.bvh walk.svg
      keypose curves walk.bvh walk.png --joints left_leg --keys 12
      keypose curves walk.bvh thigh.svg --joints left_thigh --method saliency
      keypose curves walk.bvh walk.svg --mark 0,30,88 --no-saliency
    """
    from keypose.cli import picture_jobs as jobs
    from keypose.cli.keys_options import joints_from
    from keypose.cli.picturing import marked_from, run, target_from

    marked = marked_from(mark, choosing)
    chosen = choosing.options() if choosing.wants_keys else None
    look = {
        "theme": theme,
        "width_px": width_px,
        "panel_px": panel_px,
        "title": title,
        "joints": joints_from(joints) or None,
        "values": values,
        "saliency": not no_saliency,
    }
    reading, frames = source.reading(), source.frames()
    target = target_from(out, Path(file), overwrite=overwrite)
    wanted = jobs.CurvesWanted(Path(file), target, reading, frames, jobs.Look(look, scale), marked, chosen)
    return run("Drawing", jobs.draw_curves, wanted, json=json, quiet=quiet)
