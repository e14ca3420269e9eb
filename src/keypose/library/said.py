"""What people say about clips: names, tags, source, licence, a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from keypose.errors import OptionError
from keypose.formats.base import Source
from keypose.library.dialects import Dialect
from keypose.library.extra import sa
from keypose.library.material import ASKED
from keypose.library.nouns import Clip
from keypose.library.preparing import Prepared
from keypose.library.rows import settle
from keypose.library.store import Store
from keypose.library.tables import clips, names, tags, thrown_away
from keypose.library.wording import clean_name, clean_note

FOUND_BY_REBUILD = "found by rebuild"  # the note of clips that nobody has named yet


@dataclass(frozen=True)
class Words:
    """What a person says about a clip, clean."""

    name: str
    tags: tuple[str, ...]
    about: Mapping[str, str]  # source, licence, note
    animation: str = ""  # said behind the name, where it is not the one that is read by default

    def of(self, what: Prepared) -> Words:
        """What is said about a clip that was read."""
        if not self.animation or what.instead != ASKED:
            return self
        return replace(self, name=clean_name(f"{self.name}: {self.animation}"))


def name_of(path: str | PathLike[str]) -> tuple[Path, str]:
    """A path, and the name that its clip has by default."""
    try:
        found = Path(path)
    except TypeError:
        raise OptionError(f"{type(path).__name__} to add, expected a path, bytes or a Motion") from None
    try:
        return found, clean_name(Source(found, b"").name or "clip")
    except OptionError as error:
        raise OptionError(f"{str(found)!a}: {error}") from None


def about(source: str, licence: str, note: str) -> dict[str, str]:
    """Remarks, clean."""
    said = {"source": source, "licence": licence, "note": note}
    return {what: clean_note(what, text) for what, text in said.items()}


def insert_tags(connection: sa.Connection, dialect: Dialect, number: int, tagged: tuple[str, ...]) -> None:
    """Gives tags to a clip; those that it has it keeps."""
    if tagged:
        connection.execute(dialect.insert_new(tags, [{"clip": number, "tag": tag} for tag in tagged]))


def _is_unnamed(clip: Clip) -> bool:
    """Whether it was found by its bytes alone, and nobody has said anything about it since."""
    return clip.note == FOUND_BY_REBUILD and clip.name == clip.blob[: len(clip.name)]


def is_news(clip: Clip, words: Words) -> bool:
    """Whether anything is said that was not said before."""
    named = words.name in (clip.name, *clip.also_named)
    return _is_unnamed(clip) or not named or not set(words.tags).issubset(clip.tags) or bool(_missing(clip, words))


def _missing(clip: Clip, words: Words) -> dict[str, str]:
    """What is said now and was not said before."""
    return {what: text for what, text in words.about.items() if text and not getattr(clip, what)}


def with_words(store: Store, connection: sa.Connection, number: int, clip: Clip, words: Words) -> Clip:
    """A clip with what is said about it now; what was said before stays."""
    dialect = store.database.dialect
    if _is_unnamed(clip):
        named = {"name": words.name, "note": words.about.get("note", "")}
        connection.execute(sa.update(clips).where(clips.c.id == number).values(named))
    elif words.name != clip.name:
        connection.execute(dialect.insert_new(names, [{"clip": number, "name": words.name}]))
    if missing := _missing(clip, words):
        connection.execute(sa.update(clips).where(clips.c.id == number).values(missing))
    insert_tags(connection, dialect, number, words.tags)
    connection.execute(sa.delete(thrown_away).where(thrown_away.c.clip == number))
    return settle(connection, dialect, number)
