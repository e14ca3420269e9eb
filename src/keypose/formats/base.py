"""What every format's reader and writer share: the source, its limits, the options, the table's row."""

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

KEYED_BYTES_PER_JOINT = 600  # one joint at one key: 168 in its curves, with slopes; the rest on the way to them
MOST_WARNINGS = 20  # of one file
LONGEST_MESSAGE = 600  # characters
_PACKAGE = str(Path(__file__).resolve().parents[1])


def warn_caller(text: str) -> None:
    """A FormatWarning that points at the line outside this package that asked for the file."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, FormatWarning, stacklevel=level)


def shown(text: str) -> str:
    """What a file brought, fit for a message: no control characters, not endless."""
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE // 2]} ... {text[-LONGEST_MESSAGE // 2 :]}"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True)
class ReadOptions:
    """The keywords of ``load``; each reader takes those that concern it."""

    reference_pose: Literal["auto", "keep", "drop"] = "auto"
    asf: Path | None = None
    gaps: Literal["fill", "refuse"] = "fill"
    animation: str | int | None = None
    fps: float | None = None


@dataclass(frozen=True)
class WriteOptions:
    """The keywords of ``save``; each writer takes those that concern it."""

    reference_pose: bool = False  # write the reference pose as an extra first frame
    tolerance_mm: float | None = None  # of a stored motion; None: the default one
    lossless: bool = False
    keyed: KeyedMotion | None = None  # kept beside the frames of a stored motion
    swings: Swings | None = None


@dataclass
class Source:
    """The bytes of one file on their way in, and what is noticed about them."""

    path: Path
    data: bytes  # decompressed
    limits: Limits = field(default_factory=Limits)
    notes: list[str] = field(default_factory=list)
    warnings: int = 0
    companion_bytes: int = 0  # of further files that this one brings along, as a .gltf its buffers
    companions: Mapping[str, bytes] | None = None  # files that came with it, by name; None: they lie beside it
    taken: set[str] = field(default_factory=set)  # names of those that it asked for

    @property
    def total_bytes(self) -> int:
        """The size of the file, decompressed, with those that it brings along."""
        return len(self.data) + self.companion_bytes

    @property
    def name(self) -> str:
        """The clip's name: the file's, without its endings."""
        stem = self.path.name
        for suffix in (".gz", Path(stem.removesuffix(".gz")).suffix):
            stem = stem.removesuffix(suffix) if suffix and stem != suffix else stem
        return stem

    def companion(self, name: str) -> bytes | None:
        """A file that came with this one, by nothing but its name; None if there is no such."""
        wanted = unicodedata.normalize("NFC", name)  # some systems take names apart: "u" and its dots
        for each, data in (self.companions or {}).items():
            if unicodedata.normalize("NFC", each) == wanted:
                self.taken.add(each)
                return data
        return None

    def error(self, problem: str, *, line: int | None = None, byte: int | None = None) -> FormatError:
        """A FormatError that names this file."""
        return FormatError(self.path, shown(problem), line=line, byte=byte)

    def note(self, text: str) -> None:
        """Something worth knowing that is no fault of the file."""
        logger.info("%s: %s", self.path, shown(text))
        self._keep(text)

    def warn(self, text: str, *, line: int | None = None) -> None:
        """The file was not quite right and was repaired."""
        self.warnings += 1
        if self.warnings > MOST_WARNINGS:
            return
        if self.warnings == MOST_WARNINGS:
            text = "more is wrong with this file than is listed here"
        self._keep(text)
        place = f":{line}" if line is not None else ""
        warn_caller(f"{self.path}{place}: {shown(text)}")

    def _keep(self, text: str) -> None:
        if len(self.notes) < 2 * MOST_WARNINGS:
            self.notes.append(shown(text))

    def check_joints(self, joints: int, *, line: int | None = None) -> None:
        """Refuses more joints than the limit."""
        self._check(joints, self.limits.joints, "joints", line)

    def check_depth(self, depth: int, *, line: int | None = None) -> None:
        """Refuses a deeper hierarchy than the limit."""
        self._check(depth, self.limits.depth, "levels of joints (depth)", line)

    def check_size(self, frames: int, joints: int) -> None:
        """Refuses a motion that would be larger than the limits allow; call before allocating it."""
        self._check(frames, self.limits.frames, "frames", None)
        self._check_memory(frames, joints, "frames", MOTION_BYTES_PER_JOINT)

    def check_keys(self, keys: int, n_frames: int, joints: int) -> None:
        """The same for a keyed motion, whose frames take no memory before it is sampled."""
        self._check(n_frames, self.limits.frames, "frames", None)
        self._check_memory(keys, joints, "keys", KEYED_BYTES_PER_JOINT)

    def _check_memory(self, count: int, joints: int, what: str, bytes_each: int) -> None:
        needed = count * joints * bytes_each
        allowed = max(SMALL_MOTION_BYTES, self.limits.expansion * self.total_bytes)
        if needed > allowed:
            raise LimitError(
                self.path,
                f"{count} {what} x {joints} joints need {needed >> 20} MB, more than {self.limits.expansion} times "
                f"the file's own size; if the file is sound, raise it: limits=Limits(expansion=...)",
            )

    def _check(self, found: int, limit: int, what: str, line: int | None) -> None:
        if found > limit:
            key = what.split()[-1].strip("()")
            raise LimitError(
                self.path,
                f"{found} {what}, more than the limit of {limit}; if the file is sound, raise it: "
                f"limits=Limits({key}=...)",
                line=line,
            )


@dataclass(frozen=True)
class Format:
    """One row of the table of formats."""

    name: str  # "BVH"
    suffixes: tuple[str, ...]  # ".bvh"
    sniff: Callable[[bytes], bool]  # from the first SNIFF_BYTES of the decompressed content
    read: Callable[[Source, ReadOptions], Motion]
    write: Callable[[Motion, str, WriteOptions], bytes] | None = None  # motion, suffix -> file content
    read_keyed: Callable[[Source, ReadOptions], KeyedMotion] | None = None  # its keys as they are
    write_keyed: Callable[[KeyedMotion, str, WriteOptions], bytes] | None = None  # else it is written sampled
    keys_beside: bool = False  # has no place for keys: they go into a file of their own beside it
    gzip: bool = False  # a text format that may also come and go as .gz
    read_swings: Callable[[Source, ReadOptions], Swings] | None = None
    write_swings: Callable[[Swings, str, WriteOptions], bytes] | None = None  # else the motion that they play
    has_companions: bool = False  # may need other files: those that came with it, or lie beside it


SNIFF_BYTES = 4096
