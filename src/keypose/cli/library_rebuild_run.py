"""Run ``keypose library rebuild``: progress, warnings and unreadable clips."""

from __future__ import annotations

from keypose.cli import library_run, output
from keypose.cli.clip_view import format_duration
from keypose.cli.library_progress import LibraryProgressBar
from keypose.cli.message_summary import MessageSummary
from keypose.library.library import Library
from keypose.library.records import RebuildProgress


def run(library: Library, jobs: int | None, *, json: bool, quiet: bool) -> int:
    """Rebuild the library and print faults; return the exit code."""
    summary = MessageSummary()
    warnings: list[str] | None = [] if json else None
    with LibraryProgressBar("Reading", quiet=quiet or json) as bar:

        def on_progress(progress: RebuildProgress) -> None:
            for text in progress.warnings:
                message = summary.add(text.split(": ", 1)[0], text)
                if warnings is not None:
                    warnings.append(message)
            bar.update(progress.total, progress.done, f"{format_duration(progress.remaining_s)} left", progress.name)

        faults = library.rebuild(jobs=jobs, on_progress=on_progress)
    if not quiet and not json:
        summary.print(output.print_warning)
    return library_run.report_faults(library, faults, "made anew", json=json, quiet=quiet, warnings=warnings)
