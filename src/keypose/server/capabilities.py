"""What the server offers: selection methods, export formats, names of joint groups."""

from __future__ import annotations

import importlib.util
import os
from functools import cache

from keypose.anatomy import recognise
from keypose.formats import FORMATS
from keypose.formats.subprocess_readers import INTERPRETER_VARIABLE
from keypose.methods import METHODS
from keypose.server.schema.clips import FormatRow, MethodRow

_BLENDER = "bpy"  # may be installed for another Python interpreter
_EXTRAS = {".usd": ("pxr", "usd"), ".fbx": (_BLENDER, "fbx"), ".blend": (_BLENDER, "blender")}  # suffix: module, extra
_PNG = ("resvg_py", "png")

# A figure with every body part that a joint group may hold.
_FIGURE = (
    ("Hips", -1), ("Spine", 0), ("Neck", 1), ("Head", 2),
    *((f"{side}{joint}", parent) for side, first in (("Left", 4), ("Right", 11)) for joint, parent in (
        ("Shoulder", 1), ("Arm", first), ("ForeArm", first + 1), ("Hand", first + 2), ("HandIndex1", first + 3),
        ("HandIndex2", first + 4), ("HandIndex3", first + 5))),
    *((f"{side}{joint}", parent) for side, first in (("Left", 18), ("Right", 22)) for joint, parent in (
        ("UpLeg", 0), ("Leg", first), ("Foot", first + 1), ("ToeBase", first + 2))),
)  # fmt: skip


@cache
def method_rows() -> tuple[MethodRow, ...]:
    """Return the selection methods."""
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
def joint_groups() -> tuple[str, ...]:
    """Return the names of all joint groups."""
    names, parents = zip(*_FIGURE, strict=True)
    return tuple(recognise(names, parents).groups)


@cache
def format_rows() -> tuple[FormatRow, ...]:
    """Return the export formats."""
    rows = [
        FormatRow(suffix=suffix, label=format_.name, install_command=_install_command(suffix))
        for format_ in FORMATS
        if format_.write is not None or format_.write_swings is not None
        for suffix in format_.suffixes
    ]
    return (
        *rows,
        FormatRow(suffix=".strip.svg", label="Strip of key poses, SVG", install_command=None),
        FormatRow(suffix=".strip.png", label="Strip of key poses, PNG", install_command=_missing_extra_command(*_PNG)),
        FormatRow(suffix=".report.html", label="Report, HTML", install_command=None),
    )


def _install_command(suffix: str) -> str | None:
    requirement = next((extra for prefix, extra in _EXTRAS.items() if suffix.startswith(prefix)), None)
    return None if requirement is None else _missing_extra_command(*requirement)


def _missing_extra_command(module: str, extra: str) -> str | None:
    is_installed = importlib.util.find_spec(module) or (module == _BLENDER and os.environ.get(INTERPRETER_VARIABLE))
    return None if is_installed else f"pip install 'keypose[{extra}]'"
