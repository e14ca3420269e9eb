"""``keypose library search``: clips that are like one, like a part or a pose of one, or that have the words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from keypose.cli.exits import UsageError
from keypose.cli.library_options import LeastDuration, MostDuration, Tags, Where, Words
from keypose.cli.options import Animation, Asf, Gaps, Json, ReadFps, ReferencePose

WHAT, RESULT, READING = (
    Parameter(group=Group(title, sort_key=place))
    for place, title in ((1, "What is alike"), (3, "The result"), (4, "How the query is read"))
)


def search(
    *query: Annotated[
        str,
        Parameter(
            name="QUERY",
            help="A motion file, or a clip of the library by name or hash. Otherwise options alone choose.",
        ),
    ],
    part: Annotated[
        str | None,
        Parameter(help="Where in which clips these frames of the query happen, START:END, END not included."),
        WHAT,
    ] = None,
    pose: Annotated[int | None, Parameter(help="Clips with a pose like this frame of the query."), WHAT] = None,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Only these parts of the body count: arms, left_leg and the like."),
        WHAT,
    ] = (),
    no_mirror: Annotated[
        bool, Parameter(negative="", help="Do not take a motion with left and right exchanged for the same."), WHAT
    ] = False,
    ranker: Annotated[
        Literal["descriptors", "swings"],
        Parameter(show_default=True, help="How whole clips are compared: by descriptors, or by their swings."),
        WHAT,
    ] = "descriptors",
    several: Annotated[
        bool,
        Parameter(negative="", help="With --part or --pose: several places of one clip too, not its best alone."),
        WHAT,
    ] = False,
    words: Words = None,
    tag: Tags = (),
    least_duration_s: LeastDuration = None,
    most_duration_s: MostDuration = None,
    limit: Annotated[int, Parameter(show_default=True, help="At most so many hits."), RESULT] = 10,
    no_fold: Annotated[
        bool, Parameter(negative="", help="Show near-duplicates as hits of their own, not under one."), RESULT
    ] = False,
    html: Annotated[
        Path | None, Parameter(help="Also write a page with the key poses of every hit, .html."), RESULT
    ] = None,
    open_: Annotated[
        bool, Parameter(name="--open", negative="", help="Show the page in the browser when it is written."), RESULT
    ] = False,
    overwrite: Annotated[
        bool,
        Parameter(negative="--no-overwrite", help="Replace the page if it exists. Otherwise it is refused at once."),
        RESULT,
    ] = False,
    json: Annotated[Json, RESULT] = False,
    library: Where = None,
    reference_pose: Annotated[ReferencePose, READING] = "auto",
    asf: Annotated[Asf, READING] = None,
    gaps: Annotated[Gaps, READING] = "fill",
    animation: Annotated[Animation, READING] = None,
    read_fps: Annotated[ReadFps, READING] = None,
) -> int:
    """Find clips of a library that are like a motion, the nearest first.

    The query is a file, or a clip of the library, which is then not among the
    hits. Skeleton, unit, frame rate, place and direction do not count. With
    --part or --pose only these frames are looked for, anywhere in the clips.
    Without a query, --words and --tag find clips by what they are called.

    For example:
      keypose library search walk.bvh
      keypose library search 02_01 --tag male --limit 20
      keypose library search kick.bvh --part 30:90 --joints legs
      keypose library search kick.bvh --pose 42 --html results.html --open
      keypose library search --words "kick left"
    """
    from keypose.cli import library_search_run as run
    from keypose.cli.keys_options import names_from
    from keypose.cli.library_options import count_from, opened, page_from, seconds_from
    from keypose.cli.options import reading_from

    if len(query) > 1:
        raise UsageError(f"{len(query)} queries ({', '.join(query[:4])}), expected one; a name with blanks wants "
                         f"quotes, and words go with --words")  # fmt: skip
    wish = run.Wish(
        query=query[0] if query else None,
        part=run.part_from(part),
        pose=pose,
        joints=names_from("--joints", joints),
        mirrored=not no_mirror,
        ranker=ranker,
        several=several,
        fold=not no_fold,
        words=words,
        tags=names_from("--tag", tag),
        least_duration_s=seconds_from("--least-duration-s", least_duration_s),
        most_duration_s=seconds_from("--most-duration-s", most_duration_s),
        limit=limit,
    )
    count_from("--limit", limit)
    run.check(wish)
    if open_ and html is None:
        raise UsageError("--open is for a page: expected --html too, such as --html results.html")
    page = page_from(html, overwrite=overwrite)
    if page is not None:
        run.check_page(wish)
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, ())
    with opened(library) as here:
        return run.run(here, wish, reading, page, show=open_, json=json)
