"""Clips as files again, the very bytes that came in."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from keypose.errors import FileError, KeyposeError, OptionError
from keypose.formats.files import write_atomically
from keypose.library.nouns import Clip
from keypose.library.store import Store
from keypose.library.wording import file_stem
from keypose.options import shown

HASH_DIGITS = 8  # behind a name that another clip has too
MOST_SAID = 10  # clips that an error names


def export(store: Store, clips: Iterable[Clip], folder: str | PathLike[str]) -> tuple[Path, ...]:
    """Writes each clip into ``folder`` under its name, as far as that is a name for a file.

    A file that is there already with the same bytes stays. What cannot be written is told of at the end, in one error,
    when all others are.
    """
    done = list(export_each(store, clips, folder))
    failed = [f"{clip.name}: {what}" for clip, what in done if isinstance(what, KeyposeError)]
    if failed:
        more = f"; and {len(failed) - MOST_SAID} more" if len(failed) > MOST_SAID else ""
        raise FileError(f"{len(failed)} of {len(done)} clips were not written: {'; '.join(failed[:MOST_SAID])}{more}")
    return tuple(what for _, what in done if isinstance(what, Path))


def export_each(
    store: Store, clips: Iterable[Clip], folder: str | PathLike[str]
) -> Iterator[tuple[Clip, Path | KeyposeError]]:
    """The same, one after another: each clip with its file, or with why there is none."""
    chosen = list(clips)
    wrong = next((clip for clip in chosen if not isinstance(clip, Clip)), None)
    if wrong is not None:
        raise OptionError(f"chosen has {shown(wrong)}, expected clips, as clips() and clip() give them")
    target = _made(folder)
    for clip, name in zip(chosen, file_names(chosen), strict=True):
        try:
            yield clip, _written(store, clip, target / name)
        except KeyposeError as error:
            yield clip, error


def _made(folder: str | PathLike[str]) -> Path:
    try:
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
    except TypeError:
        raise OptionError(f"folder={shown(folder)}, expected the path of a folder") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL or a lone surrogate
        raise FileError(f"{os.fspath(folder)!a:.80}: cannot be made "
                        f"({getattr(error, 'strerror', None) or error})") from None  # fmt: skip
    return target


def file_names(clips: Sequence[Clip]) -> list[str]:
    """Names for files, each another one, on systems too that take A for a; the same clips always get the same.

    Where several have one name, each has digits of its hash behind it.
    """
    plain = [f"{file_stem(clip.name)}{clip.suffix}" for clip in clips]
    count = Counter(name.lower() for name in plain)
    alone = {name for name, times in count.items() if times == 1}
    return [name if name.lower() in alone else _with_hash(clip, alone) for clip, name in zip(clips, plain, strict=True)]


def _with_hash(clip: Clip, taken: set[str]) -> str:
    """A name with as many digits of its hash as make it another than all that are ``taken``."""
    stem = file_stem(clip.name)
    names = (f"{stem}_{clip.hash[:digits]}{clip.suffix}" for digits in range(HASH_DIGITS, len(clip.hash) + 1))
    return next((name for name in names if name.lower() not in taken), f"{clip.hash}{clip.suffix}")


def _written(store: Store, clip: Clip, path: Path) -> Path:
    data = store.bytes_of(clip)
    if path.is_symlink():
        raise FileError(f"{path}: is a link, expected a free name")
    try:
        there = path.read_bytes() if path.is_file() and path.stat().st_size == len(data) else None
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
    if there == data:
        return path
    if os.path.lexists(path):
        raise FileError(f"{path}: is there with other content, expected a free name or the same bytes")
    write_atomically(path, data, overwrite=False)
    return path
