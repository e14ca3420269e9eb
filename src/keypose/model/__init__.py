"""The nouns: frozen, validated once, their arrays read-only."""

from keypose.model.curves import Curves, Place
from keypose.model.edges import EdgeCosts
from keypose.model.features import Column, Features
from keypose.model.keyed import KeyedMotion
from keypose.model.motion import FootContacts, Motion, Pose, concatenate
from keypose.model.residual import Residual
from keypose.model.selection import Cliff, Costs, Ladder, Selection
from keypose.model.skeleton import Skeleton
from keypose.model.spans import InbetweenCosts

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
    "Place",
    "Pose",
    "Residual",
    "Selection",
    "Skeleton",
    "concatenate",
]
