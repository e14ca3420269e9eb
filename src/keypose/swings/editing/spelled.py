"""Operations as one would type them, for the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from keypose.swings.editing.selection import place_of
from keypose.swings.noun import Swings
from keypose.swings.parts import Swing


def spelled(now: Swings, operation: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]) -> str:
    """An operation on ``now``; options at their defaults are left out, a swing is ``swings['RightLeg'][2]``."""
    usual = operation.__kwdefaults__ or {}
    said = [f"{name}={_shown(now, v)}" for name, v in options.items() if not _is_same(v, usual.get(name))]
    return f"{operation.__name__}({', '.join([*(_shown(now, value) for value in given), *said])})"


def _is_same(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and bool(np.all(value == usual))


def _shown(now: Swings, value: Any) -> str:
    if isinstance(value, Swing):
        j, index = place_of(now, value)
        return f"swings[{now.skeleton.names[j]!r}][{index}]"
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(_shown(now, each) for each in value)}{',' if len(value) == 1 else ''})"
    return repr(value)
