"""Whether a library is sound: every hash, rows with their bytes, bytes with their rows; and what can be mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from keypose.errors import FileError, FormatError
from keypose.library import marker
from keypose.library.analysis import ANALYSIS_VERSION
from keypose.library.analysis_rows import clips_without, is_swinging_whole, kept_seals, seals_now, versions_of
from keypose.library.blobs.base import OWNER
from keypose.library.blobs.owner import claim, owner_of
from keypose.library.database import identity_of
from keypose.library.extra import sa
from keypose.library.indexing import index_words_again, kept_vectors
from keypose.library.material import packed
from keypose.library.nouns import Clip, Fault
from keypose.library.rows import clips_of, seal_of, words_for
from keypose.library.store import Store
from keypose.library.tables import blobs, clips

_TAKES_IN = "adding their file again or rebuild() takes them in, verify(drop_orphans=True) removes them"


def verify(store: Store, where: str, *, fix: bool, drop_orphans: bool = False) -> Iterator[Fault]:
    """All that is wrong; with ``fix``, what writers that died left is removed, and indexes are made anew.

    Bytes of no clip may be all that is left of one, whose database was lost or is an older copy: only ``drop_orphans``
    removes them. Others may write meanwhile: the lock is taken for single steps alone, and what they change is no
    fault.
    """
    there: dict[int, Clip] = {}
    try:
        yield from _in_database(store, where, fix, there)
    except FormatError as error:
        yield Fault("database", where, error.problem)
        return
    for clip in there.values():
        faults = list(_in_bytes(store, clip))
        if faults and _is_still(store, clip):
            yield from faults
    try:
        yield from _orphans(store, drop_orphans)
        yield from _others(store, fix)
    except FileError as error:
        yield Fault("missing blob", str(store.blobs), str(error))


def _in_database(store: Store, where: str, fix: bool, there: dict[int, Clip]) -> Iterator[Fault]:
    """All but bytes; puts the clips whose rows are whole into ``there``."""
    dialect = store.database.dialect
    damaged: dict[int, str] = {}
    with store.database.reading() as connection, dialect.as_they_are(connection):
        for problem in (*dialect.problems(connection), *marker.problems(connection), *_unknown(connection)):
            yield Fault("database", where, problem)
        lost = dialect.lost_indexes(connection)
        there.update(clips_of(connection, damaged=damaged))
        seals = {row.id: row.seal for row in connection.execute(sa.select(clips.c.id, clips.c.seal))}
        nobodys = sa.select(blobs.c.hash).where(blobs.c.hash.not_in(sa.select(clips.c.blob)))
        for digest in sorted(map(str, connection.scalars(nobodys))):
            yield Fault("row", digest, "the database has bytes that belong to no clip; rebuild() makes it sound")
        found = _indexed_words(store, connection)
    for number, wrong in damaged.items():
        yield Fault("row", f"clip {number}", f"its row is damaged ({wrong}); rebuild() makes it sound by its bytes")
    for number, clip in there.items():
        if seal_of(clip) != seals[number]:
            yield Fault("row", clip.name, "what is kept about the clip was changed by accident; rebuild() takes "
                                          "what it can from the bytes")  # fmt: skip
    numbers = (there.keys() | found.keys()) - damaged.keys()
    wrong_words = {number for number in numbers if _words(there, number) != found.get(number)}
    yield from _in_indexes(store, where, lost, len(wrong_words), fix)
    yield from _in_analyses(store, {number: clip.name for number, clip in there.items()})


def _unknown(connection: sa.Connection) -> Iterator[str]:
    if identity_of(connection) is None:
        yield "it does not say which library it is; rebuild() makes it sound"


def _indexed_words(store: Store, connection: sa.Connection) -> dict[int, tuple[str, ...]]:
    """By which words clips are found; of an index that cannot be read, none."""
    try:
        with connection.begin_nested():
            return store.database.dialect.indexed_words(connection)
    except sa.exc.DBAPIError:
        return {}


def _in_indexes(
    store: Store, where: str, lost: Mapping[str, sa.Executable], n_wrong: int, fix: bool
) -> Iterator[Fault]:
    dialect = store.database.dialect
    broken: list[str] = []
    if fix or dialect.may_write:
        with store.database.writing() as connection:
            broken += dialect.word_problems(connection)
            if fix:
                _make_indexes(store, connection, lost, words=bool(n_wrong or broken))
    for name in lost:
        yield Fault("database", where, f"the index {name} is gone; verify(fix=True) makes it again", fix)
    for problem in broken:
        yield Fault("words", where, f"{problem}; verify(fix=True) makes it again", fix)
    if n_wrong:
        yield Fault("words", where, f"{n_wrong} clips are not found by their words", fix)


def _make_indexes(store: Store, connection: sa.Connection, lost: Mapping[str, sa.Executable], *, words: bool) -> None:
    """Makes that of words anew, and indexes that are lost, where nobody else has made them meanwhile."""
    if words:
        index_words_again(store, connection)
    still = store.database.dialect.lost_indexes(connection)
    for name in lost.keys() & still.keys():
        connection.execute(still[name])


def _in_analyses(store: Store, names: dict[int, str]) -> Iterator[Fault]:
    """Whether what is known about frames is there, whole, and by today's version."""
    with store.database.reading() as connection, store.database.dialect.as_they_are(connection):
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
    if not is_swinging_whole(connection, number):
        return "it is not found by the parts of the body that swing"
    if not store.database.dialect.has_vector_index:
        return ""
    missing = store.database.dialect.unindexed(connection, number, kept_vectors(connection, number))
    return f"it is not found by its vectors ({', '.join(missing)})" if missing else ""


