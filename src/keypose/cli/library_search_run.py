"""The run of ``keypose library search``: what was asked, the search, and what is said of the hits."""

from __future__ import annotations

import os
import re
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from keypose.batch.reading import Reading
from keypose.cli import library_run, library_view, output, said
from keypose.cli.clip_view import file_size
from keypose.cli.exits import UsageError
from keypose.cli.library_noticed import Noticed
from keypose.cli.wording import for_command_line
from keypose.errors import FileError, OptionError
from keypose.library.library import Library
from keypose.library.nouns import Clip
from keypose.library.results_page import MOST_FOUND
from keypose.library.searching.hits import Hit
from keypose.model import Motion


@dataclass(frozen=True)
class Wish:
    """What was typed."""

    query: str | None
    part: tuple[int | None, int | None] | None
    pose: int | None
    joints: tuple[str, ...]
    mirrored: bool
    ranker: Literal["descriptors", "swings"]
    several: bool
    fold: bool
    words: str | None
    tags: tuple[str, ...]
    least_duration_s: float | None
    most_duration_s: float | None
    limit: int

    @property
    def filters(self) -> dict[str, Any]:
        """Which clips may be found, as keywords of a library."""
        return {
            "words": self.words,
            "tags": self.tags,
            "least_duration_s": self.least_duration_s,
            "most_duration_s": self.most_duration_s,
        }


@dataclass(frozen=True)
class Query:
    """The motion that clips are to be like: a clip of the library, or one that was read from a file."""

    name: str
    asked: str | Motion  # the hash of a clip, or a motion
    n_frames: int
    span: tuple[int, int] | None = None  # first frame, and the one after the last; None: all of it
    frame: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all of it is looked for."""
        return self.span is None and self.frame is None

    @property
    def title(self) -> str:
        """What is looked for, in a few words."""
        if self.frame is not None:
            return f"{self.name}, the pose at frame {self.frame}"
        if self.span is not None:
            return f"{self.name}, frames {self.span[0]}:{self.span[1]}"
        return self.name


def part_from(text: str | None) -> tuple[int | None, int | None] | None:
    """``30:90`` as the start and end of a slice."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,9})?:([0-9]{1,9})?", text)
    if not found:
        raise UsageError(f"--part {text}: expected START:END in frames, such as 30:90, 30: or :90")
    start, end = (None if part is None else int(part) for part in found.groups())
    return start, end


def check(wish: Wish) -> None:
    """Whether all this can be meant together."""
    if wish.part is not None and wish.pose is not None:
        raise UsageError("--part and --pose cannot both be meant")
    if wish.several and wish.part is None and wish.pose is None:
        raise UsageError("--several is for --part and --pose, expected one of them, such as --part 30:90")
    if wish.ranker != "descriptors" and (wish.part is not None or wish.pose is not None):
        raise UsageError(f"--ranker {wish.ranker} compares whole clips, expected neither --part nor --pose")
    if wish.query == "":
        raise UsageError("an empty query, expected a motion file or a clip of the library")
    if wish.query is not None:
        return
    about_motion = {
        "--part": wish.part is not None, "--pose": wish.pose is not None, "--joints": bool(wish.joints),
        "--no-mirror": not wish.mirrored, "--ranker": wish.ranker != "descriptors", "--no-fold": not wish.fold,
    }  # fmt: skip
    for option, given in about_motion.items():
        if given:
            raise UsageError(f"{option} is about a motion, expected a query: a motion file or a clip of the library")
    if not (wish.words or wish.tags or wish.least_duration_s is not None or wish.most_duration_s is not None):
        raise UsageError("nothing to search for, expected a motion file, a clip of the library, or --words")


def check_page(wish: Wish) -> None:
    """Whether so many hits go into a page."""
    if wish.limit > MOST_FOUND:
        raise UsageError(f"--limit {wish.limit} with --html: expected at most {MOST_FOUND}")


