"""Cache of values computed from a motion, for as long as the motion is referenced."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from keypose.model import Motion

Value = TypeVar("Value")


def cache_per_motion(function: Callable[[Motion], Value]) -> Callable[[Motion], Value]:
    """Decorate ``function`` to run once for each motion; motions are immutable, so the result stays valid."""
    cache: WeakKeyDictionary[Motion, Value] = WeakKeyDictionary()

    @wraps(function)
    def cached_function(motion: Motion) -> Value:
        if motion not in cache:
            cache[motion] = function(motion)
        return cache[motion]

    return cached_function
