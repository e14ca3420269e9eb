"""What edits of swings do to the balance of a figure."""

from __future__ import annotations

from keypose.balance import balance, tips_over
from keypose.model import Motion
from keypose.swings.editing.feet import contacts_of
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings


def tips(before: Unedited, now: Swings, played: Motion) -> tuple[str, ...]:
    """When ``played`` tips over where the unedited motion did not; nothing of a figure without known masses.

    Feet count as standing when they stood before all edits.
    """
    was = before.original.balance
    if was is None:
        return ()
    after = balance(played, contacts=contacts_of(before, now))
    return tuple(str(tip) for tip in tips_over(was, after, source=before.source))
