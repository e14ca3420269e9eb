"""One edit of swings, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from keypose.errors import OptionError
from keypose.options import number, one_of, shown, text, whole
from keypose.swings.editing import SwingChange, SwingEdit
from keypose.swings.editing.pieces import Point
from keypose.swings.editing.selection import Which
from keypose.swings.editing.turning import POINTS
from keypose.workbench.told import exactly

# Which number each operation takes beside the swing.
TAKES: dict[str, str | None] = {
    "scale": "factor",
    "shift": "by_frames",
    "lengthen": "by_frames",
    "shorten": "by_frames",
    "delete": None,
    "intensify": "factor",
}
ANCHORED = ("lengthen", "shorten")


@dataclass(frozen=True, kw_only=True)
class SwingStep:
    """Do ``op`` to a swing, known by its joint and its place among the joint's swings as they are then.

    Without ``index`` all swings of the joint, body part or group are meant; ``intensify`` is for those alone.
    A swing that lasts longer or less long keeps its ``anchor`` where it is in time: its middle, or one of its ends.
    """

    op: str
    joint: str
    index: int | None = None
    factor: float | None = None
    by_frames: int | None = None
    anchor: Point | None = None

    def __post_init__(self) -> None:
        takes = TAKES[one_of("op", self.op, tuple(TAKES))]
        text("joint", self.joint)
        if self.index is not None:
            whole("index", self.index, least=0)
            if self.op == "intensify":
                raise OptionError("intensify: index, expected none: it is for all swings of joints")
        for name in ("factor", "by_frames"):
            value = getattr(self, name)
            if name != takes and value is not None:
                raise OptionError(f"{self.op}: {name}={value!r}, expected none")
            if name == takes and value is None:
                raise OptionError(f"{self.op}: no {name}, expected one")
        if self.factor is not None:
            object.__setattr__(self, "factor", number("factor", self.factor))
        if self.by_frames is not None:
            object.__setattr__(self, "by_frames", whole("by_frames", self.by_frames))
        if self.anchor is not None:
            if self.op not in ANCHORED:
                raise OptionError(f"{self.op}: anchor={shown(self.anchor)}, expected none")
            one_of("anchor", self.anchor, POINTS)

    def do(self, edit: SwingEdit) -> SwingChange:
        """Does it."""
        which, anchor = self._which(edit), self.anchor or "middle"
        match self.op:
            case "scale":
                return edit.scale(which, self.factor or 0.0)
            case "shift":
                return edit.shift(which, by_frames=self.by_frames)
            case "lengthen":
                return edit.lengthen(which, by_frames=self.by_frames, anchor=anchor)
            case "shorten":
                return edit.shorten(which, by_frames=self.by_frames, anchor=anchor)
            case "delete":
                return edit.delete(which)
        return edit.intensify(self.joint, self.factor or 0.0)

    def _which(self, edit: SwingEdit) -> Which:
        if self.index is None:
            return self.joint
        own = edit.swings[self.joint]
        if self.index >= len(own):
            some = f"0 to {len(own) - 1}" if own else "none: it has no swings"
            raise OptionError(f"swing {self.index} of {self.joint!r}, expected {some}")
        return own[self.index]


def swing_step(told: Mapping[str, Any]) -> SwingStep:
    """A step that came as plain data; what is None counts as not said."""
    if not isinstance(told, Mapping):
        raise OptionError(f"step={shown(told)}, expected a mapping such as {{'op': 'delete', 'joint': 'head'}}")
    said = {name: value for name, value in told.items() if value is not None}
    return SwingStep(**exactly("step", said, tuple(each.name for each in fields(SwingStep)), ("op", "joint")))
