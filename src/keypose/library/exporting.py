"""Clips as files again, the very bytes that came in."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from keypose.errors import FileError
from keypose.formats.files import write_atomically
from keypose.library.nouns import Clip
from keypose.library.store import Store
from keypose.library.wording import file_stem


def export(store: Store, clips: Iterable[Clip], folder: str | PathLike[str]) -> tuple[Path, ...]:
    """Writes each clip into ``folder`` under its name, as far as that is a name for a file; equal ones get numbers.

    A file that is there already with the same bytes stays, one with others is an error.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{target}: cannot be made ({error.strerror or error})") from None
    taken: set[str] = set()
    return tuple(_written(store, clip, target / _free(clip, taken)) for clip in clips)


def _free(clip: Clip, taken: set[str]) -> str:
    """A name that no other one of this export has, on systems too that take A for a."""
    stem = file_stem(clip.name)
    name, count = f"{stem}{clip.suffix}", 1
    while name.lower() in taken:
        count += 1
        name = f"{stem}_{count}{clip.suffix}"
    taken.add(name.lower())
    return name


def _written(store: Store, clip: Clip, path: Path) -> Path:
    data = store.blobs.read(clip.blob)
    try:
        same = path.is_file() and path.read_bytes() == data
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not same:
        write_atomically(path, data, overwrite=False)
    return path
