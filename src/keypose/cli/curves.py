"""``keypose curves``: plot joint angles against time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli import picture_options as jobs
from keypose.cli.options import Flags, with_flags
from keypose.cli.output import UsageError, conflict_error
from keypose.cli.picture_options import (
    DEFAULT_SOURCE,
    DEFAULT_WRITE,
    KEYS_GROUP,
    PICTURE_GROUP,
    CurveKeyFlags,
    Mark,
    PictureWriteFlags,
    SourceFlags,
    check_picture_path,
    parse_marked_frames,
    run_picture_job,
)
from keypose.cli.unbake import DEFAULT_PER, PerFlags
from keypose.options.pictures import CurvePlotOptions, PngOptions


@with_flags()
@dataclass(frozen=True)
class CurvePlotFlags(Flags, PngOptions, CurvePlotOptions):
    """The appearance of motion curves."""


DEFAULT_CHART = CurvePlotFlags()


def curves(
    file: Annotated[str, Parameter(help="A motion file.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    chart: Annotated[CurvePlotFlags, PICTURE_GROUP] = DEFAULT_CHART,
    mark: Mark = (),
    whole_body: Annotated[
        bool,
        Parameter(negative="", help="Choose keys from all joints of the method, not only those shown."),
        KEYS_GROUP,
    ] = False,
    reduced: Annotated[
        bool,
        Parameter(
            negative="",
            help="Unbake the motion with the keys that are chosen, and draw its curves over the original ones.",
        ),
        KEYS_GROUP,
    ] = False,
    per_: Annotated[PerFlags, KEYS_GROUP] = DEFAULT_PER,
    keys: CurveKeyFlags | None = None,
    source: SourceFlags = DEFAULT_SOURCE,
    write: PictureWriteFlags = DEFAULT_WRITE,
) -> int:
    """Draw the motion curves of joints.

    A panel for each joint shows its three angles against time, below them the
    saliency of each frame (Bulut and Capin), and prominent extrema as rings.
    Keys are drawn as dots if an option selects or marks keys; they are chosen
    from the joints that are shown, or with --whole-body from all. With --reduced
    the curves of the unbaked motion are drawn over the original ones.

    For example:
      keypose curves walk.bvh walk.svg
      keypose curves walk.bvh leg.png --joints left_leg --keys 12
      keypose curves walk.bvh thigh.svg --joints left_thigh --method saliency
      keypose curves walk.bvh axes.png --joints left_thigh --each-axis
      keypose curves walk.bvh marked.svg --mark 0,30,88 --no-saliency
      keypose curves walk.bvh foot.png --joints left_foot --axes x --reduced
      keypose curves walk.bvh own.svg --reduced --per joint --method refine
    """
    marked_frames = parse_marked_frames(mark, keys)
    select_options = None if keys is None else keys.select_options()
    if whole_body and select_options is None:
        raise UsageError(
            "says how keys are chosen, and none are",
            option="whole_body",
            value=True,
            expected="--keys or --method with it",
        )
    unbake_options = None
    if reduced:
        if whole_body or mark:
            raise conflict_error("reduced", "--whole-body" if whole_body else "--mark")
        unbake_options, select_options = {**per_.typed_options(), **(select_options or {})}, None
    elif per_.typed_options():
        raise UsageError("is for reduced curves", option="per", value=per_.per, expected="--reduced with it")
    if select_options is not None and chart.joints is not None and not whole_body:
        select_options["joints"] = chart.joints
    load_options, frames = source.load.load_options(), source.frame_range()
    target = check_picture_path(out, Path(file), overwrite=write.overwrite)
    job = jobs.CurvesJob(
        Path(file), target, load_options, frames, jobs.build_style(chart), marked_frames, select_options, unbake_options
    )
    return run_picture_job("Drawing", jobs.draw_curves, job, json=write.json, quiet=write.quiet)
