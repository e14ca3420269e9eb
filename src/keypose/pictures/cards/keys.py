"""Notebook cards of selections and keyed motions."""

from __future__ import annotations

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.model import KeyedMotion, Selection
from keypose.pictures.cards.card_html import draw_key_bar, format_frames, format_key_count, note_facts, render_card

MIN_HEIGHT = 0.35  # height of the least important key relative to the most important
MAX_MARKS = 1500  # on one bar; more keys are thinned evenly


def selection_card(selection: Selection) -> str:
    """Return HTML with the keys on a bar, taller by importance if the method ranks them, and facts."""
    frames, alt_text = selection.frames, f"{len(selection):,} keys of {selection.n_frames:,} frames"
    facts = [
        ("keys", format_key_count(len(selection), selection.n_frames)),
        ("frames", format_frames(frames)),
        *_gap_facts(frames),
    ]
    heights = np.ones(len(frames))
    if selection.order is not None:
        facts.append(("by importance", format_frames(selection.order)))
        heights[np.searchsorted(frames, selection.order)] = np.linspace(1.0, MIN_HEIGHT, len(frames))
    bar = draw_key_bar(*_thin_keys(frames, selection.n_frames, heights), alt_text)
    return render_card(f"Selection by {selection.method}", [bar], facts)


def keyed_card(keyed: KeyedMotion) -> str:
    """Return HTML with the keys on a bar, breakdowns lower than extremes, and facts."""
    heights = np.where(keyed.extremes, 1.0, 0.6)
    alt_text = f"{keyed.n_keys:,} keys of {keyed.n_frames:,} frames"
    breakdowns = int(np.count_nonzero(~keyed.extremes))
    kind = ("cubic" if keyed.is_cubic else "straight") + (
        " curves of Euler angles" if keyed.rotation_orders else " curves of quaternions"
    )
    facts = [
        ("keys", format_key_count(keyed.n_keys, keyed.n_frames)),
        ("frames", format_frames(keyed.keys)),
        *_gap_facts(keyed.keys),
        ("rate", f"{keyed.fps:g} fps, {keyed.duration_s:.2f} s"),
        ("joints", f"{keyed.n_joints:,}"),
        ("between keys", kind),
        ("residual", "kept: the captured detail can be put back" if keyed.residual is not None else "not kept"),
    ]
    if breakdowns:
        facts.insert(1, ("breakdowns", f"{breakdowns:,}, drawn lower"))
    return render_card(
        keyed.name,
        [draw_key_bar(*_thin_keys(keyed.keys, keyed.n_frames, heights), alt_text)],
        facts + note_facts(keyed.notes),
    )


def _thin_keys(frames: Ints, n_frames: int, heights: Floats) -> tuple[Ints, int, Floats]:
    """Return at most MAX_MARKS of the keys, with the number of frames and heights."""
    indices = np.unique(np.linspace(0, len(frames) - 1, min(len(frames), MAX_MARKS)).round().astype(int))
    return frames[indices], n_frames, heights[indices]


def _gap_facts(frames: Ints) -> list[tuple[str, str]]:
    gaps = np.diff(frames)
    if not len(gaps):
        return []
    return [("gaps", f"{gaps.min():,} to {gaps.max():,} frames, {gaps.mean():.1f} on average")]
