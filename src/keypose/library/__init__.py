"""Thousands of clips, and finding those that are like one.

``canonical.py`` makes bodies of all skeletons comparable, ``descriptors/`` turns them into short vectors that say
what happens.
"""
