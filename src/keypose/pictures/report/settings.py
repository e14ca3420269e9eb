"""Settings of a report, as commands and Python code that reproduce it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from keypose.api.compare.clip import compute_digest
from keypose.batch.file_discovery import KEYS_SUFFIXES
from keypose.batch.unbake import DEFAULT_METHOD
from keypose.limits import Limits
from keypose.model import Motion
from keypose.options import LoadOptions
from keypose.pictures.page import format_shell_command

# Command line flags of options of ``unbake``; other options of a method use --set.
FLAGS = {
    "pins": "--pin",
    "excluded": "--exclude",
    "joints": "--joints",
    "weights": "--weight",
    "polish_weights": "--polish-weight",
    "objective": "--objective",
    "measure": "--measure",
    "min_gap_frames": "--min-gap-frames",
    "max_gap_frames": "--max-gap-frames",
    "interpolation": "--interpolation",
    "rotation": "--rotation",
    "jump_penalty": "--jump-penalty",
    "leading": "--leading",
}
SWITCHES = {"loop": "--loop", "shared_tangents": "--shared-tangents", "polish": "--polish",
            "smooth": "--smooth", "extremes_first": "--extremes-first"}  # fmt: skip
NO_SWITCHES = {
    "polish": "--no-polish",
    "smooth": "--no-smooth",
    "extremes_first": "--no-extremes-first",
    "residual": "--no-residual",
}
PYTHON_ONLY_OPTIONS = ("max_keys", "extremes")
IGNORED_OPTIONS = ("threads",)  # without effect on the result
CURVE_OPTIONS = ("interpolation", "rotation", "shared_tangents", "jump_penalty", "polish", "polish_weights", "smooth",
           "residual", "extremes", "threads")  # fmt: skip


@dataclass(frozen=True)
class Source:
    """The file of a motion and how it was loaded; ``file_options`` refer to frames of the file."""

    path: Path
    sha256: str  # of the file
    frames: tuple[int | None, int | None] | None = None
    fps: float | None = None  # to which it was resampled
    file_options: Mapping[str, Any] = field(default_factory=dict)
    load_options: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class ReportSettings:
    """Method, number of keys, and options of key selection and curve fitting."""

    method: str = DEFAULT_METHOD
    keys: int | None = None
    tolerance_mm: float | None = None
    auto: bool = False
    key_options: Mapping[str, Any] = field(default_factory=dict)
    curve_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key_count(self) -> dict[str, Any]:
        """The option that sets the number of keys; empty if the method has its own number."""
        if self.keys is not None:
            return {"keys": self.keys}
        if self.tolerance_mm is not None:
            return {"tolerance_mm": self.tolerance_mm}
        return {"auto": True} if self.auto else {}


def to_plain_value(value: Any) -> Any:
    """Return ``value`` with NumPy arrays and numbers converted to Python, so that it can be printed."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: to_plain_value(each) for name, each in value.items()}
    return type(value)(map(to_plain_value, value)) if type(value) in (list, tuple) else value


def unbake_command(settings: ReportSettings, source: Source | None, name: str) -> str | None:
    """Return the command that writes the unbaked motion; None if an option exists only in Python."""
    return _build_command("unbake", [_output_name(name, source)], settings, source, name)


def report_command(settings: ReportSettings, source: Source | None, name: str) -> str | None:
    """Return the command that writes the report; None if an option exists only in Python."""
    curve_options = {option: value for option, value in settings.curve_options.items() if option != "residual"}
    return _build_command(
        "report", ["-o", f"{_file_stem(name)}.html"], replace(settings, curve_options=curve_options), source, name
    )


def _build_command(
    command: str, output_arguments: list[str], settings: ReportSettings, source: Source | None, name: str
) -> str | None:
    options = {**settings.key_options, **(source.file_options if source else {}), **settings.curve_options}
    if any(each in options for each in PYTHON_ONLY_OPTIONS):
        return None
    arguments = ["keypose", command, str(source.path) if source else f"{name}.bvh", *output_arguments]
    if settings.method != DEFAULT_METHOD:
        arguments += ["--method", settings.method]
    for key_option, value in settings.key_count.items():
        arguments += ["--auto"] if key_option == "auto" else [f"--{key_option.replace('_', '-')}", f"{value:g}"]
    for option, value in options.items():
        arguments += _option_arguments(option, value)
    if source is not None:
        arguments += _load_arguments(source)
    return format_shell_command(arguments)


