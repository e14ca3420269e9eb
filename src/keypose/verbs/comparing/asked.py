"""What a comparison has a row for: every way at every budget, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keypose.model import Motion
from keypose.verbs.comparing.budgets import budgets_of
from keypose.verbs.comparing.rows import OWN, Row
from keypose.verbs.comparing.settings import CONTENDERS, REFERENCES, Settings


class Asked(NamedTuple):
    """What one row is asked for."""

    method: str
    kind: str
    inbetweens: str
    part: str
    removed_percent_asked: float
    keys_asked: int


def asked_of(n_frames: int, settings: Settings) -> Iterator[Asked]:
    """The rows of a clip of so many frames."""
    budgets = budgets_of(n_frames, settings.removed_percent, curves=settings.curves)
    for name in settings.methods:
        for budget in budgets:
            for inbetweens in settings.inbetweens:
                yield Asked(name, CONTENDERS[name].kind, inbetweens, *budget)
    for name in settings.references:
        for budget in budgets:
            yield Asked(name, REFERENCES[name].kind, OWN, *budget)


def are_all_of(rows: Sequence[Row], motion: Motion, digest: str, settings: Settings) -> bool:
    """Whether rows are those of a motion, each that was asked for once; ``digest`` is the motion's."""
    clip = (digest, motion.n_frames, motion.fps, motion.n_joints)
    found = [tuple(getattr(row, name) for name in Asked._fields) for row in rows]
    return found == list(asked_of(motion.n_frames, settings)) and all(
        (row.sha256, row.frames, row.fps, row.joints) == clip for row in rows
    )
