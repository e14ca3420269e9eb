"""Builds the HTML report of one motion or several."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from html import unescape
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

from keypose.api.compare.comparison import Comparison
from keypose.api.method_input import find_method
from keypose.api.select import check_key_count_options
from keypose.batch.convert import resample
from keypose.batch.file_discovery import resolve_frame_range
from keypose.batch.plan import make_folder
from keypose.batch.unbake import DEFAULT_METHOD, load_capture, shift_frame_options
from keypose.errors import FileError, Hint, OptionError, format_count
from keypose.formats.base import write_atomically
from keypose.metrics import Score
from keypose.model import Motion, list_notes
from keypose.options import LoadOptions
from keypose.pictures.comparison import comparison_page
from keypose.pictures.page import Cell, Link, escape_text, page, table
from keypose.pictures.report.analysis import analyse_motion
from keypose.pictures.report.player import player_script, player_style
from keypose.pictures.report.sections import ClipReport, ClipSummary, build_clip_report
from keypose.pictures.report.settings import CURVE_OPTIONS, ReportSettings, Source, to_plain_value
from keypose.validation import check_callback, check_items, check_path, check_regular_file, check_text

SUFFIXES = (".html", ".htm")

METADATA_NAME = "keypose-report"
METADATA_BYTES = 8192  # in which it begins and ends
OVERVIEW_HEAD = ("motion", "frames", "seconds", "keys", "removed (%)", "mean error (mm)", "largest (mm)")

DEFAULT_CURVE_OPTIONS = {
    "interpolation": "bezier",
    "rotation": "quaternion",
    "shared_tangents": False,
    "residual": False,
}


def report(
    motions: Motion | Sequence[Motion] | Comparison,
    path: str | PathLike[str],
    *,
    method: str = DEFAULT_METHOD,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    title: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Path:
    """Unbake motions and write a self-contained HTML page about the result.

    The page has key poses, a 3D player of original and unbaked motion, a table of keys, errors by joint and by number
    of keys, swings, and the settings to reproduce it. ``keys``, ``tolerance_mm``, ``auto`` and ``options`` are those of
    ``unbake``; the default is ``auto``. With another ``method`` keys are selected as by ``select``. ``progress`` is
    called with the numbers of finished and of all motions. The same motions always result in the same bytes.

    For a ``Comparison`` of ``kp.compare`` the page has tables and curves of all methods; only ``title`` is allowed as
    option. Returns the path of the page.
    """
    target = page_path(path)
    check_callback("progress", progress)
    if title is not None:
        check_text("title", title)
    if isinstance(motions, Comparison):
        if options or method != DEFAULT_METHOD or keys is not None or tolerance_mm is not None or auto:
            raise OptionError("a comparison is measured already: give it without options", expected="title= at most")
        html = comparison_page(motions) if title is None else comparison_page(motions, title=title)
        write_atomically(target, html.encode())
        return target
    expected = "a Motion, as kp.load gives, or several of them"
    motion_list = (motions,) if isinstance(motions, Motion) else check_items("motions", motions, expected)
    if not motion_list or not all(isinstance(motion, Motion) for motion in motion_list):
        raise OptionError(option="motions", expected=expected)
    settings = parse_settings(method, keys, tolerance_mm, auto=auto, options=options)
    clip_reports = []
    for n, motion in enumerate(motion_list, 1):
        clip_reports.append(build_clip_report(analyse_motion(motion, settings), f"clip-{n}"))
        if progress is not None:
            progress(n, len(motion_list))
    write_atomically(target, render_report_page(clip_reports, title).encode())
    return target


def page_path(path: str | PathLike[str]) -> Path:
    """Return ``path`` if it has an HTML suffix; call it before any work is done."""
    target = check_path("path", path)
    if target.suffix.lower() not in SUFFIXES:
        problem = f"a report is written as one of {', '.join(SUFFIXES)}"
        raise OptionError(problem, code="unwritable", path=target)
    return target


def parse_settings(
    method: str, keys: int | None, tolerance_mm: float | None, *, auto: bool, options: dict[str, Any]
) -> ReportSettings:
    """Return the settings; ``auto`` if no number of keys is given and the method has no own number."""
    method_info = find_method(method)
    check_key_count_options(keys, tolerance_mm, auto=auto)
    if tolerance_mm is not None and method != DEFAULT_METHOD:
        raise OptionError(
            f"with method {method}",
            option="tolerance_mm",
            value=tolerance_mm,
            expected=Hint(
                f"keys= with it: only {DEFAULT_METHOD} chooses keys by the error of curves",
                f"--keys with it: only {DEFAULT_METHOD} chooses keys by the error of curves",
            ),
        )
    has_no_key_count = keys is None and tolerance_mm is None
    plain_options = {name: to_plain_value(value) for name, value in options.items()}
    curve_options = {name: value for name, value in plain_options.items() if name in CURVE_OPTIONS}
    key_options = {name: value for name, value in plain_options.items() if name not in CURVE_OPTIONS}
    is_automatic = auto or (has_no_key_count and not method_info.has_own_count)
    return ReportSettings(
        method, to_plain_value(keys), to_plain_value(tolerance_mm), is_automatic, key_options, curve_options
    )


def render_report_page(clip_reports: Sequence[ClipReport], title: str | None = None, index: Path | None = None) -> str:
    """Return the HTML of the whole page, with a link to the page ``index``, a path relative to it, if there is one."""
    single = clip_reports[0] if len(clip_reports) == 1 else None
    link = "" if index is None else f"<p>{Link('All motions', index).html()}</p>\n"
    return page(
        title or (single.section.title if single else format_count(len(clip_reports), "motion")),
        single.section.subsections if single else [clip_report.section for clip_report in clip_reports],
        intro=link + (single.section.body if single else _render_overview(clip_reports)),
        scripts=[player_script()],
        styles=[player_style()],
        footer=_build_footer(),
        metadata={METADATA_NAME: json.dumps(asdict(single.summary))} if single else {},
    )


def render_index_page(pages: Sequence[tuple[Path, ClipSummary]], title: str | None = None) -> str:
    """Return the HTML of the index of pages, each with its path relative to the index."""
    rows = [
        _overview_row(Link(path.as_posix().removesuffix(path.suffix), path), summary)
        for path, summary in sorted(pages, key=itemgetter(0))
    ]
    overview = table("All motions of this report", OVERVIEW_HEAD, rows)
    metadata = {METADATA_NAME: json.dumps({"n_motions": len(pages)})}
    return page(
        title or format_count(len(pages), "motion"), (), intro=overview, footer=_build_footer(), metadata=metadata
    )


def _build_footer() -> str:
    from keypose import __version__

    return f"Made by Keypose {escape_text(__version__)}. Errors are millimetres on a figure scaled to 1.7 m."


def _render_overview(clip_reports: Sequence[ClipReport]) -> str:
    rows = [_overview_row(clip_report.section.title, clip_report.summary) for clip_report in clip_reports]
    return table("All motions of this page", OVERVIEW_HEAD, rows)


def _overview_row(name: Cell, summary: ClipSummary) -> list[Cell]:
    removed_percent = 100 * (1 - summary.n_keys / summary.n_frames)
    duration_s = summary.n_frames / summary.fps
    return [name, summary.n_frames, duration_s, summary.n_keys, removed_percent, summary.mean_mm, summary.max_mm]


def is_report_page(path: Path) -> bool:
    """Return whether a file is a page of one motion, or an index of such pages."""
    return _read_metadata(path) is not None


def read_summary(path: Path) -> ClipSummary | None:
    """Return the summary at the start of a page of one motion; None for other files."""
    metadata = _read_metadata(path)
    if metadata is None or metadata.keys() != {each.name for each in fields(ClipSummary)}:
        return None
    summary = ClipSummary(**metadata)
    numbers = (summary.n_frames, summary.fps, summary.n_keys, summary.mean_mm or 0.0, summary.max_mm or 0.0)
    is_valid = all(isinstance(number, int | float) for number in numbers) and min(numbers[:3]) > 0
    return summary if is_valid else None


def _read_metadata(path: Path) -> dict[str, Any] | None:
    try:
        check_regular_file(path, "a page")
        with path.open("rb") as file:
            start = file.read(METADATA_BYTES).decode("utf-8", "replace")
        match = re.search(f'<meta name="{METADATA_NAME}" content="([^"]*)">', start)
        metadata = json.loads(unescape(match[1])) if match else None
    except (OSError, ValueError):
        return None
    return metadata if isinstance(metadata, dict) else None


@dataclass(frozen=True)
class ReportJob:
    """A file, its page, and how to unbake it."""

    source: Path
    target: Path  # HTML file
    index: Path | None = None  # the page that lists all pages
    title: str | None = None
    load_options: LoadOptions = field(default_factory=LoadOptions)
    frames: tuple[int | None, int | None] | None = None  # slice bounds at the clip's own frame rate
    fps: float | None = None
    method: str = DEFAULT_METHOD
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    key_options: Mapping[str, Any] = field(default_factory=dict)  # frame numbers refer to the file
    curve_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportJobResult:
    """What the page says, its size, and notes of the reader."""

    name: str
    summary: ClipSummary
    score: Score | None
    bytes: int
    notes: tuple[str, ...]


def run_report_job(job: ReportJob) -> ReportJobResult:
    """Load, cut, resample and unbake one clip, and write its page; missing folders are created."""
    clip_report, notes = build_job_report(job)
    index = None if job.index is None else Path(os.path.relpath(job.index, job.target.parent))
    page_bytes = render_report_page([clip_report], job.title, index).encode()
    make_folder(job.target.parent)
    write_atomically(job.target, page_bytes)
    return ReportJobResult(clip_report.section.title, clip_report.summary, clip_report.score, len(page_bytes), notes)


def build_job_report(job: ReportJob) -> tuple[ClipReport, tuple[str, ...]]:
    """Return the section of a clip, and notes of the reader."""
    motion = load_capture(job.source, job.load_options)
    start, stop = resolve_frame_range(job.frames, motion.n_frames)
    clip = motion[start:stop]
    if job.fps is not None and job.fps != clip.fps:
        clip = resample(clip, job.fps, job.source, job.load_options.limits)
    key_options = shift_frame_options(job.key_options, start, clip.n_frames, clip.fps / motion.fps)
    curve_options = {
        name: value for name, value in job.curve_options.items() if DEFAULT_CURVE_OPTIONS.get(name) != value
    }
    settings = ReportSettings(job.method, job.keys, job.tolerance_mm, job.auto, key_options, curve_options)
    source = Source(job.source, _sha256(job.source), job.frames, job.fps, job.key_options, job.load_options)
    return build_clip_report(analyse_motion(clip, settings, source), "clip-1"), list_notes(motion)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot be read ({error.strerror})", code="read_failed", path=path) from None
