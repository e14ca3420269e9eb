"""The rows that a comparison has: every method and reference at every budget, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from keypose.api.compare.budgets import build_budgets
from keypose.api.compare.rows import OWN, Row
from keypose.api.compare.settings import COMPARED_METHODS, REFERENCES, CompareOptions
from keypose.model import Motion


class RowSpec(NamedTuple):
    """The method, in-betweens and budget of one row."""

    method: str
    kind: str
    inbetweens: str
    series: str
    target_removed_percent: float
    target_keys: int


def build_row_specs(n_frames: int, settings: CompareOptions) -> Iterator[RowSpec]:
    """Return the expected rows of a clip with this many frames."""
    budgets = build_budgets(n_frames, settings.removed_percent, curves=settings.curves)
    for name in settings.methods:
        for budget in budgets:
            for inbetweens in settings.inbetweens:
                yield RowSpec(name, COMPARED_METHODS[name].kind, inbetweens, *budget)
    for name in settings.references:
        for budget in budgets:
            yield RowSpec(name, REFERENCES[name].kind, OWN, *budget)


def is_complete(rows: Sequence[Row], motion: Motion, digest: str, settings: CompareOptions) -> bool:
    """Return whether ``rows`` are exactly the expected rows of a motion; ``digest`` is the motion's."""
    clip = (digest, motion.n_frames, motion.fps, motion.n_joints)
    specs = [tuple(getattr(row, name) for name in RowSpec._fields) for row in rows]
    return specs == list(build_row_specs(motion.n_frames, settings)) and all(
        (row.sha256, row.frames, row.fps, row.joints) == clip for row in rows
    )
