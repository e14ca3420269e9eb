"""What is typed to choose keys, in the words of the library."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keypose.cli.exits import UsageError

if TYPE_CHECKING:
    from keypose.methods import Method

# Options of methods that have an option of the command line to themselves; all others go by --set.
FLAGS = {
    "objective": "--objective",
    "cost": "--cost",
    "interpolation": "--interpolation",
    "measure": "--measure",
    "pins": "--pin",
    "excluded": "--exclude",
    "least_gap_frames": "--least-gap-frames",
    "greatest_gap_frames": "--greatest-gap-frames",
    "loop": "--loop",
    "threads": "--threads",
    "threshold": "--threshold",
}
CONTACTS = "contacts"


def flag_of(name: str) -> str:
    """How an option of a method is given: ``--objective``, ``--set sigma_s``."""
    return FLAGS.get(name, f"--set {name}")


def method_from(name: str) -> Method:
    """The method of that name."""
    from keypose.batch.nearest import did_you_mean
    from keypose.methods import METHODS

    if name not in METHODS:
        raise UsageError(f"--method {name}: expected one of {', '.join(METHODS)}{did_you_mean(name, METHODS)}")
    return METHODS[name]


def check_budget(keys: int | None, tolerance_mm: float | None, *, auto: bool) -> None:
    """At most one way to say how many keys, and one that can be meant."""
    given = {"--keys": keys is not None, "--tolerance-mm": tolerance_mm is not None, "--auto": auto}
    several = [name for name, is_given in given.items() if is_given]
    if len(several) > 1:
        raise UsageError(f"{' and '.join(several)} cannot both be meant: each says how many keys")
    if keys is not None and keys < 1:
        raise UsageError(f"--keys {keys}: expected at least 1")
    if tolerance_mm is not None and not 0 <= tolerance_mm < math.inf:
        raise UsageError(f"--tolerance-mm {tolerance_mm:g}: expected millimetres, 0 or more")


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those about which something was said."""
    return {name: value for name, value in options.items() if value not in (None, ()) and value is not False}


def options_from(method: Method, flags: Mapping[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The options of a method, from ``flags``, those that the command has options for, and from ``--set``."""
    options = given(flags)
    for text in settings:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise UsageError(f"--set {text}: expected NAME=VALUE; keypose methods lists the names")
        if name in flags:
            raise UsageError(f"--set {text}: this has an option of its own, {flag_of(name)}")
        options[name] = _value(value.strip())
    for name in options:
        if name not in method.options:
            raise UsageError(_no_such_option(method, name, flags))
    return options


def _no_such_option(method: Method, name: str, flags: Collection[str]) -> str:
    from keypose.batch.nearest import did_you_mean
    from keypose.methods import METHODS

    elsewhere = [other.name for other in METHODS.values() if name in other.options]
    there = f", but of {', '.join(elsewhere)}" if elsewhere else ""
    near = did_you_mean(name, method.options)
    told = {option: flag_of(option) if option in flags else f"--set {option}" for option in (*method.options, name)}
    known = f"; {method.name} has {', '.join(told[option] for option in method.options) or 'none of its own'}"
    return f"{told[name]} is no option of {method.name}{there}{near or known}"


def _value(text: str) -> Any:
    """A number or a yes or no where it reads as one; what it has to be, the method knows."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def frames_from(option: str, texts: Sequence[str], *, contacts: bool = False) -> tuple[int | str, ...]:
    """``30,88`` as frames; with ``contacts`` that word too."""
    frames: list[int | str] = []
    for part in names_from(option, texts):
        if contacts and part == CONTACTS:
            frames.append(part)
        elif re.fullmatch(r"[0-9]{1,9}", part):
            frames.append(int(part))
        else:
            word = f", or the word {CONTACTS}" if contacts else ""
            raise UsageError(f"{option} {part}: expected frames from 0, such as 30,88{word}")
    return tuple(frames)


def names_from(option: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Parts between commas, of all that was given."""
    parts = [part.strip() for text in texts for part in text.split(",")]
    if "" in parts:
        raise UsageError(f"{option} {','.join(texts) or repr('')}: expected no empty part between commas")
    return tuple(parts)


def joints_from(texts: Sequence[str]) -> str | tuple[str, ...]:
    """``hands,head`` as names; one alone stays a word, because some words stand only alone: ``major``."""
    names = names_from("--joints", texts)
    return names[0] if len(names) == 1 else names


def weights_from(texts: Sequence[str], option: str = "--weight") -> dict[str, float] | None:
    """``hands=3`` and the like; None where nothing was said."""
    weights: dict[str, float] = {}
    for part in names_from(option, texts):
        name, _, number = part.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not name or not math.isfinite(weight):
            raise UsageError(f"{option} {part}: expected NAME=NUMBER, such as hands=3")
        weights[name.strip()] = weight
    return weights or None
