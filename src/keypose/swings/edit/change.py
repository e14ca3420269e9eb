"""The target and the result of an operation on swings, and its description for the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from keypose.balance import balance, tips_over
from keypose.curves.edit.foot_plants import PlantResult
from keypose.errors import OptionError, format_value
from keypose.model import Motion
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.feet import edited_contacts, hold_feet
from keypose.swings.model import Swings
from keypose.swings.swing import Swing
from keypose.swings.track import Track

MAX_TIP_SAMPLES = 60_000  # frames x joints: for longer clips repr() does not compute tips
SwingTargets: TypeAlias = Swing | str | Sequence[Swing | str]
MAX_LISTED = 6


@dataclass(frozen=True)
class Displacement:
    """A span in which a joint has not returned to its motion before the operation, though it had time for that.

    The last frame of the clip is named even if an edited swing ends there.
    """

    joint: str
    start: int  # frame
    end: int  # the last frame
    max_deg: float


@dataclass(frozen=True, eq=False)
class SwingChange:
    """Swings after an operation. Frames outside of ``first`` to ``last`` and joints that are not listed do not change.

    This does not include planting feet, which may rotate legs.
    """

    swings: Swings
    first: int  # the first and the last frame that may differ; last < first: none
    last: int
    joints: tuple[int, ...]  # joints that change in any frame
    note: str = ""  # remarks of the operation
    baseline: Baseline | None = None  # the state before all operations
    displacements: tuple[Displacement, ...] = ()  # where joints do not return in time; empty: nowhere
    holds_feet: bool = False  # whether feet are planted, since an operation has moved legs or hips

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last frame that may differ."""
        return self.first, self.last

    @property
    def plant_result(self) -> PlantResult | None:
        """The motion with feet planted, computed on each access; None: no operation moved legs or hips."""
        if not self.holds_feet or self.baseline is None:
            return None
        return hold_feet(self.baseline, self.swings, self.baseline.play(self.swings))

    @property
    def motion(self) -> Motion:
        """The motion after the operation, with feet planted if legs or hips were moved."""
        planted = self.plant_result
        if planted is not None:
            return planted.motion
        return self.swings.play() if self.baseline is None else self.baseline.play(self.swings)

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """Descriptions of the times at which the figure tips over, but did not before all edits."""
        return () if self.baseline is None else find_tips(self.baseline, self.swings, self.motion)

    def __repr__(self) -> str:
        where = f"frames {self.first} to {self.last}" if self.joints else "nothing"
        names = ", ".join(self.swings.skeleton.names[j] for j in self.joints[:4])
        more = f" and {len(self.joints) - 4} more" if len(self.joints) > 4 else ""
        is_long = self.swings.n_frames * self.swings.n_joints > MAX_TIP_SAMPLES
        tips = self.__dict__.get("tips", ()) if is_long else self.tips
        details = "".join(f", {text}" for text in ((f"{names}{more}" if names else ""), self.note, *tips) if text)
        return f"SwingChange({where}{details})"


def build_change(swings: Swings, tracks: Mapping[int, Track], note: str = "") -> SwingChange:
    """Return ``swings`` with other tracks as a change; joints without a changed frame are not listed."""
    frames = np.arange(swings.n_frames, dtype=np.float64)
    new_tracks = {j: track for j, track in tracks.items() if track is not swings.tracks[j]}
    if not new_tracks:
        return SwingChange(swings, 0, -1, (), note or "nothing to change")
    changed_frames = {
        j: np.flatnonzero((track.sample(frames) != swings.tracks[j].sample(frames)).any(axis=1))
        for j, track in new_tracks.items()
    }
    changed_joints = tuple(sorted(j for j, changed in changed_frames.items() if len(changed)))
    if not changed_joints:
        return SwingChange(swings.replace_tracks(new_tracks), 0, -1, (), note or "the motion is unchanged")
    first, last = (
        min(int(changed_frames[j][0]) for j in changed_joints),
        max(int(changed_frames[j][-1]) for j in changed_joints),
    )
    return SwingChange(swings.replace_tracks(new_tracks), first, last, changed_joints, note)


