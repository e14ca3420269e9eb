"""Every clip read anew, by several processes: what is kept about its frames is replaced clip by clip."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from keypose.batch import Failure, Outcome
from keypose.errors import FileError, FormatError, KeyposeError, LimitError
from keypose.formats import Limits
from keypose.library.adding import keep_all
from keypose.library.analysis import Analysis, analyse
from keypose.library.analysis_rows import write_analysis
from keypose.library.extra import sa
from keypose.library.indexing import index_kept_vectors
from keypose.library.ingest.engine import Engine
from keypose.library.material import packed, read_alone
from keypose.library.nouns import Clip, Fault, FaultKind, RebuildProgress
from keypose.library.preparing import Work, do
from keypose.library.rows import clips_of, settle
from keypose.library.said import FOUND_BY_REBUILD, Words, about
from keypose.library.store import Store
from keypose.library.tables import clips
from keypose.library.wording import file_stem

NAME_DIGITS = 12  # of the hash of bytes that nobody has named
OnRebuilt = Callable[[RebuildProgress], None]
_DAMAGED = frozenset(kind.__name__ for kind in (FormatError, LimitError))


@dataclass(frozen=True)
class Anew:
    """The bytes of a clip; they travel, as those of an ingest do."""

    data: bytes
    path: str  # for messages: no file is there
    limits: Limits


def analysed(work: Anew) -> Analysis:
    """What is kept about the frames in ``work``."""
    path = Path(work.path)
    return analyse(read_alone(packed(work.data, path, work.limits), path, work.limits))


@dataclass(eq=False)
class Remaking:
    """A library that is made anew."""

    store: Store
    engine: Engine
    on_progress: OnRebuilt | None = None
    done: int = 0
    total: int = 0
    fresh: set[str] = field(default_factory=set)  # hashes of clips that were taken in just now
    began: float = field(default_factory=time.monotonic)
    faults: list[Fault] = field(default_factory=list)  # to be told

    def run(self) -> Iterator[Fault]:
        """Takes in bytes that no clip has, and reads all other clips; tells of what cannot be read."""
        with self.store.database.reading() as connection:
            rows = connection.execute(sa.select(clips.c.id, clips.c.hash, clips.c.blob)).all()
        known = {row.blob for row in rows}
        orphans = [digest for digest in self.store.blobs.hashes() if digest not in known]
        self.total = len(rows) + len(orphans)
        yield from self._take_in(orphans)
        yield from self._read_again([row.id for row in rows if row.hash not in self.fresh])

    def _take_in(self, orphans: Sequence[str]) -> Iterator[Fault]:
        """Clips of bytes that no clip has."""
        under_way: dict[int, tuple[str, Work]] = {}
        count = 0
        where = os.fspath(self.store.blobs.stand_in("clip"))

        def works() -> Iterator[Work]:
            nonlocal count
            for digest in orphans:
                try:
                    data = self.store.blobs.read(digest)
                except KeyposeError as error:
                    self._failed("orphan blob", digest, str(error))
                    continue
                work = Work(data, where, where, self.store.limits, None)
                under_way[count] = digest, work
                count += 1
                yield work

        for outcome in self._outcomes(do, works(), len(orphans)):
            digest, work = under_way.pop(outcome.index)
            if outcome.value is None:
                self._failed("orphan blob", digest, _says(outcome, where, digest))
            else:
                words = Words(digest[:NAME_DIGITS], (), about("", "", FOUND_BY_REBUILD))
                made = replace(outcome.value, data=outcome.value.data or work.data)
                self.fresh.add(keep_all(self.store, [(made, words)])[0].clip.hash)
                self._tell(digest[:NAME_DIGITS], outcome.warnings, where)
            yield from self._told()
        yield from self._told()

    def _read_again(self, numbers: Sequence[int]) -> Iterator[Fault]:
        under_way: dict[int, tuple[int, Clip, str]] = {}
        count = 0

        def works() -> Iterator[Anew]:
            nonlocal count
            for number in numbers:
                clip = self._clip(number)
                if clip is None:  # removed meanwhile, or told of already
                    self._tell("")
                    continue
                try:
                    data = self.store.bytes_of(clip)
                except KeyposeError as error:
                    self._write(number, None)
                    is_gone = isinstance(error, FileError)
                    self._failed("missing blob" if is_gone else "damaged blob", clip.name, str(error))
                    continue
                path = os.fspath(self.store.blobs.stand_in(f"{file_stem(clip.name)}{clip.suffix}"))
                under_way[count] = number, clip, path
                count += 1
                yield Anew(data, path, self.store.limits)

        for outcome in self._outcomes(analysed, works(), len(numbers)):
            number, clip, path = under_way.pop(outcome.index)
            self._write(number, outcome.value)
            called = f"{clip.name}{clip.suffix}"
            if outcome.failure is not None:
                self._failed(_kind_of(outcome.failure), clip.name, _says(outcome, path, called))
            else:
                self._tell(clip.name, outcome.warnings, path, called)
            yield from self._told()
        yield from self._told()

    def _clip(self, number: int) -> Clip | None:
        chosen = sa.select(clips.c.id).where(clips.c.id == number)
        with self.store.database.reading() as connection, self.store.database.dialect.as_they_are(connection):
            return clips_of(connection, chosen, damaged={}).get(number)

    def _write(self, number: int, analysis: Analysis | None) -> None:
        """Replaces what is kept about the frames of a clip; where they cannot be read, indexes what is there."""
        store = self.store
        with store.database.writing() as connection:
            if not clips_of(connection, sa.select(clips.c.id).where(clips.c.id == number)):
                return
            if analysis is not None:
                connection.execute(sa.update(clips).where(clips.c.id == number).values(asdict(analysis.facts)))
                write_analysis(connection, store.database.dialect, number, analysis)
            else:
                index_kept_vectors(store, connection, number)
            settle(connection, store.database.dialect, number)

    def _outcomes(self, function: Callable[[Any], Any], works: Iterator[Any], n: int) -> Iterator[Outcome[Any]]:
        with closing(self.engine.map(function, works, n)) as outcomes:
            yield from outcomes

    def _failed(self, kind: FaultKind, where: str, says: str) -> None:
        self.faults.append(Fault(kind, where, says))
        self._tell(where)

    def _told(self) -> Iterator[Fault]:
        some, self.faults = self.faults, []
        yield from some

    def _tell(self, name: str, warnings: Sequence[str] = (), path: str = "", called: str = "") -> None:
        self.done += 1
        if self.on_progress is not None:
            said = tuple(text.replace(path, called or name) for text in warnings)
            elapsed_s = time.monotonic() - self.began
            self.on_progress(RebuildProgress(name, self.total, self.done, elapsed_s, said))


def _kind_of(failure: Failure) -> FaultKind:
    return "damaged blob" if failure.kind in _DAMAGED else "analysis"  # else its format cannot be read here


def _says(outcome: Outcome[Any], path: str, called: str) -> str:
    assert outcome.failure is not None
    says = outcome.failure.message.replace(path, called)
    return f"{outcome.failure.kind}: {says}" if outcome.failure.is_bug else says
