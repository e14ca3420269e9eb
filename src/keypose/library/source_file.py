"""Input files: bytes that can be read without any other file, and the motion in them."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

from keypose.errors import FileError, FormatError, FormatWarning, ModelError
from keypose.formats import Limits, recognise_format
from keypose.formats.base import Format, LoadOptions, Source
from keypose.formats.files import GZIP_MAGIC, gunzip, read_bytes
from keypose.library.blobs import sha256_hex
from keypose.library.load_options import DEFAULT_LOAD_OPTIONS
from keypose.model import Motion, Skeleton
from keypose.storage import encode_kps
from keypose.storage.writer import MAX_TOLERANCE_MM, MIN_TOLERANCE_MM
from keypose.validation import check_number

KPS_SUFFIX = ".kps"
MULTI_FILE_SUFFIXES = (".amc", ".gltf")  # may need other files
NEEDS_OTHER_FILE_NOTE = "kept as .kps without loss, not as the bytes that came: it needs another file beside it"
LOAD_OPTIONS_NOTE = "kept as .kps without loss, not as the bytes that came: these alone would be read otherwise"


@dataclass(frozen=True)
class FileContent:
    """The bytes to store, and the hash of the original content."""

    data: bytes  # perhaps gzipped
    hash: str  # of the unzipped content; of lossy bytes: of the original
    unzipped: bytes


@dataclass(frozen=True)
class SourceFile:
    """A motion and the bytes from which it can be read again."""

    content: FileContent
    suffix: str
    motion: Motion
    tolerance_mm: float | None = None  # of lossy storage; None: the original bytes
    conversion_note: str = ""  # why the bytes are not the original ones


def unzip_content(data: bytes, path: Path, limits: Limits) -> FileContent:
    """Return bytes with their unzipped content; ``path`` is named in errors."""
    unzipped = gunzip(path, data, limits) if data.startswith(GZIP_MAGIC) else data
    return FileContent(data, sha256_hex(unzipped), unzipped)


def read_content(path: Path, limits: Limits) -> FileContent:
    """Return the bytes of a file with their unzipped content."""
    return unzip_content(read_bytes(path, limits, unzip=False), path, limits)


def encode_motion(motion: Motion) -> FileContent:
    """Return a motion as lossless ``.kps``; its name is not part of the content."""
    data = encode_kps(replace(motion, name="clip"), lossless=True)
    return FileContent(data, sha256_hex(data), data)


def check_tolerance_mm(tolerance_mm: float | None) -> float | None:
    """Return the checked tolerance of lossy storage; None: the original bytes are stored."""
    if tolerance_mm is None:
        return None
    return check_number("tolerance_mm", tolerance_mm, min_value=MIN_TOLERANCE_MM, max_value=MAX_TOLERANCE_MM)


def apply_tolerance(source: SourceFile, tolerance_mm: float | None) -> SourceFile:
    """Return the source with its bytes encoded as ``.kps`` within a tolerance (None: unchanged); the hash stays."""
    if tolerance_mm is None:
        return source
    data = encode_kps(replace(source.motion, name="clip"), tolerance_mm=tolerance_mm)
    return replace(
        source,
        content=FileContent(data, source.content.hash, data),
        suffix=KPS_SUFFIX,
        tolerance_mm=tolerance_mm,
    )


def read_source_file(
    content: FileContent, path: Path, placeholder: Path, limits: Limits, options: LoadOptions = DEFAULT_LOAD_OPTIONS
) -> SourceFile:
    """Read the motion of ``content`` from ``path``; ``placeholder`` is a path without other files beside it.

    The bytes are stored if they give the same motion without other files and with default options. Otherwise (AMC, glTF
    with external buffers, another animation than the first) the motion is stored as lossless ``.kps``, as a separate
    clip.
    """
    source = Source(path, content.unzipped, limits)
    format_ = recognise_format(source)
    motion = _read(source, format_, options)
    suffix = _suffix(path, format_, content)
    may_need_others = any(suffix.startswith(may) for may in MULTI_FILE_SUFFIXES) and path != placeholder
    if not may_need_others and options == DEFAULT_LOAD_OPTIONS:
        return SourceFile(content, suffix, motion)
    standalone = _try_read_standalone(content, placeholder.with_name(f"clip{suffix}"), limits)
    if standalone is None and may_need_others:
        return SourceFile(encode_motion(motion), KPS_SUFFIX, motion, conversion_note=NEEDS_OTHER_FILE_NOTE)
    if options != DEFAULT_LOAD_OPTIONS and (standalone is None or not _have_same_frames(standalone, motion)):
        return SourceFile(encode_motion(motion), KPS_SUFFIX, motion, conversion_note=LOAD_OPTIONS_NOTE)
    return SourceFile(content, suffix, motion)


def _try_read_standalone(content: FileContent, placeholder: Path, limits: Limits) -> Motion | None:
    """Return what the library will read from the bytes alone; None if it cannot. Warnings were already issued."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        try:
            return read_standalone(content, placeholder, limits)
        except (FileError, FormatError):
            return None


def _have_same_frames(motion: Motion, other: Motion) -> bool:
    """Return whether two motions have the same frames, whatever their notes."""
    return encode_motion(replace(motion, notes=())).hash == encode_motion(replace(other, notes=())).hash


def read_standalone(content: FileContent, placeholder: Path, limits: Limits) -> Motion:
    """Return the motion of ``content``, with no other file available."""
    source = Source(placeholder, content.unzipped, limits)
    return _read(source, recognise_format(source), DEFAULT_LOAD_OPTIONS)


def skeleton_hash(skeleton: Skeleton) -> str:
    """Return a hash of joint names and hierarchy, the same for all figures of one rig."""
    identity = repr((skeleton.names, skeleton.parents.tolist()))
    return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()


def _read(source: Source, format_: Format, options: LoadOptions) -> Motion:
    try:
        return format_.read(source, options)
    except ModelError as error:
        raise source.error(str(error)) from None


def _suffix(path: Path, format_: Format, content: FileContent) -> str:
    """Return the suffix of the file if the format has it, else the first suffix of the format."""
    name = os.path.basename(path).lower().removesuffix(".gz")  # noqa: PTH119 - a name with odd characters stays one
    suffix_found = next((suffix for suffix in format_.suffixes if name.endswith(suffix)), format_.suffixes[0])
    return suffix_found + (".gz" if content.data is not content.unzipped else "")
