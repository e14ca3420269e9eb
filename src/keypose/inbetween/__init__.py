"""From keys back to every frame."""

from keypose.inbetween.linear import linear

__all__ = ["linear"]
