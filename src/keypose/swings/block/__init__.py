"""Packed swings: writers and readers of numbers, the header and the tracks; readers validate all data.

docs/swings-packed.md describes every byte.
"""
