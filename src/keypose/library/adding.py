"""Putting clips in: bytes first, then all rows in one transaction, so that whoever sees a clip can read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path

from keypose.errors import FileError, FormatError, OptionError
from keypose.formats.base import Source
from keypose.library.analyses import write_analysis
from keypose.library.blobs import hash_of
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.material import STORED, Material, Packed, packed, packed_file, packed_motion, within
from keypose.library.nouns import Clip
from keypose.library.preparing import Prepared, prepared, read
from keypose.library.rows import clips_of, find, now, settle
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, names, tags
from keypose.library.wording import clean_name, clean_note, file_stem
from keypose.model import Motion


@dataclass(frozen=True)
class Words:
    """What a person says about a clip, clean."""

    name: str
    tags: tuple[str, ...]
    about: Mapping[str, str]  # source, licence, note


def add_motion(store: Store, motion: Motion, words: Words, within_mm: float | None = None) -> Clip:
    """Keeps a motion without loss, or within a tolerance."""
    what = Material(packed_motion(motion), STORED, motion)
    return _again(store, what.packed, words) or _keep(store, prepared(what, within_mm), words)


def add_bytes(store: Store, data: bytes, words: Words, within_mm: float | None = None) -> Clip:
    """Keeps the bytes of a file that must not read any other."""
    found = packed(data, Path(words.name), store.limits)
    path = store.blobs.stand_in(file_stem(words.name))
    try:
        return _add(store, found, path, path, words, within_mm)
    except FormatError as error:
        if error.path != str(path):
            raise
        raise type(error)(words.name, error.problem, line=error.line, byte=error.byte) from None


def add_file(store: Store, path: Path, words: Words, within_mm: float | None = None) -> Clip:
    """Keeps a file."""
    return _add(store, packed_file(path, store.limits), path, store.blobs.stand_in("clip"), words, within_mm)


def name_of(path: str | PathLike[str]) -> tuple[Path, str]:
    """A path, and the name that its clip has by default."""
    try:
        found = Path(path)
    except TypeError:
        raise OptionError(f"{type(path).__name__} to add, expected a path, bytes or a Motion") from None
    return found, clean_name(Source(found, b"").name or "clip")


def about(source: str, licence: str, note: str) -> dict[str, str]:
    """Remarks, clean."""
    said = {"source": source, "licence": licence, "note": note}
    return {what: clean_note(what, text) for what, text in said.items()}


def _add(store: Store, found: Packed, path: Path, stand_in: Path, words: Words, within_mm: float | None) -> Clip:
    """Content that is known is not read again."""
    return known(store, found, path, stand_in, words) or _keep(
        store, prepared(read(found, path, stand_in, store.limits), within_mm), words
    )


def known(store: Store, found: Packed, path: Path, stand_in: Path, words: Words) -> Clip | None:
    """The clip of content that is there already, mended, with what is new about it; None if it is not there."""
    there = _again(store, found, words)
    if there is None or _is_kept(store, there):
        return there
    return _mended(store, there, read(found, path, stand_in, store.limits))


def _is_kept(store: Store, clip: Clip) -> bool:
    """Whether the bytes of a clip are sound, as far as those that came cannot take their place."""
    if clip.within_mm is None:
        return True
    try:
        store.blobs.read(clip.blob)
    except (FileError, FormatError):
        return False
    return True


def _again(store: Store, found: Packed, words: Words) -> Clip | None:
    """The clip of content that is there already, with what is new about it; None if it is not there."""
    chosen = sa.select(clips.c.id).where(clips.c.hash == found.hash)
    with store.database.reading() as connection:
        there = next(iter(clips_of(connection, chosen).values()), None)
    if there is None:
        return None
    if there.blob == hash_of(found.data):
        store.blobs.put(found.data)  # mends what is damaged
    if not _is_news(there, words):
        return there
    with store.database.writing() as connection:
        still = clips_of(connection, chosen)
        return _with_words(store, connection, *next(iter(still.items())), words) if still else None


def _mended(store: Store, clip: Clip, what: Material) -> Clip:
    """A clip that is kept within a tolerance gets its bytes again; a newer encoder may make others than were lost."""
    data = within(what, clip.within_mm).packed.data
    blob = store.blobs.put(data)
    if blob == clip.blob:
        return clip
    with store.database.writing() as connection:
        number, there = find(connection, clip.hash)
        connection.execute(store.database.dialect.insert_new(blobs, [{"hash": blob, "bytes": len(data)}]))
        connection.execute(sa.update(clips).where(clips.c.id == number).values(blob=blob))
        connection.execute(sa.delete(blobs).where(blobs.c.hash == there.blob))
        return settle(connection, store.database.dialect, number)


def _keep(store: Store, what: Prepared, words: Words) -> Clip:
    return keep_all(store, [(what, words)])[0][0]


def keep_all(store: Store, whole: Sequence[tuple[Prepared, Words]]) -> list[tuple[Clip, bool]]:
    """New clips, all in one transaction; False where another process has made one of the same content meanwhile."""
    kept = [store.blobs.put(what.data) for what, _ in whole]
    done = []
    with store.database.writing() as connection:
        for (what, words), blob in zip(whole, kept, strict=True):
            there = clips_of(connection, sa.select(clips.c.id).where(clips.c.hash == what.hash))
            if there:
                clip = _with_words(store, connection, *next(iter(there.items())), words)
            else:
                clip = _inserted(store, connection, what, blob, words)
            if clip.blob == blob and not store.blobs.has(blob):
                store.blobs.put(what.data)  # somebody removed the clip just now; with the lock nobody can again
            done.append((clip, not there))
    for (clip, _), blob in zip(done, kept, strict=True):
        if clip.blob != blob:  # the same content was there, packed otherwise
            store.drop_bytes(blob)
    return done


def _inserted(store: Store, connection: sa.Connection, what: Prepared, blob: str, words: Words) -> Clip:
    dialect = store.database.dialect
    connection.execute(dialect.insert_new(blobs, [{"hash": blob, "bytes": len(what.data)}]))
    row = {
        "hash": what.hash,
        "blob": blob,
        "name": words.name,
        "suffix": what.suffix,
        **asdict(what.analysis.facts),
        **words.about,
        "added_at": now(),
        "within_mm": what.within_mm,
        "seal": "",
    }
    number = connection.execute(sa.insert(clips).values(row).returning(clips.c.id)).scalar_one()
    insert_tags(connection, dialect, number, words.tags)
    write_analysis(connection, dialect, number, what.analysis)
    return settle(connection, dialect, number)


def insert_tags(connection: sa.Connection, dialect: Dialect, number: int, tagged: tuple[str, ...]) -> None:
    """Gives tags to a clip; those that it has it keeps."""
    if tagged:
        connection.execute(dialect.insert_new(tags, [{"clip": number, "tag": tag} for tag in tagged]))


def _is_news(clip: Clip, words: Words) -> bool:
    named = words.name in (clip.name, *clip.also_named)
    return not named or not set(words.tags).issubset(clip.tags) or bool(_missing(clip, words))


def _missing(clip: Clip, words: Words) -> dict[str, str]:
    """What is said now and was not said before."""
    return {what: text for what, text in words.about.items() if text and not getattr(clip, what)}


def _with_words(store: Store, connection: sa.Connection, number: int, clip: Clip, words: Words) -> Clip:
    dialect = store.database.dialect
    if words.name != clip.name:
        connection.execute(dialect.insert_new(names, [{"clip": number, "name": words.name}]))
    if missing := _missing(clip, words):
        connection.execute(sa.update(clips).where(clips.c.id == number).values(missing))
    insert_tags(connection, dialect, number, words.tags)
    return settle(connection, dialect, number)
