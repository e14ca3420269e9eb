"""The run of ``keypose report``: where the page goes, progress, and what became of it."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keypose.batch.inputs import Inputs, stem
from keypose.cli import clip_view, output, said
from keypose.cli.running import Run, run_all
from keypose.errors import FileError, OptionError
from keypose.formats.files import write_atomically
from keypose.pictures.report.clips import ReportedClip, Reporting, report_clip
from keypose.pictures.report.verb import page_path, report_page


def target_from(asked: Path | None, inputs: Inputs, *, overwrite: bool) -> Path:
    """The page, checked before any work is done."""
    usual = f"{stem(inputs.files[0].path.name)}.html" if len(inputs.files) == 1 else "report.html"
    target = page_path(usual if asked is None else asked)
    if any(os.path.realpath(target) == os.path.realpath(file.path) for file in inputs.files):
        raise OptionError(f"{target}: is to be read, expected another name for the page")
    if target.is_dir():
        raise FileError(f"{target}: is a folder, expected the name of a page")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such folder")
    if os.path.lexists(target) and not overwrite:
        raise FileError(f"{target}: exists already; --overwrite replaces it")
    return target


def run(
    work: Sequence[Reporting], target: Path, title: str | None, jobs: int, *, show: bool, json: bool, quiet: bool
) -> int:
    """Makes the page of all that can be read, and says what became of it; the exit code."""
    ran = run_all("Reporting", report_clip, work, (), jobs, said.heard, json=json, quiet=quiet)
    size = None
    if ran.written and not ran.interrupted:
        page = report_page([made.take for _, made in ran.written], title).encode()
        write_atomically(target, page)
        size = len(page)
    if json:
        output.show_json(
            {"report": None if size is None else str(target), "bytes": size} | ran.document("clips", _document)
        )
    elif not quiet:
        _say(ran, target, size)
    if show and size is not None:
        webbrowser.open(target.resolve().as_uri())
    return ran.code(json=json)


def _say(ran: Run[Reporting, ReportedClip], target: Path, size: int | None) -> None:
    ran.say_notes(lambda made: made.notes)
    if size is None:
        return
    made = [clip.take for _, clip in ran.written]
    keys, frames = sum(take.n_keys for take in made), sum(take.n_frames for take in made)
    what = "1 motion" if len(made) == 1 else f"{len(made)} of {len(ran.work)} motions"
    off = [take.mean_mm for take in made if take.mean_mm is not None]
    error = f", mean error {sum(off) / len(off):.2f} mm" if off else ""
    output.line(f"{target}: {what}, {keys:,} keys of {frames:,} frames{error}, {clip_view.file_size(size)}, "
                f"in {ran.seconds:.2f} s")  # fmt: skip


def _document(job: Reporting, made: ReportedClip) -> dict[str, Any]:
    take = made.take
    return {
        "id": job.id,
        "name": take.section.title,
        "n_frames": take.n_frames,
        "fps": take.fps,
        "n_keys": take.n_keys,
        "mean_mm": take.mean_mm,
        "max_mm": take.max_mm,
        "worst_joint": take.worst_joint,
        "notes": made.notes,
    }
