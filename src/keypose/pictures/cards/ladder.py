"""The card of a ladder: its error curve."""

from __future__ import annotations

from keypose.model import Ladder
from keypose.pictures.cards.pieces import WIDTH_PX, card, removed
from keypose.pictures.error_curve import MOST_CLIFFS, plot_errors

HEIGHT_PX = 260.0


def ladder_card(ladder: Ladder) -> str:
    """HTML of the error curve and the facts: how many keys there can be, and where it is worth to stop."""
    first, last = int(ladder.counts[0]), int(ladder.counts[-1])
    facts = [
        (
            "keys",
            f"{first:,} to {last:,} of {ladder.n_frames:,} frames" + ", each a part of the next" * ladder.is_nested,
        ),
        ("cost", f"{ladder.cost_values[0]:.4g} to {ladder.cost_values[-1]:.4g}, in units of the features"),
    ]
    if ladder.natural is not None:
        facts.append(("the method's own", removed(ladder.natural, ladder.n_frames)))
    cliffs = ladder.cliffs()[:MOST_CLIFFS]
    if cliffs:
        told = ", ".join(f"{cliff.keys:,} (cost {ladder.costs[cliff.keys]:.3g})" for cliff in cliffs)
        facts.append(("cliffs", f"{told}; the strongest first"))
    if len(ladder) > 2:
        facts.append(("knee", f"{ladder.knee():,} keys"))
    curve = plot_errors(ladder, title="", width_px=WIDTH_PX, height_px=HEIGHT_PX, theme="notebook")
    return card(f"Ladder by {ladder.method}", [curve], facts)
