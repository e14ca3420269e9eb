"""Notebook card of a ladder."""

from __future__ import annotations

from keypose.model import Ladder
from keypose.pictures.cards.card_html import WIDTH_PX, format_key_count, render_card
from keypose.pictures.error_curve import MAX_CLIFFS, plot_errors

_LADDER_HEIGHT_PX = 260.0


def ladder_card(ladder: Ladder) -> str:
    """Return HTML with the error curve and facts: possible numbers of keys, cliffs and knee."""
    first, last = int(ladder.counts[0]), int(ladder.counts[-1])
    facts = [
        (
            "keys",
            f"{first:,} to {last:,} of {ladder.n_frames:,} frames" + ", each a part of the next" * ladder.is_nested,
        ),
        ("cost", f"{ladder.cost_values[0]:.4g} to {ladder.cost_values[-1]:.4g}, in units of the features"),
    ]
    if ladder.natural is not None:
        facts.append(("the method's own", format_key_count(ladder.natural, ladder.n_frames)))
    cliffs = ladder.cliffs()[:MAX_CLIFFS]
    if cliffs:
        cliff_texts = ", ".join(f"{cliff.keys:,} (cost {ladder.costs[cliff.keys]:.3g})" for cliff in cliffs)
        facts.append(("cliffs", f"{cliff_texts}; the strongest first"))
    if len(ladder) > 2:
        facts.append(("knee", f"{ladder.knee():,} keys"))
    curve = plot_errors(ladder, title="", width_px=WIDTH_PX, height_px=_LADDER_HEIGHT_PX, theme="notebook")
    return render_card(f"Ladder by {ladder.method}", [curve], facts)
