"""What was made lately: a mapping that forgets the oldest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Any, TypeVar, cast

from keypose.options import whole

Thing = TypeVar("Thing")


class Lately(MutableMapping[Hashable, Any]):
    """At most ``most`` things; what nobody asked for the longest goes first."""

    def __init__(self, most: int) -> None:
        self._most = whole("most", most, least=1)
        self._things: OrderedDict[Hashable, Any] = OrderedDict()

    def __getitem__(self, key: Hashable) -> Any:
        thing = self._things[key]
        self._things.move_to_end(key)
        return thing

    def __setitem__(self, key: Hashable, thing: Any) -> None:
        self._things[key] = thing
        self._things.move_to_end(key)
        while len(self._things) > self._most:
            self._things.popitem(last=False)

    def __delitem__(self, key: Hashable) -> None:
        del self._things[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._things))

    def __len__(self) -> int:
        return len(self._things)

    def of(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """What is kept under ``key``, made where it is not there."""
        if key not in self._things:
            self[key] = make()
        return cast(Thing, self[key])
