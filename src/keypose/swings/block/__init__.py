"""Swings as bytes: how numbers, the clip's head and the tracks are written, and how they are read with distrust.

docs/swings-packed.md describes every byte. In each file what writes stands beside what reads.
"""
