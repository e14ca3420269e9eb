"""What is said of very many files: each kind once, with an example, so that neither screen nor memory overflows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from keypose.cli.said import KINDS_OF_NOTES, TEXTS_SHOWN
from keypose.cli.wording import for_command_line

_VARYING = re.compile(r"'[^']*'|[0-9]+(?:\.[0-9]+)?")  # what differs from file to file: names and numbers


@dataclass
class _Kind:
    """Texts that are the same but for names and numbers."""

    path: str  # of the first file
    text: str
    last: str  # file
    files: int = 1
    all_same: bool = True
    together: str = ""  # what many of them say


class Heard:
    """Warnings, or notes, of many files."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._more = 0

    def hear(self, path: str, text: str) -> str:
        """One more text about a file, with its path in front or not; gives it in the words of the command line."""
        told = for_command_line(text, path)
        own = told.removeprefix(path).removeprefix(": ")
        together = next((many for pattern, many in KINDS_OF_NOTES if pattern.fullmatch(own)), "")
        key = together or _VARYING.sub("#", own)
        kind = self._kinds.get(key)
        if kind is not None:
            kind.files += kind.last != path
            kind.last = path
            kind.all_same &= kind.text == own
        elif len(self._kinds) < TEXTS_SHOWN:
            self._kinds[key] = _Kind(path, own, path, together=together)
        else:
            self._more += 1
        return told

    def say(self, how: Callable[[str], None]) -> None:
        """A line for each kind."""
        for kind in self._kinds.values():
            how(_line(kind))
        if self._more:
            how(f"and {self._more:,} more; --json has all")


def _line(kind: _Kind) -> str:
    place = f"{kind.path}{kind.text}" if kind.text.startswith(":") else f"{kind.path}: {kind.text}"
    if kind.files == 1:
        return place
    if kind.all_same or kind.together:
        return f"{kind.files:,} files: {kind.text if kind.all_same else kind.together}"
    more = kind.files - 1
    return f"{place} (and the like in {more:,} more {'file' if more == 1 else 'files'})"
