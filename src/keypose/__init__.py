"""Keypose turns dense motion capture into the poses that matter.

Start with ``import keypose as kp``, ``m = kp.load("walk.bvh")``, ``kp.save(m, "walk.glb")``.
"""

# Each public name is imported when it is first used, so that `keypose --help` need not wait for numpy.
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

if not TYPE_CHECKING:  # a type checker that saw __getattr__ would believe that every name exists
    _ROOMS = {
        "keypose.demo": ("demo_motion",),
        "keypose.errors": (
            "FileError",
            "FormatError",
            "FormatWarning",
            "KeyposeError",
            "LimitError",
            "MissingExtra",
            "ModelError",
            "OptionError",
            "UnknownJoint",
        ),
        "keypose.formats": ("Limits", "load", "save"),
        "keypose.model": ("FootContacts", "Motion", "Pose", "Skeleton", "concatenate"),
    }
    _ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

    def __getattr__(name: str) -> object:
        if name not in _ROOM_OF:
            raise AttributeError(f"module 'keypose' has no attribute {name!r}")
        import importlib

        value = getattr(importlib.import_module(_ROOM_OF[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
