"""The editor of keyed motions: operations with undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.curves.edit.change import Change
from keypose.curves.edit.feet import keep_feet as restore_feet
from keypose.curves.edit.keys import delete_key, insert_key, move_key
from keypose.curves.edit.mirror import mirror, mirror_pose
from keypose.curves.edit.poses import Space, paste, rotate_joint, shift
from keypose.curves.edit.reach import reach
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Pose
from keypose.validation import check_bool

Joints = str | tuple[str, ...] | list[str]


def edit(keyed: KeyedMotion) -> Edit:
    """Return an editor of a keyed motion; the motion itself does not change."""
    return Edit(keyed)


class Edit:
    """An editor of a keyed motion. Every operation creates a new motion, ``edit.keyed``; ``undo`` restores the previous
    one.

    Keys are given by frame, joints by name or body part. Options of operations on poses are ``spread_s``, the window on
    both sides within which keys get a share of the change (0: only that key; 0.5 avoids a visible jump), and
    ``keep_feet``, which restores foot contacts. Each operation returns a ``Change`` with the frames that may differ and
    the remaining distance from the target.
    """

    def __init__(self, keyed: KeyedMotion) -> None:
        if not isinstance(keyed, KeyedMotion):
            raise OptionError(
                f"{type(keyed).__name__} cannot be edited", expected="a KeyedMotion, as kp.unbake makes it"
            )
        self._original = keyed
        self._undo_stack: list[tuple[str, Change]] = []
        self._redo_stack: list[tuple[str, Change]] = []

    @property
    def original(self) -> KeyedMotion:
        """The motion before all edits."""
        return self._original

    @property
    def keyed(self) -> KeyedMotion:
        """The motion after all operations."""
        return self._undo_stack[-1][1].keyed if self._undo_stack else self._original

    @property
    def history(self) -> tuple[str, ...]:
        """The operations so far, as calls."""
        return tuple(name for name, _ in self._undo_stack)

    @property
    def last_range(self) -> tuple[int, int] | None:
        """The first and the last frame that the last operation may have changed; None before all operations."""
        return self._undo_stack[-1][1].range if self._undo_stack else None

    def undo(self) -> KeyedMotion:
        """Undo the last operation; the previous motion is restored exactly."""
        if not self._undo_stack:
            raise OptionError("nothing to undo", code="no_step")
        self._redo_stack.append(self._undo_stack.pop())
        return self.keyed

    def redo(self) -> KeyedMotion:
        """Redo the last undone operation; after a new operation nothing can be redone."""
        if not self._redo_stack:
            raise OptionError("nothing to redo", code="no_step")
        self._undo_stack.append(self._redo_stack.pop())
        return self.keyed

    def __repr__(self) -> str:
        return f"Edit({self.keyed!r}, {len(self._undo_stack)} done, {len(self._redo_stack)} undone)"

    # Poses

    def copy(self, frame: float, *, residual: float = 0.0, mirror: bool = False) -> Pose:
        """Return the pose at any frame, with a share of the residual; ``mirror`` swaps left and right."""
        pose = self.keyed.pose(frame, residual)
        return mirror_pose(self.keyed, pose) if check_bool("mirror", mirror) else pose

    def paste(
        self,
        frame: int,
        pose: Pose,
        *,
        joints: Joints = "all",
        keep_position: bool = True,
        spread_s: float = 0.0,
        keep_feet: bool = False,
    ) -> Change:
        """Set the pose of a key, or some joints of it; by default the hips keep their position on the ground."""
        options = {"joints": joints, "keep_position": keep_position, "spread_s": spread_s}
        return self._apply(paste, (frame, pose), keep_feet, **options)

    def mirror(self, frame: int, *, joints: Joints = "all", spread_s: float = 0.0, keep_feet: bool = False) -> Change:
        """Mirror the pose of a key, or some joints of it, about the figure's upright middle plane."""
        return self._apply(mirror, (frame,), keep_feet, joints=joints, spread_s=spread_s)

    def rotate(
        self,
        frame: int,
        joint: str,
        *,
        euler_degrees: ArrayLike | None = None,
        order: str = "XYZ",
        axis: ArrayLike | None = None,
        degrees: float | None = None,
        quaternion: ArrayLike | None = None,
        space: Space = "local",
        spread_s: float = 0.0,
        keep_feet: bool = False,
    ) -> Change:
        """Rotate a joint at a key, about its own axes ("local"), its parent's or the world's."""
        return self._apply(
            rotate_joint, (frame, joint), keep_feet, euler_degrees=euler_degrees, order=order, axis=axis,
            degrees=degrees, quaternion=quaternion, space=space, spread_s=spread_s,
        )  # fmt: skip

    def reach(
        self,
        frame: int,
        end: str,
        *,
        to: ArrayLike | None = None,
        by: ArrayLike | None = None,
        keep_rotation: bool = False,
        spread_s: float = 0.0,
        keep_feet: bool = False,
    ) -> Change:
        """Move a hand or foot to a world position, or by an offset, at a key; ``missed`` is the remaining distance."""
        options = {"to": to, "by": by, "keep_rotation": keep_rotation, "spread_s": spread_s}
        return self._apply(reach, (frame, end), keep_feet, **options)

    def shift(
        self,
        frame: int,
        *,
        by: ArrayLike | None = None,
        to: ArrayLike | None = None,
        spread_s: float = 0.0,
        keep_feet: bool = False,
    ) -> Change:
        """Move the figure in the world at a key, by an offset or so that its hips are at a position."""
        return self._apply(shift, (frame,), keep_feet, by=by, to=to, spread_s=spread_s)

    # Keys

    def move_key(self, frame: int, to: int, *, ripple: bool = False) -> Change:
        """Move a key in time between its neighbours; with ``ripple`` all later keys move too."""
        return self._apply(move_key, (frame, to), ripple=ripple)

    def insert_key(self, frame: int) -> Change:
        """Insert a key without changing the motion."""
        return self._apply(insert_key, (frame,))

    def delete_key(self, frame: int) -> Change:
        """Delete a key; the curve between its neighbours is fitted to the old curves."""
        return self._apply(delete_key, (frame,))

    def _apply(
        self, operation: Callable[..., Change], arguments: tuple[Any, ...], keep_feet: bool = False, **options: Any
    ) -> Change:
        before = self.keyed
        change = operation(before, *arguments, **options)
        if check_bool("keep_feet", keep_feet):
            moved_joint = before.skeleton.joint(arguments[1]) if operation is reach else None
            change = restore_feet(before, change, excluded_joint=moved_joint)
            options["keep_feet"] = True
        self._undo_stack.append((_format_operation(operation, arguments, options), change))
        self._redo_stack.clear()
        return change


def _format_operation(operation: Callable[..., Change], arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return an operation as a call; options at their defaults are omitted."""
    defaults = dict(operation.__kwdefaults__ or {})
    keywords = [
        f"{name}={_format_value(v)}"
        for name, v in options.items()
        if name not in defaults or not _is_default(v, defaults[name])
    ]
    name = operation.__name__.removesuffix("_joint")
    return f"{name}({', '.join([*map(_format_value, arguments), *keywords])})"


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _format_value(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_format_value, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
