"""What edits of swings do to the balance of a figure."""

from __future__ import annotations

import numpy as np

from keypose.balance import balance, tips_over
from keypose.model import FootContacts, Motion
from keypose.swings.editing.unedited import Unedited
from keypose.swings.noun import Swings


def tips(before: Unedited, now: Swings, played: Motion) -> tuple[str, ...]:
    """When ``played`` tips over where the unedited motion did not; nothing of a figure without known masses.

    Feet count as standing when they stood before all edits.
    """
    was = before.balance
    if was is None:
        return ()
    source, contacts = before.source(now), before.contacts
    if source is not None:
        contacts = FootContacts(contacts.feet, contacts.touching[np.floor(source + 0.5).astype(int)])
    return tuple(str(tip) for tip in tips_over(was, balance(played, contacts=contacts), source=source))
