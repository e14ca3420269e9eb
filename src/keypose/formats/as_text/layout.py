"""JSON for people: numbers in the shortest form that reads back as the same bits, short objects on one line."""

from __future__ import annotations

import json
from typing import Any

LINE = 118  # what is shorter stays on one line
_LONG = 24  # a list with so many lists in it has no hope to


def text_of(document: dict[str, Any]) -> bytes:
    """The whole text of a file."""
    # Names of other encodings hold halves of characters, which UTF-8 cannot; JSON can spell them.
    return (_text(document, 0) + "\n").encode("utf-8", "backslashreplace")


def _text(value: Any, depth: int) -> str:
    """JSON in lines: what fits into one stays there, and so does a list of plain values; the rest is broken up."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    nested = [member for member in members if isinstance(member, dict | list)]
    if not nested and not isinstance(value, dict):
        return _flat(value)
    if len(nested) < _LONG and len(flat := _flat(value)) + depth <= LINE:
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{_flat(key)}: {_text(member, depth + 1)}" for key, member in value.items()]
        return "{\n" + pad + f",\n{pad}".join(lines) + "\n" + " " * depth + "}"
    return "[\n" + pad + f",\n{pad}".join(_text(member, depth + 1) for member in value) + "\n" + " " * depth + "]"


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
