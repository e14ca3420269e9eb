"""Charts as SVG: axes with round ticks, lines, marks, bands and labels that do not overlap."""

from keypose.pictures.chart.axes import Area
from keypose.pictures.chart.chart import chart
from keypose.pictures.chart.scale import Axis, Band, Line, Mark, Scale, TopAxis, build_scale

__all__ = ["Area", "Axis", "Band", "Line", "Mark", "Scale", "TopAxis", "build_scale", "chart"]
