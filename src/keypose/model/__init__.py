"""The nouns: frozen, validated once, their arrays read-only."""

from keypose.model.motion import FootContacts, Motion, Pose, concatenate
from keypose.model.skeleton import Skeleton

__all__ = ["FootContacts", "Motion", "Pose", "Skeleton", "concatenate"]
