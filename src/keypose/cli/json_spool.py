"""Spool long JSON lists to temporary files until they are printed, so that they need no memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Any


class JsonSpool:
    """Named lists that can be filled in any order and are printed one after another."""

    def __init__(self, names: Sequence[str]) -> None:
        self._files = ExitStack()
        self._lists: dict[str, IO[str]] = {
            name: self._files.enter_context(tempfile.TemporaryFile("w+", encoding="ascii"))  # noqa: SIM115 - __exit__
            for name in names
        }

    def __enter__(self) -> JsonSpool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.close()

    def append(self, name: str, item: Mapping[str, Any]) -> None:
        """Append one item to the list ``name``."""
        self._lists[name].write(json.dumps(item) + "\n")

    def lines(self, first: Mapping[str, Any], last: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of one JSON object: fields of ``first``, the lists (an item per line), fields of ``last``."""
        yield "{"
        yield from (f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in first.items())
        for name, file in self._lists.items():
            yield from _list_lines(name, file)
        for n, (name, value) in enumerate(last.items(), 1):
            yield f"  {json.dumps(name)}: {json.dumps(value)}{',' if n < len(last) else ''}"
        yield "}"


def _list_lines(name: str, file: IO[str]) -> Iterator[str]:
    file.seek(0)
    pending = ""
    yield f"  {json.dumps(name)}: ["
    for line in file:
        if pending:
            yield f"    {pending},"
        pending = line.rstrip()
    if pending:
        yield f"    {pending}"
    yield "  ],"
