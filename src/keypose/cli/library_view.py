"""Clips of a library, and what a search found, as blocks and tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from keypose.cli import columns
from keypose.cli.clip_view import duration, file_size, labelled
from keypose.cli.columns import Column
from keypose.cli.output import printable
from keypose.library.nouns import Clip, Stats
from keypose.library.searching.hits import Hit

NEEDLESS = ("joints", "fps", "frames", "tags", "added")  # on a narrow terminal, in this order
NEEDLESS_OF_HITS = ("length", "frames", "also")  # then all but the first of the parts that swing, then the next
LEAST_OF_HITS = ("tags", "why")
TAGS_SHOWN = 30  # of a library
WIDEST_TAGS = 40  # columns
HASH_DIGITS = 12
SHORT_HASH_DIGITS = 8  # enough to call a clip by
PARTS_SHOWN = 2  # of a body that swing alike


def clip_table(clips: Sequence[Clip], width: int) -> Group:
    """Clips, one row each."""
    names = Column("name", [printable(clip.name) for clip in clips])
    others = [
        *_hashes(clips),
        Column("length", [duration(clip.duration_s) for clip in clips], right=True),
        Column("frames", [str(clip.n_frames) for clip in clips], right=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right=True),
        Column("joints", [str(clip.n_joints) for clip in clips], right=True),
        Column("added", [f"{clip.added_at:%Y-%m-%d}" for clip in clips]),
        Column("tags", [_tags(clip) for clip in clips]),
    ]
    shown = _fitting(names, others, width, NEEDLESS)
    return Group(columns.table(names, shown, width))


def _hashes(clips: Sequence[Clip]) -> list[Column]:
    """By what clips can be told apart and called, where some have the same name."""
    if len({clip.name for clip in clips}) == len({clip.hash for clip in clips}):
        return []
    return [Column("hash", [clip.hash[:SHORT_HASH_DIGITS] for clip in clips])]


def hit_table(hits: Sequence[Hit], width: int) -> Group:
    """What was found, the nearest first: how near, where, and why."""
    names = Column("name", [printable(hit.name) for hit in hits])
    others = [
        *_hashes([hit.clip for hit in hits]),
        Column("score", [f"{hit.score:.2f}" for hit in hits], right=True),
        Column("side", ["mirrored" if hit.mirrored else "" for hit in hits]),
        Column("seconds", [_span(hit) for hit in hits], right=True),
        Column("frames", [_frames(hit) for hit in hits], right=True),
        Column("length", [duration(hit.clip.duration_s) for hit in hits], right=True),
        Column("also", [f"+{len(hit.also)}" if hit.also else "" for hit in hits], right=True),
        Column("tags", [_tags(hit.clip) for hit in hits]),
        _whys(hits, PARTS_SHOWN),
    ]
    shown = _fitting(names, [column for column in others if any(column.cells)], width, NEEDLESS_OF_HITS)
    if not _has_room(names, shown, width):
        short = [_whys(hits, 1) if column.heading == "why" else column for column in shown]
        shown = _fitting(names, short, width, LEAST_OF_HITS)
    return Group(columns.table(names, shown, width), Text(_legend(hits, shown), style="dim"))


def _legend(hits: Sequence[Hit], shown: Sequence[Column]) -> str:
    poses = any(hit.why.centimetres is not None for hit in hits)
    says = {
        "frames": "" if poses else "END not included",
        "side": "mirrored is with left and right exchanged",
        "also": "more clips of the same take",
        "why": "mean distance of joints on a figure of 1.7 m" if poses else "parts that swing alike",
    }
    there = {column.heading for column in shown}
    told = [f"{heading}: {text}" for heading, text in says.items() if text and heading in there]
    return "; ".join(("score: 1 is the same motion", *told))


def clip_block(clip: Clip, key_frames: Sequence[int], swinging: Sequence[tuple[str, int]]) -> Group:
    """One clip, a line for each thing that is known."""
    kept = file_size(clip.bytes) + f" as {clip.suffix}"
    kept += "" if clip.within_mm is None else f", within {clip.within_mm:g} mm of what came"
    keys = ", ".join(f"{frame} ({frame / clip.fps:.2f} s)" for frame in key_frames)
    rows = [
        ("hash", clip.hash),
        ("also named", ", ".join(clip.also_named)),
        ("tags", ", ".join(clip.tags)),
        ("source", clip.source),
        ("licence", clip.licence),
        ("note", clip.note),
        ("frames", f"{clip.n_frames} at {clip.fps:.6g} fps"),
        ("duration", duration(clip.duration_s)),
        ("joints", str(clip.n_joints)),
        ("kept", kept),
        ("added", f"{clip.added_at:%Y-%m-%d %H:%M} UTC"),
        ("key poses", keys),
        ("swings", ", ".join(f"{part.replace('_', ' ')} {many}" for part, many in swinging)),
    ]
    return labelled(clip.name, [(label, value) for label, value in rows if value])


def stats_block(stats: Stats, where: str) -> Group:
    """How much a library holds."""
    used = [f"{tag} ({many})" for tag, many in stats.tags[:TAGS_SHOWN]]
    more = len(stats.tags) - TAGS_SHOWN
    rows = [
        ("clips", f"{stats.clips:,}"),
        ("duration", duration(stats.duration_s)),
        ("frames", f"{stats.n_frames:,}"),
        ("size", file_size(stats.bytes)),
        ("skeletons", f"{stats.skeletons:,}"),
        ("tags", ", ".join(used) + (f" and {more} more; --json has all" if more > 0 else "")),
    ]
    return labelled(where, [(label, value) for label, value in rows if value])


def total(clips: Sequence[Clip], count: int) -> str:
    """What clips are together, of ``count`` that there are."""
    many = "1 clip" if len(clips) == count == 1 else f"{len(clips):,} clips"
    if len(clips) < count:
        many = f"{len(clips):,} of {count:,} clips"
    return f"{many}, {sum(clip.n_frames for clip in clips)} frames, {duration(sum(clip.duration_s for clip in clips))}"


def _fitting(names: Column, others: Sequence[Column], width: int, needless: Sequence[str]) -> list[Column]:
    """``others`` without those that have no room; a table gives names some columns, however short they are."""
    return columns.without_needless(names, others, _room(names, width), needless)


def _has_room(names: Column, others: Sequence[Column], width: int) -> bool:
    return columns.room_for_names(others, _room(names, width)) >= min(names.width, columns.LEAST_NAME)


def _room(names: Column, width: int) -> int:
    return width - max(0, columns.SHORTEST_NAME - names.width)


def _tags(clip: Clip) -> str:
    return columns.shortened(printable(", ".join(clip.tags)), WIDEST_TAGS)


def _span(hit: Hit) -> str:
    return f"{hit.start_s:.2f}" if hit.end - hit.start <= 1 else f"{hit.start_s:.2f} to {hit.end_s:.2f}"


def _frames(hit: Hit) -> str:
    return str(hit.start) if hit.end - hit.start <= 1 else f"{hit.start}:{hit.end}"


def _whys(hits: Sequence[Hit], most: int) -> Column:
    return Column("why", [printable(_why(hit, most)) for hit in hits])


def _why(hit: Hit, most: int) -> str:
    """What agrees, at most so many parts of the body; where it is has columns of its own."""
    if hit.why.centimetres is not None:
        return f"{hit.why.centimetres:.1f} cm apart"
    parts = dict.fromkeys(swing.part.replace("_", " ") for swing in hit.why.swings)
    return ", ".join(list(parts)[:most])
