"""Drafts: saved by revision, deleted with their clip."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import keypose as kp
from keypose.errors import Conflict, FormatError, KeyposeError, OptionError
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.metadata import MAX_BYTES
from keypose.library.tables import drafts
from support.errors import raises
from support.search_cases import demo_clip


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    new_library = open_library()
    new_library.add(demo_clip("walk"))
    new_library.add(demo_clip("kick"))
    return new_library


def test_a_draft_is_saved_changed_and_deleted(library: Library) -> None:
    assert library.draft("walk") is None
    start = datetime.now(UTC)
    first = library.save_draft("walk", '{"keys": [1, 2]}', revision=None)
    assert (first.clip, first.revision, first.data) == (library.clip("walk").hash, 1, '{"keys": [1, 2]}')
    assert start <= first.changed_at <= datetime.now(UTC)
    assert library.draft("walk") == first == library.draft(first.clip) and library.draft("kick") is None
    second = library.save_draft("walk", "ünïcode 跳", revision=1)
    assert second.revision == 2 and second.changed_at > first.changed_at and library.draft("walk") == second
    assert library.verify() == ()
    library.delete_draft("walk")
    library.delete_draft("kick")
    assert library.draft("walk") is None and library.verify() == ()


def test_saving_over_an_unseen_revision_is_a_conflict(library: Library) -> None:
    library.save_draft("walk", "mine", revision=None)
    with raises(Conflict, code="conflict", subject="walk", value=1, expected="no draft"):
        library.save_draft("walk", "theirs", revision=None)
    library.save_draft("walk", "mine again", revision=1)
    with raises(Conflict, value=2, expected="revision 1"):
        library.save_draft("walk", "theirs", revision=1)
    library.delete_draft("walk")
    with raises(Conflict, value=None, expected="revision 2"):
        library.save_draft("walk", "theirs", revision=2)
    assert library.save_draft("walk", "new").revision == 3  # earlier revisions are never reused
    draft = library.draft("walk")
    assert draft is not None and draft.data == "new"
    assert issubclass(Conflict, KeyposeError) and kp.Conflict is Conflict


def test_a_draft_is_deleted_with_its_clip_and_stays_in_the_trash(library: Library) -> None:
    digest = library.save_draft("walk", "edit", revision=None).clip
    library.trash("walk")
    draft = library.draft(digest)
    assert draft is not None and draft.data == "edit" and library.verify() == ()
    library.empty_trash(0)
    with library._store.database.begin_read() as connection:
        assert connection.execute(sa.select(drafts)).first() is None
    library.add(demo_clip("walk"))
    assert library.draft("walk") is None and library.verify() == ()


def test_invalid_drafts_are_refused(library: Library) -> None:
    library.save_draft("walk", "x" * MAX_BYTES, revision=None)
    for data in ("é" * (MAX_BYTES // 2 + 1), "", "a\0b", "\ud800", b"bytes", None):
        with raises(OptionError, option="data"):
            library.save_draft("kick", data, revision=None)  # type: ignore[arg-type]
    for revision in ("1", 1.0, True):
        with raises(OptionError, option="revision", value=revision):
            library.save_draft("kick", "{}", revision=revision)  # type: ignore[arg-type]
    with raises(OptionError, code="unknown_clip"):
        library.draft("nobody")
    with library._store.database.begin_write() as connection:
        connection.execute(sa.update(drafts).values(changed_at="soon"))
    with raises(FormatError, code="library_damaged", problem="the draft of walk is damaged"):
        library.draft("walk")
