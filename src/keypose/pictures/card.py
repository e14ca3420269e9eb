"""The card of a motion: a few poses and the facts, as one self-contained piece of HTML for notebooks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.model import Motion
from keypose.pictures.cards.pieces import card, notes_of
from keypose.pictures.figure import Body, body_of
from keypose.pictures.figure.paint import CROWD
from keypose.pictures.picture import Picture
from keypose.pictures.strip import strip

POSES = 6
MANY_PARTS, FEW_POSES = 30, 3  # of markers, say: a card of more poses would be too large
STRIP_PX = 170.0


def motion_card(motion: Motion) -> str:
    """HTML of a strip of poses and the facts of ``motion``: no script, nothing from outside, under 60 KB.

    Every text that a file may have brought is escaped and cut to a sane length. Only the frames that are
    drawn are computed, unless the figure's height can be told only from all of them (see ``Motion.height``).
    """
    body = body_of(motion)
    poses = FEW_POSES if MANY_PARTS < len(body.parts) <= CROWD else POSES
    frames = np.unique(np.linspace(0, motion.n_frames - 1, poses).round().astype(int)).tolist()
    return card(motion.name, [_strip(motion, frames)], _facts(motion, body) + notes_of(motion.notes))


def _facts(motion: Motion, body: Body) -> list[tuple[str, str]]:
    s = motion.skeleton
    known = sum(part is not None for part in s.anatomy.parts)
    ends = f" and {len(s.end_joints):,} end sites" if len(s.end_joints) else ""
    metres = motion.metres_per_unit
    in_metres = f" = {motion.height * metres:.3g} m" if metres else ""
    facts = [
        ("frames", f"{motion.n_frames:,} at {motion.fps:g} fps, {motion.duration_s:.2f} s"),
        ("joints", f"{s.n_joints:,}{ends}; {known:,} recognised"),
        ("up", f"{motion.up} axis"),
        ("unit", f"{metres:g} m" if metres else "not stated"),
        ("height", f"{motion.height:.4g} units{in_metres}"),
    ]
    if motion.first_frame:
        facts.insert(1, ("first frame", f"number {motion.first_frame:,} of its source"))
    if body.left_out:
        facts.append(("picture", f"the {body.left_out:,} shortest limbs or last markers are not drawn"))
    return facts


def _strip(motion: Motion, frames: list[int]) -> Picture:
    picture = strip(motion, frames, theme="notebook", height_px=STRIP_PX)
    look = 'style="max-width:100%;height:auto;display:block;background:none"'
    return replace(picture, svg=picture.svg.replace("<svg ", f"<svg {look} ", 1))
