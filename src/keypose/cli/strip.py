"""``keypose strip``: draw the key poses of motion files, one picture each."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from keypose.cli.key_options import Joints
from keypose.cli.options import Jobs
from keypose.cli.output_options import Overwrite, SkipExisting
from keypose.cli.picture_options import (
    KEYS_GROUP,
    PICTURE_GROUP,
    Json,
    Mark,
    Quiet,
    SourceOptions,
    StripKeyOptions,
    Theme,
)

DEFAULT_KEY_OPTIONS = StripKeyOptions()
DEFAULT_SOURCE = SourceOptions()


def strip(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="Input (files, folders, patterns in quotes), and last the output: a picture for one file, a "
            "folder for more.",
        ),
    ],
    layout: Annotated[
        Literal["side", "time", "path", "expanded", "in-place"],
        Parameter(
            show_default=True,
            help="Poses side by side, spaced by time, at their true positions, along the path but pushed apart so "
            "that no pose covers another, or all in one place.",
        ),
        PICTURE_GROUP,
    ] = "side",
    per_row: Annotated[
        int | None,
        Parameter(help="Number of poses in a row. Default: all."),
        PICTURE_GROUP,
    ] = None,
    view: Annotated[
        str,
        Parameter(
            show_default=True,
            help="Direction of view: best (shows most of the motion), front, left, right, back, three-quarter, or "
            "degrees from the figure's front to its left.",
        ),
        PICTURE_GROUP,
    ] = "best",
    ghosts: Annotated[int, Parameter(help="Number of faint poses between each two keys."), PICTURE_GROUP] = 0,
    rank: Annotated[
        bool,
        Parameter(negative="", help="Draw less important poses more transparent, for methods that rank: farthest."),
        PICTURE_GROUP,
    ] = False,
    no_captions: Annotated[bool, Parameter(negative="", help="Do not print frames and times."), PICTURE_GROUP] = False,
    title: Annotated[str | None, Parameter(help="The title. Default: none."), PICTURE_GROUP] = None,
    theme: Theme = "light",
    height_px: Annotated[
        float | None, Parameter(help="Height of the picture, in px. Default: 180 per row."), PICTURE_GROUP
    ] = None,
    width_px: Annotated[float | None, Parameter(help="Maximum width, in px."), PICTURE_GROUP] = None,
    size_px: Annotated[str | None, Parameter(help="Exactly this size, WIDTHxHEIGHT: 320x90."), PICTURE_GROUP] = None,
    no_background: Annotated[bool, Parameter(negative="", help="Transparent background."), PICTURE_GROUP] = False,
    scale: Annotated[
        float | None, Parameter(help="Pixels per px of a PNG. Default: 2, or 1 with --size-px."), PICTURE_GROUP
    ] = None,
    to: Annotated[
        Literal["png", "svg"] | None, Parameter(help="The format of pictures in a folder. Default: png."), PICTURE_GROUP
    ] = None,
    mark: Mark = (),
    joints: Annotated[Joints, KEYS_GROUP] = (),
    key_options: StripKeyOptions = DEFAULT_KEY_OPTIONS,
    source: SourceOptions = DEFAULT_SOURCE,
    overwrite: Annotated[Overwrite, PICTURE_GROUP] = False,
    skip_existing: Annotated[SkipExisting, PICTURE_GROUP] = False,
    jobs: Annotated[Jobs, PICTURE_GROUP] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Draw the key poses of motions, one strip for each file.

    Solid figures at one scale, from the view that shows most of the motion; the
    figure's left is orange, its right blue with a light stripe. By default it
    draws the eight poses that farthest chooses. Captions count frames from 0, as
    info and keys do.

    For example:
      keypose strip walk.bvh walk.png
      keypose strip walk.bvh walk.svg --method salient --keys 12 --theme dark
      keypose strip kick.bvh kick.png --layout expanded --ghosts 2
      keypose strip walk.bvh front.png --view front --range 100:400
      keypose strip walk.bvh walk.png --keys 24 --per-row 12
      keypose strip takes/ pictures/ --size-px 320x90
    """
    from keypose.batch.file_discovery import discover_clips
    from keypose.cli import strip_run
    from keypose.cli.option_parsers import parse_joints
    from keypose.cli.options import resolve_jobs
    from keypose.cli.output_options import parse_existing_policy, split_paths
    from keypose.cli.picture_options import parse_marked_frames

    names, out = split_paths(paths, "strip")
    existing_policy = parse_existing_policy(overwrite=overwrite, skip_existing=skip_existing)
    marked_frames = parse_marked_frames(mark, key_options)
    select_options = strip_run.parse_select_options(key_options, parse_joints(joints), marked_frames)
    style = {
        "layout": layout,
        "per_row": per_row,
        "view": strip_run.parse_view(view),
        "ghosts": ghosts,
        "rank": rank,
        "captions": not no_captions,
        "title": title,
        "theme": theme,
        "height_px": height_px,
        "width_px": width_px,
        "size_px": strip_run.parse_size(size_px),
        "background": not no_background,
        "scale": scale,
    }
    strip_run.check_style(style)
    load_options, frames = source.load_options(), source.frame_range()
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = strip_run.build_plan(inputs, names, out, to, existing_policy)
    work = [
        strip_run.StripJob(t.source, t.target, load_options, frames, style, marked_frames, select_options)
        for t in plan.targets
    ]
    return strip_run.run(work, plan.skipped, resolve_jobs(jobs, len(work)), json=json, quiet=quiet)
