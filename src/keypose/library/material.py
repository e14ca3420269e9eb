"""What is put into a library: bytes that can be read without any other file, and what they hold."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from keypose.errors import FileError, FormatError, FormatWarning, ModelError
from keypose.formats import Limits, recognise_format
from keypose.formats.base import Format, ReadOptions, Source
from keypose.formats.files import GZIP_MAGIC, gunzip, read_bytes
from keypose.library.blobs import hash_of
from keypose.library.reading import AS_IS
from keypose.model import Motion, Skeleton
from keypose.options import number
from keypose.storage import stored_bytes
from keypose.storage.writing import GREATEST_TOLERANCE_MM, LEAST_TOLERANCE_MM

STORED = ".kps"
MAY_NEED_OTHERS = (".amc", ".gltf")  # files that another one belongs to
BESIDE = "kept as .kps without loss, not as the bytes that came: it needs another file beside it"
ASKED = "kept as .kps without loss, not as the bytes that came: these alone would be read otherwise"


@dataclass(frozen=True)
class Packed:
    """Bytes to be kept, and the hash of the content that they came for."""

    data: bytes  # perhaps compressed
    hash: str  # of the content, unpacked; of bytes kept within a tolerance: of those that came
    content: bytes


@dataclass(frozen=True)
class Material:
    """A motion and the bytes that it comes back from."""

    packed: Packed
    suffix: str
    motion: Motion
    within_mm: float | None = None  # how far the bytes may be from those that came; None: the very same
    instead: str = ""  # why they are not those that came


def packed(data: bytes, where: Path, limits: Limits) -> Packed:
    """Bytes and their content; ``where`` is named in errors."""
    content = gunzip(where, data, limits) if data.startswith(GZIP_MAGIC) else data
    return Packed(data, hash_of(content), content)


def packed_file(path: Path, limits: Limits) -> Packed:
    """The bytes of a file and their content."""
    return packed(read_bytes(path, limits, unzip=False), path, limits)


def packed_motion(motion: Motion) -> Packed:
    """A motion without loss; its name is not part of its content."""
    data = stored_bytes(replace(motion, name="clip"), lossless=True)
    return Packed(data, hash_of(data), data)


def checked_within(within_mm: float | None) -> float | None:
    """How far the bytes that are kept may be from those that came; None: they are the very same."""
    if within_mm is None:
        return None
    return number("within_mm", within_mm, least=LEAST_TOLERANCE_MM, most=GREATEST_TOLERANCE_MM)


def within(what: Material, tolerance_mm: float | None) -> Material:
    """The same, kept as ``.kps`` within a tolerance (None: as it is); it stays the same clip."""
    if tolerance_mm is None:
        return what
    data = stored_bytes(replace(what.motion, name="clip"), tolerance_mm=tolerance_mm)
    return replace(
        what,
        packed=Packed(data, what.packed.hash, data),
        suffix=STORED,
        within_mm=tolerance_mm,
    )


def material(bytes_: Packed, path: Path, stand_in: Path, limits: Limits, options: ReadOptions = AS_IS) -> Material:
    """Reads ``bytes_`` that came from ``path``; ``stand_in`` is a path without neighbours.

    They are kept if they give this motion again, read alone. Otherwise (AMC, glTF with buffers beside it, another
    animation than the first) the motion is kept as ``.kps`` without loss, and is a clip of its own.
    """
    source = Source(path, bytes_.content, limits)
    format_ = recognise_format(source)
    motion = _read(source, format_, options)
    suffix = _suffix(path, format_, bytes_)
    may_need = any(suffix.startswith(may) for may in MAY_NEED_OTHERS) and path != stand_in
    if not may_need and options == AS_IS:
        return Material(bytes_, suffix, motion)
    alone = _alone(bytes_, stand_in.with_name(f"clip{suffix}"), limits)
    if alone is None and may_need:
        return Material(packed_motion(motion), STORED, motion, instead=BESIDE)
    if options != AS_IS and (alone is None or not _are_same(alone, motion)):
        return Material(packed_motion(motion), STORED, motion, instead=ASKED)
    return Material(bytes_, suffix, motion)


def _alone(bytes_: Packed, stand_in: Path, limits: Limits) -> Motion | None:
    """What the library will read; None if it could not. What is wrong with the file was said already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        try:
            return read_alone(bytes_, stand_in, limits)
        except (FileError, FormatError):
            return None


def _are_same(one: Motion, other: Motion) -> bool:
    """Whether they have the same frames, whatever was noticed about them."""
    return packed_motion(replace(one, notes=())).hash == packed_motion(replace(other, notes=())).hash


def read_alone(bytes_: Packed, stand_in: Path, limits: Limits) -> Motion:
    """The motion in ``bytes_``, with no file beside them."""
    source = Source(stand_in, bytes_.content, limits)
    return _read(source, recognise_format(source), AS_IS)


def skeleton_hash(skeleton: Skeleton) -> str:
    """The same for all figures of one rig, however long their bones are."""
    words = repr((skeleton.names, skeleton.parents.tolist()))
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def _read(source: Source, format_: Format, options: ReadOptions) -> Motion:
    try:
        return format_.read(source, options)
    except ModelError as error:
        raise source.error(str(error)) from None


def _suffix(path: Path, format_: Format, bytes_: Packed) -> str:
    """One of the suffixes of the format: the file's own, where it is one of them."""
    name = os.path.basename(path).lower().removesuffix(".gz")  # noqa: PTH119 - a name with odd characters stays one
    own = next((suffix for suffix in format_.suffixes if name.endswith(suffix)), format_.suffixes[0])
    return own + (".gz" if bytes_.data is not bytes_.content else "")
