"""The editor: operations one after another, with a history that goes back and forth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from keypose.errors import OptionError
from keypose.inbetween.editing.change import Change
from keypose.inbetween.editing.delete import delete_key
from keypose.inbetween.editing.feet import keep_feet as put_feet_back
from keypose.inbetween.editing.insert import insert_key
from keypose.inbetween.editing.mirror import mirror, mirrored
from keypose.inbetween.editing.poses import paste
from keypose.inbetween.editing.reach import reach
from keypose.inbetween.editing.retime import move_key
from keypose.inbetween.editing.rotate import Space, rotate_joint
from keypose.inbetween.editing.shift import shift
from keypose.model import KeyedMotion, Pose
from keypose.options import flag

Joints = str | tuple[str, ...] | list[str]


def edit(keyed: KeyedMotion) -> Edit:
    """Start to edit a keyed motion, which itself stays as it is."""
    return Edit(keyed)


class Edit:
    """A keyed motion under edit. Every operation makes a new one, ``edit.keyed``; ``undo`` gives the one before back.

    Frames name keys, joints go by their names or body parts. Operations on poses take ``spread_s``, the window on
    both sides within which keys get a share of the change (0: that key alone; 0.5 does not pop), and ``keep_feet``,
    which puts feet that stood on the ground back. Each operation answers with its ``Change``: the frames that may
    differ, and what it missed.
    """

    def __init__(self, keyed: KeyedMotion) -> None:
        if not isinstance(keyed, KeyedMotion):
            raise OptionError(f"{type(keyed).__name__} cannot be edited, expected a KeyedMotion, as kp.unbake makes it")
        self._original = keyed
        self._done: list[tuple[str, Change]] = []
        self._undone: list[tuple[str, Change]] = []

    @property
    def original(self) -> KeyedMotion:
        """The motion before all edits."""
        return self._original

    @property
    def keyed(self) -> KeyedMotion:
        """The motion as it is now."""
        return self._done[-1][1].keyed if self._done else self._original

    @property
    def history(self) -> tuple[str, ...]:
        """The operations that made it, as one would type them."""
        return tuple(name for name, _ in self._done)

    @property
    def last_range(self) -> tuple[int, int] | None:
        """The first and the last frame that the last operation may have changed; None before all operations."""
        return self._done[-1][1].range if self._done else None

    def undo(self) -> KeyedMotion:
        """Back to before the last operation, bit by bit."""
        if not self._done:
            raise OptionError("nothing to undo")
        self._undone.append(self._done.pop())
        return self.keyed

    def redo(self) -> KeyedMotion:
        """Forth again to what was undone; a new operation forgets that."""
        if not self._undone:
            raise OptionError("nothing to redo")
        self._done.append(self._undone.pop())
        return self.keyed

    def __repr__(self) -> str:
        return f"Edit({self.keyed!r}, {len(self._done)} done, {len(self._undone)} undone)"

    # Poses

    def copy(self, frame: float, *, residual: float = 0.0, mirror: bool = False) -> Pose:
        """The pose at any frame, between keys too, with a share of the detail; ``mirror`` exchanges left and right."""
        pose = self.keyed.pose(frame, residual)
        return mirrored(self.keyed, pose) if flag("mirror", mirror) else pose

    def paste(
        self,
        frame: int,
        pose: Pose,
        *,
        joints: Joints = "all",
        keep_place: bool = True,
        spread_s: float = 0.0,
        keep_feet: bool = False,
    ) -> Change:
        """Give a key a pose, or some joints of it; by default the hips stay over their spot on the ground."""
        return self._do(paste, (frame, pose), keep_feet, joints=joints, keep_place=keep_place, spread_s=spread_s)

    def mirror(self, frame: int, *, joints: Joints = "all", spread_s: float = 0.0, keep_feet: bool = False) -> Change:
        """Mirror the pose of a key, or some joints of it, about the figure's own upright middle plane."""
        return self._do(mirror, (frame,), keep_feet, joints=joints, spread_s=spread_s)

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
        """Turn a joint at a key, about its own axes ("local"), its parent's or the world's."""
        return self._do(
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
        """Bring a hand or foot to a place in the world, or by a way, at a key; ``missed`` says how far it stays off."""
        options = {"to": to, "by": by, "keep_rotation": keep_rotation, "spread_s": spread_s}
        return self._do(reach, (frame, end), keep_feet, **options)

    def shift(
        self,
        frame: int,
        *,
        by: ArrayLike | None = None,
        to: ArrayLike | None = None,
        spread_s: float = 0.0,
        keep_feet: bool = False,
    ) -> Change:
        """Move the figure in the world at a key, by a way or so that its hips come to a place."""
        return self._do(shift, (frame,), keep_feet, by=by, to=to, spread_s=spread_s)

    # Keys

    def move_key(self, frame: int, to: int, *, ripple: bool = False) -> Change:
        """Move a key in time between its neighbours; with ``ripple`` everything behind it moves too."""
        return self._do(move_key, (frame, to), ripple=ripple)

    def insert_key(self, frame: int) -> Change:
        """One key more, without changing the motion."""
        return self._do(insert_key, (frame,))

    def delete_key(self, frame: int) -> Change:
        """One key less, the curves between its neighbours fitted to what they did."""
        return self._do(delete_key, (frame,))

    def _do(
        self, operation: Callable[..., Change], given: tuple[Any, ...], keep_feet: bool = False, **options: Any
    ) -> Change:
        before = self.keyed
        change = operation(before, *given, **options)
        if flag("keep_feet", keep_feet):
            moved = before.skeleton.joint(given[1]) if operation is reach else None
            change = put_feet_back(before, change, but=moved)
            options["keep_feet"] = True
        self._done.append((_spelled(operation, given, options), change))
        self._undone.clear()
        return change


def _spelled(operation: Callable[..., Change], given: tuple[Any, ...], options: dict[str, Any]) -> str:
    """An operation as one would type it; options at their defaults are left out."""
    usual = dict(operation.__kwdefaults__ or {})
    said = [f"{name}={_shown(v)}" for name, v in options.items() if name not in usual or not _is_same(v, usual[name])]
    name = operation.__name__.removesuffix("_joint")
    return f"{name}({', '.join([*map(_shown, given), *said])})"


def _is_same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(np.all(value == usual))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
