"""Cache with limits of count and memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from keypose.clip_edit.cache import Cache

_LEAF_TYPES = (str, bytes, bytearray, int, float, complex, bool, type(None), type)


class SizedCache(Cache):
    """Holds at most ``max_size`` values of at most ``max_bytes`` together."""

    def __init__(self, max_bytes: int, max_size: int) -> None:
        super().__init__()
        self.max_bytes = max_bytes
        self.max_size = max_size  # measuring them takes time

    @property
    def n_bytes(self) -> int:
        """Approximate memory of all values."""
        return memory_bytes(self._values.values())

    def trim(self) -> None:
        """Evict the least recently used values until the rest fits; values may have grown since they were stored."""
        while len(self._values) > self.max_size:
            self._values.popitem(last=False)
        sizes = {key: memory_bytes((value,)) for key, value in self._values.items()}
        total = sum(sizes.values())
        for key, size in sizes.items():
            if total <= self.max_bytes:
                return
            del self._values[key]
            total -= size


def memory_bytes(values: Iterable[Any]) -> int:
    """Return the approximate memory of values with everything that they hold, each object counted once."""
    total, seen_ids, pending = 0, set[int](), list(values)
    while pending:
        value = pending.pop()
        if id(value) in seen_ids:
            continue
        seen_ids.add(id(value))
        if isinstance(value, np.ndarray):
            total += int(value.nbytes) + 100
            continue
        total += sys.getsizeof(value, 64)
        if isinstance(value, _LEAF_TYPES):
            continue
        if isinstance(value, Mapping):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            pending += value
        else:
            pending += getattr(value, "__dict__", {}).values()
    return total
