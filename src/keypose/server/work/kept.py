"""Things that were made and may be wanted again: as many as fit, those that nobody wanted for long go first."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from keypose.workbench.lately import Remembered

_PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None), type)


class Kept(Remembered):
    """Forgets what was not asked for lately, once there are more than ``most`` or it takes more than ``most_bytes``."""

    def __init__(self, most_bytes: int, most: int) -> None:
        super().__init__()
        self.most_bytes = most_bytes
        self.most = most  # measuring them takes time too

    @property
    def bytes(self) -> int:
        """About how much memory all of it takes."""
        return bytes_of(self._things.values())

    def trim(self) -> None:
        """Forgets until the rest fits; things may have grown since they were put here."""
        while len(self._things) > self.most:
            self._things.popitem(last=False)
        sizes = {key: bytes_of((thing,)) for key, thing in self._things.items()}
        total = sum(sizes.values())
        for key, size in sizes.items():
            if total <= self.most_bytes:
                return
            del self._things[key]
            total -= size


def bytes_of(things: Iterable[Any]) -> int:
    """About how much memory things take: arrays, texts and whatever holds them, each counted once."""
    total, seen, left = 0, set[int](), list(things)
    while left:
        thing = left.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            total += int(thing.nbytes) + 100
            continue
        total += sys.getsizeof(thing, 64)
        if isinstance(thing, _PLAIN):
            continue
        if isinstance(thing, Mapping):
            left += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset):
            left += thing
        else:
            left += getattr(thing, "__dict__", {}).values()
    return total
