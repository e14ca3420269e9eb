"""``keypose library list``, ``show`` and ``stats``: show what is in a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.console import Group
from rich.text import Text

from keypose.cli import library_edit, output
from keypose.cli.library_options import (
    DEFAULT_TAG_FILTERS,
    FILTER_GROUP,
    ClipNames,
    LibraryOption,
    TagFilterFlags,
    find_clips,
    open_library,
    resolve_location,
)
from keypose.cli.options import Flags, Json, OverwritePicture, with_flags
from keypose.cli.output import Column, UsageError, escape_unprintable, format_bytes, format_duration, labelled_rows
from keypose.cli.picture_options import check_picture_path
from keypose.errors import format_count
from keypose.options.library import ListOptions

if TYPE_CHECKING:
    from keypose.library.records import Clip, Stats
    from keypose.library.search.hits import Hit

OPTIONAL_CLIP_HEADINGS = ("joints", "fps", "frames", "tags", "added")  # dropped in this order on a narrow terminal
OPTIONAL_HIT_HEADINGS = (
    "length",
    "frames",
    "also",
)  # then the explanation is shortened, then the next ones are dropped
LAST_OPTIONAL_HIT_HEADINGS = ("tags", "why")
MAX_TAGS = 30  # of a library
MAX_TAG_COLUMNS = 40  # columns
HASH_DIGITS = 12
SHORT_HASH_DIGITS = 8  # enough to identify a clip
MAX_BODY_PARTS = 2  # that swing alike in an explanation


@with_flags(only=("limit", "skip"))
class PageFlags(Flags, ListOptions):
    """Which of the clips are shown."""


DEFAULT_PAGE = PageFlags()


def list_(
    *words: Annotated[str, Parameter(name="WORDS", help="Only clips with all these words in their names or tags.")],
    filters: Annotated[TagFilterFlags, FILTER_GROUP] = DEFAULT_TAG_FILTERS,
    page: PageFlags = DEFAULT_PAGE,
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
      keypose library list --action "turn left"
      keypose library list --json > clips.json
    """
    page.check()
    filters.check()
    options = {"words": " ".join(words) if words else None} | filters.options()
    with open_library(library) as opened_library:
        return library_edit.list_clips(opened_library, options, page.limit, page.skip, json=json)


def show(
    *clips: ClipNames,
    strip: Annotated[
        Path | None, Parameter(help="Write the key poses as a picture (.svg or .png). For one clip only.")
    ] = None,
    overwrite: OverwritePicture = False,
    library: LibraryOption = None,
    json: Json = False,
) -> int:
    """Show clips of a library in detail.

    Names, tags, source, licence, frames, key poses, swings and actions. With
    --strip the key poses are also written as a picture.

    For example:
      keypose library show 02_01
      keypose library show 02_01 --strip 02_01.png
      keypose library show 3f9a01c2 --json
    """
    if strip is not None and len(clips) > 1:
        raise UsageError(
            f"is one picture for {format_count(len(clips), 'clip')}", option="strip", value=strip, expected="one clip"
        )
    target = (
        None if strip is None else check_picture_path(str(strip), Path(resolve_location(library)), overwrite=overwrite)
    )
    with open_library(library) as opened_library:
        return library_edit.show_clips(opened_library, find_clips(opened_library, clips), target, json=json)


def stats(*, library: LibraryOption = None, json: Json = False) -> int:
    """Show how much a library holds: clips, hours, bytes, skeletons, tags.

    For example:
      keypose library stats
      keypose library stats --library archive.db --json
    """
    with open_library(library) as opened_library:
        library_stats, where = opened_library.stats(), opened_library.location
    if json:
        output.print_json({"library": where} | asdict(library_stats) | {"tags": dict(library_stats.tags)})
    else:
        output.print_renderable(stats_block(library_stats, where))
    return 0


def clip_table(clips: Sequence[Clip], width: int) -> Group:
    """Return a table of clips, one row each."""
    names = Column("name", [escape_unprintable(clip.name) for clip in clips])
    others = [
        *_hash_columns(clips),
        Column("length", [format_duration(clip.duration_s) for clip in clips], right_aligned=True),
        Column("frames", [str(clip.n_frames) for clip in clips], right_aligned=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right_aligned=True),
        Column("joints", [str(clip.n_joints) for clip in clips], right_aligned=True),
        Column("added", [f"{clip.added_at:%Y-%m-%d}" for clip in clips]),
        Column("tags", [_tags(clip) for clip in clips]),
    ]
    visible_columns = _fit_columns(names, others, width, OPTIONAL_CLIP_HEADINGS)
    return Group(output.build_table(names, visible_columns, width))


def _hash_columns(clips: Sequence[Clip]) -> list[Column]:
    """Return a column of hashes if some clips have the same name, else none."""
    if len({clip.name for clip in clips}) == len({clip.hash for clip in clips}):
        return []
    return [Column("hash", [clip.hash[:SHORT_HASH_DIGITS] for clip in clips])]


