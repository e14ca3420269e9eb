"""Summarise messages about very many files: each kind once, with an example."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from keypose.cli.message_options import translate_keywords
from keypose.cli.messages import MAX_TEXTS, NOTE_KINDS

_NAMES_AND_NUMBERS = re.compile(r"'[^']*'|[0-9]+(?:\.[0-9]+)?")  # parts that differ from file to file


@dataclass
class _MessageKind:
    """Messages that differ only in names and numbers."""

    first_path: str  # first file
    text: str
    last_path: str  # file
    n_files: int = 1
    all_same: bool = True
    plural_text: str = ""  # text for several files


class MessageSummary:
    """Warnings or notes of many files, grouped by kind; memory is bounded."""

    def __init__(self) -> None:
        self._kinds: dict[str, _MessageKind] = {}
        self._n_hidden = 0

    def add(self, path: str, text: str) -> str:
        """Add one message about a file, which may start with its path; return it with options for keywords."""
        translated = translate_keywords(text, path)
        message = translated.removeprefix(path).removeprefix(": ")
        plural_text = next((many for pattern, many in NOTE_KINDS if pattern.fullmatch(message)), "")
        key = plural_text or _NAMES_AND_NUMBERS.sub("#", message)
        kind = self._kinds.get(key)
        if kind is not None:
            kind.n_files += kind.last_path != path
            kind.last_path = path
            kind.all_same &= kind.text == message
        elif len(self._kinds) < MAX_TEXTS:
            self._kinds[key] = _MessageKind(path, message, path, plural_text=plural_text)
        else:
            self._n_hidden += 1
        return translated

    def print(self, print_line: Callable[[str], None]) -> None:
        """Print a line for each kind."""
        for kind in self._kinds.values():
            print_line(_line(kind))
        if self._n_hidden:
            print_line(f"and {self._n_hidden:,} more; --json has all")


def _line(kind: _MessageKind) -> str:
    first_message = f"{kind.first_path}{kind.text}" if kind.text.startswith(":") else f"{kind.first_path}: {kind.text}"
    if kind.n_files == 1:
        return first_message
    if kind.all_same or kind.plural_text:
        return f"{kind.n_files:,} files: {kind.text if kind.all_same else kind.plural_text}"
    more = kind.n_files - 1
    return f"{first_message} (and the like in {more:,} more {'file' if more == 1 else 'files'})"
