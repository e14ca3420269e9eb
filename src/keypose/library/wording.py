"""Names, tags and words as a library keeps them: whatever a file brought, one clean line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice

from keypose.errors import OptionError
from keypose.options import shown, text
from keypose.pictures.svg import clean

LONGEST_NAME = 500  # characters
LONGEST_TAG = 100
MOST_TAGS = 100  # said at once
LONGEST_NOTE = 10_000
LONGEST_WORD = 100
MOST_WORDS = 2000  # by which one clip is found: what PostgreSQL can index in one row
LONGEST_STEM = 120  # bytes of a file's name before its suffix
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])")  # Walk|Left, take|3
_DIACRITICS = re.compile("[\u0300-\u036f]+")
_NOT_IN_FILE_NAMES = re.compile(r'[<>:"/\\|?*\s]+')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # no names of files on Windows


def clean_name(name: str) -> str:
    """The name of a clip: one line without control characters; an error if nothing is left."""
    kept = clean(text("name", name), LONGEST_NAME).strip()
    if not kept:
        raise OptionError(f"name={name[:20]!r}, expected a name that can be read")
    return kept


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in lower case, each once, in order."""
    if isinstance(tags, str):
        raise OptionError(f"tags={tags!r}, expected several texts: ({tags!r},)")
    if not isinstance(tags, Iterable):
        raise OptionError(f"tags={shown(tags)}, expected several texts")
    said = list(islice(tags, MOST_TAGS + 1))
    if len(said) > MOST_TAGS:
        raise OptionError(f"more than {MOST_TAGS} tags, expected at most {MOST_TAGS} at once")
    found = {" ".join(clean(text("tag", tag), LONGEST_TAG).lower().split()) for tag in said}
    if "" in found:
        raise OptionError("an empty tag, expected a word or a few")
    return tuple(sorted(found))


def clean_note(what: str, note: str) -> str:
    """A remark, in one line."""
    return clean(text(what, note), LONGEST_NOTE).strip()


def words_of(*texts: str) -> tuple[str, ...]:
    """The words to find ``texts`` by, in lower case: ``02_WalkLeft`` has 02, walkleft, walk and left."""
    found: dict[str, None] = {}
    for one in texts:
        for word in _WORD.findall(_plain(one)):
            found.update(dict.fromkeys(each.lower()[:LONGEST_WORD] for each in (word, *_HUMP.split(word))))
    return tuple(found)[:MOST_WORDS]


def _plain(one: str) -> str:
    """Without diacritics, the same in all databases: whoever types "uber" finds "Über"."""
    return unicodedata.normalize("NFKC", _DIACRITICS.sub("", unicodedata.normalize("NFKD", one)))


def searched_words(query: str) -> tuple[str, ...]:
    """The words of a search; each must be there, or begin one that is."""
    normal = _plain(clean(text("words", query), LONGEST_NAME))
    found = tuple(dict.fromkeys(word.lower()[:LONGEST_WORD] for word in _WORD.findall(normal)))
    if not found:
        raise OptionError(f"words={query[:40]!r}, expected at least one word of letters or digits")
    return found


def file_stem(name: str) -> str:
    """A file name, without suffix, that every system takes, and that stays in its folder."""
    stem = _NOT_IN_FILE_NAMES.sub("_", clean(name, LONGEST_NAME)).strip("._ ")
    stem = stem.encode("utf-8")[:LONGEST_STEM].decode("utf-8", "ignore").rstrip("._ ")
    return f"_{stem}" if not stem or _DEVICES.fullmatch(stem) else stem
