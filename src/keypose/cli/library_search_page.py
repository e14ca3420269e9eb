"""The page of ``keypose library search``: pictures for what was asked and for every hit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from keypose.cli import output, typed
from keypose.cli.library_search_run import Query, Wish
from keypose.errors import FileError, FormatError, OptionError
from keypose.formats.files import write_atomically
from keypose.library.library import Library
from keypose.library.nouns import Clip
from keypose.library.results_page import MOST_STRIPS, Asked, Found, results_page
from keypose.library.searching.hits import Hit
from keypose.model import Motion
from keypose.pictures.picture import Picture
from keypose.pictures.strip import strip
from keypose.verbs import select

KEYS_SHOWN = 8
STRIP_PX, PART_PX = 150.0, 110.0
MOST_PARTS = 50  # hits whose very span is drawn: each is read from its bytes


def write_page(
    page: Path,
    library: Library,
    wish: Wish,
    query: Query | None,
    clips: Sequence[Clip],
    hits: Sequence[Hit],
) -> int:
    """Writes the page, all of it or nothing; how many bytes it has."""
    asked = Asked(
        title=_title(wish) if query is None else f"Clips like {query.title}",
        where=library.where,
        strip=None if query is None else _strip_of(library, query),
        facts=_facts(wish),
        command=typed.line(),
    )
    in_part = query is not None and not query.is_whole
    found = [
        _found(library, clip, hits[n] if hits else None, pictured=n < MOST_STRIPS, in_part=in_part and n < MOST_PARTS)
        for n, clip in enumerate(clips)
    ]
    html = results_page(asked, found).encode()
    write_atomically(page, html)
    return len(html)


def _title(wish: Wish) -> str:
    return f"Clips with “{wish.words}”" if wish.words else "Clips"


def _found(library: Library, clip: Clip, hit: Hit | None, *, pictured: bool, in_part: bool) -> Found:
    if not pictured:
        return Found(clip, hit)
    try:
        keys, thumbnail = library.key_frames(clip.hash), library.strip(clip.hash)
        part = _part_of(library, hit) if in_part and hit is not None else None
    except OptionError:  # somebody has removed it since
        return Found(clip, hit)
    return Found(clip, hit, keys, thumbnail, part)


def _part_of(library: Library, hit: Hit) -> Picture | None:
    """Poses of the span that was found; None where the bytes cannot be read."""
    motion = _motion_of(library, hit.clip.hash, hit.name)
    return None if motion is None else _poses(motion, hit.start, hit.end, PART_PX)


def _strip_of(library: Library, query: Query) -> Picture | None:
    """The key poses of what is looked for, counted as the clip counts them."""
    motion = query.asked if isinstance(query.asked, Motion) else _motion_of(library, query.asked, query.name)
    if motion is None:
        return library.strip(str(query.asked)) if query.is_whole else None
    if query.frame is not None:
        return _poses(motion, query.frame, query.frame + 1, STRIP_PX)
    return _poses(motion, *(query.span or (0, motion.n_frames)), STRIP_PX)


def _motion_of(library: Library, called: str, name: str) -> Motion | None:
    """The motion of a clip; None, and a warning, where its bytes cannot be read: a page has more than that."""
    try:
        return library.get(called)
    except (FileError, FormatError) as error:
        output.warning(f"{name}: {error}")
        return None


def _poses(motion: Motion, start: int, end: int, height_px: float) -> Picture:
    """The poses of some frames that differ most."""
    some = motion[start:end]
    frames = start + select(some, "farthest", keys=min(KEYS_SHOWN, some.n_frames)).frames
    return strip(motion, frames, height_px=height_px, background=False)


def _facts(wish: Wish) -> tuple[tuple[str, str], ...]:
    told = (
        ("words", wish.words or ""),
        ("tags", ", ".join(wish.tags)),
        ("at least", "" if wish.least_duration_s is None else f"{wish.least_duration_s:g} s"),
        ("at most", "" if wish.most_duration_s is None else f"{wish.most_duration_s:g} s"),
        ("joints", ", ".join(wish.joints)),
        ("mirrored too", "" if wish.query is None or wish.mirrored else "no"),
        ("ranked by", wish.ranker if wish.query and wish.part is None and wish.pose is None else ""),
    )
    return tuple((name, value) for name, value in told if value)
