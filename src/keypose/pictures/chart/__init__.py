"""Charts as SVG: axes with round numbers, lines, marks, bands, and names that do not cover each other."""

from keypose.pictures.chart.axes import Area
from keypose.pictures.chart.chart import chart
from keypose.pictures.chart.nouns import Axis, Band, Line, Mark, TopAxis
from keypose.pictures.chart.scale import Scale, scale_of

__all__ = ["Area", "Axis", "Band", "Line", "Mark", "Scale", "TopAxis", "chart", "scale_of"]
