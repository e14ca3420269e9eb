"""Putting clips in: bytes first, then all rows in one transaction, so that whoever sees a clip can read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from keypose.errors import FileError, FormatError, OptionError
from keypose.formats.base import Source
from keypose.library.blobs import hash_of
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.material import (
    STORED,
    Material,
    Packed,
    material,
    packed,
    packed_file,
    packed_motion,
    skeleton_hash,
)
from keypose.library.nouns import Clip
from keypose.library.rows import clips_of, now, settle
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


def add_motion(store: Store, motion: Motion, words: Words) -> Clip:
    """Keeps a motion without loss."""
    return _keep(store, Material(packed_motion(motion), STORED, motion), words)


def add_bytes(store: Store, data: bytes, words: Words) -> Clip:
    """Keeps the bytes of a file that must not read any other."""
    path = store.blobs.stand_in(file_stem(words.name))
    return _add(store, packed(data, Path(words.name), store.limits), path, words)


def add_file(store: Store, path: Path, words: Words) -> Clip:
    """Keeps a file."""
    return _add(store, packed_file(path, store.limits), path, words)


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


def _add(store: Store, found: Packed, path: Path, words: Words) -> Clip:
    """Content that is known is not read again."""
    return _again(store, found, words) or _keep(store, _read(store, found, path, words.name), words)


def _read(store: Store, found: Packed, path: Path, name: str) -> Material:
    stand_in = store.blobs.stand_in("clip")
    if path.parent != stand_in.parent:
        return material(found, path, stand_in, store.limits)
    try:
        return material(found, path, path, store.limits)
    except FormatError as error:
        raise type(error)(name, error.problem, line=error.line, byte=error.byte) from None
    except FileError:
        raise FormatError(name, "needs another file beside it, expected bytes that can be read alone") from None


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


def _keep(store: Store, what: Material, words: Words) -> Clip:
    """A new clip, or the one that another process has made of the same content meanwhile."""
    found = what.packed
    blob = store.blobs.put(found.data)
    with store.database.writing() as connection:
        there = clips_of(connection, sa.select(clips.c.id).where(clips.c.hash == found.hash))
        if there:
            clip = _with_words(store, connection, *next(iter(there.items())), words)
        else:
            clip = _inserted(store, connection, what, blob, words)
        if clip.blob == blob and not store.blobs.has(blob):
            store.blobs.put(found.data)  # somebody removed the clip just now; with the lock nobody can again
    if clip.blob != blob:  # the same content was there, packed otherwise
        store.drop_bytes(blob)
    return clip


def _inserted(store: Store, connection: sa.Connection, what: Material, blob: str, words: Words) -> Clip:
    motion = what.motion
    connection.execute(store.database.dialect.insert_new(blobs, [{"hash": blob, "bytes": len(what.packed.data)}]))
    row = {
        "hash": what.packed.hash,
        "blob": blob,
        "name": words.name,
        "suffix": what.suffix,
        **facts_of(motion),
        **words.about,
        "added_at": now(),
        "seal": "",
    }
    number = connection.execute(sa.insert(clips).values(row).returning(clips.c.id)).scalar_one()
    insert_tags(connection, store.database.dialect, number, words.tags)
    return settle(connection, store.database.dialect, number)


def facts_of(motion: Motion) -> dict[str, object]:
    """What is kept about the frames of a clip."""
    return {
        "fps": motion.fps,
        "n_frames": motion.n_frames,
        "duration_s": motion.duration_s,
        "n_joints": motion.n_joints,
        "skeleton": skeleton_hash(motion.skeleton),
    }


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
