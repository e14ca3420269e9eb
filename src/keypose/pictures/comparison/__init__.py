"""A comparison to see: a page with tables and curves, and what a notebook shows."""

from keypose.pictures.comparison.card import comparison_card
from keypose.pictures.comparison.page import comparison_page

__all__ = ["comparison_card", "comparison_page"]
