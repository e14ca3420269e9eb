"""Where Blender's Python module is, and what to say where it is not."""

from __future__ import annotations

import importlib.util
import os
import sys

from keypose.errors import MissingExtra

INTERPRETER = "KEYPOSE_BLENDER_PYTHON"


def missing(what: str, extra: str) -> str:
    """The message: ``what`` ("reading FBX") needs Blender, which an ``extra`` of this package brings."""
    return f"{what} needs: pip install 'keypose[{extra}]' (Python 3.11) or {INTERPRETER}=a Python that can import bpy"


def interpreter(message: str) -> str:
    """A Python that has Blender's module: this one, or the one named in the environment."""
    if importlib.util.find_spec("bpy") is not None:
        return sys.executable
    if given := os.environ.get(INTERPRETER):
        return given
    raise MissingExtra(message)
