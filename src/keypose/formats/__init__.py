"""Load and save motion files: one module per format, chosen by content on load and by suffix on save."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from keypose.errors import FileError, FormatError, Hint, ModelError, OptionError
from keypose.formats import acclaim, blend, bvh, c3d, fbx, gltf, keys_json, kps, swings_json, usd
from keypose.formats.base import (
    GZIP_MAGIC,
    SNIFF_BYTES,
    SWINGS_HINT,
    UNBAKE_HINT,
    Format,
    Limits,
    SaveOptions,
    Source,
    build_load_options,
    check_limits,
    read_bytes,
    write_atomically,
)
from keypose.formats.local_poses import key_every_frame
from keypose.model import KeyedMotion, Motion
from keypose.options import Gaps, LoadOptions, ReferencePose
from keypose.storage import StoredMotion
from keypose.storage.byte_source import ByteSource
from keypose.swings import Swings
from keypose.validation import check_bool, check_path

__all__ = [
    "FORMATS",
    "Format",
    "Limits",
    "find_format",
    "list_animations",
    "load",
    "load_keyed",
    "load_swings",
    "open_kps",
    "readable_suffixes",
    "save",
    "save_into",
    "writable_suffixes",
]

FORMATS: tuple[Format, ...] = (
    bvh.FORMAT,
    acclaim.AMC,
    acclaim.ASF,
    c3d.FORMAT,
    keys_json.FORMAT,  # before glTF, which has a less specific test
    swings_json.FORMAT,
    kps.FORMAT,
    *gltf.FORMATS,
    usd.FORMAT,
    fbx.FORMAT,
    blend.FORMAT,
)

# Content that is often found in place of a motion file, by its first bytes.
_OTHER_CONTENT = (
    (b"<!doctype html", "is an HTML page, probably a download that went wrong"),
    (b"<html", "is an HTML page, probably a download that went wrong"),
    (b"version https://git-lfs", "is a Git LFS pointer, not the file itself: run 'git lfs pull'"),
    (b"<?xml", "is an XML file"),
    (b"pk\x03\x04", "is a zip archive: unpack it first"),
    (b"%pdf", "is a PDF document"),
)


def load(
    path: str | PathLike[str],
    *,
    reference_pose: ReferencePose = "auto",
    asf: str | PathLike[str] | None = None,
    gaps: Gaps = "fill",
    animation: str | int | None = None,
    fps: float | None = None,
    limits: Limits | None = None,
) -> Motion:
    """Load a motion file of any format. The content decides the format, not the name.

    ``reference_pose``: whether frame 0 is stored as ``Motion.reference_pose`` instead of as a frame: if it is
    recognised as a T-pose (``"auto"``), always (``"drop"``) or never (``"keep"``). ``asf``: the skeleton of an AMC
    file; by default it is searched in the same folder. ``gaps``: whether markers that are missing in some frames of a
    C3D file are filled, with a warning, or the file is refused. ``animation``: name or index of the animation in a file
    with several. ``fps``: the rate at which a file of keys (glTF, USD, FBX) is sampled, by default its own, or the rate
    of an AMC file, which does not state one; the rate of other files cannot be changed. ``limits``: the maximum sizes
    of a file.

    Raises a ``KeyposeError`` that names the file, the location, what was found and what was expected.
    """
    options = build_load_options(
        reference_pose=reference_pose, asf=asf, gaps=gaps, animation=animation, fps=fps, limits=limits
    )
    source = _open_source(path, options)
    try:
        return recognise_format(source).read(source, options)
    except ModelError as error:  # each number is valid, but together they are no valid motion
        raise source.error(str(error), code="inconsistent") from None


def load_keyed(
    path: str | PathLike[str],
    *,
    animation: str | int | None = None,
    fps: float | None = None,
    limits: Limits | None = None,
) -> KeyedMotion:
    """Load a keyed motion from a file that stores keys: sparse glTF, ``.keys.json``, ``.kps`` and ``.blend``.

    ``animation``, ``fps`` and ``limits`` as in ``load``; every key must fall on a frame.
    """
    options = build_load_options(animation=animation, fps=fps, limits=limits)
    source = _open_source(path, options)
    format_ = recognise_format(source)
    if format_.read_keyed is None:
        suffixes = ", ".join(suffix for f in FORMATS if f.read_keyed for suffix in f.suffixes)
        sidecar = _sidecar_path(source.path)
        hint = UNBAKE_HINT
        if sidecar.is_file():
            keys_text = f"its keys are in {sidecar.name}"
            hint = Hint(python=f"kp.load reads its frames and {keys_text}", command=keys_text)
        if format_.read_swings is not None:
            hint = Hint(python=f"{hint.python}; kp.load_swings reads its swings", command=hint.command)
        raise source.error(
            f"{format_.name} has no keys apart from its frames",
            code="missing_data",
            expected=f"one of {suffixes}",
            hint=hint,
        )
    try:
        return format_.read_keyed(source, options)
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def load_swings(path: str | PathLike[str], *, limits: Limits | None = None) -> Swings:
    """Load swings from a ``.swings.json`` or ``.kps`` file; ``kp.load`` returns the motion that they play."""
    options = build_load_options(limits=limits)
    source = _open_source(path, options)
    format_ = recognise_format(source)
    if format_.read_swings is None:
        suffixes = ", ".join(suffix for f in FORMATS if f.read_swings for suffix in f.suffixes)
        raise source.error(f"{format_.name} holds no swings", code="missing_data", expected=suffixes, hint=SWINGS_HINT)
    try:
        return format_.read_swings(source, options)
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def list_animations(path: str | PathLike[str], *, limits: Limits | None = None) -> tuple[str, ...]:
    """Return the names of the animations of a file, in the order of their indices; empty for a format with one motion.

    A name may occur more than once. ``limits``: the maximum sizes of the file.
    """
    options = build_load_options(limits=limits)
    source = _open_source(path, options)
    format_ = recognise_format(source)
    return () if format_.list_animations is None else tuple(format_.list_animations(source, options))


def open_kps(source: ByteSource, *, limits: Limits | None = None) -> StoredMotion:
    """Open a stored motion (``.kps``) for random access; only its header is read.

    ``source``: a path, a binary file object, or a function (start, stop) that returns these bytes of the file. An
    ``OSError`` of it becomes a ``FileError``; other exceptions are not caught. ``limits``: the maximum sizes of the
    contents of the file.
    """
    return kps.open_stored(source, check_limits(limits), _describe_not_kps)


def _open_source(path: str | PathLike[str], options: LoadOptions) -> Source:
    """Return the bytes of a file."""
    file = _parse_path(path)
    return Source(file, read_bytes(file, options.limits), options.limits)


def save(
    motion: Motion | KeyedMotion | Swings,
    path: str | PathLike[str],
    *,
    reference_pose: bool = False,
    tolerance_mm: float | None = None,
    lossless: bool = False,
    into: str | PathLike[str] | None = None,
    reduce_tracks: bool = True,
    keyed: KeyedMotion | None = None,
    swings: Swings | None = None,
    overwrite: bool = True,
) -> None:
    """Save a motion, keyed motion or swings; the suffix decides the format (``.bvh``, ``.glb``, ..., ``.bvh.gz``).

    The keys and curves of a keyed motion are stored in formats that can store them (``.keys.json``, ``.glb``, ...); in
    other formats every frame is stored. BVH cannot store keys: they are written to ``walk.bvh.keys.json`` beside
    ``walk.bvh``. Swings are stored in ``.swings.json`` and in ``.kps``; in other formats the motion is stored that they
    play.

    The write is atomic: if the process is killed, the old file or no file exists. An existing file is replaced, or with
    ``overwrite=False`` refused. ``reference_pose`` writes ``Motion.reference_pose`` as an extra first frame.

    ``into``: the GLB file of a character, for ``.glb`` only. The file is that of the character, with its meshes, skins,
    materials and other animations; the keys replace the animation that the motion was read from, or one with its name,
    or are added as another one. The file may be ``path`` itself. Its tracks of scale and morph weights with a key on
    every frame are reduced to a few keys within 0.1 % of their largest value; with ``reduce_tracks=False`` they stay.

    For ``.kps`` only: ``tolerance_mm`` (default 1) is the maximum error of any point of a figure of 1.7 m; ``lossless``
    stores every number exactly; ``keyed`` and ``swings`` are stored in addition to the frames.
    """
    if not isinstance(motion, Motion | KeyedMotion | Swings):
        name = type(motion).__name__
        raise OptionError(
            f"save takes a Motion, KeyedMotion or Swings and a path, in this order, not {name!r} first", value=name
        )
    path = _parse_path(path)
    suffix = _format_suffix(path.name)
    is_gzip = path.suffix.lower() == ".gz"
    format_ = next((f for f in FORMATS if suffix in f.suffixes), None)
    if format_ is not None and format_.write is None and format_.write_swings and not isinstance(motion, Swings):
        raise OptionError(
            f"{suffix} holds swings, not a {type(motion).__name__}",
            path=path,
            value=type(motion).__name__,
            hint=Hint(
                python="kp.swings finds them: kp.save(kp.swings(motion), path)", command="keypose swings finds them"
            ),
        )
    is_writable = format_ is not None and (format_.write or format_.write_swings)
    if format_ is None or not is_writable or (is_gzip and not format_.gzip):
        suffixes = ", ".join(writable_suffixes(swings=isinstance(motion, Swings)))
        raise OptionError(
            f"cannot write {path.suffix or 'a file without suffix'!r}",
            path=path,
            value=path.suffix,
            expected=f"one of {suffixes}",
        )
    with_pose, is_lossless = check_bool("reference_pose", reference_pose), check_bool("lossless", lossless)
    character = None if into is None else check_path("into", into)
    options = SaveOptions(
        with_pose, tolerance_mm, is_lossless, character, check_bool("reduce_tracks", reduce_tracks), keyed, swings
    )
    if format_ is not kps.FORMAT:
        _reject_kps_options(path, suffix, options)
    if character is not None and with_pose:
        raise OptionError("has no place in the file of a character (into=)", option="reference_pose", value=True)
    has_sidecar = isinstance(motion, KeyedMotion) and format_.has_keys_sidecar
    if not check_bool("overwrite", overwrite):
        _refuse_existing((path, _sidecar_path(path)) if has_sidecar else (path,))
    data = (
        _encode(format_, motion, suffix, options)
        if character is None
        else _encode_into([_to_keyed(motion)], path, character, reduce_tracks=options.reduce_tracks)
    )
    if has_sidecar:
        keys = _encode(keys_json.FORMAT, motion, ".keys.json", options)
        write_atomically(_sidecar_path(path), keys, overwrite=overwrite)
    write_atomically(path, gzip.compress(data, 6, mtime=0) if is_gzip else data, overwrite=overwrite)


def _refuse_existing(files: Sequence[Path]) -> None:
    """Raise FileError for the first file that exists, before any is written."""
    for file in files:
        if os.path.lexists(file):
            raise FileError("exists already", code="exists", path=file, hint="overwrite=True replaces it")


def _reject_kps_options(path: Path, suffix: str, options: SaveOptions) -> None:
    """Raise OptionError if an option is set that only ``.kps`` has."""
    if names := options.kps_only:
        raise OptionError(
            f"{', '.join(names)} is for .kps files, {suffix} has no place for it",
            path=path,
            value=", ".join(names),
            hint=f"kp.save(motion, {str(path.with_suffix('.kps'))!r}, ...) keeps it",
        )


def _encode(format_: Format, motion: Motion | KeyedMotion | Swings, suffix: str, options: SaveOptions) -> bytes:
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


def _to_keyed(motion: Motion | KeyedMotion | Swings) -> KeyedMotion:
    """Return the keys of a motion; one without keys has a key on every frame."""
    if isinstance(motion, KeyedMotion):
        return motion
    return key_every_frame(motion.play() if isinstance(motion, Swings) else motion)


def save_into(clips: Sequence[KeyedMotion], path: Path, into: Path, *, reduce_tracks: bool = True) -> None:
    """Save the file of a character with the keys of several motions; see ``into`` of ``save``."""
    write_atomically(path, _encode_into(clips, path, into, reduce_tracks=reduce_tracks))


def _encode_into(clips: Sequence[KeyedMotion], path: Path, into: Path, *, reduce_tracks: bool) -> bytes:
    """Return the content of the file ``into`` with the keys of motions, to be written to ``path``."""
    character = _open_source(into, build_load_options())
    format_ = recognise_format(character)
    if format_.write_into is None or not format_.matches(path):
        suffixes = ", ".join(suffix for f in FORMATS if f.write_into for suffix in f.suffixes)
        raise OptionError(
            option="into", value=str(into), path=path, expected=f"a character in a {suffixes} file, and such a result"
        )
    try:
        return format_.write_into(clips, character, path, reduce_tracks=reduce_tracks)
    except ModelError as error:
        raise character.error(str(error), code="inconsistent") from None


def readable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of all formats that ``load`` reads."""
    return _list_suffixes(FORMATS)


