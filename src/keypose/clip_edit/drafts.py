"""Unsaved edits of one clip as data: the keys or swings they start from, and their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from keypose.clip_edit.key_steps import KeyStep, parse_key_step
from keypose.clip_edit.swing_steps import SwingStep, parse_swing_step
from keypose.clip_edit.validators import check_frames, check_mapping, check_sequence
from keypose.curves.keyed_motion import INTERPOLATIONS, Interpolation
from keypose.errors import KeyposeError, OptionError
from keypose.swings.settings import Settings
from keypose.validation import check_choice, check_number, format_value

MAX_STEPS = 5_000
MAX_RESIDUAL = 2.0

Step = TypeVar("Step")


@dataclass(frozen=True)
class KeysDraft:
    """Curves through ``frames``, edited by ``steps``, with the share ``residual`` of the captured detail added."""

    frames: tuple[int, ...]
    interpolation: Interpolation = "bezier"
    residual: float = 0.0
    steps: tuple[KeyStep, ...] = ()

    def __post_init__(self) -> None:
        frames = check_frames("frames", self.frames, min_value=0)
        if not frames:
            raise OptionError("draft: no frames, expected at least one key")
        object.__setattr__(self, "frames", frames)
        check_choice("interpolation", self.interpolation, INTERPOLATIONS)
        object.__setattr__(
            self, "residual", check_number("residual", self.residual, min_value=0.0, max_value=MAX_RESIDUAL)
        )


@dataclass(frozen=True)
class SwingsDraft:
    """The swings of the capture, edited by ``steps``."""

    threshold: float = Settings.threshold
    steps: tuple[SwingStep, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_number("threshold", self.threshold, above=0.0, max_value=10.0))


Draft: TypeAlias = KeysDraft | SwingsDraft


def parse_draft(payload: Mapping[str, Any]) -> Draft:
    """Return the draft described by plain data; OptionError if it is invalid."""
    if not isinstance(payload, Mapping):
        raise OptionError(f"draft={format_value(payload)}, expected a mapping with kind, and steps")
    kind = check_choice("kind", payload.get("kind"), ("keys", "swings"))
    if kind == "keys":
        values = check_mapping("draft", payload, ("kind", "frames", "interpolation", "residual", "steps"), ("frames",))
        values["steps"] = _parse_steps(values.get("steps", ()), parse_key_step)
        return KeysDraft(**{name: value for name, value in values.items() if name != "kind"})
    values = check_mapping("draft", payload, ("kind", "threshold", "steps"))
    values["steps"] = _parse_steps(values.get("steps", ()), parse_swing_step)
    return SwingsDraft(**{name: value for name, value in values.items() if name != "kind"})


def _parse_steps(payload: Any, parse: Callable[[Any], Step]) -> tuple[Step, ...]:
    items = check_sequence("steps", payload)
    if len(items) > MAX_STEPS:
        raise OptionError(f"{len(items)} steps, expected at most {MAX_STEPS}")
    steps = []
    for number, item in enumerate(items, start=1):
        try:
            steps.append(parse(item))
        except KeyposeError as error:
            raise OptionError(f"step {number}: {error}") from None
    return tuple(steps)
