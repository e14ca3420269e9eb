"""Edits that somebody is at: kept by revision, gone with their clip."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

import keypose as kp
from keypose.errors import Conflict, FormatError, KeyposeError, OptionError
from keypose.library.drafts import MOST_BYTES
from keypose.library.extra import sa
from keypose.library.library import Library
from keypose.library.tables import drafts
from search_cases import piece


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    made = open_library()
    made.add(piece("walk"))
    made.add(piece("kick"))
    return made


def test_a_draft_is_kept_changed_and_dropped(library: Library) -> None:
    assert library.draft("walk") is None
    start = datetime.now(UTC)
    first = library.keep_draft("walk", '{"keys": [1, 2]}', revision=None)
    assert (first.clip, first.revision, first.data) == (library.clip("walk").hash, 1, '{"keys": [1, 2]}')
    assert start <= first.changed_at <= datetime.now(UTC)
    assert library.draft("walk") == first == library.draft(first.clip) and library.draft("kick") is None
    second = library.keep_draft("walk", "ünïcode 跳", revision=1)
    assert second.revision == 2 and second.changed_at > first.changed_at and library.draft("walk") == second
    assert library.verify() == ()
    library.drop_draft("walk")
    library.drop_draft("kick")
    assert library.draft("walk") is None and library.verify() == ()


def test_nobody_overwrites_what_he_has_not_seen(library: Library) -> None:
    library.keep_draft("walk", "mine", revision=None)
    with pytest.raises(
        Conflict, match=r"walk: revision 1 of its draft, expected no draft: somebody else has changed it"
    ):
        library.keep_draft("walk", "theirs", revision=None)
    library.keep_draft("walk", "mine again", revision=1)
    with pytest.raises(Conflict, match="revision 2 of its draft, expected revision 1 of its draft"):
        library.keep_draft("walk", "theirs", revision=1)
    library.drop_draft("walk")
    with pytest.raises(Conflict, match="no draft, expected revision 2"):
        library.keep_draft("walk", "theirs", revision=2)
    assert library.keep_draft("walk", "new").revision == 3  # those before stay somebody's
    kept = library.draft("walk")
    assert kept is not None and kept.data == "new"
    assert issubclass(Conflict, KeyposeError) and kp.Conflict is Conflict


def test_a_draft_goes_with_its_clip_and_stays_while_it_is_thrown_away(library: Library) -> None:
    digest = library.keep_draft("walk", "edit", revision=None).clip
    library.throw_away("walk")
    kept = library.draft(digest)
    assert kept is not None and kept.data == "edit" and library.verify() == ()
    library.forget_thrown_away(0)
    with library._store.database.reading() as connection:
        assert connection.execute(sa.select(drafts)).first() is None
    library.add(piece("walk"))
    assert library.draft("walk") is None and library.verify() == ()


def test_what_cannot_be_kept_is_said(library: Library) -> None:
    library.keep_draft("walk", "x" * MOST_BYTES, revision=None)
    for data in ("é" * (MOST_BYTES // 2 + 1), "", "a\0b", "\ud800", b"bytes", None):
        with pytest.raises(OptionError, match="data"):
            library.keep_draft("kick", data, revision=None)  # type: ignore[arg-type]
    for revision in ("1", 1.0, True):
        with pytest.raises(OptionError, match="revision"):
            library.keep_draft("kick", "{}", revision=revision)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="no clip"):
        library.draft("nobody")
    with library._store.database.writing() as connection:
        connection.execute(sa.update(drafts).values(changed_at="soon"))
    with pytest.raises(FormatError, match="the draft of walk is damaged"):
        library.draft("walk")