def python_script(settings: ReportSettings, source: Source | None, motion: Motion) -> str:
    """Return Python code for the same result; without a source it expects the motion ``m``."""
    if source is None:
        lines = [f"import keypose as kp  # and m, a motion with the content hash {compute_digest(motion)[:16]}"]
    else:
        cut = "" if source.frames is None else f"[{_format_slice(source.frames)}]"
        rate = "" if source.fps is None else f".at_fps({source.fps!r})"
        lines = ["import keypose as kp", *_load_lines(source, f"{cut}{rate}")]
    key_arguments = _arguments({**settings.key_count, **settings.key_options})
    curve_arguments = _arguments(settings.curve_options)
    if settings.method == DEFAULT_METHOD:
        call = ", ".join(["m", *key_arguments, *curve_arguments])
    else:
        call = ", ".join([f"m, kp.select({', '.join(['m', repr(settings.method), *key_arguments])})", *curve_arguments])
    return "\n".join([*lines, f"keyed = kp.unbake({call})", f"kp.save(keyed, {_output_name(motion.name, source)!r})",
                      "print(kp.score(m, keyed))"])  # fmt: skip


def _arguments(options: Mapping[str, Any]) -> list[str]:
    return [f"{name}={value!r}" for name, value in options.items() if name not in IGNORED_OPTIONS]


def _option_arguments(option: str, value: Any) -> list[str]:
    if option in IGNORED_OPTIONS or value is None:
        return []
    if isinstance(value, bool):
        switches = SWITCHES if value else NO_SWITCHES
        if option in switches:
            return [switches[option]]
        is_default = option in SWITCHES or option in NO_SWITCHES
        return [] if is_default else ["--set", f"{option}={str(value).lower()}"]
    text = _format_value(value)
    return [FLAGS[option], text] if option in FLAGS else ["--set", f"{option}={text}"]


def _format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={number:g}" for name, number in value.items())
    if isinstance(value, str | int | float):
        return str(value)
    return ",".join(map(str, value))


def _output_name(name: str, source: Source | None) -> str:
    """Return a file name for the unbaked motion that is not that of its source."""
    output_name = f"{_file_stem(name)}.glb"
    is_source = source is not None and source.path.name.lower() == output_name.lower()
    return f"{_file_stem(name)}-unbaked.glb" if is_source else output_name


def _file_stem(name: str) -> str:
    """Return a valid file name."""
    stem = "".join(c if c.isalnum() or c in "-_. " else "_" for c in name[:80]).strip(". ")
    return stem or "motion"


def _format_slice(frames: tuple[int | None, int | None]) -> str:
    return ":".join("" if end is None else str(end) for end in frames)


def _load_arguments(source: Source) -> list[str]:
    arguments = [] if source.frames is None else ["--range", _format_slice(source.frames)]
    arguments += [] if source.fps is None else ["--fps", f"{source.fps!r}"]
    for name, value in _changed_load_options(source.load_options).items():
        arguments += ["--read-fps" if name == "fps" else f"--{name.replace('_', '-')}", str(value)]
    for name, value in _changed_limits(source.load_options).items():
        arguments += ["--limit", f"{name}={value}"]
    return arguments


def _changed_limits(load_options: LoadOptions) -> dict[str, int]:
    """Return the limits that are not defaults."""
    default_limits = asdict(Limits())
    return {name: value for name, value in asdict(load_options.limits).items() if value != default_limits[name]}


def _changed_load_options(load_options: LoadOptions) -> dict[str, Any]:
    """Return the load options that are not defaults, except limits."""
    default_options = LoadOptions()
    names = ("reference_pose", "asf", "gaps", "animation", "fps")
    return {
        name: getattr(load_options, name)
        for name in names
        if getattr(load_options, name) != getattr(default_options, name)
    }


def _load_lines(source: Source, suffix: str) -> list[str]:
    limits = ", ".join(f"{name}={value}" for name, value in _changed_limits(source.load_options).items())
    limit_arguments = [f"limits=kp.Limits({limits})"] if limits else []
    if source.path.name.lower().endswith(KEYS_SUFFIXES):
        call = ", ".join([repr(str(source.path)), *limit_arguments])
        rate = "" if source.load_options.fps is None else f", fps={source.load_options.fps!r}"
        return [f"source = kp.load_keyed({call})", f"m = source.sample(1.0 if source.residual else 0.0{rate}){suffix}"]
    load_arguments = {
        name: str(value) if name == "asf" else value
        for name, value in _changed_load_options(source.load_options).items()
    }
    call = ", ".join(
        [repr(str(source.path)), *(f"{name}={value!r}" for name, value in load_arguments.items()), *limit_arguments]
    )
    return [f"m = kp.load({call}){suffix}"]
