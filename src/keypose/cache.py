"""Caches: one that evicts the least recently used values, and one with values that live as long as their arguments.

Pure functions with small results use ``functools.lru_cache``. Sessions and failed logins of the server are no caches,
as they cannot be computed again; the server limits their numbers.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, MutableMapping
from functools import wraps
from threading import RLock
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from keypose.validation import check_int

Argument = TypeVar("Argument")
Value = TypeVar("Value")


class LruCache(MutableMapping[Hashable, Any]):
    """Values in order of use, least recently used first: at most ``max_size``, of at most ``max_bytes`` together.

    Threads may share a cache. If two threads need the same missing value at the same time, both compute it.
    """

    def __init__(self, max_size: int, max_bytes: int | None = None) -> None:
        self.max_size = check_int("max_size", max_size, min_value=1)
        self.max_bytes = max_bytes  # None: sizes are not measured, which takes time
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = RLock()

    def __getitem__(self, key: Hashable) -> Any:
        with self._lock:
            value = self._values[key]
            self._values.move_to_end(key)
            return value

    def __setitem__(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            self.trim()

    def __delitem__(self, key: Hashable) -> None:
        with self._lock:
            del self._values[key]

    def __iter__(self) -> Iterator[Hashable]:
        with self._lock:
            return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()

    @property
    def n_bytes(self) -> int:
        """Approximate memory of all values."""
        with self._lock:
            return memory_bytes(list(self._values.values()))

    def get_or_make(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of ``key``, or make and store it."""
        try:
            return cast(Value, self[key])
        except KeyError:
            pass
        value = make()
        self[key] = value  # trim() may evict it at once
        return value

    def trim(self) -> None:
        """Evict the least recently used values until the others fit; values may have grown since they were stored."""
        with self._lock:
            while len(self._values) > self.max_size:
                self._values.popitem(last=False)
            if self.max_bytes is None:
                return
            sizes = {key: memory_bytes((value,)) for key, value in self._values.items()}
            total = sum(sizes.values())
            for key, size in sizes.items():
                if total <= self.max_bytes:
                    return
                del self._values[key]
                total -= size


def cache_weakly(function: Callable[[Argument], Value]) -> Callable[[Argument], Value]:
    """Decorate ``function`` to run once for each argument, an immutable object; values live as long as the object."""
    cache: WeakKeyDictionary[Any, Value] = WeakKeyDictionary()

    @wraps(function)
    def cached_function(argument: Argument) -> Value:
        if argument not in cache:
            cache[argument] = function(argument)
        return cache[argument]

    return cached_function


_LEAF_TYPES = (str, bytes, bytearray, int, float, complex, bool, type(None), type)


def memory_bytes(values: Iterable[Any]) -> int:
    """Return the approximate memory of values with all their parts, each object counted once."""
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
