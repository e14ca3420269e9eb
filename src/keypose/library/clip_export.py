"""Export of clips as files with their original bytes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from keypose.errors import FileError, KeyposeError, OptionError
from keypose.formats.base import write_atomically
from keypose.library.records import Clip
from keypose.library.rows import file_stem
from keypose.library.store import Store
from keypose.validation import check_items

HASH_DIGITS = 8  # appended to a name that several clips have
MAX_NAMED = 10  # maximum number of clips in an error


def export(store: Store, clips: Iterable[Clip], folder: str | PathLike[str]) -> tuple[Path, ...]:
    """Write each clip into ``folder`` under its name, made valid as a file name; return the paths.

    An existing file with the same bytes is not written. Failures are raised as one FileError after all other clips are
    written.
    """
    results = list(export_each(store, clips, folder))
    failures = [f"{clip.name}: {result}" for clip, result in results if isinstance(result, KeyposeError)]
    if failures:
        suffix = f"; and {len(failures) - MAX_NAMED} more" if len(failures) > MAX_NAMED else ""
        raise FileError(
            f"{len(failures)} of {len(results)} clips were not written: {'; '.join(failures[:MAX_NAMED])}{suffix}"
        )
    return tuple(result for _, result in results if isinstance(result, Path))


def export_each(
    store: Store, clips: Iterable[Clip], folder: str | PathLike[str]
) -> Iterator[tuple[Clip, Path | KeyposeError]]:
    """Yield each clip with its path, or with the error, as it is written."""
    expected = "clips, as clips() and clip() give them"
    chosen_clips = check_items("clips", clips, expected)
    for clip in chosen_clips:
        if not isinstance(clip, Clip):
            raise OptionError(option="clips", value=clip, expected=expected)
    target = _create_folder(folder)
    for clip, name in zip(chosen_clips, file_names(chosen_clips), strict=True):
        try:
            yield clip, _write_clip(store, clip, target / name)
        except KeyposeError as error:
            yield clip, error


def _create_folder(folder: str | PathLike[str]) -> Path:
    try:
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
    except TypeError:
        raise OptionError(option="folder", value=folder, expected="the path of a folder") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL or a lone surrogate
        raise FileError(f"{os.fspath(folder)!a:.80}: cannot be made "
                        f"({getattr(error, 'strerror', None) or error})") from None  # fmt: skip
    return target


def file_names(clips: Sequence[Clip]) -> list[str]:
    """Return file names that differ also where case is ignored; deterministic for the same clips.

    Digits of the hash are appended to names that several clips have.
    """
    plain_names = [f"{file_stem(clip.name)}{clip.suffix}" for clip in clips]
    count = Counter(name.casefold() for name in plain_names)
    unique_names = {name for name, times in count.items() if times == 1}
    return [
        name if name.casefold() in unique_names else _add_hash(clip, unique_names)
        for clip, name in zip(clips, plain_names, strict=True)
    ]


def _add_hash(clip: Clip, taken_names: set[str]) -> str:
    """Return a name with as many digits of the hash as make it differ from ``taken_names``."""
    stem = file_stem(clip.name)
    names = (f"{stem}_{clip.hash[:digits]}{clip.suffix}" for digits in range(HASH_DIGITS, len(clip.hash) + 1))
    return next((name for name in names if name.casefold() not in taken_names), f"{clip.hash}{clip.suffix}")


def _write_clip(store: Store, clip: Clip, path: Path) -> Path:
    data = store.read_bytes(clip)
    if path.is_symlink():
        raise FileError("is a link", path=path, expected="a free name", code="exists")
    try:
        existing = path.read_bytes() if path.is_file() and path.stat().st_size == len(data) else None
    except OSError as error:
        raise FileError(f"cannot be read ({error.strerror or error})", path=path) from None
    if existing == data:
        return path
    if os.path.lexists(path):
        raise FileError(
            "is there with other content", path=path, expected="a free name or the same bytes", code="exists"
        )
    write_atomically(path, data, overwrite=False)
    return path
