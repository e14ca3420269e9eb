"""Types shared by all readers and writers, and access to files: size limits, gzip, atomic writes."""

from __future__ import annotations

import contextlib
import difflib
import gzip
import importlib.util
import io
import logging
import os
import re
import secrets
import stat
import sys
import time
import unicodedata
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from keypose.errors import (
    UNSET,
    FileError,
    FormatError,
    FormatWarning,
    Hint,
    LimitError,
    MissingExtra,
    OptionError,
    cut_middle,
    format_count,
)
from keypose.limits import MOTION_BYTES_PER_JOINT as MOTION_BYTES_PER_JOINT
from keypose.limits import SMALL_MOTION_BYTES as SMALL_MOTION_BYTES
from keypose.limits import Limits as Limits
from keypose.limits import limit_hint
from keypose.model import KeyedMotion, Motion, Note
from keypose.options import DEFAULT_LOAD_OPTIONS, Gaps, LoadOptions, OutputOptions, ReferencePose, check_option_number
from keypose.swings import Swings
from keypose.validation import check_choice, check_path, check_regular_file

logger = logging.getLogger("keypose")

KEYED_BYTES_PER_JOINT = 600  # one joint at one key: 168 in its curves with tangents, the others while it is read
MAX_WARNINGS = 20  # of one file
DEFAULT_MEDIA_TYPE = "application/octet-stream"  # browsers save files of this type instead of opening them
MAX_MESSAGE_CHARS = 600
MAX_LISTED_ANIMATIONS = 40
MAX_LIST_CHARS = 80  # of the names of one kind in a note
_PACKAGE = str(Path(__file__).resolve().parents[1])


RATE_HINT = Hint(python="its .sample(fps=...) gives frames at any rate", command="keypose convert writes any rate")
UNBAKE_HINT = Hint(
    python="kp.load reads its frames and kp.unbake finds keys for them", command="keypose unbake finds keys for them"
)
SWINGS_HINT = Hint(
    python="kp.load reads its frames and kp.swings finds swings in them", command="keypose swings finds swings in it"
)

BLENDER_VARIABLE = "KEYPOSE_BLENDER_PYTHON"
BLENDER_VERSIONS = ("4.5", "5.2")  # with which Keypose is tested
BLENDER_PYTHONS = "3.11 or 3.13"  # for which there are packages of these versions
SNIFF_BYTES = 4096

LEFTOVER_AFTER_S = 3600.0  # age of leftover temporary files; files that are being written are younger
_CLEANUP_INTERVAL_S = 600.0
_TEMPORARY = re.compile(r"\..{1,20}\.[0-9a-f]{12}\.tmp", re.DOTALL)

GZIP_MAGIC = b"\x1f\x8b"
# Maximum ratio; text of motion is compressed to a tenth, that of a figure that does not move to a hundredth.
GZIP_RATIO = 200
GZIP_FREE_BYTES = 64 << 20
_CHUNK = 1 << 20


