"""Readable JSON: numbers in the shortest form that reads back as the same bits, short objects on one line."""

from __future__ import annotations

import json
from typing import Any

MAX_LINE_CHARS = 118  # shorter values stay on one line
_MAX_NESTED = 24  # a value with more nested values is never put on one line


def format_document(document: dict[str, Any]) -> bytes:
    """Return the text of a file."""
    # Names in other encodings hold lone surrogates, which UTF-8 cannot encode; JSON can escape them.
    return (_format_value(document, 0) + "\n").encode("utf-8", "backslashreplace")


def _format_value(value: Any, depth: int) -> str:
    """Format a value: on one line if it fits or is a list of plain values, else one member per line."""
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    nested = [member for member in members if isinstance(member, dict | list)]
    if not nested and not isinstance(value, dict):
        return _format_flat(value)
    if len(nested) < _MAX_NESTED and len(flat := _format_flat(value)) + depth <= MAX_LINE_CHARS:
        return flat
    pad = " " * (depth + 1)
    if isinstance(value, dict):
        lines = [f"{_format_flat(key)}: {_format_value(member, depth + 1)}" for key, member in value.items()]
        return "{\n" + pad + f",\n{pad}".join(lines) + "\n" + " " * depth + "}"
    return (
        "[\n" + pad + f",\n{pad}".join(_format_value(member, depth + 1) for member in value) + "\n" + " " * depth + "]"
    )


def _format_flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
