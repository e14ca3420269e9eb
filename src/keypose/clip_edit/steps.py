"""Edit steps of keys and swings, as data. Positions, offsets and world rotations are in display space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from keypose.clip_edit.display_data import DisplaySpace
from keypose.curves.edit import Change, Edit
from keypose.curves.edit.poses import SPACES
from keypose.errors import OptionError
from keypose.rotations import from_euler
from keypose.swings.edit import SwingChange, SwingEdit
from keypose.swings.edit.angle_axis import POINTS
from keypose.swings.edit.change import SwingTargets
from keypose.swings.edit.pieces import Point
from keypose.validation import check_bool, check_choice, check_int, check_number, check_text

MAX_SPREAD_S = 10.0

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
            raise OptionError("the turn", subject="rotate", expected="either quaternion or euler_degrees")

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
            raise OptionError("the position", subject=self.op, expected="either to or by")

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
        raise OptionError(option="step", value=payload, expected="a mapping such as {'op': 'insert_key', 'frame': 30}")
    step_type = STEPS[check_choice("op", payload.get("op"), tuple(STEPS))]
    names = tuple(each.name for each in fields(step_type))
    values = {name: value for name, value in payload.items() if value is not None and name != "op"}
    required = [each.name for each in fields(step_type) if each.default is MISSING]
    return step_type(**check_mapping(step_type.op, values, names, required))


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
                expected = "none: it is for all swings of joints"
                raise OptionError(subject=self.op, option="index", value=self.index, expected=expected)
        for name in ("factor", "by_frames"):
            value = getattr(self, name)
            if name != parameter and value is not None:
                raise OptionError(subject=self.op, option=name, value=value, expected="none")
            if name == parameter and value is None:
                raise OptionError(subject=self.op, option=name, expected="a number")
        if self.factor is not None:
            object.__setattr__(self, "factor", check_number("factor", self.factor))
        if self.by_frames is not None:
            object.__setattr__(self, "by_frames", check_int("by_frames", self.by_frames))
        if self.anchor is not None:
            if self.op not in ANCHOR_OPERATIONS:
                raise OptionError(subject=self.op, option="anchor", value=self.anchor, expected="none")
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
            problem = f"is no swing of {self.joint!r}"
            raise OptionError(problem, option="index", value=self.index, expected=expected)
        return joint_swings[self.index]


def parse_swing_step(payload: Mapping[str, Any]) -> SwingStep:
    """Return the step described by plain data; fields that are None count as missing."""
    if not isinstance(payload, Mapping):
        raise OptionError(option="step", value=payload, expected="a mapping such as {'op': 'delete', 'joint': 'head'}")
    values = {name: value for name, value in payload.items() if value is not None}
    return SwingStep(**check_mapping("step", values, tuple(each.name for each in fields(SwingStep)), ("op", "joint")))


def check_mapping(name: str, value: Any, keys: Iterable[str], required: Iterable[str] = ()) -> dict[str, Any]:
    """Return ``value`` as a dictionary that has no keys besides ``keys`` and all of ``required``."""
    if not isinstance(value, Mapping):
        raise OptionError(option=name, value=value, expected="a mapping of names to values")
    allowed = tuple(keys)
    for key in value:
        if key not in allowed:
            raise OptionError(f"{key!r}", option=name, expected=f"only {', '.join(allowed)}")
    for key in required:
        if key not in value:
            raise OptionError(f"no {key!r}", option=name, expected="one")
    return dict(value)


def check_sequence(name: str, value: Any) -> tuple[Any, ...]:
    """Return ``value`` as a tuple; OptionError if it is a text or no iterable."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise OptionError(option=name, value=value, expected="several values")
    return tuple(value)


def check_frames(name: str, value: Any, *, min_value: int) -> tuple[int, ...]:
    """Return integers sorted and without duplicates."""
    return tuple(sorted({check_int(name, each, min_value=min_value) for each in check_sequence(name, value)}))


def check_texts(name: str, value: Any) -> tuple[str, ...]:
    """Return texts in their order."""
    return tuple(check_text(name, each) for each in check_sequence(name, value))


def check_numbers(name: str, value: Any, count: int) -> tuple[float, ...]:
    """Return exactly ``count`` finite numbers."""
    values = check_sequence(name, value)
    if len(values) != count:
        raise OptionError(f"{len(values)} numbers", option=name, expected=f"{count}")
    return tuple(check_number(name, each) for each in values)


def check_weights(name: str, value: Any) -> dict[str, float]:
    """Return a mapping of texts to finite numbers."""
    if not isinstance(value, Mapping):
        raise OptionError(option=name, value=value, expected="a mapping such as {'hands': 2.0}")
    return {check_text(name, key): check_number(f"{name} of {key}", each) for key, each in value.items()}
