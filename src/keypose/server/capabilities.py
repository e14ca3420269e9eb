"""What the server offers: selection methods, export formats, names of joint groups."""

from __future__ import annotations

from functools import cache

from keypose.anatomy import recognise
from keypose.clip_edit.export import PICTURES, STRIPS
from keypose.formats import FORMATS
from keypose.formats.base import Extra
from keypose.methods import METHODS
from keypose.server.schema.clips import FormatRow, MethodRow

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
    motions = [
        FormatRow(
            suffix=suffix,
            label=format_.name,
            variant=format_.variants.get(suffix, ""),
            purpose=format_.purpose,
            content="swings" if format_.write is None else "motion",
            keeps_keys=format_.keeps_keys,
            keys_as_metadata=format_.keys_as_metadata,
            stores_residual=format_.stores_residual,
            has_tolerance=format_.has_tolerance,
            blender_needs_addon=format_.blender_needs_addon,
            install_command=_install_command(format_.extra),
        )
        for format_ in FORMATS
        if format_.write is not None or format_.write_swings is not None
        for suffix in format_.suffixes
    ]
    pictures = [
        FormatRow(
            suffix=picture.suffix,
            label=picture.name,
            content="strip" if picture.suffix in STRIPS else "report",
            install_command=_install_command(picture.extra),
        )
        for picture in PICTURES.values()
    ]
    return (*motions, *pictures)


def _install_command(extra: Extra | None) -> str | None:
    return None if extra is None or extra.find_python() else extra.install_command