def warn_caller(warning: FormatWarning) -> None:
    """Emit a warning that points at the line outside this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level)


def printable_text(text: str) -> str:
    """Return ``text`` from a file for use in a message: control characters escaped, the middle of long text cut."""
    text = cut_middle(text, MAX_MESSAGE_CHARS)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def list_names(names: Sequence[str], max_chars: int = MAX_LIST_CHARS) -> str:
    """Return names for use in a message: ``'a', 'b' and 3 more``."""
    n_listed = length = 0
    while n_listed < len(names) and (not n_listed or length + len(names[n_listed]) <= max_chars):
        length += len(names[n_listed]) + 4
        n_listed += 1
    more = f" and {len(names) - n_listed} more" if n_listed < len(names) else ""
    return ", ".join(map(repr, names[:n_listed])) + more


def check_limits(limits: Limits | None) -> Limits:
    """Return ``limits``, or the default ones. Raise OptionError if they are something else."""
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise OptionError(option="limits", value=limits, expected="Limits or None")
    return limits


def build_load_options(
    *,
    reference_pose: str = DEFAULT_LOAD_OPTIONS.reference_pose,
    asf: str | PathLike[str] | None = None,
    gaps: str = DEFAULT_LOAD_OPTIONS.gaps,
    animation: str | int | None = None,
    fps: float | None = None,
    limits: Limits | None = None,
) -> LoadOptions:
    """Check the keywords of ``load`` and return them."""
    if animation is not None and (isinstance(animation, bool) or not isinstance(animation, str | int)):
        raise OptionError(option="animation", value=animation, expected="a name or a number")
    skeleton = None if asf is None else check_path("asf", asf)
    return LoadOptions(
        check_choice("reference_pose", reference_pose, get_args(ReferencePose)),  # type: ignore[arg-type]
        skeleton,
        check_choice("gaps", gaps, get_args(Gaps)),  # type: ignore[arg-type]
        animation,
        None if fps is None else check_option_number(LoadOptions, "fps", fps),
        check_limits(limits),
    )


@dataclass(frozen=True)
class SaveOptions(OutputOptions):
    """The keywords of ``save``; each writer uses some of them."""

    keyed: KeyedMotion | None = None  # stored in a .kps file in addition to the frames
    swings: Swings | None = None

    @property
    def kps_only(self) -> list[str]:
        """The names of the options that are set and that only ``.kps`` has, each with ``=``."""
        is_set = {
            "tolerance_mm": self.tolerance_mm is not None,
            "lossless": bool(self.lossless),
            "keyed": self.keyed is not None,
            "swings": self.swings is not None,
        }
        return [f"{name}=" for name, value in is_set.items() if value]


@dataclass
class Source:
    """The bytes of one file to read, the limits, and the notes and warnings of the reader."""

    path: Path
    data: bytes  # decompressed
    limits: Limits = field(default_factory=Limits)
    notes: list[str] = field(default_factory=list)
    n_warnings: int = 0
    companion_bytes: int = 0  # size of other files that were read with this one, as the buffers of a .gltf
    companions: Mapping[str, bytes] | None = None  # uploaded with it, by name; None: look in the folder of the file
    used_companions: set[str] = field(default_factory=set)  # names of companions that were read

    @property
    def total_bytes(self) -> int:
        """The decompressed size of the file plus its companions."""
        return len(self.data) + self.companion_bytes

    @property
    def name(self) -> str:
        """The name of the clip: the file name without its suffixes."""
        stem = self.path.name
        for suffix in (".gz", Path(stem.removesuffix(".gz")).suffix):
            stem = stem.removesuffix(suffix) if suffix and stem != suffix else stem
        return stem

    def find_companion(self, name: str) -> bytes | None:
        """Return the content of the companion of that name; None if there is none."""
        normalised_name = unicodedata.normalize("NFC", name)  # some systems decompose letters with marks
        for companion_name, data in (self.companions or {}).items():
            if unicodedata.normalize("NFC", companion_name) == normalised_name:
                self.used_companions.add(companion_name)
                return data
        return None

    def error(
        self,
        problem: str,
        *,
        code: str | None = None,
        line: int | None = None,
        byte: int | None = None,
        subject: str | None = None,
        value: Any = UNSET,
        expected: str | None = None,
        hint: str | Hint | None = None,
    ) -> FormatError:
        """Return a FormatError that names this file."""
        return FormatError(
            self.path,
            printable_text(problem),
            code=code,
            line=line,
            byte=byte,
            subject=None if subject is None else printable_text(subject),
            value=printable_text(value) if isinstance(value, str) else value,
            expected=None if expected is None else printable_text(expected),
            hint=hint,
        )

    def unknown_animation_error(self, animation: str | int, names: Sequence[str]) -> OptionError:
        """Return the error for an unknown ``animation`` of a file that has those of ``names``."""
        listed_names = ", ".join(map(repr, names[:MAX_LISTED_ANIMATIONS])) + (
            ", ..." if len(names) > MAX_LISTED_ANIMATIONS else ""
        )
        suggestions = difflib.get_close_matches(str(animation), names, n=1)
        return OptionError(
            code="unknown_animation" if names else "no_animation",
            path=self.path,
            option="animation",
            value=animation,
            expected=f"a name or a number from 0 of: {listed_names}" if names else "none, as the file has no animation",
            hint=f"did you mean {suggestions[0]!r}?" if suggestions else None,
        )

    def note(self, text: str, *, code: str | None = None) -> None:
        """Log and collect a note about the file that is no fault; ``code`` is for programs."""
        text = printable_text(text)
        logger.info("%s: %s", self.path, text)
        self._add_note(text if code is None else Note(text, code))

    def note_not_read(self, names: Mapping[str, Sequence[str]]) -> None:
        """Add one note about all parts of the file that are not read: the ``names`` of each kind, which may be none."""
        parts = [f"{format_count(len(own), kind)} ({list_names(own)})" for kind, own in names.items() if own]
        if parts:
            self.note(f"not read: {'; '.join(parts)}", code="not_read")

    def warn(self, problem: str, *, code: str, line: int | None = None, value: Any = UNSET) -> None:
        """Warn about a fault of the file that was repaired: ``value``; the problem is a note too."""
        self.n_warnings += 1
        if self.n_warnings > MAX_WARNINGS:
            return
        if self.n_warnings < MAX_WARNINGS:
            value = printable_text(value) if isinstance(value, str) else value
            warning = FormatWarning(printable_text(problem), code=code, path=self.path, line=line, value=value)
        else:
            problem = "the file has further problems that are not listed"
            warning = FormatWarning(problem, code="more_warnings", path=self.path)
        self._add_note(warning.problem)
        warn_caller(warning)

    def _add_note(self, text: str) -> None:
        if len(self.notes) < 2 * MAX_WARNINGS:
            self.notes.append(text)

    def check_joints(self, joints: int, *, line: int | None = None) -> None:
        """Raise LimitError for more joints than the limit."""
        self._check(joints, self.limits.joints, "joints", line)

    def check_depth(self, depth: int, *, line: int | None = None) -> None:
        """Raise LimitError for a deeper hierarchy than the limit."""
        self._check(depth, self.limits.depth, "levels of joints (depth)", line)

    def check_size(self, frames: int, joints: int) -> None:
        """Raise LimitError for a motion larger than the limits; call before allocating it."""
        self._check(frames, self.limits.frames, "frames", None)
        self._check_memory(frames, joints, "frames", MOTION_BYTES_PER_JOINT)

    def check_keys(self, keys: int, n_frames: int, joints: int) -> None:
        """Raise LimitError for a keyed motion larger than the limits; its frames need no memory until it is sampled."""
        self._check(n_frames, self.limits.frames, "frames", None)
        self._check_memory(keys, joints, "keys", KEYED_BYTES_PER_JOINT)

    def _check_memory(self, count: int, joints: int, quantity: str, bytes_each: int) -> None:
        needed_bytes = count * joints * bytes_each
        allowed_bytes = max(SMALL_MOTION_BYTES, self.limits.expansion * self.total_bytes)
        if needed_bytes > allowed_bytes:
            raise LimitError(
                self.path,
                f"{count} {quantity} x {joints} joints need {needed_bytes >> 20} MB, "
                f"more than {self.limits.expansion} times the file's own size",
                value=needed_bytes,
                hint=limit_hint("expansion"),
            )

    def _check(self, count: int, limit: int, quantity: str, line: int | None) -> None:
        if count > limit:
            key = quantity.split()[-1].strip("()")
            raise LimitError(
                self.path,
                f"{count} {quantity}, more than the limit of {limit}",
                value=count,
                line=line,
                hint=limit_hint(key),
            )


@dataclass(frozen=True)
class Extra:
    """An optional dependency of this package that a format needs, and the Python module that it installs."""

    name: str  # "usd": pip install 'keypose[usd]'
    module: str  # "pxr"
    variable: str | None = None  # environment variable with the path of another Python that may have the module
    pythons: str = ""  # the only versions of Python with which it can be installed

    @property
    def install_command(self) -> str:
        """The command that installs it."""
        return f"pip install 'keypose[{self.name}]'"

    @property
    def install_hint(self) -> str:
        """The command that installs it, and the versions of Python that it needs."""
        return self.install_command + (f" (Python {self.pythons})" if self.pythons else "")

    def find_python(self) -> str | None:
        """Return the Python that has the module: this one, or that of ``variable``, which is not checked."""
        if importlib.util.find_spec(self.module) is not None:
            return sys.executable
        return (os.environ.get(self.variable) or None) if self.variable else None

    def missing_error(self, action: str) -> MissingExtra:
        """Return the error that ``action`` ("reading FBX") needs it."""
        other = f" or {self.variable}=a Python that can import {self.module}" if self.variable else ""
        return MissingExtra(f"{action} needs", f"{self.install_hint}{other}")


@dataclass(frozen=True)
class Format:
    """A file format: its name, suffixes, readers and writers, and every other fact about it."""

    name: str  # "BVH"
    suffixes: tuple[str, ...]  # ".bvh"
    sniff: Callable[[bytes], bool]  # whether the first SNIFF_BYTES of the decompressed content are of this format
    read: Callable[[Source, LoadOptions], Motion]
    write: Callable[[Motion, str, SaveOptions], bytes] | None = None  # motion, suffix -> file content
    read_keyed: Callable[[Source, LoadOptions], KeyedMotion] | None = None  # None: stores no keys
    write_keyed: Callable[[KeyedMotion, str, SaveOptions], bytes] | None = None  # None: sampled, then written
    has_keys_sidecar: bool = False  # cannot store keys: they are written to a .keys.json beside it
    # motions, the file of a character, the path to write, reduce_tracks=... -> the character with their keys
    write_into: Callable[..., bytes] | None = None
    # the names of the animations of a file; None: it has one motion
    list_animations: Callable[[Source, LoadOptions], list[str]] | None = None
    gzip: bool = False  # may also be read and written as .gz
    read_swings: Callable[[Source, LoadOptions], Swings] | None = None
    write_swings: Callable[[Swings, str, SaveOptions], bytes] | None = None  # None: the played motion
    has_companions: bool = False  # may need other files: uploaded with it or in its folder
    extra: Extra | None = None  # what it needs beyond the core install
    keys_as_metadata: bool = False  # stores every frame of a keyed motion, and the frames of its keys
    stores_residual: bool = False  # stores the residual with the keys, so that it can be added to an edit
    stores_reference_pose: bool = True  # stores it separately; else it can only be written as an extra first frame
    has_channels: bool = False  # stores numbers per joint channel, as angles of rotations in degrees
    has_tolerance: bool = False  # stores frames within a maximum error that the user chooses
    rounding_mm: float = 0.0  # maximum shift of a joint by rounding, on a figure of 1.7 m within 30 m of the origin
    first_frame: int = 0  # the number that other software shows for frame 0
    blender_needs_addon: bool = False  # Blender's own import drops the tangents of its curves
    media_type: str = DEFAULT_MEDIA_TYPE
    binary_suffixes: tuple[str, ...] = ()  # compressed or dense, so that compressing them is not useful
    variants: Mapping[str, str] = field(default_factory=dict)  # how its suffixes differ, for people
    purpose: str = ""  # a sentence for people

    @property
    def keeps_keys(self) -> bool:
        """Whether files store keys and the curves between them instead of every frame."""
        return self.write_keyed is not None and not self.keys_as_metadata

    @property
    def all_suffixes(self) -> tuple[str, ...]:
        """The suffixes, also those of compressed files."""
        return (*self.suffixes, *(f"{suffix}.gz" for suffix in self.suffixes if self.gzip))

    def matches(self, path: str | os.PathLike[str]) -> bool:
        """Return whether the file name ends with a suffix of this format, ignoring case."""
        return os.fspath(path).lower().endswith(self.all_suffixes)


def read_bytes(path: Path, limits: Limits, *, unzip: bool = True) -> bytes:
    """Return the content of a regular file, decompressed if it is gzip; at most ``limits.bytes``.

    ``unzip=False`` is for raw data, which may start with the magic number of gzip by chance.
    """
    try:
        if check_regular_file(path, "a motion file").st_size > limits.bytes:
            raise _size_error(path, limits)
        data = path.read_bytes()
    except FileNotFoundError:
        raise FileError("no such file", code="no_such_file", path=path) from None
    except (OSError, ValueError) as error:
        if isinstance(error, FileError | FormatError):
            raise
        raise FileError(
            f"cannot be read ({getattr(error, 'strerror', None) or error})", code="read_failed", path=path
        ) from None
    return gunzip(path, data, limits) if unzip and data.startswith(GZIP_MAGIC) else data


def gunzip(path: Path, data: bytes, limits: Limits) -> bytes:
    """Decompress gzip ``data`` within the limits; ``path`` is for messages."""
    chunks: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while chunk := stream.read(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > limits.bytes:
                    raise _size_error(path, limits)
                if size > GZIP_FREE_BYTES + GZIP_RATIO * len(data):
                    problem = f"unfolds to more than {GZIP_RATIO} times its size: not motion, but a bomb"
                    raise LimitError(path, problem, value=GZIP_RATIO)
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(path, f"damaged gzip data after {size} bytes ({error})", code="damaged") from None
    return b"".join(chunks)


def _size_error(path: Path, limits: Limits) -> LimitError:
    return LimitError(path, f"larger than the limit of {format_count(limits.bytes, 'byte')}", hint=limit_hint("bytes"))


def write_atomically(path: Path, data: bytes, *, overwrite: bool = True) -> None:
    """Write all of ``data`` or nothing: readers of ``path`` see the old file or the complete new one.

    The data are written to a hidden file in the same folder, synced to disk, and renamed to ``path``. A link remains a
    link, and the permissions of an existing file do not change. A pipe or a device is never replaced. With
    ``overwrite=False`` FileError is raised if the file exists, also if it is created during the write. Hidden
    files that a killed writer left in the folder are removed when they are older than an hour.
    """
    try:
        path = Path(os.path.realpath(path))
        _remove_leftovers(path.parent, int(time.time() / _CLEANUP_INTERVAL_S))
        temporary = path.with_name(f".{path.name[:20]}.{secrets.token_hex(6)}.tmp")
        status = path.stat() if path.exists() else None
        if status is not None and not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise FileError("is not a regular file, and is not replaced", code="exists", path=path)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if status is not None:
                temporary.chmod(stat.S_IMODE(status.st_mode))
            if overwrite:
                temporary.replace(path)
            else:
                _move_if_free(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except FileError:
        raise
    except FileExistsError:
        raise FileError("exists already", code="exists", path=path) from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL or a lone surrogate
        raise FileError(
            f"cannot be written ({getattr(error, 'strerror', None) or error})", code="write_failed", path=path
        ) from None


@lru_cache(maxsize=1024)
def _remove_leftovers(folder: Path, _interval: int) -> None:
    """Remove the temporary files of killed writers; the cache limits that to once per folder and interval."""
    cutoff = time.time() - LEFTOVER_AFTER_S
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < cutoff:
                        os.unlink(entry)  # noqa: PTH108 - an entry of scandir


def _move_if_free(temporary: Path, path: Path) -> None:
    """Rename ``temporary`` to ``path``; raise FileExistsError if that exists."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: reserve the name, then replace
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        temporary.replace(path)
    else:
        temporary.unlink()
