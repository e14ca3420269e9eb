"""Suggest an existing name for a mistyped one."""

from __future__ import annotations

import difflib
import itertools
import os
import re
from collections.abc import Iterable
from pathlib import Path

from keypose.formats import readable_suffixes

MIN_SIMILARITY = 0.7  # ratio of difflib; 1 is equal
MAX_NAMES = 5_000  # read from a folder


def suggest_name(typed_name: str, choices: Iterable[str]) -> str:
    """Return ``; did you mean .glb?``, or an empty text if no choice is similar."""
    by_lower = {name.lower(): name for name in choices}
    matches = difflib.get_close_matches(typed_name.lower(), by_lower, n=1, cutoff=MIN_SIMILARITY)
    return f"; did you mean {by_lower[matches[0]]}?" if matches else ""


def suggest_file(path: Path) -> Path | None:
    """Return the motion file or folder beside ``path`` with the most similar name; None if there is none.

    Names with other digits are other takes, not typing errors.
    """
    try:
        with os.scandir(path.parent) as entries:
            names = [e.name for e in itertools.islice(entries, MAX_NAMES) if _is_candidate(e)]
    except (OSError, ValueError):
        return None
    by_suffix = sorted(
        names, key=lambda name: (name.lower().endswith(path.suffix.lower()), name)
    )  # the same suffix wins
    same_digits = {_comparable_stem(name): name for name in by_suffix if _stem_digits(name) == _stem_digits(path.name)}
    matches = difflib.get_close_matches(_comparable_stem(path.name), same_digits, n=1, cutoff=MIN_SIMILARITY)
    return path.with_name(same_digits[matches[0]]) if matches and same_digits[matches[0]] != path.name else None


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith("."):
        return False
    return entry.is_dir() or (entry.name.lower().endswith(readable_suffixes()) and Path(entry.path).exists())


def _comparable_stem(name: str) -> str:
    """Return the text to compare: equal suffixes would make any two short names similar."""
    return name.lower().split(".")[0]


def _stem_digits(name: str) -> str:
    return "".join(re.findall("[0-9]", name.split(".")[0]))
