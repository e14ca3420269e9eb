"""``keypose curves``: the angles of joints against time, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from keypose.cli.picturing import (
    KEYS,
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
            help="Joints, body parts or groups to show, hands,head; keys are chosen by these alone. Otherwise the four "
            "that vary most are shown, and keys chosen by what the method sees.",
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
    whole_body: Annotated[
        bool, Parameter(negative="", help="Choose keys by all that the method sees, whichever joints are shown."), KEYS
    ] = False,
    choosing: Choosing = NO_CHOICE,
    source: Source = AS_IT_IS,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw the motion curves of joints.

    A panel for each joint shows its three angles against time, below them how
    salient each frame is (Bulut and Capin), and as rings the extrema that stand
    out. Keys are dots on the curves, where something is said about them; the
    method sees the joints that are named, or with --whole-body all.

    For example:
      keypose curves walk.bvh walk.svg
      keypose curves walk.bvh walk.png --joints left_leg --keys 12
      keypose curves walk.bvh thigh.svg --joints left_thigh --method saliency
      keypose curves walk.bvh walk.svg --mark 0,30,88 --no-saliency
    """
    from keypose.cli import picture_jobs as jobs
    from keypose.cli.exits import UsageError
    from keypose.cli.keys_options import joints_from
    from keypose.cli.picturing import marked_from, run, target_from

    marked = marked_from(mark, choosing)
    shown = joints_from(joints) or None
    chosen = choosing.options() if choosing.wants_keys else None
    if whole_body and chosen is None:
        raise UsageError("--whole-body says how keys are chosen, and none are: expected --keys or --method with it")
    if chosen is not None and shown is not None and not whole_body:
        chosen["joints"] = shown
    look = {
        "theme": theme,
        "width_px": width_px,
        "panel_px": panel_px,
        "title": title,
        "joints": shown,
        "values": values,
        "saliency": not no_saliency,
    }
    reading, frames = source.reading(), source.frames()
    target = target_from(out, Path(file), overwrite=overwrite)
    wanted = jobs.CurvesWanted(Path(file), target, reading, frames, jobs.look_from(look, scale), marked, chosen)
    return run("Drawing", jobs.draw_curves, wanted, json=json, quiet=quiet)
