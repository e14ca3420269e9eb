"""Solid figures of skeletons as hulls of balls, and how their poses are painted."""

from keypose.pictures.figure.body import Body, Kind, Part, Side
from keypose.pictures.figure.build import build_body

__all__ = ["Body", "Kind", "Part", "Side", "build_body"]
