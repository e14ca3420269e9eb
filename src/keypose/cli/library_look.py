"""``keypose library list``, ``show`` and ``stats``: what is in a library."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.exits import UsageError
from keypose.cli.library_options import ClipNames, LeastDuration, MostDuration, Tags, Where
from keypose.cli.options import Json


def list_(
    *words: Annotated[str, Parameter(name="WORDS", help="Only clips with all these words in their names or tags.")],
    tag: Tags = (),
    least_duration_s: LeastDuration = None,
    most_duration_s: MostDuration = None,
    limit: Annotated[
        int | None, Parameter(help="Show so many clips. Otherwise 200, and with --json all of them.")
    ] = None,
    skip: Annotated[int, Parameter(show_default=True, help="Leave out so many first.")] = 0,
    library: Where = None,
    json: Json = False,
) -> int:
    """List the clips of a library by name, those that are called just so first.

    Words are found in names and tags, also by how they begin: kick finds
    roundhouse_kick_03 and a clip with the tag kicking.

    For example:
      keypose library list
      keypose library list kick left
      keypose library list --tag walk --least-duration-s 10
      keypose library list --json > clips.json
    """
    from keypose.cli import library_run
    from keypose.cli.keys_options import names_from
    from keypose.cli.library_options import count_from, opened, seconds_from

    count_from("--limit", limit)
    count_from("--skip", skip, 0)
    filters = {
        "words": " ".join(words) if words else None,
        "tags": names_from("--tag", tag),
        "least_duration_s": seconds_from("--least-duration-s", least_duration_s),
        "most_duration_s": seconds_from("--most-duration-s", most_duration_s),
    }
    with opened(library) as here:
        return library_run.list_clips(here, filters, limit, skip, json=json)


def show(
    *clips: ClipNames,
    strip: Annotated[
        Path | None, Parameter(help="Write the key poses as a picture, .svg or .png. Of one clip only.")
    ] = None,
    overwrite: Annotated[
        bool, Parameter(negative="--no-overwrite", help="Replace the picture if it exists. Otherwise it is refused.")
    ] = False,
    library: Where = None,
    json: Json = False,
) -> int:
    """Show all that is known about clips of a library.

    Names, tags, source, licence, frames, key poses, and what swings. With
    --strip the key poses are also written as a picture.

    For example:
      keypose library show 02_01
      keypose library show 02_01 --strip 02_01.png
      keypose library show 3f9a01c2 --json
    """
    from keypose.cli import library_run
    from keypose.cli.library_options import location, named_clips, opened
    from keypose.cli.picturing import target_from

    if strip is not None and len(clips) > 1:
        raise UsageError(f"--strip {strip}: one picture for {len(clips)} clips, expected one clip")
    target = None if strip is None else target_from(str(strip), Path(location(library)), overwrite=overwrite)
    with opened(library) as here:
        return library_run.show_clips(here, named_clips(here, clips), target, json=json)


def stats(*, library: Where = None, json: Json = False) -> int:
    """Show how much a library holds: clips, hours, bytes, skeletons, tags.

    For example:
      keypose library stats
      keypose library stats --library archive.db --json
    """
    from dataclasses import asdict

    from keypose.cli import library_view, output
    from keypose.cli.library_options import opened

    with opened(library) as here:
        found, where = here.stats(), here.where
    if json:
        output.show_json({"library": where} | asdict(found) | {"tags": dict(found.tags)})
    else:
        output.show(library_view.stats_block(found, where))
    return 0
