"""The run of ``keypose library rebuild``: progress, what readers warn of, and what cannot be read."""

from __future__ import annotations

from keypose.cli import library_run, output
from keypose.cli.clip_view import duration
from keypose.cli.library_bar import Bar
from keypose.cli.library_heard import Heard
from keypose.library.library import Library
from keypose.library.nouns import RebuildProgress


def run(library: Library, jobs: int | None, *, json: bool, quiet: bool) -> int:
    """Makes all anew, and says what cannot be; the exit code."""
    heard = Heard()
    told: list[str] | None = [] if json else None
    with Bar("Reading", quiet=quiet or json) as bar:

        def hear(progress: RebuildProgress) -> None:
            for text in progress.warnings:
                said = heard.hear(text.split(": ", 1)[0], text)
                if told is not None:
                    told.append(said)
            bar.show(progress.total, progress.done, f"{duration(progress.left_s)} left", progress.name)

        faults = library.rebuild(jobs=jobs, on_progress=hear)
    if not quiet and not json:
        heard.say(output.warning)
    return library_run.tell_faults(library, faults, "made anew", json=json, quiet=quiet, warnings=told)
