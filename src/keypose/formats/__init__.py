"""Files to motions and back, one module per format, chosen by content when reading and by suffix when writing."""

from __future__ import annotations

import gzip
from os import PathLike
from pathlib import Path
from typing import Literal

from keypose.errors import FormatError, ModelError, OptionError
from keypose.formats import acclaim, blend, bvh, c3d, fbx, gltf, keys_json, kps, swings_json, usd
from keypose.formats.base import SNIFF_BYTES, Format, Limits, ReadOptions, Source, WriteOptions
from keypose.formats.files import GZIP_MAGIC, read_bytes, write_atomically
from keypose.model import KeyedMotion, Motion
from keypose.model.motion import GREATEST_FPS, LEAST_FPS
from keypose.storage.container import name_others_with
from keypose.swings import Swings

__all__ = [
    "FORMATS",
    "Format",
    "Limits",
    "load",
    "load_keyed",
    "load_swings",
    "readable_suffixes",
    "save",
    "writable_suffixes",
]

FORMATS: tuple[Format, ...] = (
    bvh.FORMAT,
    acclaim.AMC,
    acclaim.ASF,
    c3d.FORMAT,
    keys_json.FORMAT,  # before glTF, which is known by less
    swings_json.FORMAT,
    kps.FORMAT,
    *gltf.FORMATS,
    usd.FORMAT,
    fbx.FORMAT,
    blend.FORMAT,
)


def load(
    path: str | PathLike[str],
    *,
    reference_pose: Literal["auto", "keep", "drop"] = "auto",
    asf: str | PathLike[str] | None = None,
    gaps: Literal["fill", "refuse"] = "fill",
    animation: str | int | None = None,
    fps: float | None = None,
    limits: Limits | None = None,
) -> Motion:
    """Reads any motion file; its content decides the format, whatever its name.

    ``reference_pose``: a T-pose before the movement is kept apart when recognised (``"auto"``), always
    (``"drop"``) or never (``"keep"``). ``asf``: the skeleton of an AMC file, else looked for beside it.
    ``gaps``: markers that a C3D file lost for some frames are filled, with a warning, or refused.
    ``animation``: which one of a file that holds several, by name or number. ``fps``: the rate at which
    a file of keys (glTF, USD, FBX) is sampled, by default its own, and the rate of an AMC file, which states
    none; other files state theirs. ``limits``: how much a file may ask for.

    Raises a ``KeyposeError`` that names file, place, what was found and what was expected.
    """
    source, options = _opened(path, reference_pose, asf, gaps, animation, fps, limits)
    try:
        return recognise_format(source).read(source, options)
    except ModelError as error:  # numbers that each alone may stand in a file, but make no motion together
        raise source.error(str(error)) from None


def load_keyed(
    path: str | PathLike[str],
    *,
    animation: str | int | None = None,
    fps: float | None = None,
    limits: Limits | None = None,
) -> KeyedMotion:
    """Reads the keys of a file that has some, as they are: sparse glTF, ``.keys.json`` and ``.kps``.

    ``animation`` and ``fps`` as for ``load``; every key must fall on a frame.
    """
    source, options = _opened(path, "auto", None, "fill", animation, fps, limits)
    format_ = recognise_format(source)
    if format_.read_keyed is None:
        keyed = ", ".join(suffix for f in FORMATS if f.read_keyed for suffix in f.suffixes)
        beside = _keys_beside(source.path)
        there = f"its keys are in {beside.name}" if beside.is_file() else "kp.unbake finds keys for them"
        if format_.read_swings is not None:
            there += "; kp.load_swings reads its swings"
        raise source.error(f"{format_.name} has no keys apart from its frames, expected one of {keyed}; "
                           f"kp.load reads its frames and {there}")  # fmt: skip
    try:
        return format_.read_keyed(source, options)
    except ModelError as error:
        raise source.error(str(error)) from None


