"""``keypose path``: draw the path of a joint in space, original and reduced."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli import picture_options as jobs
from keypose.cli.key_options import DEFAULT_UNBAKE, KEYS_GROUP, UnbakeFlags
from keypose.cli.options import Flags, check_fps, parse_range, with_flags
from keypose.cli.picture_options import (
    DEFAULT_WRITE,
    PICTURE_GROUP,
    PictureWriteFlags,
    check_picture_path,
    run_picture_job,
)
from keypose.cli.unbake import DEFAULT_PER, PerFlags
from keypose.options.pictures import PathPlotOptions, PngOptions


@with_flags()
@dataclass(frozen=True)
class PathPlotFlags(Flags, PngOptions, PathPlotOptions):
    """The appearance of the path."""


DEFAULT_CHART = PathPlotFlags()


def path(
    file: Annotated[str, Parameter(help="A motion file.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    chart: Annotated[PathPlotFlags, PICTURE_GROUP] = DEFAULT_CHART,
    per_: Annotated[PerFlags, KEYS_GROUP] = DEFAULT_PER,
    flags: UnbakeFlags = DEFAULT_UNBAKE,
    write: PictureWriteFlags = DEFAULT_WRITE,
) -> int:
    """Draw the path of a joint in space, original and reduced.

    Unbakes the motion, with the same options as keypose unbake, and draws the
    path of one joint over the captured one, from the side and from above, with
    its keys and the largest distance between the two.

    For example:
      keypose path kick.bvh kick.png --joint right_foot --keys 12
      keypose path kick.bvh kick.svg --per joint --method refine --threshold 0.2
      keypose path walk.bvh hand.png --joint left_hand --in-place --view left
    """
    count = {"keys": flags.count.keys, "tolerance_mm": flags.count.tolerance_mm, "auto": flags.count.auto or None}
    unbake_options = {
        "method": flags.select.method,
        **{name: value for name, value in count.items() if value is not None},
        **flags.key_options(),
        **per_.typed_options(),
        **flags.curve_options(residual=False),
    }
    del unbake_options["residual"]
    target = check_picture_path(out, Path(file), overwrite=write.overwrite)
    job = jobs.PathJob(
        Path(file),
        target,
        flags.load.load_options(),
        parse_range(flags.range_),
        check_fps(flags.fps),
        jobs.build_style(chart),
        unbake_options,
    )
    return run_picture_job("Drawing", jobs.draw_path, job, json=write.json, quiet=write.quiet)
