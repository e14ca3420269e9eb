"""The data types: frozen, validated once, with read-only arrays."""

from keypose.model.curves import Curves, SpanPosition
from keypose.model.edge_costs import EdgeCosts
from keypose.model.features import Column, Features
from keypose.model.inbetween_costs import InbetweenCosts
from keypose.model.keyed_motion import KeyedMotion
from keypose.model.motion import FootContacts, Motion, Pose, concatenate
from keypose.model.residual import Residual
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
]
