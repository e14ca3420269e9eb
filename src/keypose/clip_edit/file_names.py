"""File names for clips that are valid on any system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MAX_LENGTH = 80  # characters
_UNSAFE = re.compile(r"[^\w .()+,=@~-]+|[\x00-\x1f\x7f]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
DEFAULT_STEM = "clip"


def safe_stem(name: str) -> str:
    """Return ``name`` without anything that could be a path, hidden file, markup or device: "../a<b>" -> "_a_b_"."""
    normalized = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8", "replace"))
    stem = _UNSAFE.sub("_", normalized)[:MAX_LENGTH].strip(" .").lstrip("~-")
    if not stem.strip("_. "):
        return DEFAULT_STEM
    return f"{stem}_" if _RESERVED.fullmatch(stem) else stem


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return file names made unique, ignoring case: a second "walk.bvh" becomes "walk (2).bvh"."""
    used: set[str] = set()
    result = []
    for name in names:
        stem, dot, suffix = name.partition(".")
        number, candidate = 1, name
        while candidate.lower() in used:
            number += 1
            candidate = f"{stem} ({number}){dot}{suffix}"
        used.add(candidate.lower())
        result.append(candidate)
    return tuple(result)
