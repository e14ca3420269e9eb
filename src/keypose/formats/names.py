"""Unique joint names."""

from __future__ import annotations

from keypose.formats.base import Source


def unique_names(source: Source, names: list[str]) -> tuple[str, ...]:
    """Return joint names with a number appended to repeated ones; warn about these."""
    unique, renamed = number_duplicates(names)
    if renamed:
        others = f" and {len(renamed) - 5} others" if len(renamed) > 5 else ""
        source.warn(f"joint names are used more than once; numbered: {', '.join(renamed[:5])}{others}")
    return unique


def number_duplicates(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the names with a number appended to repeated ones, as Blender does it, and the new names."""
    used: set[str] = set()
    numbers: dict[str, int] = {}  # the last number used for each name, so that thousands of equal names stay fast
    unique: list[str] = []
    renamed: list[str] = []
    for name in names:
        candidate, number = name, numbers.get(name, 0)
        while candidate in used:
            number += 1
            candidate = f"{name}.{number:03d}"
        if candidate != name:
            numbers[name] = number
            renamed.append(candidate)
        used.add(candidate)
        unique.append(candidate)
    return tuple(unique), renamed
