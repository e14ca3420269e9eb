"""Joint names of every exporter -> body parts and groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keypose.errors import UnknownJoint


@dataclass(frozen=True)
class Anatomy:
    """Which body part each joint is."""

    parts: tuple[str | None, ...]

    def joint(self, name: str) -> int:
        """The joint that is this body part."""
        raise UnknownJoint(name, ())

    def joints(self, name: str) -> tuple[int, ...]:
        """The joints of a body part or group."""
        raise UnknownJoint(name, ())

    def feet(self) -> dict[str, tuple[int, ...]]:
        """Ankle and toe joints of each recognised foot, by side."""
        return {}

    def vertical_pair(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Joints that are low and joints that are high on a standing figure."""
        return None


def recognise(names: Sequence[str], parents: Sequence[int]) -> Anatomy:
    """Body parts by name and place."""
    return Anatomy((None,) * len(names))
