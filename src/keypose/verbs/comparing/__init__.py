"""Every method on one honest scale: its keys, its in-betweens, its errors, its time, at the same budgets."""

from keypose.verbs.comparing.clip import compare_motion
from keypose.verbs.comparing.noun import Comparison, Middle
from keypose.verbs.comparing.rows import Row
from keypose.verbs.comparing.settings import CONTENDERS, REFERENCES, Contender, Settings

__all__ = ["CONTENDERS", "REFERENCES", "Comparison", "Contender", "Middle", "Row", "Settings", "compare_motion"]
