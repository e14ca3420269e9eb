"""Putting clips in: bytes first, then all rows in one transaction, so that whoever sees a clip can read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from keypose.errors import FileError, FormatError, LimitError
from keypose.formats.base import ReadOptions
from keypose.library.analysis_rows import write_analysis
from keypose.library.blobs import hash_of
from keypose.library.extra import sa
from keypose.library.material import STORED, Material, Packed, packed, packed_file, packed_motion, within
from keypose.library.nouns import Clip
from keypose.library.preparing import Prepared, prepared, read
from keypose.library.reading import AS_IS
from keypose.library.rows import clips_of, find, forget_blob, is_thrown_away, now, settle
from keypose.library.said import Words, insert_tags, is_news, with_words
from keypose.library.store import Store
from keypose.library.tables import blobs, clips
from keypose.library.wording import file_stem
from keypose.model import Motion


@dataclass(frozen=True)
class Kept:
    """A clip that is there, and what became of it by being added."""

    clip: Clip
    is_new: bool = False
    is_changed: bool = False  # it was known, and got a name, a tag or a remark
    is_mended: bool = False  # its bytes were lost or damaged, or not quite those that came


def add_motion(store: Store, motion: Motion, words: Words, within_mm: float | None = None) -> Clip:
    """Keeps a motion without loss, or within a tolerance."""
    what = Material(packed_motion(motion), STORED, motion)
    there = again(store, what.packed, words, within_mm)
    return there.clip if there is not None else _keep(store, prepared(what, within_mm), words)


def add_bytes(
    store: Store, data: bytes, words: Words, within_mm: float | None = None, options: ReadOptions = AS_IS
) -> Clip:
    """Keeps the bytes of a file that must not read any other."""
    if len(data) > store.limits.bytes:
        raise LimitError(words.name, f"{len(data)} bytes, expected at most {store.limits.bytes}; to allow it: "
                                     "limits=Limits(bytes=...)")  # fmt: skip
    found = packed(data, Path(words.name), store.limits)
    path = store.blobs.stand_in(file_stem(words.name))
    try:
        return _add(store, found, path, path, words, within_mm, options)
    except FormatError as error:
        if error.path != str(path):
            raise
        raise type(error)(words.name, error.problem, line=error.line, byte=error.byte) from None


def add_file(
    store: Store, path: Path, words: Words, within_mm: float | None = None, options: ReadOptions = AS_IS
) -> Clip:
    """Keeps a file."""
    found = packed_file(path, store.limits)
    return _add(store, found, path, store.blobs.stand_in("clip"), words, within_mm, options)


def _add(
    store: Store,
    found: Packed,
    path: Path,
    stand_in: Path,
    words: Words,
    within_mm: float | None,
    options: ReadOptions,
) -> Clip:
    """Content that is known is not read again, unless it may be read otherwise than before."""
    there = again(store, found, words, within_mm) if options == AS_IS else None
    if there is not None and is_kept(store, there.clip):
        return there.clip
    what = read(found, path, stand_in, store.limits, options)
    return _keep(store, prepared(what, within_mm), words) if there is None else mended(store, there.clip, what)


def is_kept(store: Store, clip: Clip) -> bool:
    """Whether the bytes of a clip are sound, as far as those that came cannot take their place."""
    return clip.within_mm is None or _is_sound(store, clip.blob)


def _is_sound(store: Store, blob: str) -> bool:
    try:
        store.blobs.read(blob)
    except (FileError, FormatError):
        return False
    return True


def again(store: Store, found: Packed, words: Words, within_mm: float | None = None) -> Kept | None:
    """The clip of content that is there already, with what is new about it; None if it is not there.

    Nor if it is there within a tolerance alone, and all its bytes are wanted now.
    """
    chosen = sa.select(clips.c.id).where(clips.c.hash == found.hash)
    with store.database.reading() as connection:
        found_here = clips_of(connection, chosen)
        is_away = any(is_thrown_away(connection, number) for number in found_here)
    there = next(iter(found_here.values()), None)
    if there is None or (there.within_mm is not None and within_mm is None):
        return None
    is_mended = there.within_mm is None and not _is_sound(store, there.blob)
    if is_mended:
        plain = there.suffix.removesuffix(".gz")
        there = _with_bytes(store, there, found.data, plain if found.data is found.content else f"{plain}.gz")
    has_news = is_news(there, words)
    if not is_away and not has_news:
        return Kept(there, is_mended=is_mended)
    with store.database.writing() as connection:
        still = clips_of(connection, chosen)
        if not still:
            return None
        clip = with_words(store, connection, *next(iter(still.items())), words)
        return Kept(clip, is_changed=has_news, is_mended=is_mended)


def mended(store: Store, clip: Clip, what: Material) -> Clip:
    """A clip that is kept within a tolerance gets its bytes again; a newer encoder may make others than were lost."""
    return _with_bytes(store, clip, within(what, clip.within_mm).packed.data, clip.suffix)


def _with_bytes(store: Store, clip: Clip, data: bytes, suffix: str) -> Clip:
    """A clip with bytes in the place of those that are lost: the very same, or the same content packed otherwise."""
    blob = store.blobs.put(data)
    if blob == clip.blob:
        return clip
    with store.database.writing() as connection:
        number, there = find(connection, clip.hash)
        connection.execute(store.database.dialect.insert_new(blobs, [{"hash": blob, "bytes": len(data)}]))
        connection.execute(sa.update(clips).where(clips.c.id == number).values(blob=blob, suffix=suffix))
        forget_blob(connection, there.blob)
        now_there = settle(connection, store.database.dialect, number)
    store.drop_bytes(there.blob)
    return now_there


def _keep(store: Store, what: Prepared, words: Words) -> Clip:
    return keep_all(store, [(what, words)])[0].clip


def keep_all(store: Store, whole: Sequence[tuple[Prepared, Words]]) -> list[Kept]:
    """Clips that were read, all in one transaction; those whose content is there are not new."""
    with store.database.reading() as connection:
        hashes = sa.select(clips.c.hash).where(clips.c.hash.in_([what.hash for what, _ in whole]))
        known = set(connection.scalars(hashes))  # before: bytes of what others add just now were never lost
    lost = [what.hash in known and not _is_sound(store, hash_of(what.data)) for what, _ in whole]
    kept = [store.blobs.put(what.data) for what, _ in whole]
    done, dropped = [], []
    with store.database.writing() as connection:
        for (what, said), blob, was_lost in zip(whole, kept, lost, strict=True):
            words = said.of(what)
            there = clips_of(connection, sa.select(clips.c.id).where(clips.c.hash == what.hash))
            if there:
                number, before = next(iter(there.items()))
                is_better = before.within_mm is not None and what.within_mm is None
                if is_better:
                    _put_in_place(store, connection, number, what, blob)
                    dropped.append(before.blob)
                clip = with_words(store, connection, number, before, words)
                is_mended = is_better or (was_lost and clip.blob == blob)
                done.append(Kept(clip, is_changed=is_news(before, words), is_mended=is_mended))
            else:
                done.append(Kept(_inserted(store, connection, what, blob, words), is_new=True))
            if done[-1].clip.blob == blob and not store.blobs.has(blob):
                store.blobs.put(what.data)  # somebody removed the clip just now; with the lock nobody can again
    dropped += [blob for one, blob in zip(done, kept, strict=True) if one.clip.blob != blob]  # there, packed otherwise
    for blob in dropped:
        store.drop_bytes(blob)
    return done


def _put_in_place(store: Store, connection: sa.Connection, number: int, what: Prepared, blob: str) -> None:
    """The bytes that came, for a clip that was kept within a tolerance."""
    before = connection.execute(sa.select(clips.c.blob).where(clips.c.id == number)).scalar_one()
    connection.execute(store.database.dialect.insert_new(blobs, [{"hash": blob, "bytes": len(what.data)}]))
    values = {"blob": blob, "suffix": what.suffix, "within_mm": None}
    connection.execute(sa.update(clips).where(clips.c.id == number).values(values))
    forget_blob(connection, before)


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