def hit_table(hits: Sequence[Hit], width: int) -> Group:
    """Return a table of hits with score, span and explanation."""
    names = Column("name", [escape_unprintable(hit.name) for hit in hits])
    others = [
        *_hash_columns([hit.clip for hit in hits]),
        Column("score", [f"{hit.score:.2f}" for hit in hits], right_aligned=True),
        Column("side", ["mirrored" if hit.mirrored else "" for hit in hits]),
        Column("seconds", [_span(hit) for hit in hits], right_aligned=True),
        Column("frames", [_frames(hit) for hit in hits], right_aligned=True),
        Column("length", [format_duration(hit.clip.duration_s) for hit in hits], right_aligned=True),
        Column("also", [f"+{len(hit.duplicates)}" if hit.duplicates else "" for hit in hits], right_aligned=True),
        Column("tags", [_tags(hit.clip) for hit in hits]),
        _explanation_column(hits, MAX_BODY_PARTS),
    ]
    visible_columns = _fit_columns(
        names, [column for column in others if any(column.cells)], width, OPTIONAL_HIT_HEADINGS
    )
    if not _fits(names, visible_columns, width):
        short = [_explanation_column(hits, 1) if column.heading == "why" else column for column in visible_columns]
        visible_columns = _fit_columns(names, short, width, LAST_OPTIONAL_HIT_HEADINGS)
    return Group(output.build_table(names, visible_columns, width), Text(_legend(hits, visible_columns), style="dim"))


def _legend(hits: Sequence[Hit], visible_columns: Sequence[Column]) -> str:
    poses = any(hit.details.joint_distance_cm is not None for hit in hits)
    texts = {
        "frames": "" if poses else "END not included",
        "side": "mirrored is with left and right exchanged",
        "also": "more clips of the same take",
        "why": "mean distance of joints on a figure of 1.7 m" if poses else "parts that swing alike",
    }
    headings = {column.heading for column in visible_columns}
    lines = [f"{heading}: {text}" for heading, text in texts.items() if text and heading in headings]
    return "; ".join(("score: 1 is the same motion", *lines))


def clip_block(
    clip: Clip, key_frames: Sequence[int], swing_counts: Sequence[tuple[str, int]], action_counts: Mapping[str, int]
) -> Group:
    """Return the details of one clip, a line per property."""
    storage = format_bytes(clip.bytes) + f" as {clip.suffix}"
    storage += "" if clip.tolerance_mm is None else f", within {clip.tolerance_mm:g} mm of the original"
    keys = ", ".join(f"{frame} ({frame / clip.fps:.2f} s)" for frame in key_frames)
    rows = [
        ("hash", clip.hash),
        ("also named", ", ".join(clip.other_names)),
        ("tags", ", ".join(clip.tags)),
        ("source", clip.source),
        ("licence", clip.licence),
        ("note", clip.note),
        ("frames", f"{clip.n_frames} at {clip.fps:.6g} fps"),
        ("duration", format_duration(clip.duration_s)),
        ("joints", str(clip.n_joints)),
        ("stored", storage),
        ("added", f"{clip.added_at:%Y-%m-%d %H:%M} UTC"),
        ("key poses", keys),
        ("swings", ", ".join(f"{part.replace('_', ' ')} {many}" for part, many in swing_counts)),
        ("actions", ", ".join(f"{kind} {many}" for kind, many in action_counts.items())),
    ]
    return labelled_rows(clip.name, [(label, value) for label, value in rows if value])


def stats_block(stats: Stats, where: str) -> Group:
    """Return the statistics of a library."""
    tag_counts = [f"{tag} ({many})" for tag, many in stats.tags[:MAX_TAGS]]
    n_hidden = len(stats.tags) - MAX_TAGS
    rows = [
        ("clips", f"{stats.clips:,}"),
        ("duration", format_duration(stats.duration_s)),
        ("frames", f"{stats.n_frames:,}"),
        ("size", format_bytes(stats.bytes)),
        ("skeletons", f"{stats.skeletons:,}"),
        ("tags", ", ".join(tag_counts) + (f" and {n_hidden} more; --json has all" if n_hidden > 0 else "")),
    ]
    return labelled_rows(where, [(label, value) for label, value in rows if value])


def total_line(clips: Sequence[Clip], count: int) -> str:
    """Return the totals of ``clips``, and ``count`` if there are more."""
    clip_count = format_count(len(clips), "clip", ",")
    if len(clips) < count:
        clip_count = f"{len(clips):,} of {format_count(count, 'clip', ',')}"
    duration_s = sum(clip.duration_s for clip in clips)
    return f"{clip_count}, {format_count(sum(clip.n_frames for clip in clips), 'frame')}, {format_duration(duration_s)}"


def _fit_columns(names: Column, others: Sequence[Column], width: int, optional_headings: Sequence[str]) -> list[Column]:
    """Drop optional columns that do not fit; a table reserves MIN_NAME_WIDTH even for short names."""
    return output.drop_optional_columns(names, others, _available_width(names, width), optional_headings)


def _fits(names: Column, others: Sequence[Column], width: int) -> bool:
    return output.name_width(others, _available_width(names, width)) >= min(names.width, output.PREFERRED_NAME_WIDTH)


def _available_width(names: Column, width: int) -> int:
    return width - max(0, output.MIN_NAME_WIDTH - names.width)


def _tags(clip: Clip) -> str:
    return output.shorten(escape_unprintable(", ".join(clip.tags)), MAX_TAG_COLUMNS)


def _span(hit: Hit) -> str:
    return f"{hit.start_s:.2f}" if hit.end - hit.start <= 1 else f"{hit.start_s:.2f} to {hit.end_s:.2f}"


def _frames(hit: Hit) -> str:
    return str(hit.start) if hit.end - hit.start <= 1 else f"{hit.start}:{hit.end}"


def _explanation_column(hits: Sequence[Hit], max_parts: int) -> Column:
    return Column("why", [escape_unprintable(_explanation(hit, max_parts)) for hit in hits])


def _explanation(hit: Hit, max_parts: int) -> str:
    """Return what agrees, at most ``max_parts`` body parts; the span has its own columns."""
    if hit.details.joint_distance_cm is not None:
        return f"{hit.details.joint_distance_cm:.1f} cm apart"
    return ", ".join(part.replace("_", " ") for part in hit.body_parts[:max_parts])
