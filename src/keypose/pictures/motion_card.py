"""Notebook card of a motion: a few poses and facts as self-contained HTML."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.model import Motion
from keypose.pictures.cards.card_html import note_facts, render_card
from keypose.pictures.figure import Body, build_body
from keypose.pictures.figure.paint import MAX_SOLID_PARTS
from keypose.pictures.picture import Picture
from keypose.pictures.strip import strip

POSES = 6
MANY_BODY_PARTS, FEW_POSES = 30, 3  # with many parts (such as markers) fewer poses, to limit the size of the card
STRIP_PX = 170.0


def motion_card(motion: Motion) -> str:
    """Return HTML with a strip of poses and facts of ``motion``: no script, no external resources, under 60 KB.

    Text from files is escaped and truncated. Only the drawn frames are computed, unless the height of the figure
    depends on all of them (see ``Motion.height``).
    """
    body = build_body(motion)
    poses = FEW_POSES if MANY_BODY_PARTS < len(body.parts) <= MAX_SOLID_PARTS else POSES
    frames = np.unique(np.linspace(0, motion.n_frames - 1, poses).round().astype(int)).tolist()
    return render_card(motion.name, [_strip(motion, frames)], _facts(motion, body) + note_facts(motion.notes))


def _facts(motion: Motion, body: Body) -> list[tuple[str, str]]:
    s = motion.skeleton
    n_recognised = sum(part is not None for part in s.anatomy.body_parts)
    ends = f" and {len(s.end_joints):,} end sites" if len(s.end_joints) else ""
    metres = motion.metres_per_unit
    in_metres = f" = {motion.height * metres:.3g} m" if metres else ""
    facts = [
        ("frames", f"{motion.n_frames:,} at {motion.fps:g} fps, {motion.duration_s:.2f} s"),
        ("joints", f"{s.n_joints:,}{ends}; {n_recognised:,} recognised"),
        ("up", f"{motion.up} axis"),
        ("unit", f"{metres:g} m" if metres else "not stated"),
        ("height", f"{motion.height:.4g} units{in_metres}"),
    ]
    if motion.first_frame:
        facts.insert(1, ("first frame", f"number {motion.first_frame:,} of its source"))
    if body.n_omitted:
        facts.append(("picture", f"the {body.n_omitted:,} shortest limbs or last markers are not drawn"))
    return facts


def _strip(motion: Motion, frames: list[int]) -> Picture:
    picture = strip(motion, frames, theme="notebook", height_px=STRIP_PX)
    style = 'style="max-width:100%;height:auto;display:block;background:none"'
    return replace(picture, svg=picture.svg.replace("<svg ", f"<svg {style} ", 1))