def load_swings(path: str | PathLike[str], *, limits: Limits | None = None) -> Swings:
    """Reads swings that were saved as such (``.swings.json``, ``.kps``); ``kp.load`` gives the motion they play."""
    source, options = _opened(path, "auto", None, "fill", None, None, limits)
    format_ = recognise_format(source)
    if format_.read_swings is None:
        known = ", ".join(suffix for f in FORMATS if f.read_swings for suffix in f.suffixes)
        raise source.error(f"{format_.name} holds no swings, expected {known}; kp.load reads its frames and kp.swings "
                           f"finds swings in them")  # fmt: skip
    try:
        return format_.read_swings(source, options)
    except ModelError as error:
        raise source.error(str(error)) from None


def _opened(
    path: str | PathLike[str],
    reference_pose: Literal["auto", "keep", "drop"],
    asf: str | PathLike[str] | None,
    gaps: Literal["fill", "refuse"],
    animation: str | int | None,
    fps: float | None,
    limits: Limits | None,
) -> tuple[Source, ReadOptions]:
    """The bytes of a file and how to read them, checked."""
    path = _path_of(path)
    limits = limits or Limits()
    if gaps not in ("fill", "refuse"):
        raise OptionError(f"gaps={gaps!r}, expected 'fill' or 'refuse'")
    if fps is not None and (isinstance(fps, str) or not LEAST_FPS <= fps <= GREATEST_FPS):
        raise OptionError(f"fps={fps!r}, expected {LEAST_FPS:g} to {GREATEST_FPS:g} frames per second")
    if not isinstance(animation, str | int | None):
        raise OptionError(f"animation={animation!r}, expected a name or a number")
    options = ReadOptions(reference_pose, Path(asf) if asf is not None else None, gaps, animation, fps)
    return Source(path, read_bytes(path, limits), limits), options


def save(
    motion: Motion | KeyedMotion | Swings,
    path: str | PathLike[str],
    *,
    reference_pose: bool = False,
    tolerance_mm: float | None = None,
    lossless: bool = False,
    keyed: KeyedMotion | None = None,
    swings: Swings | None = None,
) -> None:
    """Writes a motion; the suffix decides the format (``.bvh``, ``.glb``, ``.usda``, ..., also ``.bvh.gz``).

    A keyed motion keeps its keys and curves in formats that have such (``.keys.json``, ``.glb``, ...); others get every
    frame. Beside a BVH file, which has no place for keys, they are written as ``walk.bvh.keys.json``. Swings are kept
    in ``.swings.json``, which holds nothing else, and in ``.kps``; other formats get the motion that they play.

    Atomic: a killed save leaves the old file or none, never half a one. ``reference_pose`` writes the
    pose that ``load`` kept apart as an extra first frame again.

    For ``.kps`` only: no point of the figure, on a figure of 1.7 m, is farther off than ``tolerance_mm`` (by default
    1), or every number comes back (``lossless``); ``keyed`` and ``swings`` are kept beside the frames.
    """
    if not isinstance(motion, Motion | KeyedMotion | Swings):
        raise OptionError(
            f"save takes a Motion, KeyedMotion or Swings and a path, in this order, not {type(motion).__name__!r} first"
        )
    path = _path_of(path)
    suffix = _suffix_of(path.name)
    zipped = path.suffix.lower() == ".gz"
    format_ = next((f for f in FORMATS if suffix in f.suffixes), None)
    if format_ is not None and format_.write is None and format_.write_swings and not isinstance(motion, Swings):
        raise OptionError(f"{path}: {suffix} holds swings, not a {type(motion).__name__}; kp.swings finds them: "
                          f"kp.save(kp.swings(motion), path)")  # fmt: skip
    writes = format_ is not None and (format_.write or format_.write_swings)
    if format_ is None or not writes or (zipped and not format_.gzip):
        known = ", ".join(writable_suffixes(swings=isinstance(motion, Swings)))
        raise OptionError(f"{path}: cannot write {path.suffix or 'a file without suffix'!r}, expected one of {known}")
    options = WriteOptions(reference_pose, tolerance_mm, lossless, keyed, swings)
    if format_ is not kps.FORMAT:
        kps.refuse_options(path, suffix, options)
    data = _content(format_, motion, suffix, options)
    if isinstance(motion, KeyedMotion) and format_.keys_beside:
        write_atomically(_keys_beside(path), _content(keys_json.FORMAT, motion, ".keys.json", options))
    write_atomically(path, gzip.compress(data, 6, mtime=0) if zipped else data)


