"""The cards of a selection and of a keyed motion: where the keys are."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.model import KeyedMotion, Selection
from keypose.pictures.cards.pieces import card, key_bar, listed, notes_of, removed

LEAST_TALL = 0.35  # the least important key, of the tallest
MOST_MARKS = 1500  # on one bar; of more keys only so many, evenly taken, are drawn


def selection_card(selection: Selection) -> str:
    """HTML of the keys on a bar, the more important the taller where the method ranks them, and the facts."""
    frames, says = selection.frames, f"{len(selection):,} keys of {selection.n_frames:,} frames"
    facts = [("keys", removed(len(selection), selection.n_frames)), ("frames", listed(frames)), *_gaps(frames)]
    heights = np.ones(len(frames))
    if selection.order is not None:
        facts.append(("by importance", listed(selection.order)))
        heights[np.searchsorted(frames, selection.order)] = np.linspace(1.0, LEAST_TALL, len(frames))
    bar = key_bar(*_bar(frames, selection.n_frames, heights), says)
    return card(f"Selection by {selection.method}", [bar], facts)


def keyed_card(keyed: KeyedMotion) -> str:
    """HTML of the keys on a bar, breakdowns lower than extremes, and the facts."""
    heights = np.where(keyed.extremes, 1.0, 0.6)
    says = f"{keyed.n_keys:,} keys of {keyed.n_frames:,} frames"
    breakdowns = int(np.count_nonzero(~keyed.extremes))
    kind = ("cubic" if keyed.is_cubic else "straight") + (
        " curves of Euler angles" if keyed.rotation_orders else " curves of quaternions"
    )
    facts = [
        ("keys", removed(keyed.n_keys, keyed.n_frames)),
        ("frames", listed(keyed.keys)),
        *_gaps(keyed.keys),
        ("rate", f"{keyed.fps:g} fps, {keyed.duration_s:.2f} s"),
        ("joints", f"{keyed.n_joints:,}"),
        ("between keys", kind),
        ("residual", "kept: the captured detail can be put back" if keyed.residual is not None else "not kept"),
    ]
    if breakdowns:
        facts.insert(1, ("breakdowns", f"{breakdowns:,}, drawn lower"))
    return card(keyed.name, [key_bar(*_bar(keyed.keys, keyed.n_frames, heights), says)], facts + notes_of(keyed.notes))


def _bar(frames: Ints, n_frames: int, heights: Floats) -> tuple[Ints, int, Floats]:
    """What is drawn of many keys."""
    some = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), MOST_MARKS)).round().astype(int))
    return frames[some], n_frames, heights[some]


def _gaps(frames: Ints) -> list[tuple[str, str]]:
    gaps = np.diff(frames)
    if not len(gaps):
        return []
    return [("gaps", f"{gaps.min():,} to {gaps.max():,} frames, {gaps.mean():.1f} on average")]
