"""``keypose timeline``: draw when each joint swings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from keypose.batch.swings import SwingsLoader
from keypose.cli import picture_options as jobs
from keypose.cli import swings
from keypose.cli.options import Flags, with_flags
from keypose.cli.picture_options import (
    DEFAULT_SOURCE,
    DEFAULT_WRITE,
    PICTURE_GROUP,
    KeyFlags,
    Mark,
    PictureWriteFlags,
    SourceFlags,
    check_picture_path,
    parse_marked_frames,
    run_picture_job,
)
from keypose.cli.swings import DEFAULT_BOUNDS, SwingBoundFlags
from keypose.options import SwingOptions
from keypose.options.pictures import PngOptions, TimelineOptions

SWINGS_GROUP = Parameter(group=Group("Swings", sort_key=2))


@with_flags(only=("threshold",))
class ThresholdFlags(Flags, SwingOptions):
    """How swings are found."""


@with_flags(omit=("legend",))
@dataclass(frozen=True)
class TimelineFlags(Flags, PngOptions, TimelineOptions):
    """The appearance of a timeline."""


DEFAULT_FIND, DEFAULT_CHART = ThresholdFlags(), TimelineFlags()


def timeline(
    file: Annotated[str, Parameter(help="A motion file, or NAME.swings.json.")],
    out: Annotated[str, Parameter(help="The picture: NAME.svg or NAME.png.")],
    /,
    *,
    chart: Annotated[TimelineFlags, PICTURE_GROUP] = DEFAULT_CHART,
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
      keypose timeline walk.swings.json walk.svg
    """
    options = find.typed_options()
    swings.check_modes(sweep=False, bounds=bounds, options=options, others={})
    marked_frames = parse_marked_frames(mark, keys)
    select_options = None if keys is None else keys.select_options()
    loader = SwingsLoader(
        source.load.load_options(), source.frame_range(), None, options, bounds.max_deg, bounds.max_mm
    )
    target = check_picture_path(out, Path(file), overwrite=write.overwrite)
    job = jobs.TimelineJob(Path(file), target, loader, jobs.build_style(chart), marked_frames, select_options)
    return run_picture_job("Drawing", jobs.draw_timeline, job, json=write.json, quiet=write.quiet)
