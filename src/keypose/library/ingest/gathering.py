"""What an ingest tells of, remembered."""

from __future__ import annotations

from dataclasses import dataclass, field

from keypose.library.ingest.run import OnProgress
from keypose.library.nouns import Clip, Ingested, IngestProgress, NotAdded


@dataclass(eq=False)
class Gathering:
    """Hears of each file and hands on what it hears."""

    on_progress: OnProgress | None = None
    clips: list[Clip] = field(default_factory=list)
    known: list[Clip] = field(default_factory=list)
    failures: list[NotAdded] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def hear(self, progress: IngestProgress) -> None:
        """One more file."""
        if progress.clip is None:
            self.failures.append(NotAdded(progress.path, progress.says))
        else:
            (self.clips if progress.is_new else self.known).append(progress.clip)
        self.warnings.extend(progress.warnings)
        self.notes.extend(f"{progress.path}: {note}" for note in progress.notes)
        if self.on_progress is not None:
            self.on_progress(progress)

    @property
    def ingested(self) -> Ingested:
        """All of them."""
        return Ingested(
            tuple(self.clips), tuple(self.known), tuple(self.failures), tuple(self.warnings), tuple(self.notes)
        )