def _words(there: dict[int, Clip], number: int) -> tuple[str, ...] | None:
    return words_for(there[number]) if number in there else None


def _in_bytes(store: Store, clip: Clip) -> Iterator[Fault]:
    try:
        found = packed(store.blobs.read(clip.blob, clip.bytes), store.blobs.stand_in(clip.blob), store.limits)
    except FileError as error:
        yield Fault("missing blob", clip.name, f"{error}; adding the file again mends it")
    except FormatError as error:
        yield Fault("damaged blob", clip.name, f"{error}; adding the file again mends it")
    else:
        if found.hash != clip.hash and clip.within_mm is None:  # else they are not those that came
            yield Fault("row", clip.name, f"its content has the sha256 {found.hash}, expected {clip.hash}")
        if len(found.data) != clip.bytes:
            yield Fault("row", clip.name, f"{len(found.data)} bytes, expected {clip.bytes}")


def _is_still(store: Store, clip: Clip) -> bool:
    """Whether nobody has removed or mended a clip meanwhile."""
    with store.database.reading() as connection:
        same = sa.select(clips.c.id).where(clips.c.hash == clip.hash, clips.c.blob == clip.blob)
        return connection.execute(same).first() is not None


def _orphans(store: Store, drop: bool) -> Iterator[Fault]:
    there = list(store.blobs.hashes())
    with store.database.reading() as connection:  # after that: bytes that came meanwhile are not among them
        needed = set(connection.scalars(sa.union(sa.select(blobs.c.hash), sa.select(clips.c.blob))))
    for digest in there:
        if digest not in needed and store.blobs.has(digest):
            yield Fault("orphan blob", digest, f"bytes of no clip; {_TAKES_IN}", drop and store.drop_bytes(digest))


def _others(store: Store, fix: bool) -> Iterator[Fault]:
    """What is at the place of the bytes and is none."""
    for name in list(store.blobs.leftovers()):
        if fix:
            store.blobs.remove_leftover(name)
        yield Fault("leftover", name, "a file that a process left which died", fix)
    for name in store.blobs.strangers():
        yield Fault("leftover", name, "not put there by a library, and left alone; move it away yourself")
    identity = store.database.identity
    if identity is not None and store.blobs.at_top() is not None and owner_of(store.blobs) != identity:
        if fix:
            claim(store.blobs, identity)
        yield Fault("leftover", OWNER, "does not say whose bytes these are; verify(fix=True) makes it say so", fix)
