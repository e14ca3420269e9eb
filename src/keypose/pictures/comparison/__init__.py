"""HTML page and notebook card of a comparison."""

from keypose.pictures.comparison.page import comparison_card, comparison_page

__all__ = ["comparison_card", "comparison_page"]
