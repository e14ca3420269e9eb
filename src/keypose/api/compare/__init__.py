"""Compare all methods at the same budgets: keys, in-betweens, errors and time."""

from keypose.api.compare.clip import compare_motion
from keypose.api.compare.comparison import Comparison, MedianRow
from keypose.api.compare.settings import COMPARED_METHODS, REFERENCES, ComparedMethod, CompareOptions
from keypose.api.compare.tables import Row

__all__ = [
    "COMPARED_METHODS",
    "REFERENCES",
    "CompareOptions",
    "ComparedMethod",
    "Comparison",
    "MedianRow",
    "Row",
    "compare_motion",
]
