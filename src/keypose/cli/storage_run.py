"""The runs of ``keypose compress`` and ``keypose restore``: progress, failures, and what was made of it all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch import Outcome
from keypose.batch.plan import Target
from keypose.batch.storage_compress import Compressed, Compression, compress_clip
from keypose.batch.storage_restore import Restored, Restoring, restore_clip
from keypose.cli import output, said, storage_view
from keypose.cli.clip_view import common_folder, duration, file_size
from keypose.cli.running import Run, run_all
from keypose.cli.storage_kept import differing, kept_at
from keypose.cli.storage_rows import nearness


def compress(
    work: Sequence[Compression],
    skipped: Sequence[Target],
    tolerance_mm: float | None,
    jobs: int,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Compresses all, and says what became of it; the exit code.

    ``tolerance_mm``: what was asked for, None: lossless; ``skipped`` files may have been made otherwise.
    """
    kept = [kept_at(t, tolerance_mm) for t in skipped]
    ran = run_all(
        "Compressing",
        compress_clip,
        work,
        skipped,
        jobs,
        said.heard,
        json=json,
        quiet=quiet,
        in_parts=compress_clip,
    )
    if json:
        told = ran.document("compressed", _compressed_document)
        told["skipped"] = [each | there.document() for each, there in zip(told["skipped"], kept, strict=True)]
        output.show_json(told | {"total": _total_document(ran)})
    elif not quiet:
        _say_compressed(ran)
        for text in differing(kept):
            output.warning(text)
    return _code(ran, json=json)


def _say_compressed(ran: Run[Compression, Compressed]) -> None:
    ran.say_notes(lambda made: made.notes)
    written = ran.written
    if len(ran.work) == 1 and written:
        output.show(storage_view.block(*written[0], ran.seconds))
        for part in ran.left_out:
            output.line(part)
        return
    if written:
        output.show(storage_view.table(written, output.console().width))
    parts = ran.counted("compressed") + _with_warnings(ran.outcomes)
    if parts and ran.is_about_many:
        output.line(", ".join(parts))
    if written:
        for line in storage_view.summary(written, ran.seconds):
            output.line(line)


def _code(ran: Run[Any, Any], *, json: bool) -> int:
    """Says what failed, and what an interruption has left undone; the exit code."""
    if ran.interrupted and len(ran.work) == 1 and not ran.outcomes and not json:
        output.note(f"interrupted; {ran.work[0].target} was not written")
    return ran.code(json=json)


def _with_warnings(outcomes: Sequence[Outcome[Any]]) -> list[str]:
    """How many clips were read with warnings, as a part of a sentence; empty: none."""
    warned = sum(bool(outcome.warnings) for outcome in outcomes)
    return [f"{warned} {'clip' if warned == 1 else 'clips'} with warnings"] if warned else []


def _compressed_document(job: Compression, made: Compressed) -> dict[str, Any]:
    """One clip for JSON."""
    return {
        "tolerance_mm": None if made.lossless or not made.has_frames else job.tolerance_mm,
        "lossless": made.lossless,
        "source_tolerance_mm": made.source_tolerance_mm,
        "n_frames": made.n_frames,
        "fps": made.fps,
        "duration_s": made.duration_s,
        "n_joints": made.n_joints,
        "n_groups": made.n_groups,
        "source_bytes": made.source_bytes,
        "raw_bytes": made.raw_bytes,
        "bytes": made.bytes,
        "ratio": made.source_bytes / made.bytes,
        "raw_ratio": made.raw_bytes / made.bytes,
        "verified": made.verified,
        "largest_error": None if made.error is None else asdict(made.error),
        "keys": made.keys,
        "swings": made.swings,
        "beside_bytes": made.beside_bytes,
        "notes": made.notes,
    }


def _total_document(ran: Run[Compression, Compressed]) -> dict[str, Any] | None:
    """All clips together for JSON; None without any."""
    written = ran.written
    if not written:
        return None
    total = storage_view.total(written)
    worst = total.worst
    return {
        "clips": len(written),
        "duration_s": total.duration_s,
        "source_bytes": total.source_bytes,
        "raw_bytes": total.raw_bytes,
        "bytes": total.bytes,
        "ratio": total.source_bytes / total.bytes,
        "raw_ratio": total.raw_bytes / total.bytes,
        "verified": total.verified,
        "largest_error": None if worst is None else {"source": str(worst[0]), **asdict(worst[1])},
        "motion_s_per_s": total.duration_s / ran.seconds,
    }


def restore(work: Sequence[Restoring], skipped: Sequence[Target], jobs: int, *, json: bool, quiet: bool) -> int:
    """Restores all, and says what became of it; the exit code."""
    ran = run_all("Restoring", restore_clip, work, skipped, jobs, said.heard, json=json, quiet=quiet)
    if json:
        output.show_json(ran.document("restored", _restored_document))
    elif not quiet:
        _say_restored(ran)
    return _code(ran, json=json)


def _say_restored(ran: Run[Restoring, Restored]) -> None:
    ran.say_notes(lambda made: made.notes)
    written = ran.written
    if len(ran.work) == 1 and written:
        job, made = written[0]
        whole = "" if job.whole else f" from {made.first_s:.2f} s on"
        output.line(f"{job.target}: {made.n_frames} frames{whole} at {made.fps:.6g} fps, {file_size(made.bytes)}, "
                    f"{nearness(made)}, in {ran.seconds:.2f} s")  # fmt: skip
        for what, path in (("keys", made.keys_file), ("swings", made.swings_file)):
            if path is not None:
                output.line(f"{path}: its {what}")
        for part in ran.left_out:
            output.line(part)
        return
    parts = ran.counted("restored") + _with_warnings(ran.outcomes)
    if noted := sum(bool(made.notes) for _, made in written):
        parts.append(f"{noted} with notes")
    if written:
        seconds = sum(made.n_frames / made.fps for _, made in written)
        folder = common_folder([str(job.target) for job, _ in written]) or "."
        parts.append(f"{duration(seconds)} of motion, to {folder}: "
                     f"{file_size(sum(made.bytes for _, made in written))}")  # fmt: skip
    if parts and ran.is_about_many:
        output.line(", ".join(parts))


def _restored_document(job: Restoring, made: Restored) -> dict[str, Any]:
    """One file for JSON."""
    return asdict(made)
