"""Drafts (unsaved edits) of clips, with revisions that prevent lost updates."""

from __future__ import annotations

from datetime import datetime

from keypose.errors import Conflict, FormatError, OptionError
from keypose.library.extra import sa
from keypose.library.records import Clip, Draft
from keypose.library.rows import find_clip, now_text
from keypose.library.store import Store
from keypose.library.tables import drafts
from keypose.validation import check_int, check_text

MAX_BYTES = 4 << 20  # of a draft in UTF-8
DELETED = ""  # data of a deleted draft: the row stays, so that no revision is reused


def load_draft(store: Store, name_or_hash: str) -> Draft | None:
    """Return the draft of a clip, or None."""
    with store.database.begin_read() as connection:
        clip_id, clip = find_clip(connection, name_or_hash)
        row = _load_row(connection, clip_id)
    return None if row is None or row.data == DELETED else _build_draft(store, clip, row)


def save_draft(store: Store, name_or_hash: str, data: str, revision: int | None) -> Draft:
    """Replace the draft of this ``revision`` (None: no draft exists) by ``data``; Conflict if it has changed."""
    expected = None if revision is None else check_int("revision", revision)
    checked_data = _check_data(data)
    with store.database.begin_write() as connection:
        clip_id, clip = find_clip(connection, name_or_hash)
        row = _load_row(connection, clip_id)
        current = None if row is None or row.data == DELETED else row.revision
        if current != expected:
            raise Conflict(
                f"{clip.name}: {_revision_text(current)}, expected {_revision_text(expected)}: "
                "somebody else has changed it"
            )
        values = {"revision": 1 if row is None else row.revision + 1, "changed_at": now_text(), "data": checked_data}
        connection.execute(
            sa.insert(drafts).values(clip_id=clip_id, **values)
            if row is None
            else sa.update(drafts).where(drafts.c.clip_id == clip_id).values(values)
        )
        return _build_draft(store, clip, _load_row(connection, clip_id))


def delete_draft(store: Store, name_or_hash: str) -> None:
    """Delete the draft of a clip; no error if there is none."""
    with store.database.begin_write() as connection:
        clip_id, _ = find_clip(connection, name_or_hash)
        connection.execute(
            sa.update(drafts).where(drafts.c.clip_id == clip_id).values(changed_at=now_text(), data=DELETED)
        )


def _load_row(connection: sa.Connection, clip_id: int) -> sa.Row[tuple[int, int, str, str]] | None:
    return connection.execute(sa.select(drafts).where(drafts.c.clip_id == clip_id)).first()


def _build_draft(store: Store, clip: Clip, row: sa.Row[tuple[int, int, str, str]] | None) -> Draft:
    try:
        assert row is not None
        return Draft(clip.hash, int(row.revision), datetime.fromisoformat(row.changed_at), row.data)
    except (ValueError, TypeError):
        location = store.database.dialect.location
        raise FormatError(location, f"the draft of {clip.name} is damaged, expected a revision and a date") from None


def _revision_text(revision: int | None) -> str:
    return "no draft" if revision is None else f"revision {revision} of its draft"


def _check_data(data: str) -> str:
    if not check_text("data", data) or "\0" in data:
        raise OptionError("data without a character, or with a null one, expected text")
    try:
        size = len(data.encode())
    except UnicodeEncodeError:
        raise OptionError("data with half a character (a lone surrogate), expected text") from None
    if size > MAX_BYTES:
        raise OptionError(f"data of {size} bytes, expected at most {MAX_BYTES}")
    return data
