"""One ingest: files are read and recognised here, prepared elsewhere, and written here, a few at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from keypose.batch import Outcome
from keypose.batch.worker import attempt
from keypose.errors import KeyposeError
from keypose.formats.base import ReadOptions
from keypose.library.adding import Kept, again, is_kept, keep_all, mended
from keypose.library.analysis import ANALYSIS_VERSION
from keypose.library.ingest.engine import Engine
from keypose.library.ingest.saying import Given, Saying, own_notes
from keypose.library.material import MAY_NEED_OTHERS, Material, Packed, packed_file
from keypose.library.nouns import IngestProgress, Tally
from keypose.library.preparing import Prepared, Work, read
from keypose.library.reading import AS_IS
from keypose.library.said import Words
from keypose.library.store import Store

GROUP = 8  # clips written in one transaction
GROUP_BYTES = 64 << 20  # of them; more do not wait for each other
GROUP_S = 0.5  # the longest that a clip which is ready waits for others

EXACT = "kept byte for byte since before, which is better than within_mm=..."

OnProgress = Callable[[IngestProgress], None]


@dataclass(frozen=True)
class _UnderWay:
    """A file that was given away to be prepared."""

    path: Path
    words: Words
    work: Work
    warnings: tuple[str, ...] = ()  # of what was read here
    notes: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True, eq=False)
class _Ready:
    """One that came back."""

    given: _UnderWay
    made: Prepared
    warnings: tuple[str, ...]


@dataclass(eq=False)
class Run:
    """An ingest under way."""

    store: Store
    engine: Engine
    saying: Saying
    within_mm: float | None
    options: ReadOptions
    on_progress: OnProgress | None
    total: int
    added: int = 0  # files so far, as are the next two: clips are told of and not kept, however many there are
    known: int = 0
    failures: int = 0
    motion_s: float = 0.0
    began: float = field(default_factory=time.monotonic)
    under_way: dict[int, _UnderWay] = field(default_factory=dict)
    ready: list[_Ready] = field(default_factory=list)
    ready_since: float = 0.0

    def take_in(self, files: Sequence[Given]) -> Tally:
        """All of it."""
        try:
            with closing(self.engine.outcomes(self._works(files), len(files))) as outcomes:
                for outcome in outcomes:
                    self._settle(outcome)
        except KeyposeError:  # no worker can be had any more, or no room: what is prepared is not thrown away
            self._write()
            raise
        self._write()
        return Tally(self.total, self.added, self.known, self.failures, self.motion_s, time.monotonic() - self.began)

    def failed(self, path: Path, says: str, warnings: tuple[str, ...] = ()) -> None:
        """A file that cannot be taken in."""
        self.failures += 1
        self._tell(path, None, says, warnings)

    def _works(self, files: Sequence[Given]) -> Iterator[Work]:
        """The work on files whose content is not there, drawn as workers want it."""
        index = 0
        for file in files:
            try:
                words, found = self.saying.words(file), packed_file(file.path, self.store.limits)
            except KeyposeError as error:
                self.failed(file.path, str(error))
                continue
            there = again(self.store, found, words, self.within_mm) if self.options == AS_IS else None
            if there is not None:
                self._mend(file.path, found, there)
                continue
            needs = self.engine.is_far and _may_need_others(file.path)
            given = self._read_here(file.path, words, found) if needs else self._given(file.path, words, found)
            if given is not None:
                self.under_way[index] = given
                index += 1
                yield given.work

    def _mend(self, path: Path, found: Packed, there: Kept, warnings: tuple[str, ...] = ()) -> None:
        """A clip that is there gets its bytes again, if they are lost and the file can be read."""
        if not is_kept(self.store, there.clip):
            heard = self._read(path, found)
            if heard.value is None:
                self.failed(path, _why(heard, path), heard.warnings)
                return
            there, warnings = Kept(mended(self.store, there.clip, heard.value), is_mended=True), heard.warnings
        self.known += 1
        self._tell(path, there, warnings=warnings)

    @property
    def stand_in(self) -> Path:
        """A path beside which there is no other file."""
        return self.store.blobs.stand_in("clip")

    def _given(self, path: Path, words: Words, found: Packed) -> _UnderWay:
        """The work on a file."""
        return _UnderWay(path, words, self._work(path, found, self.options))

    def _work(self, path: Path, found: Packed, options: ReadOptions) -> Work:
        where = self.stand_in if self.engine.is_far else path
        return Work(found.data, os.fspath(where), os.fspath(self.stand_in), self.store.limits, self.within_mm, options)

    def _read_here(self, path: Path, words: Words, found: Packed) -> _UnderWay | None:
        """The work on the motion of a file that others belong to, which cannot go along; None where that is known."""
        heard = self._read(path, found)
        if heard.value is None:
            self.failed(path, _why(heard, path), heard.warnings)
            return None
        what, warnings = heard.value, heard.warnings
        there = again(self.store, what.packed, words, self.within_mm)
        if there is not None:
            self._mend(path, what.packed, there, warnings)
            return None
        return _UnderWay(path, words, self._work(path, what.packed, AS_IS), warnings, what.motion.notes, what.instead)

    def _read(self, path: Path, found: Packed) -> Outcome[Material]:
        """The motion of a file, read in this process, and what there was to warn of."""
        return attempt(lambda each: read(each, path, self.stand_in, self.store.limits, self.options), 0, found)

    def _settle(self, outcome: Outcome[Prepared]) -> None:
        given = self.under_way.pop(outcome.index)
        there, here = given.work.path, os.fspath(given.path)
        warnings = given.warnings + tuple(text.replace(there, here) for text in outcome.warnings)
        value = outcome.value
        if value is None:
            self.failed(given.path, _why(outcome, given.path, there), warnings)
            return
        if value.analysis.version != ANALYSIS_VERSION:
            raise KeyposeError(f"a worker analyses by version {value.analysis.version}, expected "
                               f"{ANALYSIS_VERSION}: all must run the same Keypose")  # fmt: skip
        made = replace(
            value,
            data=value.data or given.work.data,
            notes=given.notes or value.notes,
            instead=given.instead or value.instead,
        )
        self.ready.append(_Ready(given, made, warnings))
        now = time.monotonic()
        self.ready_since = now if len(self.ready) == 1 else self.ready_since
        full = len(self.ready) >= GROUP or sum(len(one.made.data) for one in self.ready) > GROUP_BYTES
        if full or now - self.ready_since > GROUP_S:
            self._write()

    def _write(self) -> None:
        """Keeps what is ready, and tells of it when it is on the disk."""
        some, self.ready = self.ready, []
        if not some:
            return
        done = keep_all(self.store, [(one.made, one.given.words) for one in some])
        for one, kept in zip(some, done, strict=True):
            self.added, self.known = self.added + kept.is_new, self.known + (not kept.is_new)
            self.motion_s += kept.clip.duration_s if kept.is_new else 0.0
            noticed = tuple(filter(None, (*one.made.notes, one.made.instead)))
            notes = own_notes(noticed, one.warnings)
            self._tell(one.given.path, kept, warnings=one.warnings, notes=notes)

    def _tell(
        self,
        path: Path,
        kept: Kept | None,
        says: str = "",
        warnings: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        if self.on_progress is None:
            return
        clip = None if kept is None else kept.clip
        if kept is not None and not kept.is_new:
            notes += tuple(self.saying.not_taken(kept.clip))
            if self.within_mm is not None and kept.clip.within_mm is None:
                notes += (EXACT,)
        self.on_progress(
            IngestProgress(
                os.fspath(path),
                clip,
                says,
                self.total,
                self.added,
                self.known,
                self.failures,
                self.motion_s,
                time.monotonic() - self.began,
                is_new=kept is not None and kept.is_new,
                is_changed=kept is not None and kept.is_changed,
                is_mended=kept is not None and kept.is_mended,
                warnings=warnings,
                notes=notes,
            )
        )


def _may_need_others(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(MAY_NEED_OTHERS)


def _why(outcome: Outcome[Any], path: Path, there: str = "") -> str:
    """What is said of a file that failed, under its own name, wherever it was read."""
    assert outcome.failure is not None
    says = outcome.failure.message.replace(there, os.fspath(path)) if there else outcome.failure.message
    if outcome.failure.is_bug:
        says = f"{outcome.failure.kind}: {says}"
    return says if os.fspath(path) in says else f"{path}: {says}"
