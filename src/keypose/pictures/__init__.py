"""Motion to see: so far the card that a notebook shows."""

from keypose.pictures.card import motion_card

__all__ = ["motion_card"]
