"""Strips: the key poses of a motion in one picture."""

from keypose.pictures.strip.layouts import LAYOUTS, Layout
from keypose.pictures.strip.verb import strip

__all__ = ["LAYOUTS", "Layout", "strip"]
