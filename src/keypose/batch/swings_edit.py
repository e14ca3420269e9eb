"""Swings played or edited, and written: the work that ``keypose swings -o`` maps over its clips."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keypose.batch.convert import make_folder
from keypose.batch.swings import Distance, Finding, distance, holds_swings
from keypose.batch.swings_notes import kept_keys, replaced_swings
from keypose.errors import KeyposeError, OptionError
from keypose.formats import save
from keypose.model import Motion
from keypose.options import number
from keypose.swings import Swing, Swings
from keypose.swings.editing import SwingChange, SwingEdit

FEET_NOTE = "swings are written as they were edited; feet are held only where a motion is written"
PART_OPTIONS = ("from_s", "to_s")  # of ``find``: those that a retime takes too


@dataclass(frozen=True)
class Step:
    """One edit: which, of what joints, by how much, and how it was said."""

    verb: str
    joints: tuple[str, ...]
    amount: float | None
    said: str

    @property
    def is_of_clip(self) -> bool:
        """Whether it goes by the clock of all joints, not by swings."""
        return self.verb == "retime" and self.joints == ("all",)


@dataclass(frozen=True)
class Playing:
    """What to read, how to find its swings, what to change, and where to write it."""

    source: Path
    target: Path
    finding: Finding = field(default_factory=Finding)
    level: float = 1.0
    steps: tuple[Step, ...] = ()
    which: Mapping[str, Any] = field(default_factory=dict)  # options of ``find``: the swings that edits mean
    keep_feet: bool | None = None  # None: where an edit concerns legs or hips
    detail: bool = True  # edits go on top of the capture, if there is one

    @property
    def over_capture(self) -> bool:
        """Whether what is written is a capture with edits on top of it."""
        return self.detail and bool(self.steps) and not holds_swings(self.source) and not holds_swings(self.target)


@dataclass(frozen=True)
class Edited:
    """What one edit did."""

    edit: str  # as it was said
    n_swings: int  # that it meant
    joints: tuple[str, ...]  # that it changed
    start: int  # the first and the last frame that play differently; the last before the first: none does
    end: int
    note: str


@dataclass(frozen=True)
class Played:
    """What was written."""

    n_frames: int
    fps: float
    n_swings: int
    n_joints: int  # that swing
    edits: tuple[Edited, ...]
    feet_held_mm: float | None  # how far holding feet moved an ankle at most, on a figure of 1.7 m; None: not held
    tips: tuple[str, ...]  # when the figure tips over that stood before
    error_deg: float | None  # None, as the next two, after an edit, or without a capture
    error_per_angle_deg: float | None
    score: Distance | None
    over_capture: bool  # whether the edits are on top of the capture, else on what the swings play
    stored_bytes: int  # of the swings, packed,
    raw_bytes: int  # and of all frames
    bytes: int  # of the file
    notes: tuple[str, ...]


def play_clip(job: Playing) -> Played:
    """Finds, edits, plays and writes one clip; the folders that its target needs are made."""
    capture, found = job.finding.swings(job.source)
    editor = SwingEdit(found, capture if job.over_capture else None)
    edits = tuple(_edited(editor, step, job.which) for step in job.steps)
    last = editor.last_change
    swings = editor.swings.coarser(job.level) if job.level < 1 else editor.swings
    held_mm, notes = None, [*found.notes, *(edit.note for edit in edits if edit.note)]
    holds_feet = (last is not None and last.holds_feet) if job.keep_feet is None else job.keep_feet
    hinged = editor.hinged(job.level)
    motion = hinged.motion
    make_folder(job.target.parent)
    if holds_swings(job.target):
        if last is not None and holds_feet:
            notes.append(FEET_NOTE)
        save(swings, job.target)
    else:
        notes += [hinged.note] if hinged.note else []
        if holds_feet:
            planted = editor.planted(job.level)
            held_mm = _feet_moved_mm(motion, planted.motion)
            motion = planted.motion
            notes += [planted.note] if planted.note else []
        save(motion, job.target)
    tips = () if last is None else editor.tips(motion)
    as_captured = None if edits else capture
    size = swings.size()
    return Played(
        n_frames=swings.n_frames,
        fps=swings.fps,
        n_swings=swings.n_swings,
        n_joints=sum(track.n_swings > 0 for track in swings.tracks),
        edits=edits,
        feet_held_mm=held_mm,
        tips=tips,
        error_deg=None if as_captured is None else swings.error(as_captured),
        error_per_angle_deg=None if as_captured is None else swings.error(as_captured, per="angle"),
        score=None if as_captured is None else distance(as_captured, swings.play()),
        over_capture=job.over_capture,
        stored_bytes=size.total,
        raw_bytes=size.raw_bytes,
        bytes=job.target.stat().st_size,
        notes=(*notes, *tips),
    )


def _edited(editor: SwingEdit, step: Step, which: Mapping[str, Any]) -> Edited:
    """Does one edit; what cannot be is said with the edit that asked for it."""
    try:
        now, meant = editor.swings, editor.find(step.joints, **which)
        if which and not meant and not step.is_of_clip:
            raise OptionError("no swing fits, and nothing was changed")
        changes = [do() for do in _operations(editor, step, which, meant)]
    except KeyposeError as error:
        raise OptionError(f"{step.said}: {error}") from None
    more = [] if step.is_of_clip or step.verb == "intensify" else [kept_keys(now, step.verb, step.joints, meant, which)]
    more += [replaced_swings(now, meant)] if step.verb == "mirror_copy" else []
    touched = sorted({j for change in changes for j in change.joints})
    moved = [change for change in changes if change.last >= change.first]
    return Edited(
        edit=step.said,
        n_swings=len(meant),
        joints=tuple(editor.swings.skeleton.names[j] for j in touched),
        start=min((change.first for change in moved), default=0),
        end=max((change.last for change in moved), default=-1),
        note="; ".join(dict.fromkeys(note for note in (*(change.note for change in changes), *more) if note)),
    )


def _operations(
    editor: SwingEdit, step: Step, selection: Mapping[str, Any], meant: Sequence[Swing]
) -> list[Callable[[], SwingChange]]:
    """What the editor has to do for one edit, one after another."""
    amount = step.amount
    which: Sequence[Swing] | Sequence[str] = meant if selection else step.joints
    if step.verb == "mirror_copy":
        _check_one_side(editor.swings, meant, step.joints)
        return [lambda swing=swing: editor.copy(swing, mirror=True, replace=True) for swing in meant]  # type: ignore[misc]
    assert amount is not None or step.verb == "delete"
    joints = step.joints[0] if len(step.joints) == 1 else step.joints
    if step.verb == "lengthen":
        number("factor", amount, above=0.0)
    stretch = editor.lengthen if (amount or 0.0) >= 1 else editor.shorten
    part = {name: selection[name] for name in PART_OPTIONS if name in selection}
    known: dict[str, Callable[[], SwingChange]] = {
        "scale": lambda: editor.scale(which, amount),  # type: ignore[arg-type]
        "set_angle": lambda: editor.set_angle(which, amount),  # type: ignore[arg-type]
        "shift": lambda: editor.shift(which, by_s=amount),
        "lengthen": lambda: stretch(which, factor=amount),
        "delete": lambda: editor.delete(which),
        "intensify": lambda: editor.intensify(joints, amount),  # type: ignore[arg-type]
        "retime": lambda: editor.retime(joints, amount, **part),
    }
    return [known[step.verb]]


def _check_one_side(swings: Swings, meant: Sequence[Swing], joints: Sequence[str]) -> None:
    """That each joint has another side, which is not to be copied itself."""
    if not meant:
        raise OptionError(f"{', '.join(joints)}: no swing at all, and nothing was changed")
    other = swings.skeleton.anatomy.mirrored()
    chosen = {swings.skeleton.names.index(swing.joint) for swing in meant}
    for j in sorted(chosen):
        if other[j] == j:
            raise OptionError(f"{swings.skeleton.names[j]} has no other side, expected joints of one side")
        if other[j] in chosen:
            raise OptionError(f"{swings.skeleton.names[j]} and {swings.skeleton.names[other[j]]} are both to be "
                              f"copied, expected joints of one side")  # fmt: skip


def _feet_moved_mm(free: Motion, held: Motion) -> float | None:
    """How far apart ankles are at most with feet held and without."""
    ankles = [joints[0] for joints in free.skeleton.anatomy.feet().values()]
    if not ankles or not free.height > 0:
        return None
    apart = np.linalg.norm(free.world_positions()[:, ankles] - held.world_positions()[:, ankles], axis=-1)
    return float(apart.max()) * free.mm_per_unit