def resolve_targets(swings: Swings, targets: SwingTargets) -> Mapping[int, tuple[int, ...]]:
    """Return the target swings by joint, at least one in total. A swing is identified by joint, start and end."""
    items = (targets,) if isinstance(targets, Swing | str) else targets
    if not isinstance(items, tuple | list):
        raise OptionError(
            format_value(targets), expected="a swing, several swings, or names of joints, body parts or groups"
        )
    if not items:
        raise OptionError("no swing is given", expected="at least one")
    indices: dict[int, set[int]] = {}
    for item in items:
        if isinstance(item, Swing):
            j, index = find_swing_index(swings, item)
            indices.setdefault(j, set()).add(index)
            continue
        if not isinstance(item, str):
            raise OptionError(format_value(item), expected="a swing or the name of a joint, body part or group")
        for j in swings.skeleton.joints(item):
            if swings.tracks[j].n_swings:
                indices.setdefault(j, set()).update(range(swings.tracks[j].n_swings))
    if not indices:
        names = ", ".join(repr(name) for name in items)
        raise OptionError(
            f"{names}: no swing at all", hint=f"joints with swings are {_format_joints_with_swings(swings)}"
        )
    return {j: tuple(sorted(indices[j])) for j in sorted(indices)}


def find_swing_index(swings: Swings, swing: Swing) -> tuple[int, int]:
    """Return the joint of a swing, and its current index among the swings of the joint."""
    j = swings.skeleton.joint(swing.joint)
    track = swings.tracks[j]
    for index, ends in enumerate(zip(track.starts.tolist(), track.ends.tolist(), strict=True)):
        if ends == (swing.start, swing.end):
            return j, index
    near = sorted(track.swings, key=lambda own: abs(own.start - swing.start) + abs(own.end - swing.end))[:MAX_LISTED]
    frames = ", ".join(
        f"{track_swing.start} to {track_swing.end}" for track_swing in sorted(near, key=lambda own: own.start)
    )
    suffix = "" if len(near) == track.n_swings else " (nearest)"
    hint = f"its swings are now at frames {frames}{suffix}" if near else "it has no swing now"
    raise OptionError(f"no swing of {swing.joint!r} at frames {swing.start} to {swing.end}", hint=hint)


def resolve_one(swings: Swings, targets: SwingTargets) -> tuple[int, int]:
    """Return the joint and index of a single target swing."""
    matches = [(j, index) for j, some in resolve_targets(swings, targets).items() for index in some]
    if len(matches) != 1:
        raise OptionError(f"{len(matches)} swings are meant", expected="one, as swings['right_thigh'][0]")
    return matches[0]


def _format_joints_with_swings(swings: Swings) -> str:
    names = [track.joint for track in swings.tracks if track.n_swings]
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") if names else "none"


def format_operation(
    swings: Swings, operation: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> str:
    """Return an operation as a call; options at their defaults are omitted, a swing is ``swings['RightLeg'][2]``."""
    defaults = operation.__kwdefaults__ or {}
    keywords = [
        f"{name}={_format_value(swings, v)}" for name, v in options.items() if not _is_default(v, defaults.get(name))
    ]
    return f"{operation.__name__}({', '.join([*(_format_value(swings, value) for value in arguments), *keywords])})"


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _format_value(swings: Swings, value: Any) -> str:
    if isinstance(value, Swing):
        j, index = find_swing_index(swings, value)
        return f"swings[{swings.skeleton.names[j]!r}][{index}]"
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(_format_value(swings, item) for item in value)}{',' if len(value) == 1 else ''})"
    return repr(value)


def find_tips(baseline: Baseline, swings: Swings, motion: Motion) -> tuple[str, ...]:
    """Return descriptions of the times at which ``motion`` tips over, but the unedited one did not; empty if masses are
    unknown.

    Foot contacts are those before all edits, moved with the legs.
    """
    old_balance = baseline.original.balance
    if old_balance is None:
        return ()
    new_balance = balance(motion, contacts=edited_contacts(baseline, swings))
    return tuple(str(tip) for tip in tips_over(old_balance, new_balance, source=baseline.source))
