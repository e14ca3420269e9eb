"""Whether a library is sound: every hash, rows with their bytes, bytes with their rows; and what can be mended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from keypose.errors import FileError, FormatError, KeyposeError
from keypose.library.adding import Words, about, add_bytes, facts_of
from keypose.library.extra import sa
from keypose.library.material import packed
from keypose.library.nouns import Clip, Fault
from keypose.library.rows import clips_of, seal_of, settle, words_for
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
        if found.hash != clip.hash:
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
    facts: dict[str, object] = {}
    try:
        facts = facts_of(store.motion(clip))
    except KeyposeError as error:
        yield Fault("missing blob" if isinstance(error, FileError) else "damaged blob", clip.name, str(error))
    with store.database.writing() as connection:
        if clips_of(connection, chosen):
            if facts:
                connection.execute(sa.update(clips).where(clips.c.id == number).values(facts))
            settle(connection, store.database.dialect, number)
