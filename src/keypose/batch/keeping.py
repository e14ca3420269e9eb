"""Which files hold the keys of a keyed motion and the curves between them; all others get every frame."""

from __future__ import annotations

from pathlib import Path

from keypose.formats import FORMATS, Format

# How far rounding to the numbers of a format may take a joint, in mm on a figure of 1.7 m within 30 m of the origin;
# formats that round nothing are not here. glTF, USD, FBX and Blender have numbers of 32 bits, BVH has six decimals.
ROUNDING_MM = {"BVH": 0.001, "glTF": 0.01, "GLB": 0.01, "USD": 0.01, "FBX": 0.02, "Blender": 0.02}
NOTED_ONLY = ("USD",)  # gets every frame, and a note of which are keys


def keeps_keys(format_: Format) -> bool:
    """Whether files of this format hold keys and curves."""
    return format_.write_keyed is not None and format_.name not in NOTED_ONLY


def format_of(path: Path) -> Format:
    """The format that a file of this name is written in."""
    name = path.name.lower().removesuffix(".gz")
    return next(format_ for format_ in FORMATS if name.endswith(format_.suffixes))
