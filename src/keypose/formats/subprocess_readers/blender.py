"""Find a Python interpreter that has Blender's module."""

from __future__ import annotations

import importlib.util
import os
import sys

from keypose.errors import MissingExtra

INTERPRETER_VARIABLE = "KEYPOSE_BLENDER_PYTHON"


def missing_message(action: str, extra: str) -> str:
    """Return the error text: ``action`` ("reading FBX") needs Blender, which an ``extra`` of this package installs."""
    install = f"pip install 'keypose[{extra}]' (Python 3.11)"
    return f"{action} needs: {install} or {INTERPRETER_VARIABLE}=a Python that can import bpy"


def find_interpreter(message: str) -> str:
    """Return a Python that has Blender's module: this one or the one of KEYPOSE_BLENDER_PYTHON; else MissingExtra."""
    if importlib.util.find_spec("bpy") is not None:
        return sys.executable
    if path := os.environ.get(INTERPRETER_VARIABLE):
        return path
    raise MissingExtra(message)
