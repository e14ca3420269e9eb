"""The editor of swings: operations with undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from keypose.curves.edit.foot_plants import PlantResult
from keypose.curves.edit.hinges import HingeResult
from keypose.errors import OptionError
from keypose.model import Motion
from keypose.options import SwingEditOptions, check_option_number
from keypose.swings.edit.angle_axis import Joints, intensify, scale, set_angle, set_axis, turn_axis
from keypose.swings.edit.baseline import Baseline, affected_frames
from keypose.swings.edit.change import SwingChange, SwingTargets, find_tips, format_operation
from keypose.swings.edit.copy_delete import copy, delete
from keypose.swings.edit.feet import edited_contacts, hold_feet, moves_feet
from keypose.swings.edit.pieces import Point
from keypose.swings.edit.retime import Keep as RetimeKeep
from keypose.swings.edit.retime import retime
from keypose.swings.edit.timing import Keep, lengthen, shift, shorten
from keypose.swings.model import Swings, check_same_clip
from keypose.swings.swing import Swing
from keypose.validation import check_bool


class SwingEdit:
    """An editor of swings. Every operation creates new swings, ``edit.swings``; ``undo`` restores the previous ones.

    The targets of an operation are one swing (as returned by ``find``), several, or names of joints, body parts or
    groups, which mean all their swings. Gaps, swings and keys beside the edited ones are adapted without jumps, and
    other joints do not change. Each operation returns a ``SwingChange``: the frames that may differ, and whether the
    figure tips over. An invalid operation raises an error and changes nothing.

    A joint returns to its motion before the operation within ``return_s`` seconds before and after edited swings, if
    its speed allows; ``SwingChange.displacements`` has the frames in which it does not. ``intensify`` and ``retime`` of
    the whole clip change everything and do not return.
    """

    def __init__(self, swings: Swings, capture: Motion | None = None) -> None:
        if not isinstance(swings, Swings):
            raise OptionError(f"{type(swings).__name__} cannot be edited", expected="Swings, as kp.swings makes them")
        if capture is not None:
            check_same_clip(capture, swings)
        self._original_baseline = Baseline.build(swings, capture)
        self._undo_stack: list[tuple[str, SwingChange]] = []
        self._redo_stack: list[tuple[str, SwingChange]] = []

    @property
    def original(self) -> Swings:
        """The swings before all edits."""
        return self._original_baseline.original.swings

    @property
    def swings(self) -> Swings:
        """The swings after all operations."""
        return self._undo_stack[-1][1].swings if self._undo_stack else self.original

    @property
    def history(self) -> tuple[str, ...]:
        """The operations so far, as calls."""
        return tuple(name for name, _ in self._undo_stack)

    @property
    def last_change(self) -> SwingChange | None:
        """The result of the last operation; None before all operations."""
        return self._undo_stack[-1][1] if self._undo_stack else None

    def undo(self) -> Swings:
        """Undo the last operation; the previous swings are restored exactly."""
        if not self._undo_stack:
            raise OptionError("nothing to undo", code="no_step")
        self._redo_stack.append(self._undo_stack.pop())
        return self.swings

    def redo(self) -> Swings:
        """Redo the last undone operation; after a new operation nothing can be redone."""
        if not self._redo_stack:
            raise OptionError("nothing to redo", code="no_step")
        self._undo_stack.append(self._redo_stack.pop())
        return self.swings

    def __repr__(self) -> str:
        return f"SwingEdit({self.swings!r}, {len(self._undo_stack)} done, {len(self._redo_stack)} undone)"

    @property
    def _baseline(self) -> Baseline:
        """The state before all edits, retimed to the current clip."""
        last = self.last_change
        return self._original_baseline if last is None or last.baseline is None else last.baseline

    def find(
        self,
        joints: Joints = "all",
        *,
        index: int | None = None,
        at_s: float | None = None,
        from_s: float | None = None,
        to_s: float | None = None,
        longer_s: float | None = None,
        shorter_s: float | None = None,
        wider_deg: float | None = None,
        narrower_deg: float | None = None,
    ) -> tuple[Swing, ...]:
        """Return the current swings that match all conditions; see ``Swings.find``."""
        return self.swings.find(
            joints, index=index, at_s=at_s, from_s=from_s, to_s=to_s, longer_s=longer_s, shorter_s=shorter_s,
            wider_deg=wider_deg, narrower_deg=narrower_deg,
        )  # fmt: skip

    def play(self, level: float = 1.0, *, fps: float | None = None, keep_feet: bool | None = None) -> Motion:
        """Return the edited motion; ``level`` and ``fps`` as in ``Swings.play``.

        With a capture, that is the capture with the edits applied, else the motion of the swings. Edited knees and
        elbows are limited to their range. ``keep_feet`` plants feet where they were in contact before all edits; None:
        only if an operation moved a leg or the hips.
        """
        last = self.last_change
        plants_feet = (
            (last is not None and last.holds_feet) if keep_feet is None else check_bool("keep_feet", keep_feet)
        )
        if not self._undo_stack and self._baseline.original.capture is None and not plants_feet:
            return self.swings.play(level, fps=fps)
        motion = self.plant_feet(level).motion if plants_feet else self._baseline.play(self.swings, level)
        return motion if fps is None else motion.at_fps(fps)

    def plant_feet(self, level: float = 1.0) -> PlantResult:
        """Return the edited motion with feet planted, and the remaining distances."""
        return hold_feet(self._baseline, self.swings, self._baseline.play(self.swings, level))

    def limit_hinges(self, level: float = 1.0) -> HingeResult:
        """Return the edited motion without planted feet, and which knees and elbows were limited to their range."""
        return self._baseline.limit_hinges(self.swings, level)

    def find_tips(self, motion: Motion | None = None) -> tuple[str, ...]:
        """Describe the times at which ``motion`` (default: the result of ``play``) tips over, but did not before all
        edits."""
        return find_tips(self._baseline, self.swings, self.play() if motion is None else motion)

    # Angle and axis

    def scale(
        self,
        targets: SwingTargets,
        factor: float,
        *,
        about: Point = "start",
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Multiply the angle; the rotation at one point does not change. A negative factor reverses the direction."""
        return self._apply(scale, (targets, factor), return_s, about=about)

    def set_angle(
        self,
        targets: SwingTargets,
        degrees: float,
        *,
        about: Point = "start",
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Set the angle; the rotation at one point does not change. A negative one reverses the direction."""
        return self._apply(set_angle, (targets, degrees), return_s, about=about)

    def set_axis(
        self, targets: SwingTargets, axis: ArrayLike, *, return_s: float = SwingEditOptions.return_s
    ) -> SwingChange:
        """Set the axis (3,), in the joint's own frame."""
        return self._apply(set_axis, (targets, axis), return_s)

    def turn_axis(
        self, targets: SwingTargets, *, about: ArrayLike, degrees: float, return_s: float = SwingEditOptions.return_s
    ) -> SwingChange:
        """Rotate the axis about a direction (3,) in the joint's own frame."""
        return self._apply(turn_axis, (targets,), return_s, about=about, degrees=degrees)

    # Timing

    def shift(
        self,
        targets: SwingTargets,
        *,
        by_s: float | None = None,
        by_frames: int | None = None,
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Move swings later or, with a negative time, earlier."""
        return self._apply(shift, (targets,), return_s, by_s=by_s, by_frames=by_frames)

    def lengthen(
        self,
        targets: SwingTargets,
        *,
        by_s: float | None = None,
        by_frames: int | None = None,
        factor: float | None = None,
        anchor: Point = "middle",
        keep: Keep = "angle",
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Lengthen swings: slower through the same angle, or farther at the same speed."""
        return self._apply(
            lengthen, (targets,), return_s, by_s=by_s, by_frames=by_frames, factor=factor, anchor=anchor, keep=keep
        )  # fmt: skip

    def shorten(
        self,
        targets: SwingTargets,
        *,
        by_s: float | None = None,
        by_frames: int | None = None,
        factor: float | None = None,
        anchor: Point = "middle",
        keep: Keep = "angle",
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Shorten swings: faster through the same angle, or less far at the same speed."""
        return self._apply(
            shorten, (targets,), return_s, by_s=by_s, by_frames=by_frames, factor=factor, anchor=anchor, keep=keep
        )  # fmt: skip

    # Delete and copy

    def delete(self, targets: SwingTargets, *, return_s: float = SwingEditOptions.return_s) -> SwingChange:
        """Delete swings; the joint rotates at constant speed over the gap."""
        return self._apply(delete, (targets,), return_s)

    def copy(
        self,
        swing: SwingTargets,
        to: str | None = None,
        *,
        mirror: bool = False,
        at_s: float | None = None,
        replace: bool = False,
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Copy a swing to another joint, to the mirrored one, or to another time."""
        arguments = (swing,) if to is None else (swing, to)
        return self._apply(copy, arguments, return_s, mirror=mirror, at_s=at_s, replace=replace)

    # The whole motion

    def intensify(self, joints: Joints, factor: float) -> SwingChange:
        """Scale the motion of joints about their mean; that of the hips only if they are named explicitly."""
        return self._apply(intensify, (joints, factor))

    def retime(
        self,
        joints: Joints = "all",
        factor: float | None = None,
        *,
        from_s: float | None = None,
        to_s: float | None = None,
        keep: RetimeKeep | None = "contacts",
        return_s: float = SwingEditOptions.return_s,
    ) -> SwingChange:
        """Make the whole clip or a part of it, or all swings of some joints, ``factor`` times as long."""
        return self._apply(retime, (joints, factor), return_s, from_s=from_s, to_s=to_s, keep=keep)

    def _apply(
        self,
        operation: Callable[..., SwingChange],
        arguments: tuple[Any, ...],
        return_s: float = SwingEditOptions.return_s,
        **options: Any,
    ) -> SwingChange:
        current, last = self.swings, self.last_change
        duration_s = check_option_number(SwingEditOptions, "return_s", return_s)
        change = operation(current, replace(self._baseline, return_s=duration_s), *arguments, **options)
        baseline = self._baseline if change.baseline is None else change.baseline
        call_options = options if duration_s == SwingEditOptions.return_s else {**options, "return_s": duration_s}
        ignores_feet = operation is retime and options["keep"] is None
        holds_feet = (last is not None and last.holds_feet) or (
            not ignores_feet and moves_feet(current.skeleton, change.joints)
        )
        first, last_frame = change.range
        if baseline.original.capture is not None and change.swings.n_frames == current.n_frames:
            first, last_frame = affected_frames(current.n_frames, current.fps, change.range, self._baseline, baseline)
        swings = change.swings
        if swings.contacts is not None and baseline.warps:
            swings = replace(swings, contacts=edited_contacts(baseline, swings))
        change = replace(change, swings=swings, first=first, last=last_frame, baseline=baseline, holds_feet=holds_feet)
        self._undo_stack.append((format_operation(current, operation, arguments, call_options), change))
        self._redo_stack.clear()
        return change
