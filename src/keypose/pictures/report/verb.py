"""One page for one motion or several: what an animator, a reviewer or a supervisor opens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from keypose.batch.unbake import BEST
from keypose.errors import OptionError
from keypose.formats.files import write_atomically
from keypose.model import Motion
from keypose.options import text
from keypose.pictures.comparison import comparison_page
from keypose.pictures.page import Cell, page, table, written
from keypose.pictures.report.player import player_script, player_style
from keypose.pictures.report.sections import ReportedTake, reported
from keypose.pictures.report.settings import FITTING, Settings, plain
from keypose.pictures.report.take import take_of
from keypose.verbs.comparing.noun import Comparison
from keypose.verbs.seeing import method_of
from keypose.verbs.selecting import check_budget

SUFFIXES = (".html", ".htm")


def report(
    motions: Motion | Sequence[Motion] | Comparison,
    path: str | PathLike[str],
    *,
    method: str = BEST,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    title: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Path:
    """Unbakes motions and writes all there is to see of it into one HTML page that needs nothing else.

    The page has key poses, a 3D player of original and unbaked motion, the keys and what they are worth, errors by
    joint and by number of keys, swings, and the settings that make it again. ``keys``, ``tolerance_mm``, ``auto`` and
    ``options`` are those of ``unbake``; by default ``auto``. With another ``method`` keys are chosen as ``select``
    does. ``progress`` is told how many of how many motions are done. The same motions give the same bytes.

    Of a ``Comparison``, as ``kp.compare`` gives it, the page has tables and curves of all methods; it takes no options
    but ``title``.
    """
    target = page_path(path)
    if title is not None:
        text("title", title)
    if isinstance(motions, Comparison):
        if options or method != BEST or keys is not None or tolerance_mm is not None or auto:
            raise OptionError("a comparison is measured already: give it without options, expected title= at most")
        html = comparison_page(motions) if title is None else comparison_page(motions, title=title)
        write_atomically(target, html.encode())
        return target
    several = [motions] if isinstance(motions, Motion) else list(motions) if isinstance(motions, Iterable) else []
    if not several or not all(isinstance(motion, Motion) for motion in several):
        raise OptionError("expected a Motion, as kp.load gives, or several of them")
    settings = settings_of(method, keys, tolerance_mm, auto=auto, options=options)
    takes = []
    for n, motion in enumerate(several, 1):
        takes.append(reported(take_of(motion, settings), f"clip-{n}"))
        if progress is not None:
            progress(n, len(several))
    write_atomically(target, report_page(takes, title).encode())
    return target


def page_path(path: str | PathLike[str]) -> Path:
    """``path``, if its suffix is that of a page; to be asked before any work is done."""
    target = Path(fspath(path))
    if target.suffix.lower() not in SUFFIXES:
        raise OptionError(f"{target}: a report is written as one of {', '.join(SUFFIXES)}")
    return target


def settings_of(
    method: str, keys: int | None, tolerance_mm: float | None, *, auto: bool, options: dict[str, Any]
) -> Settings:
    """What was asked for; ``auto`` where nothing was and the method is the best one."""
    row = method_of(method)
    check_budget(keys, tolerance_mm, auto=auto)
    if tolerance_mm is not None and method != BEST:
        raise OptionError(f"tolerance_mm={tolerance_mm:g} with method={method!r}, expected keys= with it: only {BEST} "
                          f"chooses keys by the error of curves")  # fmt: skip
    nothing_said = keys is None and tolerance_mm is None
    told = {name: plain(value) for name, value in options.items()}
    fitting = {name: value for name, value in told.items() if name in FITTING}
    choosing = {name: value for name, value in told.items() if name not in FITTING}
    by_itself = auto or (nothing_said and not row.has_own_count)
    return Settings(method, plain(keys), plain(tolerance_mm), by_itself, choosing, fitting)


def report_page(takes: Sequence[ReportedTake], title: str | None = None) -> str:
    """The whole page of takes that are made already."""
    from keypose import __version__

    one = takes[0] if len(takes) == 1 else None
    return page(
        title or (one.section.title if one else f"{len(takes)} motions"),
        one.section.parts if one else [take.section for take in takes],
        lead=one.section.body if one else _overview(takes),
        scripts=[player_script()],
        styles=[player_style()],
        foot=f"Made by Keypose {written(__version__)}. Errors are millimetres on a figure scaled to 1.7 m.",
    )


def _overview(takes: Sequence[ReportedTake]) -> str:
    rows: list[list[Cell]] = [
        [take.section.title, take.n_frames, take.n_frames / take.fps, take.n_keys,
         100 * (1 - take.n_keys / take.n_frames), take.mean_mm, take.max_mm]
        for take in takes
    ]  # fmt: skip
    head = ("motion", "frames", "seconds", "keys", "removed (%)", "mean error (mm)", "largest (mm)")
    return table("All motions of this page", head, rows)
