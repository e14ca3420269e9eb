"""``keypose library list``, ``show`` and ``stats``: show what is in a library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exit_codes import UsageError
from keypose.cli.library_options import ClipNames, LibraryOption, MaxDuration, MinDuration, Tags
from keypose.cli.options import Json


def list_(
    *words: Annotated[str, Parameter(name="WORDS", help="Only clips with all these words in their names or tags.")],
    tag: Tags = (),
    min_duration_s: MinDuration = None,
    max_duration_s: MaxDuration = None,
    limit: Annotated[int | None, Parameter(help="Number of clips to show. Default: 200, and with --json all.")] = None,
    skip: Annotated[int, Parameter(show_default=True, help="Number of clips to skip at the start.")] = 0,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """List the clips of a library by name, exact matches first.

    Words are searched in names and tags and may be the start of a word: kick finds
    roundhouse_kick_03 and a clip with the tag kicking.

    For example:
      keypose library list
      keypose library list kick left
      keypose library list --tag walk --min-duration-s 10
      keypose library list --json > clips.json
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import check_count, check_seconds, open_library
    from keypose.cli.option_parsers import parse_names

    check_count("--limit", limit)
    check_count("--skip", skip, 0)
    filters = {
        "words": " ".join(words) if words else None,
        "tags": parse_names("--tag", tag),
        "min_duration_s": check_seconds("--min-duration-s", min_duration_s),
        "max_duration_s": check_seconds("--max-duration-s", max_duration_s),
    }
    with open_library(library) as opened_library:
        return library_run.list_clips(opened_library, filters, limit, skip, json=json)


def show(
    *clips: ClipNames,
    strip: Annotated[
        Path | None, Parameter(help="Write the key poses as a picture, .svg or .png. For one clip only.")
    ] = None,
    overwrite: Annotated[
        bool, Parameter(negative="--no-overwrite", help="Replace the picture if it exists. Default: refuse.")
    ] = False,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Show clips of a library in detail.

    Names, tags, source, licence, frames, key poses and swings. With --strip the
    key poses are also written as a picture.

    For example:
      keypose library show 02_01
      keypose library show 02_01 --strip 02_01.png
      keypose library show 3f9a01c2 --json
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import find_clips, open_library, resolve_location
    from keypose.cli.picture_options import check_picture_path

    if strip is not None and len(clips) > 1:
        raise UsageError(f"--strip {strip}: one picture for {len(clips)} clips, expected one clip")
    target = (
        None if strip is None else check_picture_path(str(strip), Path(resolve_location(library)), overwrite=overwrite)
    )
    with open_library(library) as opened_library:
        return library_run.show_clips(opened_library, find_clips(opened_library, clips), target, json=json)


def stats(*, library: LibraryOption = None, json: Json = False) -> int:
    """Show how much a library holds: clips, hours, bytes, skeletons, tags.

    For example:
      keypose library stats
      keypose library stats --library archive.db --json
    """
    from dataclasses import asdict

    from keypose.cli import library_view, output
    from keypose.cli.library_options import open_library

    with open_library(library) as opened_library:
        library_stats, where = opened_library.stats(), opened_library.location
    if json:
        output.print_json({"library": where} | asdict(library_stats) | {"tags": dict(library_stats.tags)})
    else:
        output.print_renderable(library_view.stats_block(library_stats, where))
    return 0