def run(library: Library, wish: Wish, reading: Reading, page: Path | None, *, show: bool, json: bool) -> int:
    """Searches, says what was found, and writes the page; the exit code."""
    with Noticed(library, wish.query or "") as noticed:
        query = None if wish.query is None else _query(library, wish.query, wish, reading)
        hits = () if query is None else _hits(library, wish, query)
        clips = library.clips(**wish.filters, limit=wish.limit) if query is None else [hit.clip for hit in hits]
        size = None
        if page is not None:
            from keypose.cli.library_search_page import write_page

            size = write_page(page, library, wish, query, clips, hits)
        if json:
            document = _document(library.where, query, clips, hits, page)
    if json:
        output.show_json(document | {"warnings": noticed.texts})
    else:
        noticed.say()
        if query is not None and isinstance(query.asked, Motion):
            notes = [for_command_line(note) for note in query.asked.notes]
            said.say_notes([(Path(query.name), said.own_notes(notes, noticed.texts))])
        _say(library, wish, clips, hits)
        if page is not None and size is not None:
            output.line(f"{page}: {len(clips):,} hit{'' if len(clips) == 1 else 's'}, {file_size(size)}")
    if show and page is not None:
        webbrowser.open(page.resolve().as_uri())
    return 0


def _query(library: Library, named: str, wish: Wish, reading: Reading) -> Query:
    """The query as it was meant: a file that is there, or a clip."""
    path = Path(named)
    if os.path.isfile(named):  # noqa: PTH113 - Path raises for long names
        motion = reading.load(path)
        found = Query(path.name, motion, motion.n_frames)
    else:
        try:
            clip = library.clip(named)
        except OptionError as error:
            if os.path.isdir(named):  # noqa: PTH112 - as above
                raise FileError(f"{named}: is a folder, expected a motion file or a clip of the library") from None
            says, *hint = str(error).split("; did you mean", 1)
            more = ", nor is there such a file" if says.startswith("no clip") else ""
            raise OptionError("; did you mean".join((says + more, *hint))) from None
        found = Query(clip.name, clip.hash, clip.n_frames)
    if wish.part is not None:
        return Query(found.name, found.asked, found.n_frames, span=_span(wish.part, found.n_frames))
    if wish.pose is not None and not 0 <= wish.pose < found.n_frames:
        raise OptionError(f"--pose {wish.pose}, expected a frame from 0 to {found.n_frames - 1}")
    return Query(found.name, found.asked, found.n_frames, frame=wish.pose)


def _span(part: tuple[int | None, int | None], n_frames: int) -> tuple[int, int]:
    start, end = part[0] or 0, n_frames if part[1] is None else part[1]
    if not 0 <= start < end <= n_frames:
        raise OptionError(f"--part {start}:{end}, expected frames within 0:{n_frames}, the first before the last")
    return start, end


def _hits(library: Library, wish: Wish, query: Query) -> tuple[Hit, ...]:
    common = wish.filters | {
        "limit": wish.limit, "mirrored": wish.mirrored, "joints": wish.joints or None, "fold": wish.fold,
    }  # fmt: skip
    if query.span is not None:
        return library.search_part(query.asked, *query.span, several=wish.several, **common)
    if query.frame is not None:
        return library.search_pose(query.asked, query.frame, several=wish.several, **common)
    return library.search(query.asked, ranker=wish.ranker, **common)


def _say(library: Library, wish: Wish, clips: Sequence[Clip], hits: Sequence[Hit]) -> None:
    if not clips:
        output.line(f"nothing found in {library.where}")
        library_run.say_unknown_tags(library, wish.tags)
    elif wish.query is None:
        output.show(library_view.clip_table(clips, output.console().width))
        count = library.count(**wish.filters) if len(clips) == wish.limit else len(clips)
        if count > len(clips):
            output.note(f"the first {len(clips)} of {count:,} are shown; --limit shows more")
    else:
        output.show(library_view.hit_table(hits, output.console().width))


def _document(
    where: str, query: Query | None, clips: Sequence[Clip], hits: Sequence[Hit], page: Path | None
) -> dict[str, Any]:
    asked = None if query is None else {
        "name": query.name, "hash": query.asked if isinstance(query.asked, str) else None, "n_frames": query.n_frames,
        "part": query.span, "pose": query.frame,
    }  # fmt: skip
    told = [_hit_document(hit) for hit in hits] or [{"score": None, "clip": library_run.document(c)} for c in clips]
    return {"library": where, "query": asked, "hits": told, "page": None if page is None else str(page)}


def _hit_document(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("score", "start", "end", "start_s", "end_s")},
        "query_start_s": hit.query_start_s,
        "query_end_s": hit.query_end_s,
        "mirrored": hit.mirrored,
        "also": [{"name": name, "hash": of} for name, of in zip(hit.also, hit.also_hashes, strict=True)],
        "says": hit.says,
        "centimetres": hit.why.centimetres,
        "spans": [span._asdict() for span in hit.why.spans],
        "swings": [swing._asdict() for swing in hit.why.swings],
        "clip": library_run.document(hit.clip),
    }
