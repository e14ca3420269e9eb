"""Mappings that evict the least recently used value."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Any, TypeVar, cast

from keypose.validation import check_int

Value = TypeVar("Value")


class Cache(MutableMapping[Hashable, Any]):
    """Cached values in order of use, least recently used first; ``trim`` decides how many stay."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Any] = OrderedDict()

    @abstractmethod
    def trim(self) -> None:
        """Evict values until the limit holds."""

    def __getitem__(self, key: Hashable) -> Any:
        value = self._values[key]
        self._values.move_to_end(key)
        return value

    def __setitem__(self, key: Hashable, value: Any) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        self.trim()

    def __delitem__(self, key: Hashable) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def get_or_make(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of ``key``, or make and store it."""
        if key not in self._values:
            value = make()
            self[key] = value  # trim() may evict it at once
            return value
        return cast(Value, self[key])


class LruCache(Cache):
    """Holds at most ``max_size`` values."""

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self._max_size = check_int("max_size", max_size, min_value=1)

    def trim(self) -> None:
        """Evict the least recently used values beyond ``max_size``."""
        while len(self._values) > self._max_size:
            self._values.popitem(last=False)
