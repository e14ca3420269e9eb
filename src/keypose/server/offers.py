"""What can be done with clips: the methods that choose keys, the files that clips can leave as, parts of bodies."""

from __future__ import annotations

import importlib.util
import os
from functools import cache

from keypose.anatomy import recognise
from keypose.formats import FORMATS
from keypose.formats.child.blender import INTERPRETER
from keypose.methods import METHODS
from keypose.server.schema.clips import FormatRow, MethodRow

_BLENDER = "bpy"  # Blender's module; another Python may have it
_NEEDED = {".usd": ("pxr", "usd"), ".fbx": (_BLENDER, "fbx"), ".blend": (_BLENDER, "blender")}  # suffix: module, extra
_PNG = ("resvg_py", "png")

# A figure with everything that a group may hold.
_FIGURE = (
    ("Hips", -1), ("Spine", 0), ("Neck", 1), ("Head", 2),
    *((f"{side}{joint}", parent) for side, first in (("Left", 4), ("Right", 11)) for joint, parent in (
        ("Shoulder", 1), ("Arm", first), ("ForeArm", first + 1), ("Hand", first + 2), ("HandIndex1", first + 3),
        ("HandIndex2", first + 4), ("HandIndex3", first + 5))),
    *((f"{side}{joint}", parent) for side, first in (("Left", 18), ("Right", 22)) for joint, parent in (
        ("UpLeg", 0), ("Leg", first), ("Foot", first + 1), ("ToeBase", first + 2))),
)  # fmt: skip


@cache
def methods() -> tuple[MethodRow, ...]:
    """The table of methods."""
    return tuple(
        MethodRow(
            name=method.name,
            summary=method.summary,
            paper=method.paper,
            has_own_count=method.has_own_count,
            options=tuple(method.options),
        )
        for method in METHODS.values()
    )


@cache
def groups() -> tuple[str, ...]:
    """Names of groups of joints."""
    names, parents = zip(*_FIGURE, strict=True)
    return tuple(recognise(names, parents).groups)


@cache
def formats() -> tuple[FormatRow, ...]:
    """Files that a clip can be taken away as."""
    found = [
        FormatRow(suffix=suffix, label=format_.name, needs=_needs(suffix))
        for format_ in FORMATS
        if format_.write is not None or format_.write_swings is not None
        for suffix in format_.suffixes
    ]
    return (
        *found,
        FormatRow(suffix=".strip.svg", label="Strip of key poses, SVG", needs=None),
        FormatRow(suffix=".strip.png", label="Strip of key poses, PNG", needs=_missing(*_PNG)),
        FormatRow(suffix=".report.html", label="Report, HTML", needs=None),
    )


def _needs(suffix: str) -> str | None:
    named = next((needed for beginning, needed in _NEEDED.items() if suffix.startswith(beginning)), None)
    return None if named is None else _missing(*named)


def _missing(module: str, extra: str) -> str | None:
    is_there = importlib.util.find_spec(module) or (module == _BLENDER and os.environ.get(INTERPRETER))
    return None if is_there else f"pip install 'keypose[{extra}]'"
