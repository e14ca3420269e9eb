"""Which formats store keys and curves (others store every frame), and how far each rounds."""

from __future__ import annotations

from pathlib import Path

from keypose.formats import FORMATS, Format

# Maximum displacement of a joint by a format's rounding, in mm on a figure of 1.7 m within 30 m of the origin; formats
# that do not round are absent. glTF, USD, FBX and Blender store 32-bit numbers, BVH six decimals.
ROUNDING_MM = {"BVH": 0.001, "glTF": 0.01, "GLB": 0.01, "USD": 0.01, "FBX": 0.02, "Blender": 0.02}
KEYS_AS_NOTES = ("USD",)  # stores every frame, and which of them are keys as metadata


def keeps_keys(format_: Format) -> bool:
    """Return whether files of this format store keys and curves."""
    return format_.write_keyed is not None and format_.name not in KEYS_AS_NOTES


def find_format(path: Path) -> Format:
    """Return the format in which a file of this name is written."""
    name = path.name.lower().removesuffix(".gz")
    return next(format_ for format_ in FORMATS if name.endswith(format_.suffixes))
