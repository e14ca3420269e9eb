"""Edit or play swings and write the result: the job of ``keypose swings -o``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from keypose.batch.plan import make_folder
from keypose.batch.swings import SwingsLoader, holds_swings, score_swings
from keypose.errors import KeyposeError, OptionError
from keypose.formats import save
from keypose.metrics import Score
from keypose.model import Motion, list_notes
from keypose.options import SwingEditOptions
from keypose.swings import Swing, Swings
from keypose.swings.edit import Displacement, SwingChange, SwingEdit
from keypose.validation import check_number

FEET_NOTE = "swings are written as they were edited; feet are held only where a motion is written"
SPAN_OPTIONS = ("from_s", "to_s")  # options of ``find`` that are also options of ``retime``

MAX_NAMES = 4
TIME_FILTERS = ("at_s", "from_s", "to_s")  # options of ``find`` about time
SCALING_OPERATIONS = ("scale", "set_angle")  # not ``intensify``, which also changes keys


@dataclass(frozen=True)
class EditStep:
    """One edit: operation, joints, amount, and the option as typed."""

    operation: str
    joints: tuple[str, ...]
    amount: float | None
    text: str

    @property
    def is_clip_retime(self) -> bool:
        """Return whether it retimes the whole clip, not single swings."""
        return self.operation == "retime" and self.joints == ("all",)


@dataclass(frozen=True)
class SwingEditJob:
    """What to read, how to find its swings, how to edit them, and where to write the result."""

    source: Path
    target: Path
    loader: SwingsLoader = field(default_factory=SwingsLoader)
    level: float = 1.0
    steps: tuple[EditStep, ...] = ()
    filters: Mapping[str, Any] = field(default_factory=dict)  # options of ``find``: the swings to edit
    keep_feet: bool | None = None  # None: if an edit affects legs or hips
    keep_detail: bool = True  # apply edits on top of the capture, if there is one
    return_s: float = SwingEditOptions.return_s  # time in which joints return to their motion beside edited swings

    @property
    def over_capture(self) -> bool:
        """Return whether the result is the capture with edits on top."""
        return self.keep_detail and bool(self.steps) and not holds_swings(self.source) and not holds_swings(self.target)


@dataclass(frozen=True)
class EditReport:
    """The effect of one edit."""

    edit: str  # as typed
    n_swings: int  # that it was applied to
    joints: tuple[str, ...]  # that it changed
    start: int  # first and last frame that differ; ``end`` before ``start``: none
    end: int
    note: str
    displacements: tuple[Displacement, ...]  # where joints do not return in time


@dataclass(frozen=True)
class SwingEditResult:
    """What was written, and how exact it is."""

    n_frames: int
    fps: float
    n_swings: int
    n_joints: int  # with swings
    edits: tuple[EditReport, ...]
    # Maximum displacement of an ankle by planting feet, on a figure of 1.7 m; None: not planted.
    feet_held_mm: float | None
    tips: tuple[str, ...]  # the times at which the figure tips over because of the edit
    error_deg: float | None  # None, like the next two, after an edit or without a capture
    error_per_angle_deg: float | None
    score: Score | None
    over_capture: bool  # edits are on top of the capture, else on the played swings
    swings_bytes: int  # of the packed swings
    raw_bytes: int  # of all frames
    bytes: int  # of the file
    notes: tuple[str, ...]


def edit_clip_swings(job: SwingEditJob) -> SwingEditResult:
    """Find, edit, play and save the swings of one clip; missing folders of the target are created."""
    capture, original_swings = job.loader.find_swings(job.source)
    editor = SwingEdit(original_swings, capture if job.over_capture else None)
    edits = tuple(_apply_step(editor, step, job.filters, job.return_s) for step in job.steps)
    last_change = editor.last_change
    swings = editor.swings.simplify(job.level) if job.level < 1 else editor.swings
    held_mm, notes = (
        None,
        [*list_notes(original_swings), *(edit.note for edit in edits if edit.note)],
    )
    hold_feet = (last_change is not None and last_change.holds_feet) if job.keep_feet is None else job.keep_feet
    hinged = editor.limit_hinges(job.level)
    motion = hinged.motion
    make_folder(job.target.parent)
    if holds_swings(job.target):
        if last_change is not None and hold_feet:
            notes.append(FEET_NOTE)
        save(swings, job.target)
    else:
        notes += [hinged.note] if hinged.note else []
        if hold_feet:
            planted = editor.plant_feet(job.level)
            held_mm = _max_ankle_displacement_mm(motion, planted.motion)
            motion = planted.motion
            notes += [planted.note] if planted.note else []
        save(motion, job.target)
    tips = () if last_change is None else editor.find_tips(motion)
    reference = None if edits else capture
    size = swings.size()
    return SwingEditResult(
        n_frames=swings.n_frames,
        fps=swings.fps,
        n_swings=swings.n_swings,
        n_joints=sum(track.n_swings > 0 for track in swings.tracks),
        edits=edits,
        feet_held_mm=held_mm,
        tips=tips,
        error_deg=None if reference is None else swings.error(reference),
        error_per_angle_deg=None if reference is None else swings.error(reference, per="angle"),
        score=None if reference is None else score_swings(reference, swings.play()),
        over_capture=job.over_capture,
        swings_bytes=size.total,
        raw_bytes=size.raw_bytes,
        bytes=job.target.stat().st_size,
        notes=(*notes, *tips),
    )


def _apply_step(editor: SwingEdit, step: EditStep, filters: Mapping[str, Any], return_s: float) -> EditReport:
    """Apply one edit; errors name the edit."""
    try:
        before, targets = editor.swings, editor.find(step.joints, **filters)
        if filters and not targets and not step.is_clip_retime:
            raise OptionError("no swing fits, and nothing was changed")
        changes = [operation() for operation in _build_operations(editor, step, filters, targets, return_s)]
    except KeyposeError as error:
        raise OptionError.from_error(error, subject=step.text) from None
    extra_notes = (
        []
        if step.is_clip_retime or step.operation == "intensify"
        else [unchanged_keys_note(before, step.operation, step.joints, targets, filters)]
    )
    extra_notes += [replaced_swings_note(before, targets)] if step.operation == "mirror_copy" else []
    joint_indices = sorted({j for change in changes for j in change.joints})
    effective_changes = [change for change in changes if change.last >= change.first]
    return EditReport(
        edit=step.text,
        n_swings=len(targets),
        joints=tuple(editor.swings.skeleton.names[j] for j in joint_indices),
        start=min((change.first for change in effective_changes), default=0),
        end=max((change.last for change in effective_changes), default=-1),
        note="; ".join(dict.fromkeys(note for note in (*(change.note for change in changes), *extra_notes) if note)),
        displacements=tuple(each for change in changes for each in change.displacements),
    )


def _build_operations(
    editor: SwingEdit, step: EditStep, filters: Mapping[str, Any], targets: Sequence[Swing], return_s: float
) -> list[Callable[[], SwingChange]]:
    """Return the calls of the editor that make up one edit, in order."""
    amount = step.amount
    affected: Sequence[Swing] | Sequence[str] = targets if filters else step.joints
    if step.operation == "mirror_copy":
        _check_one_side(editor.swings, targets, step.joints)
        copy = partial(editor.copy, mirror=True, replace=True, return_s=return_s)
        return [partial(copy, swing) for swing in targets]
    assert amount is not None or step.operation == "delete"
    joints = step.joints[0] if len(step.joints) == 1 else step.joints
    if step.operation == "lengthen":
        check_number("factor", amount, above=0.0)
    stretch = editor.lengthen if (amount or 0.0) >= 1 else editor.shorten
    span = {name: filters[name] for name in SPAN_OPTIONS if name in filters}
    operations: dict[str, Callable[[], SwingChange]] = {
        "scale": lambda: editor.scale(affected, amount, return_s=return_s),  # type: ignore[arg-type]
        "set_angle": lambda: editor.set_angle(affected, amount, return_s=return_s),  # type: ignore[arg-type]
        "shift": lambda: editor.shift(affected, by_s=amount, return_s=return_s),
        "lengthen": lambda: stretch(affected, factor=amount, return_s=return_s),
        "delete": lambda: editor.delete(affected, return_s=return_s),
        "intensify": lambda: editor.intensify(joints, amount),  # type: ignore[arg-type]
        "retime": lambda: editor.retime(joints, amount, **span, return_s=return_s),
    }
    return [operations[step.operation]]


def _check_one_side(swings: Swings, targets: Sequence[Swing], joints: Sequence[str]) -> None:
    """Raise an OptionError unless each joint has a mirror partner that is not a target itself."""
    if not targets:
        raise OptionError(f"{', '.join(joints)}: no swing at all, and nothing was changed")
    partners = swings.skeleton.anatomy.mirror_partners()
    joint_indices = {swings.skeleton.names.index(swing.joint) for swing in targets}
    for j in sorted(joint_indices):
        if partners[j] == j:
            raise OptionError(f"{swings.skeleton.names[j]} has no other side", expected="joints of one side")
        if partners[j] in joint_indices:
            raise OptionError(
                f"{swings.skeleton.names[j]} and {swings.skeleton.names[partners[j]]} are both to be copied",
                expected="joints of one side",
            )


def _max_ankle_displacement_mm(free: Motion, held: Motion) -> float | None:
    """Return the maximum distance in mm between ankles with and without planted feet; None without feet or height."""
    ankles = [joints[0] for joints in free.skeleton.anatomy.feet().values()]
    if not ankles or not free.height > 0:
        return None
    displacements = np.linalg.norm(free.world_positions()[:, ankles] - held.world_positions()[:, ankles], axis=-1)
    return float(displacements.max()) * free.mm_per_unit


def unchanged_keys_note(
    swings: Swings, operation: str, joints: Sequence[str], targets: Sequence[Swing], filters: Mapping[str, Any]
) -> str:
    """Return a note about keyed spans of the joints that an edit of their swings does not change; empty if none.

    It counts spans in the selected time or, without a time filter, between the first and the last target.
    """
    n_total = 0
    names: list[str] = []
    for j in swings.skeleton.joints(tuple(joints)):
        track = swings.tracks[j]
        joint_targets = [swing for swing in targets if swing.joint == track.joint]
        if swings.is_left_out(j) or (
            filters and not joint_targets and not any(name in filters for name in TIME_FILTERS)
        ):
            continue
        first, last = _affected_frames(swings, joint_targets, filters)
        n_spans = sum(span.start <= last and span.end >= first for span in track.keyed)
        if n_spans:
            n_total, names = n_total + n_spans, [*names, track.joint]
    if not n_total:
        return ""
    is_single = n_total == 1
    effect = (
        ("is not copied" if is_single else "are not copied")
        if operation == "mirror_copy"
        else "stays"
        if is_single
        else "stay"
    )
    scope = "all that a joint does" if filters else f"{'it' if is_single else 'them'} too"
    hint = f": --intensify changes {scope}" if operation in SCALING_OPERATIONS else ""
    phrase = "span of {} is no swing" if is_single else "spans of {} are no swings"
    return f"{n_total} keyed {phrase.format(_format_names(names))} and {effect}{hint}"


def _affected_frames(swings: Swings, joint_targets: Sequence[Swing], filters: Mapping[str, Any]) -> tuple[float, float]:
    """Return the first and last affected frame."""
    if filters and not any(name in filters for name in TIME_FILTERS):
        return min(swing.start for swing in joint_targets), max(swing.end for swing in joint_targets)
    at = filters.get("at_s")
    first = max(filters.get("from_s", 0.0), 0.0 if at is None else at)
    last = min(filters.get("to_s", swings.duration_s), swings.duration_s if at is None else at)
    return first * swings.fps, last * swings.fps


def replaced_swings_note(swings: Swings, targets: Iterable[Swing]) -> str:
    """Return a note about swings of the other side that mirrored copies of the targets replace; empty if none."""
    partners = swings.skeleton.anatomy.mirror_partners()
    replaced: dict[str, set[int]] = {}
    for swing in targets:
        track = swings.tracks[partners[swings.skeleton.joint(swing.joint)]]
        overlapping = [
            n for n, existing in enumerate(track.swings) if existing.start <= swing.end and existing.end >= swing.start
        ]
        replaced.setdefault(track.joint, set()).update(overlapping)
    names = [joint for joint in swings.skeleton.names if replaced.get(joint)]
    count = sum(len(replaced[joint]) for joint in names)
    if not count:
        return ""
    noun, verb = ("swing", "is") if count == 1 else ("swings", "are")
    return f"{count} {noun} of {_format_names(names)} {verb} replaced"


def _format_names(names: Sequence[str]) -> str:
    """Return ``A``, ``A and B`` or ``A, B, C, D and 3 more``."""
    more = len(names) - MAX_NAMES
    if more > 0:
        return f"{', '.join(names[:MAX_NAMES])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
