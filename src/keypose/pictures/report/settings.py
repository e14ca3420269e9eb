"""What made a take, in lines that make it again: for the command line and for Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from keypose.batch.inputs import KEYS_SUFFIXES
from keypose.batch.reading import Reading
from keypose.batch.unbake import BEST
from keypose.limits import Limits
from keypose.model import Motion
from keypose.pictures.shell import shell_line
from keypose.verbs.comparing.clip import digest_of

# Options of ``unbake`` as the command line has them; others of a method go by --set.
FLAGS = {
    "pins": "--pin",
    "excluded": "--exclude",
    "joints": "--joints",
    "weights": "--weight",
    "polish_weights": "--polish-weight",
    "objective": "--objective",
    "measure": "--measure",
    "least_gap_frames": "--least-gap-frames",
    "greatest_gap_frames": "--greatest-gap-frames",
    "interpolation": "--interpolation",
    "rotation": "--rotation",
    "jump_penalty": "--jump-penalty",
}
SWITCHES = {"loop": "--loop", "shared_tangents": "--shared-tangents", "polish": "--polish"}
NO_SWITCHES = {"polish": "--no-polish", "residual": "--no-residual"}
ONLY_PYTHON = ("max_keys", "extremes")
WITHOUT_EFFECT = ("threads",)  # on what comes out
FITTING = ("interpolation", "rotation", "shared_tangents", "jump_penalty", "polish", "polish_weights", "residual",
           "extremes", "threads")  # fmt: skip


@dataclass(frozen=True)
class Source:
    """The file that a motion was read from, and how; ``told`` are options about frames as frames of the file."""

    path: Path
    sha256: str  # of its bytes
    frames: tuple[int | None, int | None] | None = None
    fps: float | None = None  # to which it was brought
    told: Mapping[str, Any] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True)
class Settings:
    """How many keys, by which method, with what options of choosing and fitting."""

    method: str = BEST
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    choosing: Mapping[str, Any] = field(default_factory=dict)
    fitting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def budget(self) -> dict[str, Any]:
        """How many keys, as an option; empty for as many as the method says itself."""
        if self.keys is not None:
            return {"keys": self.keys}
        if self.tolerance_mm is not None:
            return {"tolerance_mm": self.tolerance_mm}
        return {"auto": True} if self.auto else {}


def plain(value: Any) -> Any:
    """``value`` without arrays and numbers of NumPy in it: as it can be written down."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


def command_line(settings: Settings, source: Source | None, name: str) -> str | None:
    """The line that writes the unbaked motion; None if something was said that only Python can."""
    return _line("unbake", [f"{_stem(name)}.glb"], settings, source, name)


def report_line(settings: Settings, source: Source | None, name: str) -> str | None:
    """The line that makes the page of this motion; None likewise."""
    fitting = {option: value for option, value in settings.fitting.items() if option != "residual"}
    return _line("report", ["-o", f"{_stem(name)}.html"], replace(settings, fitting=fitting), source, name)


def _line(command: str, to: list[str], settings: Settings, source: Source | None, name: str) -> str | None:
    options = {**settings.choosing, **(source.told if source else {}), **settings.fitting}
    if any(each in options for each in ONLY_PYTHON):
        return None
    words = ["keypose", command, str(source.path) if source else f"{name}.bvh", *to]
    if settings.method != BEST:
        words += ["--method", settings.method]
    for budget, value in settings.budget.items():
        words += ["--auto"] if budget == "auto" else [f"--{budget.replace('_', '-')}", f"{value:g}"]
    for option, value in options.items():
        words += _flag(option, value)
    if source is not None:
        words += _reading_words(source)
    return shell_line(words)


def python_lines(settings: Settings, source: Source | None, motion: Motion) -> str:
    """The same in Python; without a source the motion is said to be there."""
    if source is None:
        lines = [f"import keypose as kp  # and m, a motion with the content hash {digest_of(motion)[:16]}"]
    else:
        cut = "" if source.frames is None else f"[{_slice(source.frames)}]"
        rate = "" if source.fps is None else f".at_fps({source.fps!r})"
        lines = ["import keypose as kp", *_loading(source, f"{cut}{rate}")]
    choosing = _arguments({**settings.budget, **settings.choosing})
    fitting = _arguments(settings.fitting)
    if settings.method == BEST:
        call = ", ".join(["m", *choosing, *fitting])
    else:
        call = ", ".join([f"m, kp.select({', '.join(['m', repr(settings.method), *choosing])})", *fitting])
    return "\n".join([*lines, f"keyed = kp.unbake({call})", f"kp.save(keyed, {_stem(motion.name) + '.glb'!r})",
                      "print(kp.score(m, keyed))"])  # fmt: skip


def _arguments(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items() if name not in WITHOUT_EFFECT]


def _flag(option: str, value: Any) -> list[str]:
    if option in WITHOUT_EFFECT or value is None:
        return []
    if isinstance(value, bool):
        switches = SWITCHES if value else NO_SWITCHES
        if option in switches:
            return [switches[option]]
        is_usual = option in SWITCHES or option in NO_SWITCHES
        return [] if is_usual else ["--set", f"{option}={str(value).lower()}"]
    text = _text(value)
    return [FLAGS[option], text] if option in FLAGS else ["--set", f"{option}={text}"]


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={number:g}" for name, number in value.items())
    if isinstance(value, str | int | float):
        return str(value)
    return ",".join(map(str, value))


def _stem(name: str) -> str:
    """A name that a file can have."""
    kept = "".join(c if c.isalnum() or c in "-_. " else "_" for c in name[:80]).strip(". ")
    return kept or "motion"


def _slice(frames: tuple[int | None, int | None]) -> str:
    return ":".join("" if end is None else str(end) for end in frames)


def _limits(reading: Reading) -> dict[str, int]:
    """The limits that are not the usual ones."""
    usual = asdict(Limits())
    return {name: value for name, value in asdict(reading.limits).items() if value != usual[name]}


def _differing(reading: Reading) -> dict[str, Any]:
    """What was said about reading but for limits."""
    usual = Reading()
    names = ("reference_pose", "asf", "gaps", "animation", "fps")
    return {name: getattr(reading, name) for name in names if getattr(reading, name) != getattr(usual, name)}


def _reading_words(source: Source) -> list[str]:
    words = [] if source.frames is None else ["--range", _slice(source.frames)]
    words += [] if source.fps is None else ["--fps", f"{source.fps!r}"]
    for name, value in _differing(source.reading).items():
        words += ["--read-fps" if name == "fps" else f"--{name.replace('_', '-')}", str(value)]
    for name, value in _limits(source.reading).items():
        words += ["--limit", f"{name}={value}"]
    return words


def _loading(source: Source, then: str) -> list[str]:
    limits = ", ".join(f"{name}={value}" for name, value in _limits(source.reading).items())
    said = [f"limits=kp.Limits({limits})"] if limits else []
    if source.path.name.lower().endswith(KEYS_SUFFIXES):
        call = ", ".join([repr(str(source.path)), *said])
        rate = "" if source.reading.fps is None else f", fps={source.reading.fps!r}"
        return [f"kept = kp.load_keyed({call})", f"m = kept.sample(1.0 if kept.residual else 0.0{rate}){then}"]
    told = {name: str(value) if name == "asf" else value for name, value in _differing(source.reading).items()}
    call = ", ".join([repr(str(source.path)), *(f"{name}={value!r}" for name, value in told.items()), *said])
    return [f"m = kp.load({call}){then}"]
