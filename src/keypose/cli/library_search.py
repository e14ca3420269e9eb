"""``keypose library search``: search clips by a motion, a span or pose of it, or by words."""

from __future__ import annotations

import os
import re
import warnings
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from keypose.batch.file_discovery import load_clip
from keypose.batch.worker import list_other_notes
from keypose.cli import library_edit, library_inspect, messages, output
from keypose.cli.error_text import render_error
from keypose.cli.library_options import (
    DEFAULT_FILTERS,
    FILTER_GROUP,
    FilterFlags,
    LibraryOption,
    check_page_path,
    open_library,
)
from keypose.cli.messages import truncate_texts
from keypose.cli.options import (
    DEFAULT_LIBRARY_LOAD,
    Flags,
    Json,
    LibraryLoadFlags,
    OpenPage,
    OverwritePage,
    WholeNumber,
    parse_names,
    with_flags,
)
from keypose.cli.output import UsageError, conflict_error, format_bytes, missing_argument_error
from keypose.errors import FormatWarning, OptionError, format_count
from keypose.model import Motion, list_notes
from keypose.options import LoadOptions
from keypose.options.library import SearchOptions
from keypose.validation import check_regular_file

if TYPE_CHECKING:
    from keypose.library.library import Library
    from keypose.library.records import Clip
    from keypose.library.search.hits import Hit

MATCH_GROUP, RESULT_GROUP, READ_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in ((1, "Matching"), (3, "Results"), (4, "Reading the query"))
)


@with_flags(only=("joints", "mirrored", "ranker", "multiple"), list_parsers={"joints": parse_names})
@dataclass(frozen=True)
class MatchFlags(Flags, SearchOptions):
    """What counts as similar."""


@with_flags(only=("limit", "deduplicate"))
@dataclass(frozen=True)
class ResultFlags(Flags, SearchOptions):
    """Which hits are shown."""


DEFAULT_MATCH, DEFAULT_RESULT = MatchFlags(), ResultFlags()


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
        WholeNumber, Parameter(help="Search for poses similar to this frame of the query."), MATCH_GROUP
    ] = None,
    match: Annotated[MatchFlags, MATCH_GROUP] = DEFAULT_MATCH,
    filters: Annotated[FilterFlags, FILTER_GROUP] = DEFAULT_FILTERS,
    result: Annotated[ResultFlags, RESULT_GROUP] = DEFAULT_RESULT,
    html: Annotated[
        Path | None, Parameter(help="Also write a page with the key poses of every hit (.html)."), RESULT_GROUP
    ] = None,
    open_: Annotated[OpenPage, RESULT_GROUP] = False,
    overwrite: Annotated[OverwritePage, RESULT_GROUP] = False,
    json: Annotated[Json, RESULT_GROUP] = False,
    library: LibraryOption = None,
    load: Annotated[LibraryLoadFlags, READ_GROUP] = DEFAULT_LIBRARY_LOAD,
) -> int:
    """Search a library for clips similar to a motion, best match first.

    The query is a file, or a clip of the library, which is then not among the
    hits. Skeleton, unit, frame rate, position and direction are ignored. With
    --part or --pose only these frames are searched for, anywhere in the clips.
    Without a query, only the filters apply: --words, --tag, --action, durations.

    For example:
      keypose library search walk.bvh
      keypose library search 02_01 --tag male --limit 20
      keypose library search kick.bvh --part 30:90 --joints legs
      keypose library search kick.bvh --pose 42 --html results.html --open
      keypose library search --words "left" --action kick
    """
    if len(query) > 1:
        raise UsageError(
            f"{len(query)} queries ({', '.join(query[:4])})",
            expected="one",
            hint="a name with blanks wants quotes, and words go with --words",
        )
    filters.check()
    result.check()
    options = Search(
        query=query[0] if query else None,
        part=parse_part(part),
        pose=pose,
        **match.options(),
        **filters.options(),
        **result.options(),
    )
    check_options(options)
    if open_ and html is None:
        raise UsageError("is for a page", option="open", value=True, expected="--html too, such as --html results.html")
    page = check_page_path(html, overwrite=overwrite)
    if page is not None:
        check_page(options)
    load_options = load.load_options()
    with open_library(library) as opened_library:
        return run(opened_library, options, load_options, page, open_page=open_, json=json)


@dataclass(frozen=True)
class Search(SearchOptions):
    """A search with its query."""

    query: str | None = None
    part: tuple[int | None, int | None] | None = None
    pose: int | None = None

    @property
    def filters(self) -> dict[str, Any]:
        """Return the filters as keywords of Library methods."""
        return {
            "words": self.words,
            "tags": self.tags,
            "min_duration_s": self.min_duration_s,
            "max_duration_s": self.max_duration_s,
            "action": self.action,
        }


