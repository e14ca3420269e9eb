"""Long lists for JSON, kept in a file of their own until they are printed: memory holds none of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Any


class Listed:
    """Several lists, to be filled in any order and printed one after another."""

    def __init__(self, names: Sequence[str]) -> None:
        self._files = ExitStack()
        self._lists: dict[str, IO[str]] = {
            name: self._files.enter_context(tempfile.TemporaryFile("w+", encoding="ascii"))  # noqa: SIM115 - __exit__
            for name in names
        }

    def __enter__(self) -> Listed:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.close()

    def put(self, name: str, item: Mapping[str, Any]) -> None:
        """One more item of a list."""
        self._lists[name].write(json.dumps(item) + "\n")

    def document(self, first: Mapping[str, Any], last: Mapping[str, Any]) -> Iterator[str]:
        """The lines of one JSON document: what comes ``first``, the lists, an item a line, and what comes ``last``."""
        yield "{"
        yield from (f"  {json.dumps(name)}: {json.dumps(value)}," for name, value in first.items())
        for name, file in self._lists.items():
            yield from _list(name, file)
        for n, (name, value) in enumerate(last.items(), 1):
            yield f"  {json.dumps(name)}: {json.dumps(value)}{',' if n < len(last) else ''}"
        yield "}"


def _list(name: str, file: IO[str]) -> Iterator[str]:
    file.seek(0)
    before = ""
    yield f"  {json.dumps(name)}: ["
    for line in file:
        if before:
            yield f"    {before},"
        before = line.rstrip()
    if before:
        yield f"    {before}"
    yield "  ],"
