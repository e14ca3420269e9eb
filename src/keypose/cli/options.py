"""Options that several commands share, and functions that parse them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from keypose.cli.output import UsageError

if TYPE_CHECKING:
    from keypose.batch.file_discovery import ClipLoadOptions
    from keypose.formats import Limits
    from keypose.methods import Method


ReferencePose = Annotated[
    Literal["auto", "keep", "drop"],
    Parameter(
        show_default=True,
        help="A T-pose before the movement: separated if recognised (auto), left in the movement (keep), "
        "or frame 0 always separated (drop).",
    ),
]
Asf = Annotated[
    Path | None,
    Parameter(help="The ASF skeleton of AMC files. Default: searched for beside each file."),
]
Gaps = Annotated[
    Literal["fill", "refuse"],
    Parameter(show_default=True, help="Fill in markers that a C3D file lost for some frames, or refuse the file."),
]
Animation = Annotated[
    str | None,
    Parameter(help="Which animation of a file with several: its name, or its index from 0."),
]
ReadFps = Annotated[
    float | None,
    Parameter(help="Frame rate of files that state none (AMC), and for sampling keys (glTF, USD, FBX)."),
]
Jobs = Annotated[
    int | None,
    Parameter(
        alias="-j",
        help="Number of files processed at once. Default: one per core, fewer for few files.",
    ),
]
Range = Annotated[
    str | None,
    Parameter(name="--range", help="Only these frames, START:END as numbered by info, END not included."),
]
LimitOption = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        help="Limits on the size of a file, NAME=NUMBER: joints, depth, frames, bytes (after decompression), "
        "expansion (memory per byte of the file). May be given several times.",
    ),
]
Json = Annotated[bool, Parameter(negative="", help="Print one JSON document on stdout instead of text.")]


def parse_limits(texts: tuple[str, ...]) -> Limits:
    """Parse ``joints=20000`` into limits; others keep their defaults."""
    from dataclasses import fields, replace

    from keypose.formats import Limits

    limit_names = [f.name for f in fields(Limits)]
    limits = Limits()
    for text in texts:
        name, _, number = text.partition("=")
        if name not in limit_names or not re.fullmatch(r"[0-9][0-9_]{0,17}", number):
            raise UsageError(f"--limit {text}: expected NAME=NUMBER with one of {', '.join(limit_names)}")
        limits = replace(limits, **{name: int(number)})
    return limits


def parse_range(text: str | None) -> tuple[int | None, int | None] | None:
    """Parse ``100:400`` into the start and end of a slice."""
    if text is None:
        return None
    match = re.fullmatch(r"(-?[0-9]{1,9})?:(-?[0-9]{1,9})?", text)
    if not match:
        raise UsageError(f"--range {text}: expected START:END in frames, such as 100:400, 100: or :400")
    return tuple(None if part is None else int(part) for part in match.groups())  # type: ignore[return-value]


def check_fps(fps: float | None, option: str) -> float | None:
    """Return ``fps``; raise UsageError if it is not a positive number."""
    if fps is not None and not (math.isfinite(fps) and fps > 0):
        raise UsageError(f"{option} {fps:g}: expected a number above 0")
    return fps


def resolve_jobs(jobs: int | None, n_clips: int) -> int:
    """Return the number of workers: ``jobs``, or the default for ``n_clips`` if None."""
    from keypose.batch import default_jobs

    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    return default_jobs(n_clips) if jobs is None else jobs


def parse_load_options(
    reference_pose: Literal["auto", "keep", "drop"],
    asf: Path | None,
    gaps: Literal["fill", "refuse"],
    animation: str | None,
    read_fps: float | None,
    limit: tuple[str, ...],
) -> ClipLoadOptions:
    """Return how files are read; a numeric ``animation`` is an index."""
    from keypose.batch.file_discovery import ClipLoadOptions

    animation_key = int(animation) if animation is not None and re.fullmatch(r"[0-9]{1,6}", animation) else animation
    return ClipLoadOptions(
        reference_pose, asf, gaps, animation_key, check_fps(read_fps, "--read-fps"), parse_limits(limit)
    )


# Options of methods that have a command line option of their own; all others are given by --set.
METHOD_FLAGS = {
    "objective": "--objective",
    "cost": "--cost",
    "interpolation": "--interpolation",
    "measure": "--measure",
    "pins": "--pin",
    "excluded": "--exclude",
    "min_gap_frames": "--min-gap-frames",
    "max_gap_frames": "--max-gap-frames",
    "loop": "--loop",
    "threads": "--threads",
    "threshold": "--threshold",
}
CONTACTS = "contacts"


def option_flag(name: str) -> str:
    """Return the command line form of a method's option: ``--objective``, ``--set sigma_s``."""
    return METHOD_FLAGS.get(name, f"--set {name}")


