"""One ingest: files are read and recognised here, prepared elsewhere, and written here, a few at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from keypose.batch import Outcome
from keypose.errors import KeyposeError
from keypose.library.adding import Words, keep_all, known, name_of
from keypose.library.analysis import ANALYSIS_VERSION
from keypose.library.ingest.engine import Engine
from keypose.library.material import MAY_NEED_OTHERS, Packed, packed_file
from keypose.library.nouns import Clip, Ingested, IngestProgress, NotAdded
from keypose.library.preparing import Prepared, Work, read
from keypose.library.store import Store

GROUP = 8  # clips written in one transaction
GROUP_BYTES = 64 << 20  # of them; more do not wait for each other
GROUP_S = 0.5  # the longest that a clip which is ready waits for others

OnProgress = Callable[[IngestProgress], None]


@dataclass(frozen=True)
class Saying:
    """What is said about all files of an ingest, clean."""

    tags: tuple[str, ...]
    about: dict[str, str]  # source, where one is given, licence, note

    def words(self, path: Path) -> Words:
        """What is said about one of them: it is named after its file."""
        _, name = name_of(path)
        return Words(name, self.tags, {"source": os.fspath(path), **self.about})


@dataclass(frozen=True)
class _Given:
    """A file that was given away to be prepared."""

    path: Path
    words: Words
    work: Work


@dataclass(eq=False)
class Run:
    """An ingest under way."""

    store: Store
    engine: Engine
    saying: Saying
    within_mm: float | None
    on_progress: OnProgress | None
    total: int
    added: list[Clip] = field(default_factory=list)
    known: list[Clip] = field(default_factory=list)
    failures: list[NotAdded] = field(default_factory=list)
    motion_s: float = 0.0
    began: float = field(default_factory=time.monotonic)
    under_way: dict[int, _Given] = field(default_factory=dict)
    ready: list[tuple[_Given, Prepared]] = field(default_factory=list)
    ready_since: float = 0.0

    def take_in(self, paths: Sequence[Path]) -> Ingested:
        """All of it."""
        try:
            with closing(self.engine.outcomes(self._works(paths), len(paths))) as outcomes:
                for outcome in outcomes:
                    self._settle(outcome)
        except KeyposeError:  # no worker can be had any more, or no room: what is prepared is not thrown away
            self._write()
            raise
        self._write()
        return Ingested(tuple(self.added), tuple(self.known), tuple(self.failures))

    def failed(self, path: Path, says: str) -> None:
        """A file that cannot be taken in."""
        self.failures.append(NotAdded(os.fspath(path), says))
        self._tell(path, None, says)

    def _works(self, paths: Sequence[Path]) -> Iterator[Work]:
        """The work on files whose content is not there, drawn as workers want it."""
        index = 0
        for path in paths:
            try:
                words, found = self.saying.words(path), self._found(path)
            except KeyposeError as error:
                self.failed(path, str(error))
                continue
            clip = known(self.store, found, path, self.stand_in, words)
            if clip is not None:
                self.known.append(clip)
                self._tell(path, clip)
                continue
            where = self.stand_in if self.engine.is_far else path
            work = Work(found.data, os.fspath(where), os.fspath(self.stand_in), self.store.limits, self.within_mm)
            self.under_way[index] = _Given(path, words, work)
            index += 1
            yield work

    @property
    def stand_in(self) -> Path:
        """A path beside which there is no other file."""
        return self.store.blobs.stand_in("clip")

    def _found(self, path: Path) -> Packed:
        """The bytes of a file; of one that others belong to, where these cannot go along, those of its motion."""
        found = packed_file(path, self.store.limits)
        if not self.engine.is_far or not path.name.lower().removesuffix(".gz").endswith(MAY_NEED_OTHERS):
            return found
        return read(found, path, self.stand_in, self.store.limits).packed

    def _settle(self, outcome: Outcome[Prepared]) -> None:
        given = self.under_way.pop(outcome.index)
        if outcome.value is None:
            self.failed(given.path, _why(outcome, given))
        elif outcome.value.analysis.version != ANALYSIS_VERSION:
            raise KeyposeError(f"a worker analyses by version {outcome.value.analysis.version}, expected "
                               f"{ANALYSIS_VERSION}: all must run the same Keypose")  # fmt: skip
        else:
            value = outcome.value
            self.ready.append((given, value if value.data else replace(value, data=given.work.data)))
            now = time.monotonic()
            self.ready_since = now if len(self.ready) == 1 else self.ready_since
            full = len(self.ready) >= GROUP or sum(len(p.data) for _, p in self.ready) > GROUP_BYTES
            if full or now - self.ready_since > GROUP_S:
                self._write()

    def _write(self) -> None:
        """Keeps what is ready, and tells of it when it is on the disk."""
        some, self.ready = self.ready, []
        if not some:
            return
        done = keep_all(self.store, [(made, given.words) for given, made in some])
        for (given, _), (clip, is_new) in zip(some, done, strict=True):
            (self.added if is_new else self.known).append(clip)
            self.motion_s += clip.duration_s if is_new else 0.0
            self._tell(given.path, clip)

    def _tell(self, path: Path, clip: Clip | None, says: str = "") -> None:
        if self.on_progress is not None:
            counts = len(self.added), len(self.known), len(self.failures)
            elapsed_s = time.monotonic() - self.began
            self.on_progress(IngestProgress(os.fspath(path), clip, says, self.total, *counts, self.motion_s, elapsed_s))


def _why(outcome: Outcome[Prepared], given: _Given) -> str:
    """What is said of a file that failed, under its own name."""
    assert outcome.failure is not None
    says = outcome.failure.message.replace(given.work.path, os.fspath(given.path))
    if outcome.failure.is_bug:
        says = f"{outcome.failure.kind}: {says}"
    return says if os.fspath(given.path) in says else f"{given.path}: {says}"
