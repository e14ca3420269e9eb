"""Operations as calls, for the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from keypose.swings.edit.targets import find_swing_index
from keypose.swings.model import Swings
from keypose.swings.swing import Swing


def format_operation(
    swings: Swings, operation: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> str:
    """Return an operation as a call; options at their defaults are omitted, a swing is ``swings['RightLeg'][2]``."""
    defaults = operation.__kwdefaults__ or {}
    keywords = [
        f"{name}={_format_value(swings, v)}" for name, v in options.items() if not _is_default(v, defaults.get(name))
    ]
    return f"{operation.__name__}({', '.join([*(_format_value(swings, value) for value in arguments), *keywords])})"


def _is_default(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(np.all(value == default))


def _format_value(swings: Swings, value: Any) -> str:
    if isinstance(value, Swing):
        j, index = find_swing_index(swings, value)
        return f"swings[{swings.skeleton.names[j]!r}][{index}]"
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list):
        return f"({', '.join(_format_value(swings, item) for item in value)}{',' if len(value) == 1 else ''})"
    return repr(value)
