"""What pictures find out about a motion once, and keep for as long as somebody has the motion."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from keypose.model import Motion

Found = TypeVar("Found")


def remembered(function: Callable[[Motion], Found]) -> Callable[[Motion], Found]:
    """``function`` of a motion, asked once for each; motions are frozen, so the answer stays true."""
    kept: WeakKeyDictionary[Motion, Found] = WeakKeyDictionary()

    @wraps(function)
    def answer(motion: Motion) -> Found:
        if motion not in kept:
            kept[motion] = function(motion)
        return kept[motion]

    return answer
