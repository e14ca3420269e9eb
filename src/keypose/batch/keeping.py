"""Which files hold the keys of a keyed motion and the curves between them; all others get every frame."""

from __future__ import annotations

from pathlib import Path

from keypose.formats import FORMATS, Format

NOTED_ONLY = ("USD",)  # gets every frame, and a note of which are keys


def keeps_keys(format_: Format) -> bool:
    """Whether files of this format hold keys and curves."""
    return format_.write_keyed is not None and format_.name not in NOTED_ONLY


def format_of(path: Path) -> Format:
    """The format that a file of this name is written in."""
    name = path.name.lower().removesuffix(".gz")
    return next(format_ for format_ in FORMATS if name.endswith(format_.suffixes))
