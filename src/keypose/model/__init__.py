"""The data types: frozen, validated once, with read-only arrays."""

from keypose.model.features import Column, EdgeCosts, Features, InbetweenCosts
from keypose.model.keyed_motion import Curves, KeyedMotion, Residual, SpanPosition
from keypose.model.motion import FootContacts, Motion, Pose, concatenate, list_notes
from keypose.model.selection import Cliff, Costs, Ladder, Selection
from keypose.model.skeleton import Skeleton

__all__ = [
    "Cliff",
    "Column",
    "Costs",
    "Curves",
    "EdgeCosts",
    "Features",
    "FootContacts",
    "InbetweenCosts",
    "KeyedMotion",
    "Ladder",
    "Motion",
    "Pose",
    "Residual",
    "Selection",
    "Skeleton",
    "SpanPosition",
    "concatenate",
    "list_notes",
]
