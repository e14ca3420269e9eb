"""Random single edits of swings, and whether the edited joints return to the capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np

import keypose as kp
from keypose.errors import KeyposeError
from keypose.rotations import angle_between

RETURN_S = 1.0  # the default of ``return_s``
RETURNED_DEG = 0.1  # a joint that is nearer to the capture has returned
FACTORS = (0.5, 0.7, 1.3, 1.6, 2.0)
MAX_SHIFT_S, LENGTHEN_FACTOR = 0.2, 1.3

Outcome = Literal["returns", "reported", "silent", "refused"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Operation = Callable[[kp.SwingEdit, kp.Swing], kp.SwingChange]


class EditOutcome(NamedTuple):
    """One random edit."""

    operation: str
    outcome: Outcome
    displaced_deg: float = 0.0  # largest difference from the capture after the time for returning
    description: str = ""


def random_operations(rng: np.random.Generator) -> dict[str, Operation]:
    """Return every operation that should return to the capture, with random values."""
    factor, about = float(rng.choice(FACTORS)), str(rng.choice(["start", "middle", "end"]))
    keep, by_s, degrees = (
        str(rng.choice(["angle", "speed"])),
        float(rng.uniform(-MAX_SHIFT_S, MAX_SHIFT_S)),
        rng.uniform(-40, 40),
    )
    axis, offset = rng.normal(size=3), 0.3 * rng.normal(size=3)
    return {
        "scale": lambda e, swing: e.scale(swing, factor, about=about),  # type: ignore[arg-type]
        "set_angle": lambda e, swing: e.set_angle(swing, swing.angle_deg * factor),
        "set_axis": lambda e, swing: e.set_axis(swing, swing.axis + offset),
        "turn_axis": lambda e, swing: e.turn_axis(swing, about=axis, degrees=degrees),
        "shift": lambda e, swing: e.shift(swing, by_s=by_s),
        "lengthen": lambda e, swing: e.lengthen(swing, factor=LENGTHEN_FACTOR, keep=keep),  # type: ignore[arg-type]
        "shorten": lambda e, swing: e.shorten(swing, factor=0.7, keep=keep),  # type: ignore[arg-type]
        "delete": lambda e, swing: e.delete(swing),
        "copy": lambda e, swing: e.copy(swing, mirror=True, replace=True),
        "retime": lambda e, swing: e.retime(swing.joint, factor),
    }


def try_random_edits(motion: kp.Motion, n_edits: int, seed: int) -> Iterator[EditOutcome]:
    """Yield the outcomes of ``n_edits`` single edits, each of another random swing of the unedited motion."""
    rng = np.random.default_rng(seed)
    swings = kp.swings(motion)
    all_swings = [swing for track in swings.tracks for swing in track.swings]
    for number in range(n_edits):
        swing = all_swings[rng.integers(len(all_swings))]
        operations = random_operations(rng)
        name = list(operations)[number % len(operations)]
        editor = swings.edit(motion)
        try:
            change = operations[name](editor, swing)
        except KeyposeError:
            yield EditOutcome(name, "refused")
            continue
        displaced_deg = _displaced_deg(motion, editor, _edited_spans(swings, swing, name))
        outcome: Outcome = (
            "returns" if displaced_deg <= RETURNED_DEG else "reported" if change.displacements else "silent"
        )
        yield EditOutcome(name, outcome, displaced_deg, f"{motion.name}: {editor.history[-1]}")


def _displaced_deg(motion: kp.Motion, editor: kp.SwingEdit, spans: list[tuple[int, int]]) -> float:
    """Return the largest angle between joints of the edited and the captured motion, in degrees, at all frames that are
    farther than ``RETURN_S`` from ``spans``, and at the first and the last frame of the clip."""
    degrees = np.rad2deg(angle_between(editor.play().rotations, motion.rotations)).max(axis=1)
    margin = round(RETURN_S * motion.fps)
    is_outside = np.ones(motion.n_frames, bool)
    for start, end in spans:
        is_outside[max(0, start - margin) : end + margin + 1] = False
    is_outside[[0, -1]] = True
    return float(degrees[is_outside].max())


def _edited_spans(swings: kp.Swings, swing: kp.Swing, operation: str) -> list[tuple[int, int]]:
    """Return first and last frames of the edited swing, before and after the edit, and of swings that it replaces."""
    growth = 0
    if operation == "shift":
        growth = round(MAX_SHIFT_S * swings.fps)
    elif operation == "lengthen":
        growth = round((LENGTHEN_FACTOR - 1) * (swing.end - swing.start))
    elif operation == "retime":  # all swings of the joint
        return [(0, swings.n_frames)]
    spans = [(swing.start - growth, swing.end + growth)]
    if operation == "copy":
        partner = swings.skeleton.anatomy.mirror_partners()[swings.skeleton.joint(swing.joint)]
        others = swings.tracks[partner].swings
        spans += [(old.start, old.end) for old in others if old.start <= swing.end and old.end >= swing.start]
    return spans
