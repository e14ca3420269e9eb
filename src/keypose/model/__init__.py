"""The data types: frozen, validated once, with read-only arrays."""

from keypose.model.features import Column, EdgeCosts, Features, InbetweenCosts
from keypose.model.keyed_motion import Curves, KeyedMotion, Residual, SpanPosition
from keypose.model.motion import (
    FIRST_FRAME_NOTE,
    POSE_NOTE_CODE,
    REFERENCE_POSE_NOTE,
    FootContacts,
    Motion,
    Note,
    Pose,
    concatenate,
    list_notes,
    note_code,
    parse_notes,
)
from keypose.model.selection import Cliff, Costs, Ladder, Selection, parse_frames
from keypose.model.skeleton import Skeleton

__all__ = [
    "FIRST_FRAME_NOTE",
    "POSE_NOTE_CODE",
    "REFERENCE_POSE_NOTE",
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
    "Note",
    "Pose",
    "Residual",
    "Selection",
    "Skeleton",
    "SpanPosition",
    "concatenate",
    "list_notes",
    "note_code",
    "parse_frames",
    "parse_notes",
]
