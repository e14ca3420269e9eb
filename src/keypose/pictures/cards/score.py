"""Notebook card of a score."""

from __future__ import annotations

import numpy as np

from keypose.metrics import Score
from keypose.pictures.cards.card_html import WIDTH_PX, render_card
from keypose.pictures.chart import Axis, Line, Mark, chart

_SCORE_HEIGHT_PX = 170.0


def score_card(score: Score) -> str:
    """Return HTML with a curve of the mean error per frame, its peak marked, and all measures.

    The largest error of a single joint may be in another frame, which is listed as well.
    """
    peak = int(score.per_frame_mm.argmax())
    facts = [
        ("joints are off by", f"{score.mean_mm:.3g} mm on average, 95 % within {score.p95_mm:.3g} mm, "
                              f"{score.max_mm:.3g} mm at most"),
        ("worst", f"{score.worst_joint} in frame {score.worst_frame:,}; over all joints frame {peak:,}, by "
                  f"{score.per_frame_mm[peak]:.3g} mm on average"),
        ("turns are off by", f"{score.mean_deg:.3g}° on average, {score.max_deg:.3g}° at most"),
    ]  # fmt: skip
    if score.foot_slide_mm is not None:
        facts.append(("feet slide", f"{score.foot_slide_mm:.3g} mm, originally {score.original_foot_slide_mm:.3g} mm"))
    if score.key_acceleration is not None:
        facts.append(("acceleration at keys", f"{score.key_acceleration:.3g} times the original's"))
    facts.append(("stored", f"{score.stored_values:,} values, {score.bytes:,} bytes"))
    frames = np.arange(len(score.per_frame_mm))
    curve = chart(
        [Line("", frames, score.per_frame_mm, filled=True, dashed=False, width_px=1.2, dots=len(frames) < 2)],
        Axis("frame", is_integer=True),
        Axis("mean error over joints", unit="mm", low=0.0),
        width_px=WIDTH_PX,
        height_px=_SCORE_HEIGHT_PX,
        theme="notebook",
        alt_text=f"Mean error of each frame in mm, {score.per_frame_mm.min():.3g} to {score.per_frame_mm.max():.3g}",
        marks=[Mark(peak, "largest mean", colour="key", dashed=True)],
    )
    return render_card("Score, on a figure of 1.7 m", [curve], facts)
