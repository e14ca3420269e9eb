"""The report: one page about motions and what unbaking makes of them, with a player in it."""

from keypose.pictures.report.verb import report

__all__ = ["report"]
