"""The nouns: frozen, validated once, their arrays read-only."""

from keypose.model.edges import EdgeCosts
from keypose.model.features import Column, Features
from keypose.model.motion import FootContacts, Motion, Pose, concatenate
from keypose.model.selection import Cliff, Costs, Ladder, Selection
from keypose.model.skeleton import Skeleton

__all__ = [
    "Cliff",
    "Column",
    "Costs",
    "EdgeCosts",
    "Features",
    "FootContacts",
    "Ladder",
    "Motion",
    "Pose",
    "Selection",
    "Skeleton",
    "concatenate",
]
