"""Names of clips as names of files, on any system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 80  # letters
_UNSAFE = re.compile(r"[^\w .()+,=@~-]+|[\x00-\x1f\x7f]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
NAMELESS = "clip"


def safe_stem(name: str) -> str:
    """``name`` without anything that could be a path, a hidden file, markup or a device: "../a<b>" -> "_a_b_"."""
    known = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8", "replace"))
    stem = _UNSAFE.sub("_", known)[:LONGEST].strip(" .").lstrip("~-")
    if not stem.strip("_. "):
        return NAMELESS
    return f"{stem}_" if _RESERVED.fullmatch(stem) else stem


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """File names, each once: a second "walk.bvh" is "walk (2).bvh". Some systems take no notice of case."""
    taken: set[str] = set()
    found = []
    for name in names:
        stem, dot, suffix = name.partition(".")
        number, free = 1, name
        while free.lower() in taken:
            number += 1
            free = f"{stem} ({number}){dot}{suffix}"
        taken.add(free.lower())
        found.append(free)
    return tuple(found)
