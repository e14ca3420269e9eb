"""Edits that people are at, kept so that nobody overwrites what he has not seen."""

from __future__ import annotations

from datetime import datetime

from keypose.errors import Conflict, FormatError, OptionError
from keypose.library.extra import sa
from keypose.library.nouns import Clip, Draft
from keypose.library.rows import find, now
from keypose.library.store import Store
from keypose.library.tables import drafts
from keypose.options import text, whole

MOST_BYTES = 4 << 20  # of a draft, in UTF-8
DROPPED = ""  # the data of a draft that was dropped: the row stays, so that no revision comes twice


def draft(store: Store, called: str) -> Draft | None:
    """The draft of a clip, if there is one."""
    with store.database.reading() as connection:
        key, clip = find(connection, called)
        there = _row(connection, key)
    return None if there is None or there.data == DROPPED else _draft(store, clip, there)


def keep_draft(store: Store, called: str, data: str, revision: int | None) -> Draft:
    """Puts ``data`` in the place of the draft of this ``revision``; None: of none."""
    seen = None if revision is None else whole("revision", revision)
    checked = _checked(data)
    with store.database.writing() as connection:
        key, clip = find(connection, called)
        there = _row(connection, key)
        found = None if there is None or there.data == DROPPED else there.revision
        if found != seen:
            raise Conflict(f"{clip.name}: {_said(found)}, expected {_said(seen)}: somebody else has changed it")
        values = {"revision": 1 if there is None else there.revision + 1, "changed_at": now(), "data": checked}
        connection.execute(
            sa.insert(drafts).values(clip=key, **values)
            if there is None
            else sa.update(drafts).where(drafts.c.clip == key).values(values)
        )
        return _draft(store, clip, _row(connection, key))


def drop_draft(store: Store, called: str) -> None:
    """Forgets the draft of a clip; where there is none, that is no error."""
    with store.database.writing() as connection:
        key, _ = find(connection, called)
        connection.execute(sa.update(drafts).where(drafts.c.clip == key).values(changed_at=now(), data=DROPPED))


def _row(connection: sa.Connection, key: int) -> sa.Row[tuple[int, int, str, str]] | None:
    return connection.execute(sa.select(drafts).where(drafts.c.clip == key)).first()


def _draft(store: Store, clip: Clip, row: sa.Row[tuple[int, int, str, str]] | None) -> Draft:
    try:
        assert row is not None
        return Draft(clip.hash, int(row.revision), datetime.fromisoformat(row.changed_at), row.data)
    except (ValueError, TypeError):
        where = store.database.dialect.where
        raise FormatError(where, f"the draft of {clip.name} is damaged, expected a revision and a date") from None


def _said(revision: int | None) -> str:
    return "no draft" if revision is None else f"revision {revision} of its draft"


def _checked(data: str) -> str:
    if not text("data", data) or "\0" in data:
        raise OptionError("data without a character, or with a null one, expected text")
    try:
        size = len(data.encode())
    except UnicodeEncodeError:
        raise OptionError("data with half a character (a lone surrogate), expected text") from None
    if size > MOST_BYTES:
        raise OptionError(f"data of {size} bytes, expected at most {MOST_BYTES}")
    return data
