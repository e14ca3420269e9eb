"""The balance of a figure after edits of swings."""

from __future__ import annotations

from keypose.balance import balance, tips_over
from keypose.model import Motion
from keypose.swings.edit.baseline import Baseline
from keypose.swings.edit.feet import edited_contacts
from keypose.swings.model import Swings


def find_tips(baseline: Baseline, swings: Swings, motion: Motion) -> tuple[str, ...]:
    """Return descriptions of when ``motion`` tips over and the unedited one did not; empty without known masses.

    Foot contacts are those before all edits, moved with the legs.
    """
    old_balance = baseline.original.balance
    if old_balance is None:
        return ()
    new_balance = balance(motion, contacts=edited_contacts(baseline, swings))
    return tuple(str(tip) for tip in tips_over(old_balance, new_balance, source=baseline.source))
