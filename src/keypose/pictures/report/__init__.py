"""HTML report on motions and their unbaked versions, with a 3D player."""

from keypose.pictures.report.build import report

__all__ = ["report"]
