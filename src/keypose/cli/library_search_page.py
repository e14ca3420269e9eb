"""The HTML page of ``keypose library search``: pictures of the query and of every hit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keypose.api.select import select
from keypose.cli import output
from keypose.cli.commands import command_line
from keypose.cli.library_search import LoadedQuery, Search
from keypose.curves.capture_faults import without_spike_warnings
from keypose.errors import FileError, FormatError, OptionError
from keypose.formats.base import write_atomically
from keypose.library.library import Library
from keypose.library.records import Clip
from keypose.library.results_page import MAX_STRIPS, PageHit, PageQuery, results_page
from keypose.library.search.hits import Hit
from keypose.model import Motion
from keypose.pictures.strip import strip
from keypose.pictures.svg import Picture

MAX_KEYS = 8
STRIP_PX, SPAN_PX = 150.0, 110.0
MAX_SPAN_STRIPS = 50  # hits whose span is drawn; each must be decoded


def write_page(
    page: Path,
    library: Library,
    options: Search,
    query: LoadedQuery | None,
    clips: Sequence[Clip],
    hits: Sequence[Hit],
) -> int:
    """Write the page atomically and return its number of bytes."""
    header = PageQuery(
        title=_title(options) if query is None else f"Clips like {query.title}",
        library=library.location,
        strip=None if query is None else _query_strip(library, query),
        facts=_facts(options),
        command=command_line(),
    )
    is_span_search = query is not None and not query.is_whole
    page_hits = [
        _page_hit(
            library,
            clip,
            hits[n] if hits else None,
            with_strip=n < MAX_STRIPS,
            with_span_strip=is_span_search and n < MAX_SPAN_STRIPS,
        )
        for n, clip in enumerate(clips)
    ]
    html = results_page(header, page_hits).encode()
    write_atomically(page, html)
    return len(html)


def _title(options: Search) -> str:
    return f"Clips with “{options.words}”" if options.words else "Clips"


def _page_hit(library: Library, clip: Clip, hit: Hit | None, *, with_strip: bool, with_span_strip: bool) -> PageHit:
    if not with_strip:
        return PageHit(clip, hit)
    try:
        keys, thumbnail = library.key_frames(clip.hash), library.strip(clip.hash)
        span_strip = _span_strip(library, hit) if with_span_strip and hit is not None else None
    except OptionError:  # the clip was removed meanwhile
        return PageHit(clip, hit)
    return PageHit(clip, hit, keys, thumbnail, span_strip)


def _span_strip(library: Library, hit: Hit) -> Picture | None:
    """Return poses of the span of a hit; None if the clip cannot be read."""
    motion = _load_motion(library, hit.clip.hash, hit.name)
    return None if motion is None else _pose_strip(motion, hit.start, hit.end, SPAN_PX)


def _query_strip(library: Library, query: LoadedQuery) -> Picture | None:
    """Return the key poses of the query, with frame numbers of the whole motion; None if it cannot be read."""
    motion = (
        query.motion_or_hash
        if isinstance(query.motion_or_hash, Motion)
        else _load_motion(library, query.motion_or_hash, query.name)
    )
    if motion is None:
        return library.strip(str(query.motion_or_hash)) if query.is_whole else None
    if query.frame is not None:
        return _pose_strip(motion, query.frame, query.frame + 1, STRIP_PX)
    return _pose_strip(motion, *(query.span or (0, motion.n_frames)), STRIP_PX, rank=query.is_whole)


def _load_motion(library: Library, clip_hash: str, name: str) -> Motion | None:
    """Return the motion of a clip; print a warning and return None if it cannot be read."""
    try:
        return library.get(clip_hash)
    except (FileError, FormatError) as error:
        output.print_warning(f"{name}: {error}")
        return None


def _pose_strip(motion: Motion, start: int, end: int, height_px: float, *, rank: bool = False) -> Picture:
    """Return a strip of the most different poses of some frames."""
    with without_spike_warnings():
        keys = select(motion, "farthest", keys=min(MAX_KEYS, end - start), frames=(start, end))
    return strip(motion, keys, rank=rank, height_px=height_px, background=False)


def _facts(options: Search) -> tuple[tuple[str, str], ...]:
    facts = (
        ("words", options.words or ""),
        ("tags", ", ".join(options.tags)),
        ("at least", "" if options.min_duration_s is None else f"{options.min_duration_s:g} s"),
        ("at most", "" if options.max_duration_s is None else f"{options.max_duration_s:g} s"),
        ("action", options.action or ""),
        ("joints", ", ".join(options.joints or ())),
        ("mirrored too", "" if options.query is None or options.mirrored else "no"),
        ("ranked by", options.ranker if options.query and options.part is None and options.pose is None else ""),
    )
    return tuple((name, value) for name, value in facts if value)