@dataclass(frozen=True)
class LoadedQuery:
    """The query: a clip of the library, or a motion read from a file."""

    name: str
    motion_or_hash: str | Motion  # the hash of a clip, or a motion
    n_frames: int
    span: tuple[int, int] | None = None  # first frame, and the one after the last; None: all frames
    frame: int | None = None

    @property
    def is_whole(self) -> bool:
        """Return whether the whole motion is searched for."""
        return self.span is None and self.frame is None

    @property
    def title(self) -> str:
        """Return a short title of the query."""
        if self.frame is not None:
            return f"{self.name}, the pose at frame {self.frame}"
        if self.span is not None:
            return f"{self.name}, frames {self.span[0]}:{self.span[1]}"
        return self.name


def parse_part(text: str | None) -> tuple[int | None, int | None] | None:
    """Parse ``30:90`` into the start and end of a slice."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})?:([0-9]{1,9})?", text)
    if not match:
        raise UsageError(option="part", value=text, expected="START:END in frames, such as 30:90, 30: or :90")
    start, end = (None if part is None else int(part) for part in match.groups())
    return start, end


def check_options(options: Search) -> None:
    """Raise UsageError if options contradict each other."""
    if options.part is not None and options.pose is not None:
        raise conflict_error("part", "--pose")
    if options.multiple and options.part is None and options.pose is None:
        raise UsageError(
            "is for --part and --pose", option="multiple", value=True, expected="one of them, such as --part 30:90"
        )
    if options.ranker != "descriptors" and (options.part is not None or options.pose is not None):
        raise UsageError(
            "compares whole clips", option="ranker", value=options.ranker, expected="neither --part nor --pose"
        )
    if options.query == "":
        raise missing_argument_error("an empty query", "a motion file or a clip of the library")
    if options.query is not None:
        return
    motion_options = {
        "--part": options.part is not None,
        "--pose": options.pose is not None,
        "--joints": bool(options.joints),
        "--no-mirror": not options.mirrored,
        "--ranker": options.ranker != "descriptors",
        "--no-deduplicate": not options.deduplicate,
    }
    for option, is_set in motion_options.items():
        if is_set:
            raise UsageError(
                "is about a motion",
                option=option,
                value=True,
                expected="a query: a motion file or a clip of the library",
            )
    if all(value in (None, ()) for value in options.filters.values()):
        raise missing_argument_error(
            "nothing to search for", "a motion file, a clip of the library, or a filter such as --words"
        )


def check_page(options: Search) -> None:
    """Raise UsageError if the limit is too large for a page."""
    from keypose.library.results_page import MAX_HITS

    if options.limit > MAX_HITS:
        raise UsageError("with --html", option="limit", value=options.limit, expected=f"at most {MAX_HITS}")


def run(
    library: Library,
    options: Search,
    load_options: LoadOptions,
    page: Path | None,
    *,
    open_page: bool,
    json: bool,
) -> int:
    """Search, print the hits and write the page; return the exit code."""
    with WarningCapture(library, options.query or "") as capture:
        query = None if options.query is None else _load_query(library, options.query, options, load_options)
        hits = () if query is None else _search(library, options, query)
        clips = library.clips(**options.filters, limit=options.limit) if query is None else [hit.clip for hit in hits]
        size = None
        if page is not None:
            from keypose.cli.library_search_page import write_page

            size = write_page(page, library, options, query, clips, hits)
        if json:
            document = _document(library.location, query, clips, hits, page)
    if json:
        output.print_json(document | {"warnings": capture.texts})
    else:
        capture.print()
        if query is not None and isinstance(query.motion_or_hash, Motion):
            notes = list_notes(query.motion_or_hash)
            messages.print_notes([(Path(query.name), list_other_notes(notes, capture.warnings))])
        _print_hits(library, options, clips, hits)
        if page is not None and size is not None:
            output.print_line(f"{page}: {format_count(len(clips), 'hit', ',')}, {format_bytes(size)}")
    if open_page and page is not None:
        webbrowser.open(page.resolve().as_uri())
    return 0


def _load_query(library: Library, name: str, options: Search, load_options: LoadOptions) -> LoadedQuery:
    """Load the query: an existing file, or else a clip of the library."""
    path = Path(name)
    if os.path.isfile(name):  # noqa: PTH113 - Path raises for long names
        motion = load_clip(path, load_options)
        query = LoadedQuery(path.name, motion, motion.n_frames)
    else:
        try:
            clip = library.clip(name)
        except OptionError as error:
            if os.path.exists(name):  # noqa: PTH110 - as above
                check_regular_file(path, "a motion file or a clip of the library")
            if error.code != "unknown_clip":
                raise
            raise error.with_fields(problem=f"{error.problem}, nor is there such a file") from None
        query = LoadedQuery(clip.name, clip.hash, clip.n_frames)
    if options.part is not None:
        return LoadedQuery(
            query.name, query.motion_or_hash, query.n_frames, span=_resolve_span(options.part, query.n_frames)
        )
    if options.pose is not None and not 0 <= options.pose < query.n_frames:
        raise OptionError(option="pose", value=options.pose, expected=f"a frame from 0 to {query.n_frames - 1}")
    return LoadedQuery(query.name, query.motion_or_hash, query.n_frames, frame=options.pose)


def _resolve_span(part: tuple[int | None, int | None], n_frames: int) -> tuple[int, int]:
    start, end = part[0] or 0, n_frames if part[1] is None else part[1]
    if not 0 <= start < end <= n_frames:
        expected = f"frames within 0:{n_frames}, the first before the last"
        raise OptionError(option="part", value=f"{start}:{end}", expected=expected)
    return start, end


def _search(library: Library, options: Search, query: LoadedQuery) -> tuple[Hit, ...]:
    keywords = options.filters | {
        "limit": options.limit,
        "mirrored": options.mirrored,
        "joints": options.joints or None,
        "deduplicate": options.deduplicate,
    }
    if query.span is not None:
        return library.search_part(query.motion_or_hash, *query.span, multiple=options.multiple, **keywords)
    if query.frame is not None:
        return library.search_pose(query.motion_or_hash, query.frame, multiple=options.multiple, **keywords)
    return library.search(query.motion_or_hash, ranker=options.ranker, **keywords)


def _print_hits(library: Library, options: Search, clips: Sequence[Clip], hits: Sequence[Hit]) -> None:
    if not clips:
        output.print_line(f"nothing found in {library.location}")
        library_edit.print_unknown_filters(library, options.words, options.tags)
    elif options.query is None:
        output.print_renderable(library_inspect.clip_table(clips, output.stdout_console().width))
        count = library.count(**options.filters) if len(clips) == options.limit else len(clips)
        if count > len(clips):
            output.print_note(f"the first {len(clips)} of {count:,} are shown; --limit shows more")
    else:
        output.print_renderable(library_inspect.hit_table(hits, output.stdout_console().width))


def _document(
    location: str, query: LoadedQuery | None, clips: Sequence[Clip], hits: Sequence[Hit], page: Path | None
) -> dict[str, Any]:
    query_document = (
        None
        if query is None
        else {
            "name": query.name,
            "hash": query.motion_or_hash if isinstance(query.motion_or_hash, str) else None,
            "n_frames": query.n_frames,
            "part": query.span,
            "pose": query.frame,
        }
    )
    hit_documents = [_hit_document(hit) for hit in hits] or [
        {"score": None, "clip": library_edit.clip_document(c)} for c in clips
    ]
    return {
        "library": location,
        "query": query_document,
        "hits": hit_documents,
        "page": None if page is None else str(page),
    }


def _hit_document(hit: Hit) -> dict[str, Any]:
    return {
        **{name: getattr(hit, name) for name in ("score", "start", "end", "start_s", "end_s")},
        "query_start_s": hit.query_start_s,
        "query_end_s": hit.query_end_s,
        "mirrored": hit.mirrored,
        "duplicates": [
            {"name": name, "hash": of} for name, of in zip(hit.duplicates, hit.duplicate_hashes, strict=True)
        ],
        "explanation": hit.explanation,
        "joint_distance_cm": hit.details.joint_distance_cm,
        "spans": [span._asdict() for span in hit.details.spans],
        "swings": [swing._asdict() for swing in hit.details.swings],
        "clip": library_edit.clip_document(hit.clip),
    }


class WarningCapture:
    """A context manager that collects warnings of readers instead of letting Python print them."""

    def __init__(self, library: Library, path: str = "") -> None:
        self._path = path  # of the query file, if any
        self._blob_prefix = os.fspath(library._store.blobs.placeholder_path("")) + os.sep
        self._catch_warnings = warnings.catch_warnings(record=True)
        self._records: list[warnings.WarningMessage] = []

    def __enter__(self) -> WarningCapture:
        records = self._catch_warnings.__enter__()
        assert records is not None
        self._records = records
        warnings.simplefilter("always", FormatWarning)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._catch_warnings.__exit__(kind, error, at)
        for record in self._records:
            if not isinstance(record.message, FormatWarning):
                warnings.showwarning(record.message, record.category, record.filename, record.lineno)
        if error is not None:
            self.print()

    @property
    def warnings(self) -> list[FormatWarning]:
        """Return the warnings; clips of the library are named without the path of their blob."""
        return [self._name_clip(each.message) for each in self._records if isinstance(each.message, FormatWarning)]

    @property
    def texts(self) -> list[str]:
        """Return the text of each warning once."""
        return list(dict.fromkeys(render_error(warning) for warning in self.warnings))

    def _name_clip(self, warning: FormatWarning) -> FormatWarning:
        return warning.with_fields(path=warning.path and warning.path.removeprefix(self._blob_prefix))

    def print(self) -> None:
        """Print at most MAX_TEXTS ``warning:`` lines."""
        for text in truncate_texts(self.texts):
            output.print_warning(text)
