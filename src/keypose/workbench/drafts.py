"""Edits of one clip as data: what they start from, and their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from keypose.errors import KeyposeError, OptionError
from keypose.inbetween.keyed import INTERPOLATIONS, Interpolation
from keypose.options import number, one_of, shown
from keypose.swings.settings import Settings
from keypose.workbench.steps import KeyStep, key_step
from keypose.workbench.swing_steps import SwingStep, swing_step
from keypose.workbench.told import exactly, several, whole_numbers

MOST_STEPS = 5_000
MOST_RESIDUAL = 2.0

Step = TypeVar("Step")


@dataclass(frozen=True)
class KeysDraft:
    """Curves through ``frames``, edited step by step, with a share of the captured detail on top."""

    frames: tuple[int, ...]
    interpolation: Interpolation = "bezier"
    residual: float = 0.0
    steps: tuple[KeyStep, ...] = ()

    def __post_init__(self) -> None:
        frames = whole_numbers("frames", self.frames, least=0)
        if not frames:
            raise OptionError("draft: no frames, expected at least one key")
        object.__setattr__(self, "frames", frames)
        one_of("interpolation", self.interpolation, INTERPOLATIONS)
        object.__setattr__(self, "residual", number("residual", self.residual, least=0.0, most=MOST_RESIDUAL))


@dataclass(frozen=True)
class SwingsDraft:
    """The swings of the capture, edited step by step on top of it."""

    threshold: float = Settings.threshold
    steps: tuple[SwingStep, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", number("threshold", self.threshold, above=0.0, most=10.0))


Draft: TypeAlias = KeysDraft | SwingsDraft


def draft_of(told: Mapping[str, Any]) -> Draft:
    """A draft that came as plain data."""
    if not isinstance(told, Mapping):
        raise OptionError(f"draft={shown(told)}, expected a mapping with kind, and steps")
    kind = one_of("kind", told.get("kind"), ("keys", "swings"))
    if kind == "keys":
        said = exactly("draft", told, ("kind", "frames", "interpolation", "residual", "steps"), ("frames",))
        said["steps"] = _steps(said.get("steps", ()), key_step)
        return KeysDraft(**{name: value for name, value in said.items() if name != "kind"})
    said = exactly("draft", told, ("kind", "threshold", "steps"))
    said["steps"] = _steps(said.get("steps", ()), swing_step)
    return SwingsDraft(**{name: value for name, value in said.items() if name != "kind"})


def _steps(told: Any, parse: Callable[[Any], Step]) -> tuple[Step, ...]:
    given = several("steps", told)
    if len(given) > MOST_STEPS:
        raise OptionError(f"{len(given)} steps, expected at most {MOST_STEPS}")
    found = []
    for place, each in enumerate(given, start=1):
        try:
            found.append(parse(each))
        except KeyposeError as error:
            raise OptionError(f"step {place}: {error}") from None
    return tuple(found)
