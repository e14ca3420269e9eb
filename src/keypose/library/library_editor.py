"""Changes to clips: metadata, trash, drafts; export, verification and rebuild of a library."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from keypose.errors import OptionError
from keypose.library import clip_export, drafts, trash, verification
from keypose.library.extra import sa
from keypose.library.library_ingest import LibraryIngest
from keypose.library.metadata import insert_tags
from keypose.library.reanalysis import OnRebuildProgress
from keypose.library.rebuild_steps import rebuild_library
from keypose.library.records import Clip, Draft, Fault
from keypose.library.rows import finalize_clip, find_clip
from keypose.library.tables import clips, other_names, tags
from keypose.library.text_normalization import clean_name, clean_note, clean_tags
from keypose.validation import format_value


class LibraryEditor(LibraryIngest):
    """A library with everything but search by example."""

    # Trash

    def trash(self, *clips: str) -> tuple[Clip, ...]:
        """Move clips to the trash, out of all lists and searches, until ``restore``: all or none.

        Their bytes stay. Adding the same content again restores them, too.
        """
        return trash.move_to_trash(self._store, clips)

    def restore(self, *clips: str) -> tuple[Clip, ...]:
        """Restore clips from the trash, by name or hash: all or none."""
        return trash.restore(self._store, clips)

    def empty_trash(self, older_than_days: float = 30.0) -> tuple[Clip, ...]:
        """Delete clips that have been in the trash for longer, with their bytes; return them."""
        return trash.empty_trash(self._store, older_than_days)

    def remove(self, clip: str) -> Clip:
        """Delete a clip and its bytes permanently; return its record."""
        return trash.delete_clip(self._store, clip)

    # Metadata

    def rename(self, clip: str, name: str) -> Clip:
        """Rename a clip; its old name still finds it."""
        new_name = clean_name(name)
        dialect = self._store.database.dialect
        with self._store.database.begin_write() as connection:
            clip_id, old_clip = find_clip(connection, clip)
            connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(name=new_name))
            connection.execute(dialect.insert_new(other_names, [{"clip_id": clip_id, "name": old_clip.name}]))
            connection.execute(
                sa.delete(other_names).where(other_names.c.clip_id == clip_id, other_names.c.name == new_name)
            )
            return finalize_clip(connection, dialect, clip_id)

    def describe(
        self, clip: str, *, source: str | None = None, licence: str | None = None, note: str | None = None
    ) -> Clip:
        """Change the metadata of a clip; None leaves a field as it is, "" clears it."""
        fields = {"source": source, "licence": licence, "note": note}
        changes = {field: clean_note(field, text) for field, text in fields.items() if text is not None}
        with self._store.database.begin_write() as connection:
            clip_id, current = find_clip(connection, clip)
            if not changes:
                return current
            connection.execute(sa.update(clips).where(clips.c.id == clip_id).values(changes))
            return finalize_clip(connection, self._store.database.dialect, clip_id)

    def tag(self, clip: str, *tag_names: str) -> Clip:
        """Add tags to a clip; they are stored in lower case."""
        with self._store.database.begin_write() as connection:
            clip_id, _ = find_clip(connection, clip)
            insert_tags(connection, self._store.database.dialect, clip_id, clean_tags(tag_names))
            return finalize_clip(connection, self._store.database.dialect, clip_id)

    def untag(self, clip: str, *tag_names: str) -> Clip:
        """Remove tags from a clip; missing tags are no error."""
        with self._store.database.begin_write() as connection:
            clip_id, _ = find_clip(connection, clip)
            connection.execute(sa.delete(tags).where(tags.c.clip_id == clip_id, tags.c.tag.in_(clean_tags(tag_names))))
            return finalize_clip(connection, self._store.database.dialect, clip_id)

    def retag(self, clips: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[Clip, ...]:
        """Add and remove tags of several clips: all or none; return each clip once, in order."""
        if isinstance(clips, str):
            raise OptionError(f"clips={format_value(clips)}, expected several clips: [{format_value(clips)}]")
        added_tags, removed_tags = clean_tags(add), clean_tags(remove)
        dialect = self._store.database.dialect
        with self._store.database.begin_write() as connection:
            clips_by_id = dict(find_clip(connection, name) for name in dict.fromkeys(clips))
            for key in clips_by_id:
                insert_tags(connection, dialect, key, added_tags)
            if removed_tags and clips_by_id:
                connection.execute(
                    sa.delete(tags).where(tags.c.clip_id.in_(list(clips_by_id)), tags.c.tag.in_(removed_tags))
                )
            return tuple(finalize_clip(connection, dialect, key) for key in clips_by_id)

    # Drafts

    def save_draft(self, clip: str, data: str, *, revision: int | None = None) -> Draft:
        """Save the draft of a clip, text of at most 4 MiB, replacing the one that was read.

        ``revision`` is that of the draft that was read, None if there was none; if it has changed since, Conflict is
        raised and nothing is written.
        """
        return drafts.save_draft(self._store, clip, data, revision)

    def delete_draft(self, clip: str) -> None:
        """Delete the draft of a clip; no error if there is none."""
        drafts.delete_draft(self._store, clip)

    # The whole library

    def export(self, folder: str | PathLike[str], clips: Iterable[Clip] | None = None) -> tuple[Path, ...]:
        """Write the bytes of ``clips`` (None: all) as files named after them.

        An existing file with the same bytes stays, one with other bytes is an error.
        """
        return clip_export.export(self._store, self.clips() if clips is None else clips, folder)

    def verify(self, *, fix: bool = False, drop_orphans: bool = False) -> tuple[Fault, ...]:
        """Check every row and all bytes, and return the faults; none: the library is intact.

        ``fix`` removes temporary files of killed processes and rebuilds wrong or missing indexes. Damaged bytes are
        repaired by adding their file again. Orphan blobs, such as those added after a backup of the database, stay:
        ``rebuild`` inserts them as clips, and only ``drop_orphans`` removes them. Others may write in the meantime.
        """
        return tuple(verification.verify(self._store, self.location, fix=fix, drop_orphans=drop_orphans))

    def rebuild(self, *, jobs: int | None = None, on_progress: OnRebuildProgress | None = None) -> tuple[Fault, ...]:
        """Recompute everything that follows from the bytes, and return faults for those that cannot be read.

        This also recovers a lost database: open a new one in its place; its clips are named by their hashes until their
        files are added again. ``jobs`` processes read the clips (None: one per core); ``on_progress`` is called after
        each.
        """
        return tuple(rebuild_library(self._store, jobs, on_progress))
