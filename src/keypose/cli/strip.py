"""``keypose strip``: the key poses of motion files, one picture each."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from keypose.cli.choosing import Joints
from keypose.cli.options import Jobs
from keypose.cli.picturing import KEYS, LOOK, Json, Mark, Poses, Quiet, Source, Theme
from keypose.cli.targets import Overwrite, SkipExisting

NO_CHOICE = Poses()
AS_IT_IS = Source()


def strip(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="What to draw (files, folders, patterns in quotes), and last where to: a picture for one file, a "
            "folder for more.",
        ),
    ],
    layout: Annotated[
        Literal["side", "time", "path", "expanded", "in-place"],
        Parameter(
            show_default=True,
            help="Poses side by side, spaced by time, where the figure really is, along its path but pushed apart so "
            "that no pose covers another, or all in one place.",
        ),
        LOOK,
    ] = "side",
    per_row: Annotated[
        int | None, Parameter(help="So many poses side by side, the next ones in a row below. Otherwise all."), LOOK
    ] = None,
    view: Annotated[
        str,
        Parameter(
            show_default=True,
            help="From where: best (shows most of what moves), front, left, right, back, three-quarter, or degrees "
            "from the figure's front to its left.",
        ),
        LOOK,
    ] = "best",
    ghosts: Annotated[int, Parameter(help="So many faint poses between each two keys."), LOOK] = 0,
    rank: Annotated[
        bool,
        Parameter(negative="", help="Less important poses are more transparent, for methods that rank: farthest."),
        LOOK,
    ] = False,
    no_captions: Annotated[bool, Parameter(negative="", help="Leave out frames and times."), LOOK] = False,
    title: Annotated[str | None, Parameter(help="What stands above it. Otherwise nothing does."), LOOK] = None,
    theme: Theme = "light",
    height_px: Annotated[
        float | None, Parameter(help="How tall the picture is. Otherwise 180 px for a row."), LOOK
    ] = None,
    width_px: Annotated[float | None, Parameter(help="How wide it may be at most."), LOOK] = None,
    size_px: Annotated[str | None, Parameter(help="Exactly this size, WIDTHxHEIGHT: 320x90."), LOOK] = None,
    no_background: Annotated[bool, Parameter(negative="", help="Leave out the paper: transparent."), LOOK] = False,
    scale: Annotated[
        float | None, Parameter(help="Pixels to a px of a PNG. Otherwise 2, or 1 with --size-px."), LOOK
    ] = None,
    to: Annotated[
        Literal["png", "svg"] | None, Parameter(help="What to write into a folder. Otherwise png."), LOOK
    ] = None,
    mark: Mark = (),
    joints: Annotated[Joints, KEYS] = (),
    choosing: Poses = NO_CHOICE,
    source: Source = AS_IT_IS,
    overwrite: Annotated[Overwrite, LOOK] = False,
    skip_existing: Annotated[SkipExisting, LOOK] = False,
    jobs: Annotated[Jobs, LOOK] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw the key poses of motions, one strip for each file.

    Solid figures at one scale, from the view that shows most of the motion; the
    figure's left is orange, its right blue with a light stripe. Where nothing is
    said of keys, the eight poses that farthest chooses. Captions count frames
    from 0, as info and keys do.

    For example:
      keypose strip walk.bvh walk.png
      keypose strip walk.bvh walk.svg --method salient --keys 12 --theme dark
      keypose strip kick.bvh kick.png --layout expanded --ghosts 2
      keypose strip walk.bvh front.png --view front --range 100:400
      keypose strip walk.bvh walk.png --keys 24 --per-row 12
      keypose strip takes/ pictures/ --size-px 320x90
    """
    from keypose.batch.inputs import expand
    from keypose.cli import strip_run
    from keypose.cli.keys_options import joints_from
    from keypose.cli.options import jobs_from
    from keypose.cli.picturing import marked_from
    from keypose.cli.targets import existing_from, names_and_out

    names, out = names_and_out(paths, "strip")
    existing = existing_from(overwrite=overwrite, skip_existing=skip_existing)
    marked = marked_from(mark, choosing)
    chosen = strip_run.choosing_from(choosing, joints_from(joints), marked)
    look = {
        "layout": layout,
        "per_row": per_row,
        "view": strip_run.view_from(view),
        "ghosts": ghosts,
        "rank": rank,
        "captions": not no_captions,
        "title": title,
        "theme": theme,
        "height_px": height_px,
        "width_px": width_px,
        "size_px": strip_run.size_from(size_px),
        "background": not no_background,
        "scale": scale,
    }
    strip_run.check_look(look)
    reading, frames = source.reading(), source.frames()
    inputs = expand(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = strip_run.plan_from(inputs, names, out, to, existing)
    work = [strip_run.StripWanted(t.source, t.target, reading, frames, look, marked, chosen) for t in plan.targets]
    return strip_run.run(work, plan.skipped, jobs_from(jobs, len(work)), json=json, quiet=quiet)
