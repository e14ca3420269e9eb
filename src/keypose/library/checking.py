"""Whether a library is sound: every hash, rows with their bytes, bytes with their rows; and what can be mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta

from keypose.errors import FileError, FormatError, KeyposeError
from keypose.library.adding import Words, about, add_bytes
from keypose.library.analyses import (
    clips_without,
    descriptions_of,
    kept_seals,
    poses_of,
    seals_now,
    tracks_of,
    versions_of,
    write_analysis,
)
from keypose.library.analysis import ANALYSIS_VERSION, Analysis, analyse
from keypose.library.dialects.base import Vectors
from keypose.library.extra import sa
from keypose.library.material import packed
from keypose.library.nouns import Clip, Fault
from keypose.library.rows import clips_of, seal_of, settle, words_for
from keypose.library.searching.near import indexed
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, schema

# Killed processes leave a blob each, and later than the database was made. Where there are very many, or older ones,
# rather a database was lost, and they are all that is left of its clips: they are never removed.
MOST_ORPHANS = 64
CLOCKS = timedelta(seconds=0.1)  # that times of files may be coarser by


def verify(store: Store, where: str, *, fix: bool) -> Iterator[Fault]:
    """All that is wrong; with ``fix``, bytes of nobody are removed and the word index is made anew."""
    try:
        yield from _in_database(store, where, fix)
        with store.database.reading() as connection:
            there = clips_of(connection)
            made_at = datetime.fromisoformat(connection.execute(sa.select(schema.c.made_at)).scalar_one())
            kept = {row.hash: row.bytes for row in connection.execute(sa.select(blobs))}
    except (FormatError, ValueError, TypeError) as error:  # the latter two: a date that is none
        yield Fault("database", where, getattr(error, "problem", str(error)))
        return
    needed = {clip.blob for clip in there.values()}
    for digest in sorted(kept.keys() - needed):
        yield Fault("row", digest, "the database has bytes that belong to no clip")
    for clip in there.values():
        yield from _in_bytes(store, clip)
    yield from _orphans(store, kept.keys() | needed, made_at, len(there), fix)
    for name in list(store.blobs.leftovers()):
        if fix:
            store.blobs.remove_leftover(name)
        yield Fault("leftover", name, "a file that is no clip, left by a process that died or put there", fix)


def _in_database(store: Store, where: str, fix: bool) -> Iterator[Fault]:
    dialect = store.database.dialect
    with store.database.writing() as connection:
        for problem in dialect.problems(connection):
            yield Fault("database", where, problem)
        there = clips_of(connection)
        seals = {row.id: row.seal for row in connection.execute(sa.select(clips.c.id, clips.c.seal))}
        found = dialect.indexed_words(connection)
        for number, clip in there.items():
            if seal_of(clip) != seals[number]:
                yield Fault("row", clip.name, "what is kept about the clip was changed by accident; rebuild() takes "
                                              "what it can from the bytes")  # fmt: skip
        wrong = {number for number in there.keys() | found.keys() if _words(there, number) != found.get(number)}
        if wrong and fix:
            index_again(store, connection)
        if wrong:
            yield Fault("words", where, f"{len(wrong)} clips are not found by their words", fix)
    yield from _in_analyses(store, {number: clip.name for number, clip in there.items()})


def _in_analyses(store: Store, names: dict[int, str]) -> Iterator[Fault]:
    """Whether what is known about frames is there, whole, and by today's version."""
    with store.database.reading() as connection:
        for number in sorted(clips_without(connection) & names.keys()):
            yield Fault("analysis", names[number], "it was not analysed; rebuild() does it")
        versions, seals = versions_of(connection), kept_seals(connection)
        for number in sorted(seals.keys() & names.keys()):
            says = _wrong_analysis(store, connection, number, seals[number], versions[number])
            if says:
                yield Fault("analysis", names[number], f"{says}; rebuild() makes it anew")


def _wrong_analysis(store: Store, connection: sa.Connection, number: int, seal: str, version: int) -> str:
    if seals_now(connection, [number])[number] != seal:
        return "what is kept about its frames was changed by accident"
    if version != ANALYSIS_VERSION:
        return f"its analysis is of version {version}, expected {ANALYSIS_VERSION}"
    if not store.database.dialect.has_vector_index:
        return ""
    missing = store.database.dialect.unindexed(connection, number, _vectors(connection, number))
    return f"it is not found by its vectors ({', '.join(missing)})" if missing else ""


