"""Solid figures: what a skeleton looks like, as hulls of balls, and how poses of it are painted."""

from keypose.pictures.figure.body import Body, Kind, Part, Side
from keypose.pictures.figure.build import body_of

__all__ = ["Body", "Kind", "Part", "Side", "body_of"]
