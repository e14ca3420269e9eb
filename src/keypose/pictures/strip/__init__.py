"""Strips: the key poses of a motion in one picture."""

from keypose.options.pictures import Layout
from keypose.pictures.strip.build import strip
from keypose.pictures.strip.canvas import LAYOUTS

__all__ = ["LAYOUTS", "Layout", "strip"]
