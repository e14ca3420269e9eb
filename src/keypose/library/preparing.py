"""From bytes to all that a new clip is made of: the work of an ingest, in this process or in others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from keypose.arrays import Frozen
from keypose.errors import FileError, FormatError
from keypose.formats import Limits
from keypose.formats.base import ReadOptions
from keypose.library.analysis import Analysis, analyse
from keypose.library.material import Material, Packed, material, packed, within
from keypose.library.reading import AS_IS

ALONE = "needs another file beside it, expected bytes that can be read alone"


@dataclass(frozen=True, eq=False)
class Prepared(Frozen):
    """A new clip, but for what people say about it."""

    data: bytes  # to be kept
    hash: str
    suffix: str
    analysis: Analysis
    within_mm: float | None = None
    notes: tuple[str, ...] = ()  # what the reader noticed
    instead: str = ""  # why the bytes are not those that came


@dataclass(frozen=True)
class Work:
    """A file to prepare. It travels with its bytes, so that who works on it needs no disk of ours."""

    data: bytes
    path: str  # in messages, and where the files are that it may need
    stand_in: str  # a path without neighbours; where ``path`` is the same, no other file is read
    limits: Limits
    within_mm: float | None
    options: ReadOptions = AS_IS


def prepared(what: Material, within_mm: float | None) -> Prepared:
    """All about a motion and the bytes that it came in."""
    kept = within(what, within_mm)
    return Prepared(
        kept.packed.data,
        kept.packed.hash,
        kept.suffix,
        analyse(what.motion),
        kept.within_mm,
        what.motion.notes,
        what.instead,
    )


def read(found: Packed, path: Path, stand_in: Path, limits: Limits, options: ReadOptions = AS_IS) -> Material:
    """The motion in bytes; where ``path`` is the stand-in, they must do without other files."""
    try:
        return material(found, path, stand_in, limits, options)
    except FormatError:
        raise
    except FileError:
        if path != stand_in:
            raise
        raise FormatError(path, ALONE) from None


def do(work: Work) -> Prepared:
    """The clip that ``work`` is about; bytes that are to be kept as they came are left out, the sender has them."""
    path = Path(work.path)
    found = packed(work.data, path, work.limits)
    made = prepared(read(found, path, Path(work.stand_in), work.limits, work.options), work.within_mm)
    return replace(made, data=b"") if made.data is work.data else made
