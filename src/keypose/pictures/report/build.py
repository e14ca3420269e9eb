"""Builds the HTML report of one motion or several."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from keypose.api.compare.comparison import Comparison
from keypose.api.method_input import find_method
from keypose.api.select import check_key_count_options
from keypose.batch.convert import resample
from keypose.batch.file_discovery import resolve_frame_range
from keypose.batch.unbake import DEFAULT_METHOD, load_capture, shift_frame_options
from keypose.errors import FileError, Hint, OptionError
from keypose.formats.base import write_atomically
from keypose.metrics import Score
from keypose.model import Motion, list_notes
from keypose.options import LoadOptions
from keypose.pictures.comparison import comparison_page
from keypose.pictures.page import Cell, escape_text, page, table
from keypose.pictures.report.analysis import analyse_motion
from keypose.pictures.report.player import player_script, player_style
from keypose.pictures.report.sections import ClipReport, build_clip_report
from keypose.pictures.report.settings import CURVE_OPTIONS, ReportSettings, Source, to_plain_value
from keypose.validation import check_path, check_text

SUFFIXES = (".html", ".htm")

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
    if title is not None:
        check_text("title", title)
    if isinstance(motions, Comparison):
        if options or method != DEFAULT_METHOD or keys is not None or tolerance_mm is not None or auto:
            raise OptionError("a comparison is measured already: give it without options", expected="title= at most")
        html = comparison_page(motions) if title is None else comparison_page(motions, title=title)
        write_atomically(target, html.encode())
        return target
    motion_list = [motions] if isinstance(motions, Motion) else list(motions) if isinstance(motions, Iterable) else []
    if not motion_list or not all(isinstance(motion, Motion) for motion in motion_list):
        raise OptionError(expected="a Motion, as kp.load gives, or several of them")
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


def render_report_page(clip_reports: Sequence[ClipReport], title: str | None = None) -> str:
    """Return the HTML of the whole page."""
    from keypose import __version__

    single = clip_reports[0] if len(clip_reports) == 1 else None
    return page(
        title or (single.section.title if single else f"{len(clip_reports)} motions"),
        single.section.subsections if single else [clip_report.section for clip_report in clip_reports],
        intro=single.section.body if single else _render_overview(clip_reports),
        scripts=[player_script()],
        styles=[player_style()],
        foot=f"Made by Keypose {escape_text(__version__)}. Errors are millimetres on a figure scaled to 1.7 m.",
    )


def _render_overview(clip_reports: Sequence[ClipReport]) -> str:
    rows: list[list[Cell]] = [
        [clip_report.section.title, clip_report.n_frames, clip_report.n_frames / clip_report.fps, clip_report.n_keys,
         100 * (1 - clip_report.n_keys / clip_report.n_frames), *_error_cells(clip_report.score)]
        for clip_report in clip_reports
    ]  # fmt: skip
    head = ("motion", "frames", "seconds", "keys", "removed (%)", "mean error (mm)", "largest (mm)")
    return table("All motions of this page", head, rows)


def _error_cells(score: Score | None) -> tuple[Cell, Cell]:
    return (None, None) if score is None else (score.mean_mm, score.max_mm)


@dataclass(frozen=True)
class ReportJob:
    """Options of a report job."""

    source: Path
    target: Path  # HTML file
    id: str  # of its section
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
    """The section of the page, and notes of the reader."""

    clip_report: ClipReport
    notes: tuple[str, ...]


def run_report_job(job: ReportJob) -> ReportJobResult:
    """Load, cut, resample and unbake one clip, and build its section."""
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
    return ReportJobResult(build_clip_report(analyse_motion(clip, settings, source), job.id), list_notes(motion))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot be read ({error.strerror})", code="read_failed", path=path) from None
