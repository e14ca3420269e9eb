"""Names, tags and words in the form in which a library stores them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice

from keypose.errors import OptionError
from keypose.pictures.svg import clean
from keypose.validation import check_text, format_value

MAX_NAME_CHARS = 500
MAX_TAG_CHARS = 100
MAX_TAGS = 100  # per call
MAX_NOTE_CHARS = 10_000
MAX_WORD_CHARS = 100
MAX_WORDS = 2000  # per clip: limit of PostgreSQL for one index row
MAX_STEM_BYTES = 120  # of a file name before its suffix
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])")  # Walk|Left, take|3
_DIACRITICS = re.compile("[\u0300-\u036f]+")
_NOT_IN_FILE_NAMES = re.compile(r'[<>:"/\\|?*\s]+')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # not allowed as file names on Windows


def clean_name(name: str) -> str:
    """Return the name of a clip as one line without control characters; OptionError if it is empty."""
    cleaned = clean(check_text("name", name), MAX_NAME_CHARS).strip()
    if not cleaned:
        raise OptionError(f"name={name[:20]!r}, expected a name that can be read")
    return cleaned


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in lower case, without duplicates, sorted."""
    if isinstance(tags, str):
        raise OptionError(f"tags={tags!r}, expected several texts: ({tags!r},)")
    if not isinstance(tags, Iterable):
        raise OptionError(f"tags={format_value(tags)}, expected several texts")
    items = list(islice(tags, MAX_TAGS + 1))
    if len(items) > MAX_TAGS:
        raise OptionError(f"more than {MAX_TAGS} tags, expected at most {MAX_TAGS} at once")
    cleaned = {" ".join(clean(check_text("tag", tag), MAX_TAG_CHARS).lower().split()) for tag in items}
    if "" in cleaned:
        raise OptionError("an empty tag, expected a word or a few")
    return tuple(sorted(cleaned))


def clean_note(field: str, note: str) -> str:
    """Return a text field as one line."""
    return clean(check_text(field, note), MAX_NOTE_CHARS).strip()


def split_words(*texts: str) -> tuple[str, ...]:
    """Return the words to find ``texts`` by, in lower case: ``02_WalkLeft`` has 02, walkleft, walk and left."""
    words: dict[str, None] = {}
    for part in texts:
        for word in _WORD.findall(_strip_diacritics(part)):
            words.update(dict.fromkeys(each.lower()[:MAX_WORD_CHARS] for each in (word, *_HUMP.split(word))))
    return tuple(words)[:MAX_WORDS]


def _strip_diacritics(value: str) -> str:
    """Return text without diacritics, the same for all databases: "uber" finds "Über"."""
    return unicodedata.normalize("NFKC", _DIACRITICS.sub("", unicodedata.normalize("NFKD", value)))


def parse_query_words(query: str) -> tuple[str, ...]:
    """Return the words of a search; each must be a word, or a prefix of one."""
    normal = _strip_diacritics(clean(check_text("words", query), MAX_NAME_CHARS))
    words = tuple(dict.fromkeys(word.lower()[:MAX_WORD_CHARS] for word in _WORD.findall(normal)))
    if not words:
        raise OptionError(f"words={query[:40]!r}, expected at least one word of letters or digits")
    return words


def file_stem(name: str) -> str:
    """Return a file name, without suffix, that is valid on every system and stays in its folder."""
    stem = _NOT_IN_FILE_NAMES.sub("_", clean(name, MAX_NAME_CHARS)).strip("._ ")
    stem = stem.encode("utf-8")[:MAX_STEM_BYTES].decode("utf-8", "ignore").rstrip("._ ")
    return f"_{stem}" if not stem or _DEVICES.fullmatch(stem) else stem
