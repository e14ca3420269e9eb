"""The scale in which errors of in-betweens are stated."""

from __future__ import annotations

from keypose.model import Motion


def error_scale(motion: Motion) -> float:
    """Return millimetres per unit on a figure of 1.7 m; 1 for one without height (errors are then in file units)."""
    return motion.mm_per_unit if motion.height > 0 else 1.0
