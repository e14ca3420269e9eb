"""Keeping clips: in and out, what is said about them, and whether all of it is sound."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from keypose.errors import OptionError
from keypose.library import checking, drafts, exporting, rebuilding, throwing
from keypose.library.extra import sa
from keypose.library.nouns import Clip, Draft, Fault
from keypose.library.remaking import OnRebuilt
from keypose.library.rows import find, settle
from keypose.library.said import insert_tags
from keypose.library.tables import clips, names, tags
from keypose.library.taking_in import TakingIn
from keypose.library.wording import clean_name, clean_note, clean_tags
from keypose.options import shown


class Catalogue(TakingIn):
    """The clips of a library, without search by example: what ``Library`` stands on."""

    # Out

    def throw_away(self, *clips: str) -> tuple[Clip, ...]:
        """Leaves clips out of all lists and searches, until ``restore`` brings them back: all of them or none.

        Their bytes stay. Adding their content again brings them back too.
        """
        return throwing.throw_away(self._store, clips)

    def restore(self, *clips: str) -> tuple[Clip, ...]:
        """Brings back clips that were thrown away, by name or hash: all of them or none."""
        return throwing.restore(self._store, clips)

    def forget_thrown_away(self, older_than_days: float = 30.0) -> tuple[Clip, ...]:
        """Removes for good, with their bytes, the clips that were thrown away longer ago; gives what they were."""
        return throwing.forget_thrown_away(self._store, older_than_days)

    def remove(self, clip: str) -> Clip:
        """Forgets a clip and its bytes; gives what it was."""
        return throwing.remove(self._store, clip)

    # Changing what is said about clips

    def rename(self, clip: str, name: str) -> Clip:
        """Gives a clip another name; it can still be called by the one that it had."""
        new = clean_name(name)
        dialect = self._store.database.dialect
        with self._store.database.writing() as connection:
            key, found = find(connection, clip)
            connection.execute(sa.update(clips).where(clips.c.id == key).values(name=new))
            connection.execute(dialect.insert_new(names, [{"clip": key, "name": found.name}]))
            connection.execute(sa.delete(names).where(names.c.clip == key, names.c.name == new))
            return settle(connection, dialect, key)

    def describe(
        self, clip: str, *, source: str | None = None, licence: str | None = None, note: str | None = None
    ) -> Clip:
        """Says something else about a clip; what is None stays, and an empty text takes away what was said."""
        said = {"source": source, "licence": licence, "note": note}
        changed = {what: clean_note(what, text) for what, text in said.items() if text is not None}
        with self._store.database.writing() as connection:
            key, found = find(connection, clip)
            if not changed:
                return found
            connection.execute(sa.update(clips).where(clips.c.id == key).values(changed))
            return settle(connection, self._store.database.dialect, key)

    def tag(self, clip: str, *words: str) -> Clip:
        """Gives tags to a clip; they are kept in lower case."""
        with self._store.database.writing() as connection:
            key, _ = find(connection, clip)
            insert_tags(connection, self._store.database.dialect, key, clean_tags(words))
            return settle(connection, self._store.database.dialect, key)

    def untag(self, clip: str, *words: str) -> Clip:
        """Takes tags from a clip; those that it does not have are no error."""
        with self._store.database.writing() as connection:
            key, _ = find(connection, clip)
            connection.execute(sa.delete(tags).where(tags.c.clip == key, tags.c.tag.in_(clean_tags(words))))
            return settle(connection, self._store.database.dialect, key)

    def retag(self, called: Iterable[str], *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> tuple[Clip, ...]:
        """Gives tags to several clips and takes others from them, all or none; each clip once, in order."""
        if isinstance(called, str):
            raise OptionError(f"called={shown(called)}, expected several clips: [{shown(called)}]")
        more, less = clean_tags(add), clean_tags(remove)
        dialect = self._store.database.dialect
        with self._store.database.writing() as connection:
            found = dict(find(connection, each) for each in dict.fromkeys(called))
            for key in found:
                insert_tags(connection, dialect, key, more)
            if less and found:
                connection.execute(sa.delete(tags).where(tags.c.clip.in_(list(found)), tags.c.tag.in_(less)))
            return tuple(settle(connection, dialect, key) for key in found)

    # Edits that somebody is at

    def keep_draft(self, clip: str, data: str, *, revision: int | None = None) -> Draft:
        """Keeps an edit of a clip as text of at most 4 MiB, in the place of the one that was read.

        ``revision`` is that of the draft that was read, None where there was none; if it is another one by now,
        ``Conflict`` says so and nothing is written.
        """
        return drafts.keep_draft(self._store, clip, data, revision)

    def drop_draft(self, clip: str) -> None:
        """Forgets the edit of a clip; where there is none, that is no error."""
        drafts.drop_draft(self._store, clip)

    # The whole

    def export(self, folder: str | PathLike[str], chosen: Iterable[Clip] | None = None) -> tuple[Path, ...]:
        """Writes the bytes of ``chosen`` clips (None: all) as files named after them.

        A file that is there already with the same bytes stays, one with others is an error.
        """
        return exporting.export(self._store, self.clips() if chosen is None else chosen, folder)

    def verify(self, *, fix: bool = False, drop_orphans: bool = False) -> tuple[Fault, ...]:
        """Reads every row and all bytes, and says all that is wrong; nothing: the library is sound.

        ``fix`` removes what killed processes left half-written and makes indexes anew that are wrong or gone. Damaged
        bytes are mended by adding their file again. Bytes of no clip, such as those that came after the copy of a
        database was made, stay: ``rebuild`` takes them in, and only ``drop_orphans`` removes them. Others may write
        meanwhile.
        """
        return tuple(checking.verify(self._store, self.where, fix=fix, drop_orphans=drop_orphans))

    def rebuild(self, *, jobs: int | None = None, on_progress: OnRebuilt | None = None) -> tuple[Fault, ...]:
        """Makes all anew that can be made from the bytes, and says which of them cannot be read.

        A lost database comes back so: open a new one in its place, and its clips are named by their hashes, until
        their files are added again. ``jobs`` processes read the clips (None: one for each core); ``on_progress`` is
        told of each.
        """
        return tuple(rebuilding.rebuild(self._store, jobs, on_progress))
