"""What a draft makes of a clip: a function of both and of nothing else, however much is remembered on the way."""

from __future__ import annotations

import hashlib
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from keypose.errors import KeyposeError, OptionError
from keypose.inbetween.editing import edit
from keypose.model import KeyedMotion, Motion
from keypose.swings import Swings
from keypose.swings.editing import SwingEdit
from keypose.workbench.curves import Bench
from keypose.workbench.drafts import Draft, KeysDraft, SwingsDraft
from keypose.workbench.lately import Lately
from keypose.workbench.space import PageSpace
from keypose.workbench.steps import KeyStep, Paste
from keypose.workbench.straying import Straying, straying
from keypose.workbench.swing_steps import SwingStep

STATES = 64  # of one draft that stay at hand, for undo
MOST_TIPPING = 1_000_000  # joints x frames: beyond, nobody asks whether the figure tips over


@dataclass(frozen=True, eq=False)
class Edited:
    """A clip after an edit."""

    motion: Motion  # as it is shown
    keyed: KeyedMotion | None  # of a draft of keys
    swings: Swings | None  # of a draft of swings
    history: tuple[str, ...]  # the steps as one would type them
    changed: tuple[int, int] | None  # the first and the last frame that the last step may have changed
    notes: tuple[str, ...]  # what the last step has to say
    missed_mm: float | None  # how far a hand or foot stayed from where the last step sent it
    straying: Straying | None  # from the capture; None: there are more or fewer frames than before


@dataclass(frozen=True, eq=False)
class State:
    """Keys after some steps."""

    keyed: KeyedMotion
    history: tuple[str, ...] = ()
    changed: tuple[int, int] | None = None
    note: str = ""
    missed: float | None = None  # file units


def edited(bench: Bench, draft: Draft) -> Edited:
    """The clip of ``bench`` after all steps of ``draft``."""
    return _keys_edited(bench, draft) if isinstance(draft, KeysDraft) else _swings_edited(bench, draft)


# Keys


def _keys_edited(bench: Bench, draft: KeysDraft) -> Edited:
    base = bench.with_detail(draft.frames, draft.interpolation)
    trail: Lately = bench.lately.of(("trail", draft.frames, draft.interpolation), lambda: Lately(STATES))
    now = stepped(State(base), draft.steps, bench.space, trail)
    motion = now.keyed.sample(draft.residual)
    off = straying(bench.motion, motion, None, quick=True)
    missed = None if now.missed is None or bench.motion.height <= 0 else now.missed * bench.motion.mm_per_unit
    notes = (now.note,) if now.note else ()
    return Edited(motion, now.keyed, None, now.history, now.changed, notes, missed, off)


def stepped(start: State, steps: tuple[KeyStep, ...], space: PageSpace, trail: MutableMapping[Any, State]) -> State:
    """``start`` after ``steps``; what ``trail`` remembers of the same start is not done again."""
    marks = _marks(steps)
    done = next((n for n in range(len(steps), 0, -1) if marks[n] in trail), 0)
    now = trail[marks[done]] if done else start
    for place in range(done, len(steps)):
        now = _after(now, steps[place], place, space)
        if place + STATES >= len(steps):  # of a long way the end is what undo goes back to
            trail[marks[place + 1]] = now
    return now


def _marks(steps: tuple[KeyStep, ...]) -> list[bytes]:
    """A name for what each number of steps makes."""
    marks = [b""]
    for step in steps:
        marks.append(hashlib.sha256(marks[-1] + repr(step).encode("utf-8", "surrogatepass")).digest())
    return marks


def _after(now: State, step: KeyStep, place: int, space: PageSpace) -> State:
    editor = edit(now.keyed)
    try:
        change = step.do(editor, space)
    except KeyposeError as error:
        raise OptionError(f"step {place + 1}, {step.op}: {error}") from None
    said = editor.history[-1]
    if isinstance(step, Paste):  # a pose has no words of its own
        said = f"paste({step.frame}, copy({step.from_frame}))"
    missed = change.missed if step.op == "reach" else None
    return State(change.keyed, (*now.history, said), change.range, change.note, missed)


# Swings


@dataclass
class Live:
    """Swings under edit, and the steps that were done: others are reached from there by undo and redo."""

    edit: SwingEdit
    done: list[SwingStep] = field(default_factory=list)
    undone: list[SwingStep] = field(default_factory=list)

    def go_to(self, steps: tuple[SwingStep, ...]) -> SwingEdit:
        """The edit after ``steps``; what is done already stays."""
        same = 0
        while same < min(len(self.done), len(steps)) and self.done[same] == steps[same]:
            same += 1
        while len(self.done) > same:
            self.edit.undo()
            self.undone.append(self.done.pop())
        for place, step in enumerate(steps[same:], start=same + 1):
            self._one_more(step, place)
        return self.edit

    def _one_more(self, step: SwingStep, place: int) -> None:
        if self.undone and self.undone[-1] == step:
            self.edit.redo()
            self.undone.pop()
        else:
            try:
                step.do(self.edit)
            except KeyposeError as error:
                raise OptionError(f"step {place}, {step.op}: {error}") from None
            self.undone.clear()
        self.done.append(step)


def _swings_edited(bench: Bench, draft: SwingsDraft) -> Edited:
    capture = bench.motion
    live: Live = bench.lately.of(
        ("live", draft.threshold), lambda: Live(bench.swings(draft.threshold).edit(capture))
    )  # fmt: skip
    now = live.go_to(draft.steps)
    motion, last = now.play(), now.last_change
    notes: tuple[str, ...] = (last.note,) if last is not None and last.note else ()
    if draft.steps and capture.n_frames * capture.n_joints <= MOST_TIPPING:
        notes += now.tips(motion)
    changed = None if last is None or last.last < last.first else last.range
    return Edited(
        motion, None, now.swings, now.history, changed, notes, None, straying(capture, motion, None, quick=True)
    )
