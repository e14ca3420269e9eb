"""Edit steps of swings, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from keypose.clip_edit.validators import check_mapping
from keypose.errors import OptionError
from keypose.swings.edit import SwingChange, SwingEdit
from keypose.swings.edit.angle_axis import POINTS
from keypose.swings.edit.pieces import Point
from keypose.swings.edit.targets import SwingTargets
from keypose.validation import check_choice, check_int, check_number, check_text, format_value

# The numeric parameter of each operation.
OPERATION_PARAMETERS: dict[str, str | None] = {
    "scale": "factor",
    "shift": "by_frames",
    "lengthen": "by_frames",
    "shorten": "by_frames",
    "delete": None,
    "intensify": "factor",
}
ANCHOR_OPERATIONS = ("lengthen", "shorten")


@dataclass(frozen=True, kw_only=True)
class SwingStep:
    """Apply ``op`` to a swing, given by its joint and its index among the swings that the joint has at that point.

    Without ``index`` it applies to all swings of the joint, body part or group; ``intensify`` takes no index.
    Lengthening and shortening keep the ``anchor`` of a swing in place: its middle, or one of its ends.
    """

    op: str
    joint: str
    index: int | None = None
    factor: float | None = None
    by_frames: int | None = None
    anchor: Point | None = None

    def __post_init__(self) -> None:
        parameter = OPERATION_PARAMETERS[check_choice("op", self.op, tuple(OPERATION_PARAMETERS))]
        check_text("joint", self.joint)
        if self.index is not None:
            check_int("index", self.index, min_value=0)
            if self.op == "intensify":
                raise OptionError("intensify: index, expected none: it is for all swings of joints")
        for name in ("factor", "by_frames"):
            value = getattr(self, name)
            if name != parameter and value is not None:
                raise OptionError(f"{self.op}: {name}={value!r}, expected none")
            if name == parameter and value is None:
                raise OptionError(f"{self.op}: no {name}, expected one")
        if self.factor is not None:
            object.__setattr__(self, "factor", check_number("factor", self.factor))
        if self.by_frames is not None:
            object.__setattr__(self, "by_frames", check_int("by_frames", self.by_frames))
        if self.anchor is not None:
            if self.op not in ANCHOR_OPERATIONS:
                raise OptionError(f"{self.op}: anchor={format_value(self.anchor)}, expected none")
            check_choice("anchor", self.anchor, POINTS)

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        target, anchor = self._target(edit), self.anchor or "middle"
        match self.op:
            case "scale":
                return edit.scale(target, self.factor or 0.0)
            case "shift":
                return edit.shift(target, by_frames=self.by_frames)
            case "lengthen":
                return edit.lengthen(target, by_frames=self.by_frames, anchor=anchor)
            case "shorten":
                return edit.shorten(target, by_frames=self.by_frames, anchor=anchor)
            case "delete":
                return edit.delete(target)
        return edit.intensify(self.joint, self.factor or 0.0)

    def _target(self, edit: SwingEdit) -> SwingTargets:
        if self.index is None:
            return self.joint
        joint_swings = edit.swings[self.joint]
        if self.index >= len(joint_swings):
            expected = f"0 to {len(joint_swings) - 1}" if joint_swings else "none: it has no swings"
            raise OptionError(f"swing {self.index} of {self.joint!r}, expected {expected}")
        return joint_swings[self.index]


def parse_swing_step(payload: Mapping[str, Any]) -> SwingStep:
    """Return the step described by plain data; fields that are None count as missing."""
    if not isinstance(payload, Mapping):
        raise OptionError(
            f"step={format_value(payload)}, expected a mapping such as {{'op': 'delete', 'joint': 'head'}}"
        )
    values = {name: value for name, value in payload.items() if value is not None}
    return SwingStep(**check_mapping("step", values, tuple(each.name for each in fields(SwingStep)), ("op", "joint")))
