"""Notebook card of swings."""

from __future__ import annotations

import numpy as np

from keypose.pictures.cards.card_html import note_facts, render_card
from keypose.pictures.picture import Picture
from keypose.pictures.timeline import timeline
from keypose.swings import Swings

_TIMELINE_ROW_PX = 11.0
_TIMELINE_WIDTH_PX = 760.0
MAX_SVG_LENGTH = 45_000  # characters; longer timelines are drawn with fewer joints
FALLBACK_JOINT_COUNTS = (24, 12, 6, 3)


def swings_card(swings: Swings) -> str:
    """Return HTML with the timeline and facts."""
    angles = np.rad2deg(np.concatenate([track.angles for track in swings.tracks]))
    facts = [
        ("swings", f"{swings.n_swings:,} of {swings.n_joints:,} joints"),
        ("frames", f"{swings.n_frames:,} at {swings.fps:g} fps, {swings.duration_s:.2f} s"),
        ("found with", f"threshold {swings.settings.threshold:g}"),
    ]
    if len(angles):
        facts.insert(1, ("angles", f"{angles.max():.3g}° at most, median {np.median(angles):.3g}°"))
    if swings.n_keys:
        facts.insert(1, ("keys", f"{swings.n_keys:,} where swings are not near enough"))
    if swings.settings.left_out:
        facts.append(("left out", f"{len(swings.settings.left_out):,} joints, kept frame by frame"))
    return render_card(swings.name, [_draw_timeline(swings)], facts + note_facts(swings.notes))


def _draw_timeline(swings: Swings) -> Picture:
    picture = timeline(swings, title="", width_px=_TIMELINE_WIDTH_PX, row_px=_TIMELINE_ROW_PX, theme="notebook")
    by_activity = sorted(swings.tracks, key=lambda track: -float((track.ends - track.starts).sum()))
    for max_joints in FALLBACK_JOINT_COUNTS:
        if len(picture.svg) <= MAX_SVG_LENGTH:
            break
        names = [track.joint for track in by_activity[:max_joints]]
        picture = timeline(swings, joints=names, title=f"the {max_joints} joints that swing longest", width_px=_TIMELINE_WIDTH_PX,
                           row_px=_TIMELINE_ROW_PX, theme="notebook")  # fmt: skip
    return picture
