"""The run of a conversion: progress, failures, and a summary for people or programs."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import Any

from keypose.batch import Outcome, map_clips
from keypose.batch.convert import Conversion, Converted, convert_clip
from keypose.batch.plan import Target
from keypose.cli import clip_view, output, said
from keypose.cli.exits import INTERRUPTED
from keypose.cli.progress import Progress

KEPT_APART = re.compile(r"(frame 0|the first frame) is a reference pose \(T-pose\), kept apart from the movement")
NOT_WRITTEN = "frame 0 was a reference pose (T-pose); not written, --write-reference-pose keeps it"


def run(work: Sequence[Conversion], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Converts all, and says what became of it; the exit code."""
    start = time.perf_counter()
    outcomes: list[Outcome[Converted]] = []
    interrupted = False
    progress = Progress("Converting", [job.source for job in work], quiet=quiet)
    results = map_clips(convert_clip, work, jobs, on_start=progress.begin)
    try:
        with progress, closing(results):
            for outcome in results:
                progress.done(outcome)
                outcomes.append(_noted(said.heard(work[outcome.index].source, outcome)))
                if not (quiet or json):
                    said.say_warnings(work[outcome.index].source, outcomes[-1].warnings)
    except KeyboardInterrupt:
        interrupted = True
    outcomes.sort(key=lambda outcome: outcome.index)
    seconds = time.perf_counter() - start
    if json:
        output.show_json(_document(work, skipped, outcomes, seconds, interrupted=interrupted))
    elif not quiet:
        _say(work, skipped, outcomes, seconds)
    failures = [(work[o.index].source, o.failure) for o in outcomes if o.failure]
    code = said.report_failures(failures, quiet=json)
    if interrupted:
        if not json and len(work) > 1:
            output.note(f"interrupted with {len(work) - len(outcomes)} files to go; --skip-existing goes on from here")
        return INTERRUPTED
    return code


def _noted(outcome: Outcome[Converted]) -> Outcome[Converted]:
    """What was read is kept apart; what matters here is whether it was written."""
    made = outcome.value
    if made is None:
        return outcome
    in_its_place = () if made.reference_pose else (NOT_WRITTEN,)
    notes = (in_its_place if KEPT_APART.fullmatch(note) else (note,) for note in made.notes)
    return replace(outcome, value=replace(made, notes=tuple(chain.from_iterable(notes))))


def _say(
    work: Sequence[Conversion],
    skipped: Sequence[Target],
    outcomes: Sequence[Outcome[Converted]],
    seconds: float,
) -> None:
    written = [(work[o.index], o.value) for o in outcomes if o.value is not None]
    said.say_notes(
        (work[o.index].source, said.own_notes(o.value.notes, o.warnings)) for o in outcomes if o.value is not None
    )
    if len(work) == 1 and written:
        job, made = written[0]
        size = clip_view.file_size(made.bytes)
        output.line(f"{job.target}: {made.frames} frames at {made.fps:.6g} fps, {size}, in {seconds:.2f} s")
        return
    parts = [f"{len(written)} of {len(work)} files converted in {seconds:.2f} s"] if work else []
    if written:
        parts.append(clip_view.file_size(sum(made.bytes for _, made in written)))
    if skipped:
        parts.append(f"{len(skipped)} that exist left out")
    if parts and (len(work) > 1 or skipped):
        output.line(", ".join(parts))


def _document(
    work: Sequence[Conversion],
    skipped: Sequence[Target],
    outcomes: Sequence[Outcome[Converted]],
    seconds: float,
    *,
    interrupted: bool,
) -> dict[str, Any]:
    converted, failed = [], []
    for o in outcomes:
        clip: dict[str, Any] = {"source": str(work[o.index].source), "target": str(work[o.index].target)}
        if o.failure is not None:
            failed.append(clip | said.failure_document(o.failure) | {"warnings": o.warnings})
        elif o.value is not None:
            made = {
                "frames": o.value.frames,
                "fps": o.value.fps,
                "bytes": o.value.bytes,
                "reference_pose": o.value.reference_pose,
                "seconds": o.seconds,
            }
            converted.append(clip | made | {"notes": o.value.notes, "warnings": o.warnings})
    return {
        "converted": converted,
        "failed": failed,
        "skipped": [{"source": str(t.source), "target": str(t.target)} for t in skipped],
        "left": len(work) - len(outcomes),
        "interrupted": interrupted,
        "seconds": seconds,
    }
