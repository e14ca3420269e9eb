"""Joint names as a skeleton wants them: each one once."""

from __future__ import annotations

from keypose.formats.base import Source


def unique_names(source: Source, names: list[str]) -> tuple[str, ...]:
    """Joint names with a number behind those that were used before, with a warning."""
    unique, renamed = numbered(names)
    if renamed:
        others = f" and {len(renamed) - 5} others" if len(renamed) > 5 else ""
        source.warn(f"joint names are used more than once; numbered: {', '.join(renamed[:5])}{others}")
    return unique


def numbered(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """The names with a number behind those that were used before, as Blender does it, and which those are."""
    taken: set[str] = set()
    numbers: dict[str, int] = {}  # the last one given behind each name: thousands of equal names stay fast
    unique: list[str] = []
    renamed: list[str] = []
    for name in names:
        candidate, number = name, numbers.get(name, 0)
        while candidate in taken:
            number += 1
            candidate = f"{name}.{number:03d}"
        if candidate != name:
            numbers[name] = number
            renamed.append(candidate)
        taken.add(candidate)
        unique.append(candidate)
    return tuple(unique), renamed
