"""What a clip leaves as: the very bytes that ``kp.save``, ``kp.strip`` and ``kp.report`` write."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from keypose.errors import OptionError
from keypose.formats import save, writable_suffixes
from keypose.inbetween.keyed import Interpolation
from keypose.model import KeyedMotion, Motion
from keypose.options import whole
from keypose.pictures.report import report
from keypose.pictures.strip import strip
from keypose.swings import Swings
from keypose.workbench.curves import Bench
from keypose.workbench.drafts import Draft, KeysDraft
from keypose.workbench.editing import edited
from keypose.workbench.names import safe_stem
from keypose.workbench.recipe import Recipe
from keypose.workbench.rungs import with_keys
from keypose.workbench.told import whole_numbers

STRIPS = (".strip.svg", ".strip.png")
REPORT = ".report.html"
SWINGS = ".swings.json"
STORED = ".kps"
PICTURES = (*STRIPS, REPORT)
KEEP_DETAIL = (".keys.json", ".blend")  # of these the captured detail is a part; others get what is seen
MEDIA_TYPES: Mapping[str, str] = {
    ".glb": "model/gltf-binary",
    ".gltf": "model/gltf+json",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".html": "text/html; charset=utf-8",
}
OTHER = "application/octet-stream"  # which no browser opens by itself

Writer: TypeAlias = Callable[[Path], object]


@dataclass(frozen=True)
class Wanted:
    """What to take away: the capture, curves through ``frames``, through so many ``keys``, or a draft."""

    format: str  # a suffix
    frames: tuple[int, ...] | None = None
    keys: int | None = None
    interpolation: Interpolation = "bezier"
    draft: Draft | None = None
    tolerance_mm: float | None = None  # of .kps
    lossless: bool = False  # of .kps: every number, in place of a tolerance
    theme: str = "light"  # of strips
    layout: str = "side"

    def __post_init__(self) -> None:
        known = formats()
        if self.format not in known:
            raise OptionError(f"format={self.format!r}, expected one of {', '.join(known)}")
        if self.frames is not None:
            object.__setattr__(self, "frames", whole_numbers("frames", self.frames, least=0))
        if self.keys is not None:
            whole("keys", self.keys, least=2)
        if sum(each is not None for each in (self.frames, self.keys, self.draft)) > 1:
            raise OptionError("several of frames, keys and draft, expected one of them or none")
        for what, is_given in (("tolerance_mm", self.tolerance_mm is not None), ("lossless", self.lossless)):
            if is_given and self.format != STORED:
                raise OptionError(f"{what} with {self.format}, expected it with {STORED} alone")


@dataclass(frozen=True)
class Taken:
    """A file."""

    data: bytes
    name: str
    media_type: str


def formats() -> tuple[str, ...]:
    """The suffixes that a clip can be taken away as."""
    plain = [suffix for suffix in writable_suffixes(swings=True) if not suffix.endswith(".gz")]
    return (*plain, *PICTURES)


def media_type(suffix: str) -> str:
    """What a file of that suffix is to a browser."""
    return MEDIA_TYPES.get(f".{suffix.rpartition('.')[2]}", OTHER)


def take_away(bench: Bench, wanted: Wanted) -> Taken:
    """The clip of ``bench`` as a file."""
    write = _picture(bench, wanted) if wanted.format in PICTURES else _file(bench, wanted)
    with tempfile.TemporaryDirectory(prefix="keypose-") as folder:
        path = Path(folder) / f"clip{wanted.format.removeprefix('.strip').removeprefix('.report')}"
        write(path)
        return Taken(path.read_bytes(), safe_stem(bench.motion.name) + wanted.format, media_type(wanted.format))


def _frames(bench: Bench, wanted: Wanted) -> tuple[int, ...] | None:
    if wanted.keys is None:
        return wanted.frames
    return tuple(with_keys(bench.motion, Recipe(), wanted.keys).frames.tolist())


def _file(bench: Bench, wanted: Wanted) -> Writer:
    what = _what(bench, wanted)
    return lambda path: save(what, path, tolerance_mm=wanted.tolerance_mm, lossless=wanted.lossless)


def _what(bench: Bench, wanted: Wanted) -> Motion | KeyedMotion | Swings:
    """What is written: swings as such only where the format holds nothing else."""
    draft, frames = wanted.draft, _frames(bench, wanted)
    if draft is None:
        if wanted.format == SWINGS:
            return bench.swings()
        return bench.motion if frames is None else bench.with_detail(frames, wanted.interpolation)
    after = edited(bench, draft)
    if after.keyed is None or after.swings is not None:
        return after.swings if wanted.format == SWINGS and after.swings is not None else after.motion
    if wanted.format == SWINGS:
        raise OptionError(f"a draft of keys as {SWINGS}, expected a draft of swings, or none")
    is_seen = isinstance(draft, KeysDraft) and draft.residual > 0 and wanted.format not in KEEP_DETAIL
    return after.motion if is_seen else after.keyed


def _picture(bench: Bench, wanted: Wanted) -> Writer:
    """A strip or a page of the clip with its keys: those of the draft, those that are given, or what each chooses."""
    motion, frames = bench.motion, _frames(bench, wanted)
    if wanted.draft is not None:
        after = edited(bench, wanted.draft)
        motion, frames = after.motion, None if after.keyed is None else tuple(after.keyed.keys.tolist())
    if wanted.format in STRIPS:
        look: dict[str, Any] = {"theme": wanted.theme, "layout": wanted.layout}
        return lambda path: strip(motion, frames, path, **look)
    if frames is None:
        return lambda path: report(motion, path)
    keys = tuple(sorted({0, *frames, motion.n_frames - 1}))
    return lambda path: report(motion, path, keys=len(keys), pins=keys)
