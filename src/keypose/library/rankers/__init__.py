"""Comparison of clips by swings."""
