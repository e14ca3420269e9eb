"""``.kps``: a motion in few bytes, within a promised error or without loss; docs/kps.md describes the file.

The file itself is the business of ``keypose.storage``; here are its row of the table and the text of its keys.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keypose.errors import FormatError, ModelError, OptionError
from keypose.formats.as_text.clip import check_played
from keypose.formats.base import Format, ReadOptions, Source, WriteOptions
from keypose.formats.keys_json.read import read_keyed as read_text
from keypose.formats.keys_json.write import write_keyed as write_text
from keypose.formats.reference import with_pose_apart
from keypose.limits import Limits
from keypose.model import KeyedMotion, Motion
from keypose.options import flag
from keypose.storage import StoredMotion, keys_bytes, open_kps, stored_bytes, swings_bytes
from keypose.storage.blocks import read_keys_with
from keypose.storage.container import MAGIC
from keypose.storage.detail import without_detail
from keypose.storage.sources import Ranges
from keypose.swings import Swings

__all__ = ["FORMAT", "open_kps", "refuse_options"]
FIRST_TEXT = 0x20  # versions are less than any letter: a text may start with the same three


def read(source: Source, options: ReadOptions) -> Motion:
    """The frames of a file; where it has none of its own, those of its keys or swings."""
    stored = _opened(source)
    if stored.has_frames:
        return with_pose_apart(_noted(stored.motion(), source), options.reference_pose)
    keyed = stored.keyed()
    clip = stored.swings() if keyed is None else keyed
    if clip is None:
        raise source.error("holds neither frames nor keys nor swings")
    check_played(source, clip, options.fps)
    played = clip.sample(fps=options.fps) if isinstance(clip, KeyedMotion) else clip.play(fps=options.fps)
    return with_pose_apart(_noted(played, source), options.reference_pose)


def read_keyed(source: Source, options: ReadOptions) -> KeyedMotion:
    """The keys that are kept in a file."""
    keyed = _opened(source).keyed()
    if keyed is None:
        raise source.error("holds no keys; kp.load reads its frames and kp.unbake finds keys for them")
    if options.fps is not None and options.fps != keyed.fps:
        raise OptionError(f"{source.path}: fps={options.fps:g}, but the file states {keyed.fps:g}; "
                          f"its .sample(fps=...) gives frames at any rate")  # fmt: skip
    return keyed


def read_swings(source: Source, options: ReadOptions) -> Swings:
    """The swings that are kept in a file."""
    swings = _opened(source).swings()
    if swings is None:
        raise source.error("holds no swings; kp.load reads its frames and kp.swings finds swings in them")
    return swings


def _opened(source: Source) -> StoredMotion:
    data = source.data
    return open_kps(Ranges(str(source.path), len(data), lambda start, stop: data[start:stop]), limits=source.limits)


def _noted(motion: Motion, source: Source) -> Motion:
    """The motion with what was noticed while reading the file behind its own notes."""
    return replace(motion, notes=(*motion.notes, *source.notes)) if source.notes else motion


def write(motion: Motion, suffix: str, options: WriteOptions) -> bytes:
    """Every frame. The reference pose has a place of its own, so it never becomes a frame."""
    for what, kind, beside in (("keyed", KeyedMotion, options.keyed), ("swings", Swings, options.swings)):
        if beside is not None:
            _check_beside(motion, what, kind, beside)
    keys = None if options.keyed is None else _text_of(without_detail(options.keyed, motion))
    return stored_bytes(
        motion,
        tolerance_mm=options.tolerance_mm,
        lossless=flag("lossless", options.lossless),
        keys=keys,
        swings=options.swings,
    )


def _check_beside(motion: Motion, what: str, kind: type, beside: KeyedMotion | Swings) -> None:
    if not isinstance(beside, kind):
        raise OptionError(f"{what}={type(beside).__name__}, expected {kind.__name__}")
    if beside.skeleton.names != motion.skeleton.names or beside.n_frames != motion.n_frames:
        raise OptionError(f"{what}= of {beside.n_frames} frames and {beside.n_joints} joints is not of this motion, "
                          f"which has {motion.n_frames} and {motion.n_joints}")  # fmt: skip


def write_keyed(keyed: KeyedMotion, suffix: str, options: WriteOptions) -> bytes:
    """Keys and curves as they are, and no frames."""
    _refuse_more(keyed, "keyed.sample(), path, keyed=keyed", options)
    return keys_bytes(keyed, _text_of(keyed))


def write_swings(swings: Swings, suffix: str, options: WriteOptions) -> bytes:
    """Swings, and no frames."""
    _refuse_more(swings, "swings.play(), path, swings=swings", options)
    return swings_bytes(swings)


def _text_of(keyed: KeyedMotion) -> bytes:
    return write_text(keyed, ".keys.json", WriteOptions())


def _given(options: WriteOptions) -> list[str]:
    """Which of the options are given that only these files have."""
    given = {
        "tolerance_mm": options.tolerance_mm is not None,
        "lossless": bool(options.lossless),
        "keyed": options.keyed is not None,
        "swings": options.swings is not None,
    }
    return [f"{name}=" for name, is_given in given.items() if is_given]


def _refuse_more(what: KeyedMotion | Swings, instead: str, options: WriteOptions) -> None:
    if given := _given(options):
        raise OptionError(f"{', '.join(given)} for {type(what).__name__}, expected a Motion, as these are for frames; "
                          f"to keep both: kp.save({instead}, tolerance_mm=1.0)")  # fmt: skip


def refuse_options(path: Path, suffix: str, options: WriteOptions) -> None:
    """What only these files have is an error for others."""
    if given := _given(options):
        raise OptionError(f"{path}: {', '.join(given)} is for .kps files, {suffix} has no place for it; "
                          f"kp.save(motion, {str(path.with_suffix('.kps'))!r}, ...) keeps it")  # fmt: skip


def _keyed_of(text: bytes, where: str, limits: Limits) -> KeyedMotion:
    """The keyed motion of the text in a file."""
    try:
        return read_text(Source(Path(where), text, limits), ReadOptions())
    except ModelError as error:
        raise FormatError(where, str(error)) from None


def _sniff(head: bytes) -> bool:
    return head.startswith(MAGIC) and len(head) > len(MAGIC) and head[len(MAGIC)] < FIRST_TEXT


read_keys_with(_keyed_of)
FORMAT = Format(
    "Keypose storage",
    (".kps",),
    _sniff,
    read,
    write,
    read_keyed,
    write_keyed,
    read_swings=read_swings,
    write_swings=write_swings,
)
