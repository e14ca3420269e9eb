"""Keypose turns dense motion capture into the poses that matter.

    import keypose as kp

    m = kp.load("walk.bvh")
    kp.save(m, "walk.glb")
"""

from keypose.demo import demo_motion
from keypose.errors import (
    FileError,
    FormatError,
    FormatWarning,
    KeyposeError,
    LimitError,
    MissingExtra,
    ModelError,
    OptionError,
    UnknownJoint,
)
from keypose.formats import Limits, load, save
from keypose.model import FootContacts, Motion, Pose, Skeleton, concatenate

__version__ = "0.1.0"

__all__ = [
    "FileError",
    "FootContacts",
    "FormatError",
    "FormatWarning",
    "KeyposeError",
    "LimitError",
    "Limits",
    "MissingExtra",
    "ModelError",
    "Motion",
    "OptionError",
    "Pose",
    "Skeleton",
    "UnknownJoint",
    "__version__",
    "concatenate",
    "demo_motion",
    "load",
    "save",
]