def writable_suffixes(*, swings: bool = False) -> tuple[str, ...]:
    """Return the suffixes that ``save`` accepts for a motion; with ``swings`` also those for swings alone."""
    return _list_suffixes([f for f in FORMATS if f.write or (swings and f.write_swings)])


def _list_suffixes(formats: Sequence[Format]) -> tuple[str, ...]:
    """Return the suffixes of the formats, those of compressed files last."""
    suffixes = [suffix for format_ in formats for suffix in format_.all_suffixes]
    return tuple(sorted(suffixes, key=lambda suffix: suffix.endswith(".gz")))


def find_format(path: str | PathLike[str]) -> Format | None:
    """Return the format in which a file of this name is written; None: its suffix belongs to no format."""
    suffix = _format_suffix(Path(path).name)
    return next((format_ for format_ in FORMATS if suffix in format_.suffixes), None)


def _parse_path(path: str | PathLike[str]) -> Path:
    return check_path("path", path)


def _format_suffix(name: str) -> str:
    """Return the format suffix that ``name`` ends with, without ``.gz``; an empty string if there is none."""
    name = name.lower().removesuffix(".gz")
    suffixes = sorted((s for f in FORMATS for s in f.suffixes), key=len, reverse=True)
    return next((suffix for suffix in suffixes if name.endswith(suffix) and name != suffix), "")


