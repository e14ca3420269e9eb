"""Edit steps of key poses and keys, as data. Positions, offsets and world rotations are in display space, metres."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from keypose.clip_edit.display_space import DisplaySpace
from keypose.clip_edit.validators import check_mapping, check_numbers
from keypose.curves.edit import Change, Edit
from keypose.curves.edit.rotate import SPACES
from keypose.errors import OptionError
from keypose.rotations import from_euler
from keypose.validation import check_bool, check_choice, check_int, check_number, check_text, format_value

MAX_SPREAD_S = 10.0


@dataclass(frozen=True, kw_only=True)
class KeyStep(ABC):
    """Base of all steps: the frame of a key."""

    op: ClassVar[str]
    frame: int

    def __post_init__(self) -> None:
        self._set("frame", check_int("frame", self.frame, min_value=0))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @abstractmethod
    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""


@dataclass(frozen=True, kw_only=True)
class PoseStep(KeyStep):
    """An edit of a pose: it may be spread over the neighbouring keys, and feet in contact may be kept in place."""

    spread_s: float = 0.0
    keep_feet: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("spread_s", check_number("spread_s", self.spread_s, min_value=0.0, max_value=MAX_SPREAD_S))
        self._set("keep_feet", check_bool("keep_feet", self.keep_feet))

    def _pose_options(self) -> dict[str, Any]:
        return {"spread_s": self.spread_s, "keep_feet": self.keep_feet}

    def _check_numbers(self, name: str, count: int = 3) -> None:
        if getattr(self, name) is not None:
            self._set(name, check_numbers(name, getattr(self, name), count))


@dataclass(frozen=True, kw_only=True)
class Rotate(PoseStep):
    """Rotate a joint about its own axes, its parent's or the world's."""

    op = "rotate"
    joint: str
    quaternion: tuple[float, ...] | None = None  # wxyz
    euler_degrees: tuple[float, ...] | None = None  # about X, then Y, then Z
    space: str = "local"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("joint", check_text("joint", self.joint))
        self._check_numbers("quaternion", 4)
        self._check_numbers("euler_degrees")
        self._set("space", check_choice("space", self.space, SPACES))
        if (self.quaternion is None) == (self.euler_degrees is None):
            raise OptionError("rotate: say the turn in one way, quaternion or euler_degrees")

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        rotation: Any = self.quaternion
        if self.euler_degrees is not None:
            if self.space != "world":
                angles: dict[str, Any] = {"euler_degrees": self.euler_degrees}
                return edit.rotate(self.frame, self.joint, **angles, space=self.space, **self._pose_options())  # type: ignore[arg-type]
            rotation = from_euler(np.deg2rad(self.euler_degrees), "XYZ")
        if self.space == "world":
            rotation = tuple(space.rotation_to_file(rotation).tolist())
        return edit.rotate(self.frame, self.joint, quaternion=rotation, space=self.space, **self._pose_options())  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class _MoveStep(PoseStep):
    """Move something to a position, or by an offset."""

    to: tuple[float, ...] | None = None
    by: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("to")
        self._check_numbers("by")
        if (self.to is None) == (self.by is None):
            raise OptionError(f"{self.op}: say where it goes in one way, to or by")

    def _target(self, space: DisplaySpace) -> dict[str, Any]:
        if self.to is not None:
            return {"to": tuple(space.to_file(self.to).tolist())}
        return {"by": tuple(space.offset_to_file(self.by or ()).tolist())}


@dataclass(frozen=True, kw_only=True)
class Reach(_MoveStep):
    """Move a hand or foot to a position or by an offset, in metres."""

    op = "reach"
    joint: str

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("joint", check_text("joint", self.joint))

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.reach(self.frame, self.joint, **self._target(space), **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class Shift(_MoveStep):
    """Move the figure, in metres."""

    op = "shift"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.shift(self.frame, **self._target(space), **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class Mirror(PoseStep):
    """Mirror the pose of a key."""

    op = "mirror"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.mirror(self.frame, **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class Paste(PoseStep):
    """Give a key the pose of another frame."""

    op = "paste"
    from_frame: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("from_frame", check_int("from_frame", self.from_frame, min_value=0))

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.paste(self.frame, edit.copy(self.from_frame), **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class MoveKey(KeyStep):
    """Move a key in time."""

    op = "move_key"
    to: int
    ripple: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("to", check_int("to", self.to, min_value=0))
        self._set("ripple", check_bool("ripple", self.ripple))

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.move_key(self.frame, self.to, ripple=self.ripple)


@dataclass(frozen=True, kw_only=True)
class InsertKey(KeyStep):
    """Insert a key."""

    op = "insert_key"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.insert_key(self.frame)


@dataclass(frozen=True, kw_only=True)
class DeleteKey(KeyStep):
    """Delete a key."""

    op = "delete_key"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.delete_key(self.frame)


STEPS: dict[str, type[KeyStep]] = {
    step.op: step for step in (Rotate, Reach, Shift, MoveKey, InsertKey, DeleteKey, Mirror, Paste)
}


def parse_key_step(payload: Mapping[str, Any]) -> KeyStep:
    """Return the step described by plain data; fields that are None count as missing."""
    if not isinstance(payload, Mapping):
        raise OptionError(
            f"step={format_value(payload)}, expected a mapping such as {{'op': 'insert_key', 'frame': 30}}"
        )
    step_type = STEPS[check_choice("op", payload.get("op"), tuple(STEPS))]
    names = tuple(each.name for each in fields(step_type))
    values = {name: value for name, value in payload.items() if value is not None and name != "op"}
    required = [each.name for each in fields(step_type) if each.default is MISSING]
    return step_type(**check_mapping(step_type.op, values, names, required))
