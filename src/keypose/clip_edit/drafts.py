"""Unsaved edits of one clip as data, and the clip after them.

The API takes these classes as they are: their annotations are its schema. The result depends on clip and draft alone;
cached states only save time.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from keypose.cache import LruCache
from keypose.clip_edit.clip_editor import ClipEditor, SwingFigures, compute_score, measure_swings
from keypose.clip_edit.display_data import DisplaySpace
from keypose.clip_edit.field_checks import CheckedFields, TaggedUnion
from keypose.clip_edit.selection_spec import KeyedSpec
from keypose.clip_edit.steps import KeyStep, Paste, SwingStep
from keypose.curves.edit import edit
from keypose.errors import KeyposeError, OptionError
from keypose.metrics import Score
from keypose.model import KeyedMotion, Motion
from keypose.options import Option, SwingOptions, ThresholdOption
from keypose.options.clip_edit import Residual
from keypose.swings import Swings
from keypose.swings.edit import Displacement, SwingEdit

MAX_STEPS = 5_000
MAX_STATES = 64  # cached per draft, for undo
MAX_TIPPING_CELLS = 1_000_000  # joints x frames beyond which balance is not checked


@dataclass(frozen=True, kw_only=True)
class KeysDraft(KeyedSpec):
    """Curves through keys, edited by ``steps``, with the share ``residual`` of the captured detail added."""

    kind: Literal["keys"] = "keys"
    residual: Residual = 0.0
    steps: Annotated[tuple[KeyStep, ...], Option("Applied one after another.", max_length=MAX_STEPS)] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_keys()


@dataclass(frozen=True, kw_only=True)
class SwingsDraft(CheckedFields):
    """The swings of the capture, edited by ``steps``."""

    kind: Literal["swings"] = "swings"
    threshold: ThresholdOption = SwingOptions.threshold
    captured_detail: Annotated[bool, Option("Add what the swings leave out of the capture.")] = True
    steps: Annotated[tuple[SwingStep, ...], Option("Applied one after another.", max_length=MAX_STEPS)] = ()


Draft: TypeAlias = Annotated[KeysDraft | SwingsDraft, TaggedUnion("kind")]


@dataclass(frozen=True, eq=False)
class EditResult:
    """A clip after an edit."""

    motion: Motion  # with the share of the residual
    keyed: KeyedMotion | None  # of a draft of keys
    swings: Swings | None  # of a draft of swings
    history: tuple[str, ...]  # the steps as Python calls
    changed_frames: tuple[int, int] | None  # the first and the last frame that the last step may have changed
    notes: tuple[str, ...]  # of the last step
    displacements: tuple[Displacement, ...]  # where joints do not return to their motion in time, of the last step
    reach_error_mm: float | None  # distance of a hand or foot from the target of the last step
    score: Score | None  # against the capture; None: the number of frames has changed
    swing_figures: SwingFigures | None = None  # of swings without edits and without captured detail


@dataclass(frozen=True, eq=False)
class KeysState:
    """Keys after some steps."""

    keyed: KeyedMotion
    history: tuple[str, ...] = ()
    changed_frames: tuple[int, int] | None = None
    note: str = ""
    reach_error: float | None = None  # file units


def apply_draft(editor: ClipEditor, draft: Draft) -> EditResult:
    """Return the clip of ``editor`` after all steps of ``draft``."""
    return _apply_keys_draft(editor, draft) if isinstance(draft, KeysDraft) else _apply_swings_draft(editor, draft)


# Keys


def _apply_keys_draft(editor: ClipEditor, draft: KeysDraft) -> EditResult:
    base = editor.fit_keys_with_residual(draft)
    states: LruCache = editor.cache.get_or_make(("key states", draft.keyed_key()), lambda: LruCache(MAX_STATES))
    state = apply_steps(KeysState(base), draft.steps, editor.display_space, states)
    motion = state.keyed.sample(draft.residual)
    score = compute_score(editor.motion, motion, None, positions_only=True)
    reach_error_mm = (
        None
        if state.reach_error is None or editor.motion.height <= 0
        else state.reach_error * editor.motion.mm_per_unit
    )
    notes = (state.note,) if state.note else ()
    return EditResult(motion, state.keyed, None, state.history, state.changed_frames, notes, (), reach_error_mm, score)


def apply_steps(
    start: KeysState, steps: tuple[KeyStep, ...], space: DisplaySpace, states: MutableMapping[Any, KeysState]
) -> KeysState:
    """Return ``start`` after ``steps``, continuing from the longest prefix of them that ``states`` holds."""
    digests = _step_digests(steps)
    n_cached = next((n for n in range(len(steps), 0, -1) if digests[n] in states), 0)
    state = states[digests[n_cached]] if n_cached else start
    for index in range(n_cached, len(steps)):
        state = _apply_step(state, steps[index], index, space)
        if index + MAX_STATES >= len(steps):  # undo returns to the last states
            states[digests[index + 1]] = state
    return state


def _step_digests(steps: tuple[KeyStep, ...]) -> list[bytes]:
    """Return a digest of each prefix of ``steps``, the empty one first."""
    digests = [b""]
    for step in steps:
        digests.append(hashlib.sha256(digests[-1] + repr(step).encode("utf-8", "surrogatepass")).digest())
    return digests


def _apply_step(state: KeysState, step: KeyStep, index: int, space: DisplaySpace) -> KeysState:
    editor = edit(state.keyed)
    try:
        change = step.apply(editor, space)
    except KeyposeError as error:
        raise OptionError.from_error(error, subject=f"step {index + 1}, {step.op}") from None
    call = editor.history[-1]
    if isinstance(step, Paste):  # the pose itself has no short representation
        call = f"paste({step.frame}, copy({step.from_frame}))"
    reach_error = change.missed if step.op == "reach" else None
    return KeysState(change.keyed, (*state.history, call), change.range, change.note, reach_error)


# Swings


@dataclass
class SwingsSession:
    """Swings under edit and the steps applied so far; other step lists are reached from there by undo and redo."""

    edit: SwingEdit
    applied: list[SwingStep] = field(default_factory=list)
    undone: list[SwingStep] = field(default_factory=list)

    def apply_steps(self, steps: tuple[SwingStep, ...]) -> SwingEdit:
        """Return the edit after ``steps``; the shared prefix is not applied again."""
        n_shared = 0
        while n_shared < min(len(self.applied), len(steps)) and self.applied[n_shared] == steps[n_shared]:
            n_shared += 1
        while len(self.applied) > n_shared:
            self.edit.undo()
            self.undone.append(self.applied.pop())
        for number, step in enumerate(steps[n_shared:], start=n_shared + 1):
            self._apply_step(step, number)
        return self.edit

    def _apply_step(self, step: SwingStep, number: int) -> None:
        if self.undone and self.undone[-1] == step:
            self.edit.redo()
            self.undone.pop()
        else:
            try:
                step.apply(self.edit)
            except KeyposeError as error:
                raise OptionError.from_error(error, subject=f"step {number}, {step.op}") from None
            self.undone.clear()
        self.applied.append(step)


def _apply_swings_draft(editor: ClipEditor, draft: SwingsDraft) -> EditResult:
    swing_edit = edit_swings(editor, draft)
    capture, motion, last_change = editor.motion, swing_edit.play(), swing_edit.last_change
    notes: tuple[str, ...] = (last_change.note,) if last_change is not None and last_change.note else ()
    if draft.steps and capture.n_frames * capture.n_joints <= MAX_TIPPING_CELLS:
        notes += swing_edit.find_tips(motion)
    changed_frames = None if last_change is None or last_change.last < last_change.first else last_change.range
    is_plain = not draft.steps and not draft.captured_detail
    return EditResult(
        motion,
        None,
        swing_edit.swings,
        swing_edit.history,
        changed_frames,
        notes,
        () if last_change is None else last_change.displacements,
        None,
        compute_score(capture, motion, None, positions_only=True),
        measure_swings(capture, swing_edit.swings, motion) if is_plain else None,
    )


def edit_swings(editor: ClipEditor, draft: SwingsDraft) -> SwingEdit:
    """Return the edit of the clip's swings after all steps of ``draft``."""
    capture = editor.motion if draft.captured_detail else None

    def start() -> SwingsSession:
        return SwingsSession(editor.swings(draft.threshold).edit(capture))

    if not draft.steps and capture is None:
        return start().edit  # not cached: another one for each threshold while a slider is dragged
    session: SwingsSession = editor.cache.get_or_make(
        ("swings session", draft.threshold, draft.captured_detail), start
    )  # fmt: skip
    return session.apply_steps(draft.steps)
