"""The card of swings: their timeline."""

from __future__ import annotations

import numpy as np

from keypose.pictures.cards.pieces import card, notes_of
from keypose.pictures.picture import Picture
from keypose.pictures.timeline import timeline
from keypose.swings import Swings

ROW_PX = 11.0
WIDTH_PX = 760.0
LONGEST_SVG = 45_000  # characters; of what would be longer fewer joints are shown
FEWER = (24, 12, 6, 3)


def swings_card(swings: Swings) -> str:
    """HTML of the timeline and the facts."""
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
    return card(swings.name, [_picture(swings)], facts + notes_of(swings.notes))


def _picture(swings: Swings) -> Picture:
    picture = timeline(swings, title="", width_px=WIDTH_PX, row_px=ROW_PX, theme="notebook")
    liveliest = sorted(swings.tracks, key=lambda track: -float((track.ends - track.starts).sum()))
    for most in FEWER:
        if len(picture.svg) <= LONGEST_SVG:
            break
        names = [track.joint for track in liveliest[:most]]
        picture = timeline(swings, joints=names, title=f"the {most} joints that swing longest", width_px=WIDTH_PX,
                           row_px=ROW_PX, theme="notebook")  # fmt: skip
    return picture
