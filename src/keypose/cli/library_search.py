"""``keypose library search``: search clips by a motion, a span or pose of it, or by words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from keypose.cli.exit_codes import UsageError
from keypose.cli.library_options import LibraryOption, MaxDuration, MinDuration, Tags, WordsOption
from keypose.cli.options import Animation, Asf, Gaps, Json, ReadFps, ReferencePose

MATCH_GROUP, RESULT_GROUP, READ_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in ((1, "Matching"), (3, "Results"), (4, "Reading the query"))
)


def search(
    *query: Annotated[
        str,
        Parameter(
            name="QUERY",
            help="A motion file, or a clip of the library by name or hash. Without it, only the filters apply.",
        ),
    ],
    part: Annotated[
        str | None,
        Parameter(help="Search for these frames of the query within clips, START:END, END not included."),
        MATCH_GROUP,
    ] = None,
    pose: Annotated[
        int | None, Parameter(help="Search for poses similar to this frame of the query."), MATCH_GROUP
    ] = None,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Compare only these body parts: arms, left_leg, ..."),
        MATCH_GROUP,
    ] = (),
    no_mirror: Annotated[
        bool,
        Parameter(negative="", help="Do not match motions with left and right exchanged."),
        MATCH_GROUP,
    ] = False,
    ranker: Annotated[
        Literal["descriptors", "swings"],
        Parameter(show_default=True, help="Compare whole clips by descriptors, or by their swings."),
        MATCH_GROUP,
    ] = "descriptors",
    multiple: Annotated[
        bool,
        Parameter(negative="", help="With --part or --pose: return several spans of one clip, not only the best."),
        MATCH_GROUP,
    ] = False,
    words: WordsOption = None,
    tag: Tags = (),
    min_duration_s: MinDuration = None,
    max_duration_s: MaxDuration = None,
    limit: Annotated[int, Parameter(show_default=True, help="Maximum number of hits."), RESULT_GROUP] = 10,
    no_deduplicate: Annotated[
        bool, Parameter(negative="", help="Show near-duplicates as separate hits."), RESULT_GROUP
    ] = False,
    html: Annotated[
        Path | None, Parameter(help="Also write a page with the key poses of every hit, .html."), RESULT_GROUP
    ] = None,
    open_: Annotated[
        bool,
        Parameter(name="--open", negative="", help="Show the page in the browser when it is written."),
        RESULT_GROUP,
    ] = False,
    overwrite: Annotated[
        bool,
        Parameter(negative="--no-overwrite", help="Replace the page if it exists. Default: refuse."),
        RESULT_GROUP,
    ] = False,
    json: Annotated[Json, RESULT_GROUP] = False,
    library: LibraryOption = None,
    reference_pose: Annotated[ReferencePose, READ_GROUP] = "auto",
    asf: Annotated[Asf, READ_GROUP] = None,
    gaps: Annotated[Gaps, READ_GROUP] = "fill",
    animation: Annotated[Animation, READ_GROUP] = None,
    read_fps: Annotated[ReadFps, READ_GROUP] = None,
) -> int:
    """Search a library for clips similar to a motion, best match first.

    The query is a file, or a clip of the library, which is then not among the
    hits. Skeleton, unit, frame rate, position and direction are ignored. With
    --part or --pose only these frames are searched for, anywhere in the clips.
    Without a query, --words and --tag filter clips by name and tag.

    For example:
      keypose library search walk.bvh
      keypose library search 02_01 --tag male --limit 20
      keypose library search kick.bvh --part 30:90 --joints legs
      keypose library search kick.bvh --pose 42 --html results.html --open
      keypose library search --words "kick left"
    """
    from keypose.cli import library_search_run as run
    from keypose.cli.library_options import check_count, check_page_path, check_seconds, open_library
    from keypose.cli.option_parsers import parse_names
    from keypose.cli.options import parse_load_options

    if len(query) > 1:
        raise UsageError(
            f"{len(query)} queries ({', '.join(query[:4])}), expected one; a name with blanks wants "
            f"quotes, and words go with --words"
        )
    options = run.SearchOptions(
        query=query[0] if query else None,
        part=run.parse_part(part),
        pose=pose,
        joints=parse_names("--joints", joints),
        mirrored=not no_mirror,
        ranker=ranker,
        multiple=multiple,
        deduplicate=not no_deduplicate,
        words=words,
        tags=parse_names("--tag", tag),
        min_duration_s=check_seconds("--min-duration-s", min_duration_s),
        max_duration_s=check_seconds("--max-duration-s", max_duration_s),
        limit=limit,
    )
    check_count("--limit", limit)
    run.check_options(options)
    if open_ and html is None:
        raise UsageError("--open is for a page: expected --html too, such as --html results.html")
    page = check_page_path(html, overwrite=overwrite)
    if page is not None:
        run.check_page(options)
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, ())
    with open_library(library) as opened_library:
        return run.run(opened_library, options, load_options, page, open_page=open_, json=json)
