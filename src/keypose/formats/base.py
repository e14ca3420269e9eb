"""Types shared by all readers and writers: the source of a file, load and save options, the row of a format."""

from __future__ import annotations

import logging
import sys
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from keypose.errors import FormatError, FormatWarning, LimitError
from keypose.limits import MOTION_BYTES_PER_JOINT as MOTION_BYTES_PER_JOINT
from keypose.limits import SMALL_MOTION_BYTES as SMALL_MOTION_BYTES
from keypose.limits import Limits as Limits
from keypose.model import KeyedMotion, Motion
from keypose.swings import Swings

logger = logging.getLogger("keypose")

KEYED_BYTES_PER_JOINT = 600  # one joint at one key: 168 in its curves, with tangents; the rest while reading
MAX_WARNINGS = 20  # of one file
MAX_MESSAGE_CHARS = 600
_PACKAGE = str(Path(__file__).resolve().parents[1])


def warn_caller(text: str) -> None:
    """Emit a FormatWarning that points at the line outside this package that called it."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, FormatWarning, stacklevel=level)


def printable_text(text: str) -> str:
    """Return ``text`` from a file for use in a message: control characters escaped, the middle of long text cut."""
    if len(text) > MAX_MESSAGE_CHARS:
        text = f"{text[: MAX_MESSAGE_CHARS // 2]} ... {text[-MAX_MESSAGE_CHARS // 2 :]}"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True)
class LoadOptions:
    """The keywords of ``load``; each reader uses those that apply to it."""

    reference_pose: Literal["auto", "keep", "drop"] = "auto"
    asf: Path | None = None
    gaps: Literal["fill", "refuse"] = "fill"
    animation: str | int | None = None
    fps: float | None = None


@dataclass(frozen=True)
class SaveOptions:
    """The keywords of ``save``; each writer uses those that apply to it."""

    reference_pose: bool = False  # write the reference pose as an extra first frame
    tolerance_mm: float | None = None  # of a .kps file; None: the default
    lossless: bool = False
    keyed: KeyedMotion | None = None  # stored in a .kps file in addition to the frames
    swings: Swings | None = None


@dataclass
class Source:
    """The bytes of one file to read, its limits, and the notes and warnings of the reader."""

    path: Path
    data: bytes  # decompressed
    limits: Limits = field(default_factory=Limits)
    notes: list[str] = field(default_factory=list)
    warnings: int = 0
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

    def error(self, problem: str, *, line: int | None = None, byte: int | None = None) -> FormatError:
        """Return a FormatError that names this file."""
        return FormatError(self.path, printable_text(problem), line=line, byte=byte)

    def note(self, text: str) -> None:
        """Log and keep a note about the file that is no fault of it."""
        logger.info("%s: %s", self.path, printable_text(text))
        self._add_note(text)

    def warn(self, text: str, *, line: int | None = None) -> None:
        """Warn about a fault of the file that was repaired."""
        self.warnings += 1
        if self.warnings > MAX_WARNINGS:
            return
        if self.warnings == MAX_WARNINGS:
            text = "more is wrong with this file than is listed here"
        self._add_note(text)
        suffix = f":{line}" if line is not None else ""
        warn_caller(f"{self.path}{suffix}: {printable_text(text)}")

    def _add_note(self, text: str) -> None:
        if len(self.notes) < 2 * MAX_WARNINGS:
            self.notes.append(printable_text(text))

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
        """Raise LimitError for a keyed motion larger than the limits; its frames take no memory until sampled."""
        self._check(n_frames, self.limits.frames, "frames", None)
        self._check_memory(keys, joints, "keys", KEYED_BYTES_PER_JOINT)

    def _check_memory(self, count: int, joints: int, quantity: str, bytes_each: int) -> None:
        needed_bytes = count * joints * bytes_each
        allowed_bytes = max(SMALL_MOTION_BYTES, self.limits.expansion * self.total_bytes)
        if needed_bytes > allowed_bytes:
            raise LimitError(
                self.path,
                f"{count} {quantity} x {joints} joints need {needed_bytes >> 20} MB, more than {self.limits.expansion} "
                f"times the file's own size; if the file is sound, raise it: limits=Limits(expansion=...)",
            )

    def _check(self, count: int, limit: int, quantity: str, line: int | None) -> None:
        if count > limit:
            key = quantity.split()[-1].strip("()")
            raise LimitError(
                self.path,
                f"{count} {quantity}, more than the limit of {limit}; if the file is sound, raise it: "
                f"limits=Limits({key}=...)",
                line=line,
            )


@dataclass(frozen=True)
class Format:
    """A file format: its name, suffixes, readers and writers."""

    name: str  # "BVH"
    suffixes: tuple[str, ...]  # ".bvh"
    sniff: Callable[[bytes], bool]  # from the first SNIFF_BYTES of the decompressed content
    read: Callable[[Source, LoadOptions], Motion]
    write: Callable[[Motion, str, SaveOptions], bytes] | None = None  # motion, suffix -> file content
    read_keyed: Callable[[Source, LoadOptions], KeyedMotion] | None = None  # None: stores no keys
    write_keyed: Callable[[KeyedMotion, str, SaveOptions], bytes] | None = None  # None: sampled, then written
    has_keys_sidecar: bool = False  # cannot store keys: they go into a .keys.json beside it
    gzip: bool = False  # may also be read and written as .gz
    read_swings: Callable[[Source, LoadOptions], Swings] | None = None
    write_swings: Callable[[Swings, str, SaveOptions], bytes] | None = None  # None: the played motion
    has_companions: bool = False  # may need other files: uploaded with it or in its folder


SNIFF_BYTES = 4096
