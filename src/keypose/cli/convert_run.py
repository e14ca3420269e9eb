"""The run of a conversion: progress, failures, and a summary for people or programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from keypose.batch import Outcome
from keypose.batch.convert import Conversion, Converted, convert_clip
from keypose.batch.plan import Target
from keypose.cli import clip_view, output, said
from keypose.cli.running import Run, run_all

KEPT_APART = re.compile(r"(frame 0|the first frame) is a reference pose \(T-pose\), kept apart from the movement")
NOT_WRITTEN = "frame 0 was a reference pose (T-pose); not written, --write-reference-pose keeps it"


def run(work: Sequence[Conversion], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Converts all, and says what became of it; the exit code."""
    ran = run_all("Converting", convert_clip, work, skipped, jobs, _heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("converted", _document))
    elif not quiet:
        _say(ran)
    return ran.code(json=json)


def _heard(path: Path, outcome: Outcome[Converted]) -> Outcome[Converted]:
    """What was read is kept apart; what matters here is whether it was written."""
    outcome = said.heard(path, outcome)
    made = outcome.value
    if made is None:
        return outcome
    in_its_place = () if made.reference_pose or made.pose_in_its_place else (NOT_WRITTEN,)
    notes = (in_its_place if KEPT_APART.fullmatch(note) else (note,) for note in made.notes)
    return replace(outcome, value=replace(made, notes=tuple(chain.from_iterable(notes))))


def _say(ran: Run[Conversion, Converted]) -> None:
    ran.say_notes(lambda made: made.notes)
    written = ran.written
    if len(ran.work) == 1 and written:
        job, made = written[0]
        size = clip_view.file_size(made.bytes)
        output.line(f"{job.target}: {made.frames} frames at {made.fps:.6g} fps, {size}, in {ran.seconds:.2f} s"
                    f"{_near([made])}")  # fmt: skip
        return
    parts = [f"{len(written)} of {len(ran.work)} files converted in {ran.seconds:.2f} s"] if ran.work else []
    if written:
        parts.append(clip_view.file_size(sum(made.bytes for _, made in written)))
    if ran.skipped:
        parts.append(f"{len(ran.skipped)} that exist left out")
    if parts and ran.is_about_many:
        output.line(", ".join(parts) + _near([made for _, made in written]))


def _near(made: Sequence[Converted]) -> str:
    """How far results may be off, where frames are not kept as they were."""
    most = max((clip.tolerance_mm for clip in made if clip.tolerance_mm is not None), default=None)
    return "" if most is None else f"; within {most:g} mm (keypose compress takes another tolerance)"


def _document(job: Conversion, made: Converted) -> dict[str, Any]:
    return {
        "frames": made.frames,
        "fps": made.fps,
        "bytes": made.bytes,
        "reference_pose": made.reference_pose,
        "tolerance_mm": made.tolerance_mm,
        "notes": made.notes,
    }
