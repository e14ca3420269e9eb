"""Edit steps of keys and swings, as data. Positions, offsets and world rotations are in display space.

The API takes these classes as they are: their annotations are its schema.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from keypose.clip_edit.display_data import DisplaySpace
from keypose.clip_edit.field_checks import MAX_TEXT, CheckedFields, Finite, Frame, Quaternion, TaggedUnion, Triple
from keypose.curves.edit import Change, Edit
from keypose.curves.edit.poses import Space
from keypose.errors import OptionError
from keypose.options import Option, ReturnOption, SwingEditOptions
from keypose.rotations import from_euler
from keypose.swings import Swing
from keypose.swings.edit import SwingChange, SwingEdit
from keypose.swings.edit.change import SwingTargets
from keypose.swings.edit.pieces import Point

JointName: TypeAlias = Annotated[str, Option("A joint, body part or group.", max_length=MAX_TEXT)]
Position: TypeAlias = Annotated[Triple | None, Option("A position in metres, as in /frames.")]
Offset: TypeAlias = Annotated[Triple | None, Option("An offset in metres.")]


@dataclass(frozen=True, kw_only=True)
class BaseKeyStep(CheckedFields, ABC):
    """Base of all steps of keys: the frame of a key."""

    op: str
    frame: Frame

    @abstractmethod
    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""


@dataclass(frozen=True, kw_only=True)
class PoseStep(BaseKeyStep):
    """An edit of a pose: it may be spread over the neighbouring keys, and feet in contact may be kept in place."""

    spread_s: Annotated[
        float, Option("Window on both sides over which the edit fades out.", min_value=0.0, max_value=10.0)
    ] = 0.0
    keep_feet: Annotated[bool, Option("Keep feet that are in contact in place.")] = False

    def _pose_options(self) -> dict[str, Any]:
        return {"spread_s": self.spread_s, "keep_feet": self.keep_feet}


@dataclass(frozen=True, kw_only=True)
class Rotate(PoseStep):
    """Rotate a joint about its own axes, its parent's or the world's."""

    op: Literal["rotate"] = "rotate"
    joint: JointName
    quaternion: Annotated[Quaternion | None, Option("The rotation, w x y z.")] = None
    euler_degrees: Annotated[Triple | None, Option("The rotation about X, then Y, then Z.")] = None
    space: Space = "local"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.quaternion is None) == (self.euler_degrees is None):
            raise OptionError("the turn", subject="rotate", expected="either quaternion or euler_degrees")

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        rotation: Any = self.quaternion
        if self.euler_degrees is not None:
            if self.space != "world":
                angles: dict[str, Any] = {"euler_degrees": self.euler_degrees}
                return edit.rotate(self.frame, self.joint, **angles, space=self.space, **self._pose_options())
            rotation = from_euler(np.deg2rad(self.euler_degrees), "XYZ")
        if self.space == "world":
            rotation = tuple(space.rotation_to_file(rotation).tolist())
        return edit.rotate(self.frame, self.joint, quaternion=rotation, space=self.space, **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class _MoveStep(PoseStep):
    """Move something to a position, or by an offset."""

    to: Position = None
    by: Offset = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.to is None) == (self.by is None):
            raise OptionError("the position", subject=self.op, expected="either to or by")

    def _target(self, space: DisplaySpace) -> dict[str, Any]:
        if self.to is not None:
            return {"to": tuple(space.to_file(self.to).tolist())}
        return {"by": tuple(space.offset_to_file(self.by or ()).tolist())}


@dataclass(frozen=True, kw_only=True)
class Reach(_MoveStep):
    """Move a hand or foot to a position or by an offset."""

    op: Literal["reach"] = "reach"
    joint: JointName

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.reach(self.frame, self.joint, **self._target(space), **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class Shift(_MoveStep):
    """Move the figure to a position or by an offset."""

    op: Literal["shift"] = "shift"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.shift(self.frame, **self._target(space), **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class Mirror(PoseStep):
    """Mirror the pose of a key."""

    op: Literal["mirror"] = "mirror"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.mirror(self.frame, **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class Paste(PoseStep):
    """Give a key the pose of another frame."""

    op: Literal["paste"] = "paste"
    from_frame: Frame

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.paste(self.frame, edit.copy(self.from_frame), **self._pose_options())


@dataclass(frozen=True, kw_only=True)
class MoveKey(BaseKeyStep):
    """Move a key in time."""

    op: Literal["move_key"] = "move_key"
    to: Frame
    ripple: Annotated[bool, Option("Move all later keys as well.")] = False

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.move_key(self.frame, self.to, ripple=self.ripple)


@dataclass(frozen=True, kw_only=True)
class InsertKey(BaseKeyStep):
    """Insert a key."""

    op: Literal["insert_key"] = "insert_key"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.insert_key(self.frame)


@dataclass(frozen=True, kw_only=True)
class DeleteKey(BaseKeyStep):
    """Delete a key."""

    op: Literal["delete_key"] = "delete_key"

    def apply(self, edit: Edit, space: DisplaySpace) -> Change:
        """Apply the step to ``edit`` and return the change."""
        return edit.delete_key(self.frame)


KeyStep: TypeAlias = Annotated[
    Rotate | Reach | Shift | MoveKey | InsertKey | DeleteKey | Mirror | Paste, TaggedUnion("op")
]


@dataclass(frozen=True, kw_only=True)
class BaseSwingStep(CheckedFields, ABC):
    """Base of all steps of swings: a joint, body part or group."""

    op: str
    joint: JointName

    @abstractmethod
    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""


def find_swing(edit: SwingEdit, joint: str, index: int) -> Swing:
    """Return a swing by its index among the current swings of its joint."""
    joint_swings = edit.swings[joint]
    if index >= len(joint_swings):
        expected = f"0 to {len(joint_swings) - 1}" if joint_swings else "none: it has no swings"
        raise OptionError(f"is no swing of {joint!r}", option="index", value=index, expected=expected)
    return joint_swings[index]


@dataclass(frozen=True, kw_only=True)
class _IndexedStep(BaseSwingStep):
    """A step of one swing, given by its index among the swings that its joint has at that point, or of all swings."""

    index: Annotated[int | None, Option("Among the swings of the joint; null: all its swings.", min_value=0)] = None
    return_s: ReturnOption = SwingEditOptions.return_s

    def _targets(self, edit: SwingEdit) -> SwingTargets:
        if self.index is None:
            return self.joint
        return find_swing(edit, self.joint, self.index)


@dataclass(frozen=True, kw_only=True)
class ScaleSwing(_IndexedStep):
    """Multiply the angle of swings."""

    op: Literal["scale"] = "scale"
    factor: Finite

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.scale(self._targets(edit), self.factor, return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class ShiftSwing(_IndexedStep):
    """Move swings in time."""

    op: Literal["shift"] = "shift"
    by_frames: int

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.shift(self._targets(edit), by_frames=self.by_frames, return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class _DurationStep(_IndexedStep):
    """A change of the duration of swings."""

    by_frames: int
    anchor: Annotated[Point, Option("The point of the swing that keeps its time.")] = "middle"


@dataclass(frozen=True, kw_only=True)
class LengthenSwing(_DurationStep):
    """Make swings longer."""

    op: Literal["lengthen"] = "lengthen"

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.lengthen(self._targets(edit), by_frames=self.by_frames, anchor=self.anchor, return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class ShortenSwing(_DurationStep):
    """Make swings shorter."""

    op: Literal["shorten"] = "shorten"

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.shorten(self._targets(edit), by_frames=self.by_frames, anchor=self.anchor, return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class DeleteSwing(_IndexedStep):
    """Delete swings."""

    op: Literal["delete"] = "delete"

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.delete(self._targets(edit), return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class IntensifySwings(BaseSwingStep):
    """Intensify all swings of a joint, body part or group."""

    op: Literal["intensify"] = "intensify"
    factor: Finite

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.intensify(self.joint, self.factor)


@dataclass(frozen=True, kw_only=True)
class SetSwingAngle(_IndexedStep):
    """Set the angle of swings."""

    op: Literal["set_angle"] = "set_angle"
    degrees: Annotated[Finite, Option("A negative angle reverses the direction.")]

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.set_angle(self._targets(edit), self.degrees, return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class SetSwingAxis(_IndexedStep):
    """Set the axis of swings."""

    op: Literal["set_axis"] = "set_axis"
    axis: Annotated[Triple, Option("A direction in the joint's own frame, of any length.")]

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        return edit.set_axis(self._targets(edit), self.axis, return_s=self.return_s)


@dataclass(frozen=True, kw_only=True)
class RetimeSwings(BaseSwingStep):
    """Make the whole clip, a part of it, or all swings of some joints longer or shorter."""

    op: Literal["retime"] = "retime"
    joint: JointName = "all"
    factor: Annotated[Finite, Option("How many times as long.")]
    from_frame: Annotated[Frame | None, Option("First frame of the part; null: that of the clip.")] = None
    to_frame: Annotated[Frame | None, Option("Last frame of the part; null: that of the clip.")] = None
    keep_contacts: Annotated[bool, Option("Keep feet that are in contact in place.")] = True

    def apply(self, edit: SwingEdit) -> SwingChange:
        """Apply the step to ``edit`` and return the change."""
        from_s, to_s = (
            None if frame is None else frame / edit.swings.fps for frame in (self.from_frame, self.to_frame)
        )
        keep: Literal["contacts"] | None = "contacts" if self.keep_contacts else None
        return edit.retime(self.joint, self.factor, from_s=from_s, to_s=to_s, keep=keep)


SwingStep: TypeAlias = Annotated[
    ScaleSwing
    | ShiftSwing
    | LengthenSwing
    | ShortenSwing
    | SetSwingAngle
    | SetSwingAxis
    | DeleteSwing
    | IntensifySwings
    | RetimeSwings,
    TaggedUnion("op"),
]
