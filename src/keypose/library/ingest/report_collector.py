"""Collects the progress of an ingest into a report."""

from __future__ import annotations

from dataclasses import dataclass, field

from keypose.library.ingest.run import OnProgress
from keypose.library.records import Clip, IngestFailure, IngestProgress, IngestReport


@dataclass(eq=False)
class ReportCollector:
    """Collects progress and forwards it."""

    on_progress: OnProgress | None = None
    added: list[Clip] = field(default_factory=list)
    existing: list[Clip] = field(default_factory=list)
    failures: list[IngestFailure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, progress: IngestProgress) -> None:
        """Add the progress of one file."""
        if progress.clip is None:
            self.failures.append(IngestFailure(progress.path, progress.message))
        else:
            (self.added if progress.is_new else self.existing).append(progress.clip)
        self.warnings.extend(progress.warnings)
        self.notes.extend(f"{progress.path}: {note}" for note in progress.notes)
        if self.on_progress is not None:
            self.on_progress(progress)

    @property
    def report(self) -> IngestReport:
        """The report of all files so far."""
        return IngestReport(
            tuple(self.added), tuple(self.existing), tuple(self.failures), tuple(self.warnings), tuple(self.notes)
        )