def _vectors(connection: sa.Connection, number: int) -> Mapping[str, Vectors]:
    here = [number]
    description, track = descriptions_of(connection, here), tracks_of(connection, here)
    return indexed(description.get(number), track.get(number), poses_of(connection, here).get(number))


def _index_vectors(store: Store, connection: sa.Connection, number: int) -> None:
    """Indexes what is kept, where it is sound: its bytes are not there to make it anew."""
    dialect = store.database.dialect
    if dialect.has_vector_index and kept_seals(connection).get(number) == seals_now(connection, [number])[number]:
        dialect.index_vectors(connection, number, _vectors(connection, number))


def _words(there: dict[int, Clip], number: int) -> tuple[str, ...] | None:
    return words_for(there[number]) if number in there else None


def index_again(store: Store, connection: sa.Connection) -> None:
    """Makes the index of words anew."""
    store.database.dialect.make_word_index(connection)
    for number, clip in clips_of(connection).items():
        store.database.dialect.index_words(connection, number, words_for(clip))


def _in_bytes(store: Store, clip: Clip) -> Iterator[Fault]:
    try:
        found = packed(store.blobs.read(clip.blob), store.blobs.stand_in(clip.blob), store.limits)
    except FileError as error:
        yield Fault("missing blob", clip.name, f"{error}; adding the file again mends it")
    except FormatError as error:
        yield Fault("damaged blob", clip.name, f"{error}; adding the file again mends it")
    else:
        if found.hash != clip.hash and clip.within_mm is None:  # else they are not those that came
            yield Fault("row", clip.name, f"its content has the sha256 {found.hash}, expected {clip.hash}")
        if len(found.data) != clip.bytes:
            yield Fault("row", clip.name, f"{len(found.data)} bytes, expected {clip.bytes}")


def _orphans(store: Store, needed: set[str], made_at: datetime, n_clips: int, fix: bool) -> Iterator[Fault]:
    found = [digest for digest in store.blobs.hashes() if digest not in needed]
    few = len(found) <= max(MOST_ORPHANS, n_clips)
    for digest in found:
        ours = few and store.blobs.written_at(digest) >= made_at - CLOCKS
        says = "bytes of no clip" if ours else "bytes of no clip; a database that knew them may be lost: see rebuild()"
        yield Fault("orphan blob", digest, says, fix and ours and store.drop_bytes(digest))


def rebuild(store: Store) -> Iterator[Fault]:
    """Takes in bytes of no clip, reads every clip anew for what is kept about its frames, and indexes all words.

    A lost database comes back so, under names made of hashes; yields what cannot be read.
    """
    with store.database.reading() as connection:
        known = set(connection.scalars(sa.select(clips.c.blob)))
    for digest in list(store.blobs.hashes()):
        if digest not in known:
            try:
                add_bytes(store, store.blobs.read(digest), Words(digest[:12], (), about("", "", "found by rebuild")))
            except KeyposeError as error:
                yield Fault("orphan blob", digest, str(error))
    with store.database.writing() as connection:
        store.database.dialect.make_word_index(connection)
        store.database.dialect.make_vector_index(connection)
    with store.database.reading() as connection:
        numbers = list(connection.scalars(sa.select(clips.c.id)))
    for number in numbers:
        yield from _read_again(store, number)


def _read_again(store: Store, number: int) -> Iterator[Fault]:
    chosen = sa.select(clips.c.id).where(clips.c.id == number)
    with store.database.reading() as connection:
        clip = clips_of(connection, chosen).get(number)
    if clip is None:
        return
    analysis: Analysis | None = None
    try:
        analysis = analyse(store.motion(clip))
    except KeyposeError as error:
        yield Fault("missing blob" if isinstance(error, FileError) else "damaged blob", clip.name, str(error))
    with store.database.writing() as connection:
        if clips_of(connection, chosen):
            if analysis is not None:
                connection.execute(sa.update(clips).where(clips.c.id == number).values(asdict(analysis.facts)))
                write_analysis(connection, store.database.dialect, number, analysis)
            else:
                _index_vectors(store, connection, number)
            settle(connection, store.database.dialect, number)
