"""What was probably meant by a name that is not there."""

from __future__ import annotations

import difflib
import itertools
import os
import re
from collections.abc import Iterable
from pathlib import Path

from keypose.formats import readable_suffixes

LEAST_LIKENESS = 0.7  # of names; 1 is the same
NAMES_LOOKED_AT = 5_000  # of a folder


def did_you_mean(wanted: str, known: Iterable[str]) -> str:
    """``; did you mean .glb?``, or nothing where nothing is near."""
    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(wanted.lower(), by_lower, n=1, cutoff=LEAST_LIKENESS)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def nearest_file(path: Path) -> Path | None:
    """The motion file or folder beside ``path`` whose name is most like it; None where none is.

    A name with other digits is another take, not a slip of the finger.
    """
    try:
        with os.scandir(path.parent) as entries:
            there = [e.name for e in itertools.islice(entries, NAMES_LOOKED_AT) if _is_candidate(e)]
    except (OSError, ValueError):
        return None
    by_suffix = sorted(there, key=lambda name: (name.lower().endswith(path.suffix.lower()), name))  # the same one wins
    same_digits = {_stem(name): name for name in by_suffix if _digits(name) == _digits(path.name)}
    near = difflib.get_close_matches(_stem(path.name), same_digits, n=1, cutoff=LEAST_LIKENESS)
    return path.with_name(same_digits[near[0]]) if near and same_digits[near[0]] != path.name else None


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith("."):
        return False
    return entry.is_dir() or (entry.name.lower().endswith(readable_suffixes()) and Path(entry.path).exists())


def _stem(name: str) -> str:
    """What is compared: the endings are alike for most files, and would make any two short names near."""
    return name.lower().split(".")[0]


def _digits(name: str) -> str:
    return "".join(re.findall("[0-9]", name.split(".")[0]))
