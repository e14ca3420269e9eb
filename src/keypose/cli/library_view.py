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
NEEDLESS_OF_HITS = ("also", "length", "why", "tags")
TAGS_SHOWN = 30  # of a library
WIDEST_TAGS = 40  # columns
HASH_DIGITS = 12
PARTS_SHOWN = 2  # of a body that swing alike


def clip_table(clips: Sequence[Clip], width: int) -> Group:
    """Clips, one row each."""
    names = Column("name", [printable(clip.name) for clip in clips])
    others = [
        Column("length", [duration(clip.duration_s) for clip in clips], right=True),
        Column("frames", [str(clip.n_frames) for clip in clips], right=True),
        Column("fps", [f"{clip.fps:.4g}" for clip in clips], right=True),
        Column("joints", [str(clip.n_joints) for clip in clips], right=True),
        Column("added", [f"{clip.added_at:%Y-%m-%d}" for clip in clips]),
        Column("tags", [_tags(clip) for clip in clips]),
    ]
    shown = _fitting(names, others, width, NEEDLESS)
    return Group(columns.table(names, shown, width))


def hit_table(hits: Sequence[Hit], width: int) -> Group:
    """What was found, the nearest first: how near, where, and why."""
    names = Column("name", [printable(hit.name) for hit in hits])
    others = [
        Column("score", [f"{hit.score:.2f}" for hit in hits], right=True),
        Column("seconds", [_span(hit) for hit in hits], right=True),
        Column("frames", [_frames(hit) for hit in hits], right=True),
        Column("length", [duration(hit.clip.duration_s) for hit in hits], right=True),
        Column("also", [f"+{len(hit.also)}" if hit.also else "" for hit in hits], right=True),
        Column("tags", [_tags(hit.clip) for hit in hits]),
        Column("why", [printable(_why(hit)) for hit in hits]),
    ]
    filled = [column for column in others if any(column.cells)]
    shown = _fitting(names, filled, width, NEEDLESS_OF_HITS)
    legend = "score: 1 is the same motion; frames: END not included"
    poses = any(hit.why.centimetres is not None for hit in hits)
    why = "mean distance of joints on a figure of 1.7 m" if poses else "parts that swing alike"
    for heading, says in (("also", "more clips of the same take"), ("why", why)):
        legend += f"; {heading}: {says}" if any(column.heading == heading for column in shown) else ""
    return Group(columns.table(names, shown, width), Text(legend, style="dim"))


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


def total(clips: Sequence[Clip]) -> str:
    """What clips are together."""
    many = "1 clip" if len(clips) == 1 else f"{len(clips):,} clips"
    return f"{many}, {sum(clip.n_frames for clip in clips)} frames, {duration(sum(clip.duration_s for clip in clips))}"


def _fitting(names: Column, others: Sequence[Column], width: int, needless: Sequence[str]) -> list[Column]:
    """``others`` without those that have no room; a table gives names some columns, however short they are."""
    return columns.without_needless(names, others, width - max(0, columns.SHORTEST_NAME - names.width), needless)


def _tags(clip: Clip) -> str:
    return columns.shortened(printable(", ".join(clip.tags)), WIDEST_TAGS)


def _span(hit: Hit) -> str:
    return f"{hit.start_s:.2f}" if hit.end - hit.start <= 1 else f"{hit.start_s:.2f} to {hit.end_s:.2f}"


def _frames(hit: Hit) -> str:
    return str(hit.start) if hit.end - hit.start <= 1 else f"{hit.start}:{hit.end}"


def _why(hit: Hit) -> str:
    """What agrees; where it is has columns of its own."""
    told = ["mirrored"] if hit.mirrored else []
    if hit.why.centimetres is not None:
        told.append(f"{hit.why.centimetres:.1f} cm apart")
        return ", ".join(told)
    parts = dict.fromkeys(swing.part.replace("_", " ") for swing in hit.why.swings)
    return ", ".join(told + list(parts)[:PARTS_SHOWN])
