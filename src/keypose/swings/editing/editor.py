"""The editor of swings: operations one after another, with a history that goes back and forth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from keypose.errors import OptionError
from keypose.inbetween.editing.hinges import Hinged
from keypose.inbetween.editing.planting import Planted
from keypose.model import Motion
from keypose.options import flag
from keypose.swings.editing.balancing import tips
from keypose.swings.editing.change import SwingChange
from keypose.swings.editing.copying import copy, delete
from keypose.swings.editing.feet import contacts_of, moves_feet, with_feet_held
from keypose.swings.editing.intensify import Joints, intensify
from keypose.swings.editing.retime import Kept as KeptFeet
from keypose.swings.editing.retime import retime
from keypose.swings.editing.selection import Which
from keypose.swings.editing.spelled import spelled
from keypose.swings.editing.timing import Kept, lengthen, shift, shorten
from keypose.swings.editing.turning import Point, scale, set_angle, set_axis, turn_axis
from keypose.swings.editing.unedited import Unedited, reach
from keypose.swings.error import check_same
from keypose.swings.noun import Swings
from keypose.swings.parts import Swing


class SwingEdit:
    """Swings under edit. Every operation makes new ones, ``edit.swings``; ``undo`` gives those before back.

    Operations take a swing (as ``find`` gives it), several, or names of joints, body parts or groups, which mean all
    their swings. Each does to these what it says; gaps, swings and keys beside them adapt so that nothing jumps, and
    other joints stay as they are. The answer is a ``SwingChange``: the frames that may differ, and whether the figure
    tips over. What cannot be is an error and changes nothing.
    """

    def __init__(self, swings: Swings, capture: Motion | None = None) -> None:
        if not isinstance(swings, Swings):
            raise OptionError(f"{type(swings).__name__} cannot be edited, expected Swings, as kp.swings makes them")
        if capture is not None:
            check_same(capture, swings)
        self._origin = Unedited.of(swings, capture)
        self._done: list[tuple[str, SwingChange]] = []
        self._undone: list[tuple[str, SwingChange]] = []

    @property
    def original(self) -> Swings:
        """The swings before all edits."""
        return self._origin.original.swings

    @property
    def swings(self) -> Swings:
        """The swings as they are now."""
        return self._done[-1][1].swings if self._done else self.original

    @property
    def history(self) -> tuple[str, ...]:
        """The operations that made them, as one would type them."""
        return tuple(name for name, _ in self._done)

    @property
    def last_change(self) -> SwingChange | None:
        """What the last operation gave; None before all operations."""
        return self._done[-1][1] if self._done else None

    def undo(self) -> Swings:
        """Back to before the last operation, bit by bit."""
        if not self._done:
            raise OptionError("nothing to undo")
        self._undone.append(self._done.pop())
        return self.swings

    def redo(self) -> Swings:
        """Forth again to what was undone; a new operation forgets that."""
        if not self._undone:
            raise OptionError("nothing to redo")
        self._done.append(self._undone.pop())
        return self.swings

    def __repr__(self) -> str:
        return f"SwingEdit({self.swings!r}, {len(self._done)} done, {len(self._undone)} undone)"

    @property
    def _before(self) -> Unedited:
        """What the edit started from, on the clock of what it is now."""
        last = self.last_change
        return self._origin if last is None or last.before is None else last.before

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
        """The present swings that fit all that is said of them, as ``Swings.find`` gives them."""
        return self.swings.find(
            joints, index=index, at_s=at_s, from_s=from_s, to_s=to_s, longer_s=longer_s, shorter_s=shorter_s,
            wider_deg=wider_deg, narrower_deg=narrower_deg,
        )  # fmt: skip

    def play(self, level: float = 1.0, *, fps: float | None = None, keep_feet: bool | None = None) -> Motion:
        """The motion as it is now; ``level`` and ``fps`` as in ``Swings.play``.

        Over a capture that is the capture with the edits on top, else what the swings play. Knees and elbows that were
        edited are held in what they can do.
        ``keep_feet`` holds feet that stood on the ground where they stood before all edits. None: if any operation
        moved a leg or the hips.
        """
        last = self.last_change
        held = (last is not None and last.holds_feet) if keep_feet is None else flag("keep_feet", keep_feet)
        if not self._done and self._before.original.capture is None and not held:
            return self.swings.play(level, fps=fps)
        motion = self.planted(level).motion if held else self._before.shown(self.swings, level)
        return motion if fps is None else motion.at_fps(fps)

    def planted(self, level: float = 1.0) -> Planted:
        """The motion as it is now with feet held, and how far that was possible."""
        return with_feet_held(self._before, self.swings, self._before.shown(self.swings, level))

    def hinged(self, level: float = 1.0) -> Hinged:
        """The motion as it is now, feet going free, and which knees and elbows had to be held in what they can do."""
        return self._before.hinged(self.swings, level)

    def tips(self, played: Motion | None = None) -> tuple[str, ...]:
        """When the figure tips over, in what ``play`` gives or in ``played``, that stood before all edits."""
        return tips(self._before, self.swings, self.play() if played is None else played)

    # How far swings turn, and about what

    def scale(self, which: Which, factor: float, *, about: Point = "start") -> SwingChange:
        """Multiply the angle, the rotation at one point kept; a negative factor turns the other way."""
        return self._do(scale, (which, factor), about=about)

    def set_angle(self, which: Which, degrees: float, *, about: Point = "start") -> SwingChange:
        """Set the angle, the rotation at one point kept; a negative one turns the other way."""
        return self._do(set_angle, (which, degrees), about=about)

    def set_axis(self, which: Which, axis: ArrayLike) -> SwingChange:
        """Swing about another axis (3,), in the joint's own frame."""
        return self._do(set_axis, (which, axis))

    def turn_axis(self, which: Which, *, about: ArrayLike, degrees: float) -> SwingChange:
        """Turn the axis about a direction (3,) in the joint's own frame."""
        return self._do(turn_axis, (which,), about=about, degrees=degrees)

    # When they happen

    def shift(self, which: Which, *, by_s: float | None = None, by_frames: int | None = None) -> SwingChange:
        """Let swings happen later or, by a negative time, earlier."""
        return self._do(shift, (which,), by_s=by_s, by_frames=by_frames)

    def lengthen(
        self,
        which: Which,
        *,
        by_s: float | None = None,
        by_frames: int | None = None,
        factor: float | None = None,
        anchor: Point = "middle",
        keep: Kept = "angle",
    ) -> SwingChange:
        """Let swings take longer: slower through the same angle, or farther at the same speed."""
        return self._do(
            lengthen, (which,), by_s=by_s, by_frames=by_frames, factor=factor, anchor=anchor, keep=keep
        )  # fmt: skip

    def shorten(
        self,
        which: Which,
        *,
        by_s: float | None = None,
        by_frames: int | None = None,
        factor: float | None = None,
        anchor: Point = "middle",
        keep: Kept = "angle",
    ) -> SwingChange:
        """Let swings take less long: faster through the same angle, or less far at the same speed."""
        return self._do(
            shorten, (which,), by_s=by_s, by_frames=by_frames, factor=factor, anchor=anchor, keep=keep
        )  # fmt: skip

    # Which there are

    def delete(self, which: Which) -> SwingChange:
        """Take swings away; the joint turns evenly over the gap."""
        return self._do(delete, (which,))

    def copy(
        self,
        swing: Which,
        to: str | None = None,
        *,
        mirror: bool = False,
        at_s: float | None = None,
        replace: bool = False,
    ) -> SwingChange:
        """Do the same turn with another joint, with the mirrored one, or at another time."""
        given = (swing,) if to is None else (swing, to)
        return self._do(copy, given, mirror=mirror, at_s=at_s, replace=replace)

    # The whole motion

    def intensify(self, joints: Joints, factor: float) -> SwingChange:
        """Let joints move ``factor`` times as far in the same time; hips only if they are named themselves."""
        return self._do(intensify, (joints, factor))

    def retime(
        self,
        joints: Joints = "all",
        factor: float | None = None,
        *,
        from_s: float | None = None,
        to_s: float | None = None,
        keep: KeptFeet | None = "contacts",
    ) -> SwingChange:
        """Let the whole clip or a part of it, or all swings of some joints, take ``factor`` times as long."""
        return self._do(retime, (joints, factor), from_s=from_s, to_s=to_s, keep=keep)

    def _do(self, operation: Callable[..., SwingChange], given: tuple[Any, ...], **options: Any) -> SwingChange:
        now, last = self.swings, self.last_change
        change = operation(now, self._before, *given, **options)
        before = self._before if change.before is None else change.before
        goes_free = operation is retime and options["keep"] is None
        held = (last is not None and last.holds_feet) or (not goes_free and moves_feet(now.skeleton, change.joints))
        first, last_frame = change.range
        if before.original.capture is not None and change.swings.n_frames == now.n_frames:
            first, last_frame = reach(now.n_frames, now.fps, change.range, self._before, before)
        swings = change.swings
        if swings.contacts is not None and before.warps:
            swings = replace(swings, contacts=contacts_of(before, swings))
        change = replace(change, swings=swings, first=first, last=last_frame, before=before, holds_feet=held)
        self._done.append((spelled(now, operation, given, options), change))
        self._undone.clear()
        return change
