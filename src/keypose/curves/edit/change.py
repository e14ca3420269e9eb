"""The result of an operation: the motion after it, and the frames that may differ."""

from __future__ import annotations

from dataclasses import dataclass

from keypose.model import KeyedMotion


@dataclass(frozen=True, eq=False)
class Change:
    """A keyed motion after an operation. Samples outside ``first`` to ``last`` are bitwise the same as before.

    Both are frames of the motion after the operation. Where frames were moved as a whole (``move_key(ripple=True)``),
    those after the moved key count as changed.
    """

    keyed: KeyedMotion
    first: int  # the first and the last frame that may differ
    last: int
    missed: float = 0.0  # distance of a hand or foot from its target, file units
    note: str = ""  # further remarks of the operation

    @property
    def range(self) -> tuple[int, int]:
        """The first and the last frame that may differ."""
        return self.first, self.last

    def __repr__(self) -> str:
        missed = f", missed by {self.missed:g}" if self.missed else ""
        note = f", {self.note}" if self.note else ""
        return f"Change(frames {self.first} to {self.last}{missed}{note})"


def affected_frames(keyed: KeyedMotion, first_key: int, last_key: int) -> tuple[int, int]:
    """Return the first and the last frame whose samples depend on keys ``first_key`` to ``last_key``."""
    first = int(keyed.keys[first_key - 1]) + 1 if first_key > 0 else 0
    last = int(keyed.keys[last_key + 1]) - 1 if last_key + 1 < keyed.n_keys else keyed.n_frames - 1
    return first, last