def _content(format_: Format, motion: Motion | KeyedMotion | Swings, suffix: str, options: WriteOptions) -> bytes:
    if isinstance(motion, Swings):
        if format_.write_swings is not None:
            return format_.write_swings(motion, suffix, options)
        motion = motion.play()
    assert format_.write is not None
    if isinstance(motion, Motion):
        return format_.write(motion, suffix, options)
    if format_.write_keyed is None:
        return format_.write(motion.sample(), suffix, options)
    return format_.write_keyed(motion, suffix, options)


def readable_suffixes() -> tuple[str, ...]:
    """The suffixes that motion files usually have."""
    plain = [s for f in FORMATS for s in f.suffixes]
    return tuple(plain + [f"{s}.gz" for f in FORMATS if f.gzip for s in f.suffixes])


def writable_suffixes(*, swings: bool = False) -> tuple[str, ...]:
    """The suffixes that ``save`` takes for a motion or, with more of them, for ``swings``."""
    written = [f for f in FORMATS if f.write or (swings and f.write_swings)]
    return tuple([s for f in written for s in f.suffixes] + [f"{s}.gz" for f in written if f.gzip for s in f.suffixes])


def _path_of(path: str | PathLike[str]) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise OptionError(f"path={path!r}, expected the path of a file") from None


def _suffix_of(name: str) -> str:
    """The suffix of a format that ``name`` ends with, ``.gz`` taken off; none: empty."""
    name = name.lower().removesuffix(".gz")
    known = sorted((s for f in FORMATS for s in f.suffixes), key=len, reverse=True)
    return next((suffix for suffix in known if name.endswith(suffix) and name != suffix), "")


def _keys_beside(path: Path) -> Path:
    """Where the keys of a file go that has no place for them: ``walk.bvh`` -> ``walk.bvh.keys.json``."""
    return path.with_name(f"{path.name.removesuffix('.gz')}.keys.json")


# Content that people often have in place of the motion they wanted.
_NOT_MOTION = (
    (b"<!doctype html", "is an HTML page, probably a download that went wrong"),
    (b"<html", "is an HTML page, probably a download that went wrong"),
    (b"version https://git-lfs", "is a Git LFS pointer, not the file itself: run 'git lfs pull'"),
    (b"<?xml", "is an XML file"),
    (b"pk\x03\x04", "is a zip archive: unpack it first"),
    (b"%pdf", "is a PDF document"),
)


def _no_motion(head: bytes) -> str | None:
    """What a file is that begins so and is in no format of ours, where that is known."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start:
        return "holds nothing but blanks" if head else "is empty"
    return next((what for magic, what in _NOT_MOTION if start.startswith(magic)), None)


def _not_stored(head: bytes) -> str | None:
    """What a file is that begins so and was to be ``.kps``."""
    if head.startswith(GZIP_MAGIC):
        return "is compressed by gzip: unpack it first"
    name = next((f.name for f in FORMATS if f.sniff(head)), None)
    return _no_motion(head) if name is None else f"is {name}, which kp.load reads"


name_others_with(_not_stored)


def recognise_format(source: Source) -> Format:
    """The format of a file by its content; what its name says otherwise is noted."""
    head = source.data[:SNIFF_BYTES]
    for format_ in FORMATS:
        if format_.sniff(head):
            suffix = _suffix_of(source.path.name)
            if suffix and suffix not in format_.suffixes:
                source.note(f"the content is {format_.name}, not what the suffix {suffix} says")
            return format_
    found = _no_motion(head)
    known = ", ".join(dict.fromkeys(f.name for f in FORMATS))
    raise FormatError(source.path, f"{found or f'starts with {head[:24]!r}'}, expected one of {known}")