def _sidecar_path(path: Path) -> Path:
    """Return the path of the keys of a file that cannot store them: ``walk.bvh`` -> ``walk.bvh.keys.json``."""
    return path.with_name(f"{path.name.removesuffix('.gz')}.keys.json")


def _describe_not_kps(head: bytes) -> str | None:
    """Return what kind of file starts with ``head``, for errors about a file that should be ``.kps``."""
    if head.startswith(GZIP_MAGIC):
        return "is compressed by gzip: unpack it first"
    name = next((f.name for f in FORMATS if f.sniff(head)), None)
    return _describe_other_content(head) if name is None else f"is {name}"


def _describe_other_content(head: bytes) -> str | None:
    """Return what kind of file starts with ``head``, if it is a known kind without motion; else None."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start:
        return "holds nothing but blanks" if head else "is empty"
    return next((description for magic, description in _OTHER_CONTENT if start.startswith(magic)), None)


def recognise_format(source: Source) -> Format:
    """Return the format of a file by its content; add a note if its suffix belongs to another format."""
    head = source.data[:SNIFF_BYTES]
    for format_ in FORMATS:
        if format_.sniff(head):
            suffix = _format_suffix(source.path.name)
            if suffix and suffix not in format_.suffixes:
                source.note(f"the content is {format_.name}, not what the suffix {suffix} says")
            return format_
    names = ", ".join(dict.fromkeys(f.name for f in FORMATS))
    problem = _describe_other_content(head) or f"unknown format (starts with {head[:24]!r})"
    raise FormatError(source.path, problem, code="unknown_format", expected=f"one of {names}")