def find_method(name: str) -> Method:
    """Return the method of that name, or raise UsageError with a suggestion."""
    from keypose.batch.file_discovery import suggest_name
    from keypose.methods import METHODS

    if name not in METHODS:
        raise UsageError(f"--method {name}: expected one of {', '.join(METHODS)}{suggest_name(name, METHODS)}")
    return METHODS[name]


def check_key_count(keys: int | None, tolerance_mm: float | None, *, auto: bool) -> None:
    """Raise UsageError if more than one option sets the number of keys, or its value is invalid."""
    is_set = {"--keys": keys is not None, "--tolerance-mm": tolerance_mm is not None, "--auto": auto}
    conflicting = [name for name, value in is_set.items() if value]
    if len(conflicting) > 1:
        raise UsageError(f"{' and '.join(conflicting)} cannot both be meant: each says how many keys")
    if keys is not None and keys < 1:
        raise UsageError(f"--keys {keys}: expected at least 1")
    if tolerance_mm is not None and not 0 <= tolerance_mm < math.inf:
        raise UsageError(f"--tolerance-mm {tolerance_mm:g}: expected millimetres, 0 or more")


def drop_unset(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are set: not None, empty or False."""
    return {name: value for name, value in options.items() if value not in (None, ()) and value is not False}


def parse_method_options(method: Method, flags: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return a method's options from ``flags`` (the command's own options) and from the values of --set."""
    options = drop_unset(flags)
    for text in settings:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise UsageError(f"--set {text}: expected NAME=VALUE; keypose methods lists the names")
        if name in flags:
            raise UsageError(f"--set {text}: this has an option of its own, {option_flag(name)}")
        options[name] = _parse_value(value.strip())
    for name in options:
        if name not in method.options:
            raise UsageError(_unknown_option_message(method, name, flags))
    return options


def _unknown_option_message(method: Method, name: str, flags: Collection[str]) -> str:
    from keypose.batch.file_discovery import suggest_name
    from keypose.methods import METHODS

    methods_with_option = [other.name for other in METHODS.values() if name in other.options]
    other_methods = f", but of {', '.join(methods_with_option)}" if methods_with_option else ""
    suggestion = suggest_name(name, method.options)
    flags_by_option = {
        option: option_flag(option) if option in flags else f"--set {option}" for option in (*method.options, name)
    }
    available = (
        f"; {method.name} has {', '.join(flags_by_option[option] for option in method.options) or 'none of its own'}"
    )
    return f"{flags_by_option[name]} is no option of {method.name}{other_methods}{suggestion or available}"


def _parse_value(text: str) -> Any:
    """Parse a bool, int or float if possible, else return the text; the method checks it."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def parse_frames(option: str, texts: Sequence[str], *, contacts: bool = False) -> tuple[int | str, ...]:
    """Parse ``30,88`` into frames; ``contacts`` also allows that word."""
    frames: list[int | str] = []
    for part in parse_names(option, texts):
        if contacts and part == CONTACTS:
            frames.append(part)
        elif re.fullmatch(r"[0-9]{1,9}", part):
            frames.append(int(part))
        else:
            word = f", or the word {CONTACTS}" if contacts else ""
            raise UsageError(f"{option} {part}: expected frames from 0, such as 30,88{word}")
    return tuple(frames)


def parse_names(option: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Split all texts at commas; raise UsageError for an empty name."""
    names = [part.strip() for text in texts for part in text.split(",")]
    if "" in names:
        raise UsageError(f"{option} {','.join(texts) or repr('')}: expected no empty part between commas")
    return tuple(names)


def parse_joints(texts: Sequence[str]) -> str | tuple[str, ...]:
    """Parse ``hands,head`` into names; a single name stays a string, as some words are only valid alone: ``major``."""
    names = parse_names("--joints", texts)
    return names[0] if len(names) == 1 else names


def parse_weights(texts: Sequence[str], option: str = "--weight") -> dict[str, float] | None:
    """Parse ``hands=3`` into weights; None if there are none."""
    weights: dict[str, float] = {}
    for part in parse_names(option, texts):
        name, _, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not name or not math.isfinite(weight):
            raise UsageError(f"{option} {part}: expected NAME=NUMBER, such as hands=3")
        weights[name.strip()] = weight
    return weights or None


_ARGV: ContextVar[tuple[str, ...]] = ContextVar("typed", default=())


def set_argv(tokens: Sequence[str]) -> None:
    """Store the arguments before a command runs."""
    _ARGV.set(tuple(tokens))


def command_line() -> str:
    """Return the command line as one quoted shell line."""
    from keypose.pictures.page import format_shell_command

    return format_shell_command(("keypose", *_ARGV.get()))


def option_order(options: Collection[str]) -> list[str]:
    """Return the given ``options`` in command line order, each as often as it occurs."""
    argv = _ARGV.get()
    before_names = argv[: argv.index("--")] if "--" in argv else argv
    names = (token.partition("=")[0] for token in before_names)
    return [name for name in names if name in options]
