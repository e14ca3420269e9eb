"""What an operation gives back: the motion after it, and where it may differ from the one before."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.model import KeyedMotion


@dataclass(frozen=True, eq=False)
class Change:
    """A keyed motion after an operation. Samples outside ``first`` to ``last`` have the same bits as before it.

    Both are frames of the motion after the operation; where frames were moved as a whole (``move_key(ripple=True)``),
    those behind the moved key count as changed.
    """

    keyed: KeyedMotion
    first: int  # the first and the last frame that may differ
    last: int
    missed: float = 0.0  # how far a hand or foot stayed from where it was to go, file units
    note: str = ""  # what the operation has to say beside that

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last frame that may differ."""
        return self.first, self.last

    def __repr__(self) -> str:
        missed = f", missed by {self.missed:g}" if self.missed else ""
        note = f", {self.note}" if self.note else ""
        return f"Change(frames {self.first} to {self.last}{missed}{note})"


def reach_of_keys(keyed: KeyedMotion, first_key: int, last_key: int) -> tuple[int, int]:
    """The first and the last frame whose samples depend on what keys ``first_key`` to ``last_key`` hold."""
    first = int(keyed.keys[first_key - 1]) + 1 if first_key > 0 else 0
    last = int(keyed.keys[last_key + 1]) - 1 if last_key + 1 < keyed.n_keys else keyed.n_frames - 1
    return first, last
