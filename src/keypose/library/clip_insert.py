"""Insertion of clips: blobs are written first, then all rows in one transaction, so that every visible clip can be
read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path

from keypose.errors import FileError, FormatError, LimitError, OptionError, format_count
from keypose.formats.base import build_load_options
from keypose.library.analysis import (
    KPS_SUFFIX,
    FileContent,
    PreparedClip,
    SourceFile,
    apply_tolerance,
    check_tolerance_mm,
    encode_motion,
    prepare_clip,
    read_content,
    read_source,
    unzip_content,
)
from keypose.library.analysis_rows import write_analysis
from keypose.library.blobs import sha256_hex
from keypose.library.extra import sa
from keypose.library.metadata import (
    ClipMetadata,
    adds_metadata,
    clean_fields,
    default_name,
    default_source,
    insert_tags,
    merge_metadata,
)
from keypose.library.records import Clip
from keypose.library.rows import (
    clean_name,
    delete_unused_blob_row,
    file_stem,
    finalize_clip,
    find_clip,
    is_in_trash,
    load_clips,
)
from keypose.library.store import Store
from keypose.library.tables import blobs, clips, now_text
from keypose.limits import limit_hint
from keypose.model import Motion
from keypose.options import DEFAULT_LOAD_OPTIONS, LoadOptions
from keypose.options.library import AddOptions
from keypose.validation import check_text


@dataclass(frozen=True)
class InsertResult:
    """An added clip, and whether it is new, changed or repaired."""

    clip: Clip
    is_new: bool = False
    is_changed: bool = False  # existed, and got a new name, tag or field
    is_repaired: bool = False  # its lost, damaged or lossy bytes were replaced


def parse_load_options(
    reference_pose: str, asf: str | PathLike[str] | None, gaps: str, animation: str | int | None, fps: float | None
) -> LoadOptions:
    """Return checked options; the path of a skeleton becomes absolute, as workers have folders of their own."""
    options = build_load_options(reference_pose=reference_pose, asf=asf, gaps=gaps, animation=animation, fps=fps)
    return options if options.asf is None else replace(options, asf=options.asf.absolute())


def add(
    store: Store,
    content: str | PathLike[str] | bytes | Motion,
    name: str | None,
    options: AddOptions,
    load_options: LoadOptions,
) -> Clip:
    """Add a file, the bytes of one (then with a name) or a motion."""
    tolerance_mm = check_tolerance_mm(options.tolerance_mm)
    source, licence, note = options.source, options.licence, options.note
    for option, text in (("name", name), ("source", source)):
        if text is not None:
            check_text(option, text)
    if isinstance(content, Motion):
        if load_options != DEFAULT_LOAD_OPTIONS:
            raise OptionError("how to read a Motion", expected="nothing: it was read already")
        metadata = ClipMetadata(
            clean_name(name or content.name or "clip"), options.tags, clean_fields(source or "", licence, note)
        )
        return add_motion(store, content, metadata, tolerance_mm)
    if isinstance(content, bytes):
        if name is None:
            raise OptionError(option="name", value=None, expected="a name, as bytes have none")
        metadata = ClipMetadata(clean_name(name), options.tags, clean_fields(source or "", licence, note))
        return add_bytes(store, content, metadata, tolerance_mm, load_options)
    path, file_name = default_name(content)
    fields = clean_fields(default_source(path) if source is None else source, licence, note)
    if name is None:
        metadata = ClipMetadata(
            file_name, options.tags, fields, "" if load_options.animation is None else str(load_options.animation)
        )
    else:
        metadata = ClipMetadata(clean_name(name), options.tags, fields)
    return add_file(store, path, metadata, tolerance_mm, load_options)


def add_motion(store: Store, motion: Motion, metadata: ClipMetadata, tolerance_mm: float | None = None) -> Clip:
    """Add a motion, losslessly or within a tolerance."""
    source = SourceFile(encode_motion(motion), KPS_SUFFIX, motion)
    existing = find_existing(store, source.content, metadata, tolerance_mm)
    return existing.clip if existing is not None else _insert_one(store, prepare_clip(source, tolerance_mm), metadata)


def add_bytes(
    store: Store,
    data: bytes,
    metadata: ClipMetadata,
    tolerance_mm: float | None = None,
    options: LoadOptions = DEFAULT_LOAD_OPTIONS,
) -> Clip:
    """Add the bytes of a file; they must be readable without other files."""
    if len(data) > store.limits.bytes:
        raise LimitError(
            metadata.name,
            format_count(len(data), "byte"),
            expected=f"at most {store.limits.bytes}",
            hint=limit_hint("bytes"),
        )
    content = unzip_content(data, Path(metadata.name), store.limits)
    path = store.blobs.placeholder_path(file_stem(metadata.name))
    try:
        return _add_content(store, content, path, path, metadata, tolerance_mm, options)
    except FormatError as error:
        if error.path != str(path):
            raise
        raise error.with_fields(path=metadata.name) from None


def add_file(
    store: Store,
    path: Path,
    metadata: ClipMetadata,
    tolerance_mm: float | None = None,
    options: LoadOptions = DEFAULT_LOAD_OPTIONS,
) -> Clip:
    """Add a file."""
    content = read_content(path, store.limits)
    return _add_content(store, content, path, store.blobs.placeholder_path("clip"), metadata, tolerance_mm, options)


def _add_content(
    store: Store,
    content: FileContent,
    path: Path,
    placeholder: Path,
    metadata: ClipMetadata,
    tolerance_mm: float | None,
    options: LoadOptions,
) -> Clip:
    """Add content; known content is read again only if load options are given or its bytes must be restored."""
    existing = find_existing(store, content, metadata, tolerance_mm) if options == DEFAULT_LOAD_OPTIONS else None
    if existing is not None and has_intact_bytes(store, existing.clip):
        return existing.clip
    source = read_source(content, path, placeholder, store.limits, options)
    return (
        _insert_one(store, prepare_clip(source, tolerance_mm), metadata)
        if existing is None
        else restore_bytes(store, existing.clip, source)
    )


def has_intact_bytes(store: Store, clip: Clip) -> bool:
    """Return whether the stored bytes need no repair by reading the source again, as lossy ones may."""
    return clip.tolerance_mm is None or _is_intact(store, clip.blob)


def _is_intact(store: Store, blob: str) -> bool:
    try:
        store.blobs.read(blob)
    except (FileError, FormatError):
        return False
    return True


def find_existing(
    store: Store, content: FileContent, metadata: ClipMetadata, tolerance_mm: float | None = None
) -> InsertResult | None:
    """Return the existing clip of this content, updated by ``metadata``; None if there is none.

    Also None if the clip is stored within a tolerance and lossless storage is requested.
    """
    id_query = sa.select(clips.c.id).where(clips.c.hash == content.hash)
    with store.database.begin_read() as connection:
        existing_clips = load_clips(connection, id_query)
        is_trashed = any(is_in_trash(connection, clip_id) for clip_id in existing_clips)
    existing = next(iter(existing_clips.values()), None)
    if existing is None or (existing.tolerance_mm is not None and tolerance_mm is None):
        return None
    is_repaired = existing.tolerance_mm is None and not _is_intact(store, existing.blob)
    if is_repaired:
        plain_suffix = existing.suffix.removesuffix(".gz")
        existing = _replace_bytes(
            store, existing, content.data, plain_suffix if content.data is content.unzipped else f"{plain_suffix}.gz"
        )
    has_new_metadata = adds_metadata(existing, metadata)
    if not is_trashed and not has_new_metadata:
        return InsertResult(existing, is_repaired=is_repaired)
    with store.database.begin_write() as connection:
        current_clips = load_clips(connection, id_query)
        if not current_clips:
            return None
        clip = merge_metadata(store, connection, *next(iter(current_clips.items())), metadata)
        return InsertResult(clip, is_changed=has_new_metadata, is_repaired=is_repaired)


def restore_bytes(store: Store, clip: Clip, source: SourceFile) -> Clip:
    """Encode a lossy clip again from its source; a newer encoder may produce other bytes than the lost ones."""
    return _replace_bytes(store, clip, apply_tolerance(source, clip.tolerance_mm).content.data, clip.suffix)


def _replace_bytes(store: Store, clip: Clip, data: bytes, suffix: str) -> Clip:
    """Store bytes for a clip with a lost blob: the same bytes, or the same content compressed differently."""
    blob = store.put_bytes(data)
    if blob == clip.blob:
        return clip
    with store.database.begin_write() as connection:
        clip_id, old_clip = find_clip(connection, clip.hash)
        connection.execute(store.database.dialect.insert_new(blobs, [{"hash": blob, "bytes": len(data)}]))
        connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(blob=blob, suffix=suffix))
        delete_unused_blob_row(connection, old_clip.blob)
        new_clip = finalize_clip(connection, store.database.dialect, clip_id)
    store.delete_unused_bytes(old_clip.blob)
    return new_clip


def _insert_one(store: Store, prepared: PreparedClip, metadata: ClipMetadata) -> Clip:
    return insert_clips(store, [(prepared, metadata)])[0].clip


def insert_clips(store: Store, prepared_clips: Sequence[tuple[PreparedClip, ClipMetadata]]) -> list[InsertResult]:
    """Insert prepared clips in one transaction; clips with existing content are updated."""
    with store.database.begin_read() as connection:
        hashes = sa.select(clips.c.hash).where(clips.c.hash.in_([prepared.hash for prepared, _ in prepared_clips]))
        # Read first, so that clips added by others in the meantime are not lost.
        existing_hashes = set(connection.scalars(hashes))
    was_lost_flags = [
        prepared.hash in existing_hashes and not _is_intact(store, sha256_hex(prepared.data))
        for prepared, _ in prepared_clips
    ]
    blob_hashes = [store.put_bytes(prepared.data) for prepared, _ in prepared_clips]
    results, unused_blobs = [], []
    with store.database.begin_write() as connection:
        for (prepared, template), blob, was_lost in zip(prepared_clips, blob_hashes, was_lost_flags, strict=True):
            metadata = template.for_clip(prepared)
            existing = load_clips(connection, sa.select(clips.c.id).where(clips.c.hash == prepared.hash))
            if existing:
                clip_id, old_clip = next(iter(existing.items()))
                is_better = old_clip.tolerance_mm is not None and prepared.tolerance_mm is None
                if is_better:
                    _store_exact_bytes(store, connection, clip_id, prepared, blob)
                    unused_blobs.append(old_clip.blob)
                clip = merge_metadata(store, connection, clip_id, old_clip, metadata)
                is_repaired = is_better or (was_lost and clip.blob == blob)
                results.append(
                    InsertResult(clip, is_changed=adds_metadata(old_clip, metadata), is_repaired=is_repaired)
                )
            else:
                results.append(InsertResult(_insert_clip(store, connection, prepared, blob, metadata), is_new=True))
            if results[-1].clip.blob == blob and not store.blobs.has(blob):
                # Another process has removed the blob; while the lock is held it cannot be removed.
                store.put_bytes(prepared.data)
    unused_blobs += [
        blob for result, blob in zip(results, blob_hashes, strict=True) if result.clip.blob != blob
    ]  # existing, compressed differently
    for blob in unused_blobs:
        store.delete_unused_bytes(blob)
    return results


def _store_exact_bytes(
    store: Store, connection: sa.Connection, clip_id: int, prepared: PreparedClip, blob: str
) -> None:
    """Replace the lossy bytes of a clip by the original ones."""
    old_blob = connection.execute(sa.select(clips.c.blob).where(clips.c.id == clip_id)).scalar_one()
    connection.execute(store.database.dialect.insert_new(blobs, [{"hash": blob, "bytes": len(prepared.data)}]))
    values = {"blob": blob, "suffix": prepared.suffix, "tolerance_mm": None}
    connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(values))
    delete_unused_blob_row(connection, old_blob)


def _insert_clip(
    store: Store, connection: sa.Connection, prepared: PreparedClip, blob: str, metadata: ClipMetadata
) -> Clip:
    dialect = store.database.dialect
    connection.execute(dialect.insert_new(blobs, [{"hash": blob, "bytes": len(prepared.data)}]))
    row = {
        "hash": prepared.hash,
        "blob": blob,
        "name": metadata.name,
        "suffix": prepared.suffix,
        **asdict(prepared.analysis.facts),
        **metadata.fields,
        "added_at": now_text(),
        "tolerance_mm": prepared.tolerance_mm,
        "is_placeholder": int(metadata.is_placeholder),
        "checksum": "",
    }
    clip_id = connection.execute(sa.insert(clips).values(row).returning(clips.c.id)).scalar_one()
    insert_tags(connection, dialect, clip_id, metadata.tags)
    write_analysis(connection, dialect, clip_id, prepared.analysis)
    return finalize_clip(connection, dialect, clip_id)
