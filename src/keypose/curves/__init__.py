"""Curves between keys (in-betweens): fitting, sampling, costs, polishing and edits."""

from keypose.curves.cubic_fit import interpolate_linear

__all__ = ["interpolate_linear"]
