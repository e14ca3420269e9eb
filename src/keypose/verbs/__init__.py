"""The verbs: they join the rooms and turn what a person says (joints, contacts, tolerances) into what a method sees."""

from keypose.verbs.rebaking import rebake
from keypose.verbs.selecting import breakdowns, farthest_search, ladder, methods, refine_table, select
from keypose.verbs.swinging import Sweep, SweepRow, sweep, swings_within
from keypose.verbs.unbaking import unbake

__all__ = [
    "Sweep",
    "SweepRow",
    "breakdowns",
    "farthest_search",
    "ladder",
    "methods",
    "rebake",
    "refine_table",
    "select",
    "sweep",
    "swings_within",
    "unbake",
]
