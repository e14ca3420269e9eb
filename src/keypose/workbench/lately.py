"""What was made lately: mappings that forget what nobody asked for the longest."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import Any, TypeVar, cast

from keypose.options import whole

Thing = TypeVar("Thing")


class Remembered(MutableMapping[Hashable, Any]):
    """Things that may be wanted again, those that nobody asked for the longest first; ``trim`` says how many stay."""

    def __init__(self) -> None:
        self._things: OrderedDict[Hashable, Any] = OrderedDict()

    @abstractmethod
    def trim(self) -> None:
        """Forgets what is too much."""

    def __getitem__(self, key: Hashable) -> Any:
        thing = self._things[key]
        self._things.move_to_end(key)
        return thing

    def __setitem__(self, key: Hashable, thing: Any) -> None:
        self._things[key] = thing
        self._things.move_to_end(key)
        self.trim()

    def __delitem__(self, key: Hashable) -> None:
        del self._things[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._things))

    def __len__(self) -> int:
        return len(self._things)

    def of(self, key: Hashable, make: Callable[[], Thing]) -> Thing:
        """What is remembered under ``key``, made where it is not there."""
        if key not in self._things:
            thing = make()
            self[key] = thing  # which may be too much at once
            return thing
        return cast(Thing, self[key])


class Lately(Remembered):
    """At most ``most`` things."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = whole("most", most, least=1)

    def trim(self) -> None:
        """Forgets the oldest until the count fits."""
        while len(self._things) > self._most:
            self._things.popitem(last=False)
