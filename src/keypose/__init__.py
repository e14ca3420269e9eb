"""Keypose turns dense motion capture into the poses that matter.

Start with ``import keypose as kp``, ``m = kp.load("walk.bvh")``, ``kp.save(m, "walk.glb")``.
"""

# Each public name is imported when it is first used, so that `keypose --help` need not wait for numpy.
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keypose.balance import Balance, Tip, balance, tips_over
    from keypose.batch.compare import compare
    from keypose.demo import demo_motion
    from keypose.errors import (
        Conflict,
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
    from keypose.formats import Limits, load, load_keyed, load_swings, save
    from keypose.formats.kps import open_kps
    from keypose.inbetween.editing import Change, Edit, edit
    from keypose.library.library import Library
    from keypose.library.nouns import Clip, Draft, Facets, Fault, Ingested, Tally
    from keypose.library.searching.hits import Hit
    from keypose.methods.farthest import FarthestSearch
    from keypose.methods.refine import RefineTable
    from keypose.methods.saliency import StreamingSaliency
    from keypose.metrics import Score, score
    from keypose.model import (
        Curves,
        EdgeCosts,
        Features,
        FootContacts,
        KeyedMotion,
        Ladder,
        Motion,
        Pose,
        Residual,
        Selection,
        Skeleton,
        concatenate,
    )
    from keypose.pictures.curves import plot_curves
    from keypose.pictures.error_curve import plot_errors
    from keypose.pictures.picture import Picture
    from keypose.pictures.report import report
    from keypose.pictures.strip import strip
    from keypose.pictures.timeline import timeline
    from keypose.storage import Damage, StoredMotion
    from keypose.swings import KeyedSpan, Rest, Swing, Swings, Track, swings
    from keypose.swings.editing import SwingChange, SwingEdit
    from keypose.verbs import (
        breakdowns,
        farthest_search,
        ladder,
        methods,
        rebake,
        refine_table,
        select,
        swings_within,
        unbake,
    )
    from keypose.verbs.comparing import Comparison

__version__ = "0.1.0"

__all__ = [
    "Balance",
    "Change",
    "Clip",
    "Comparison",
    "Conflict",
    "Curves",
    "Damage",
    "Draft",
    "EdgeCosts",
    "Edit",
    "Facets",
    "FarthestSearch",
    "Fault",
    "Features",
    "FileError",
    "FootContacts",
    "FormatError",
    "FormatWarning",
    "Hit",
    "Ingested",
    "KeyedMotion",
    "KeyedSpan",
    "KeyposeError",
    "Ladder",
    "Library",
    "LimitError",
    "Limits",
    "MissingExtra",
    "ModelError",
    "Motion",
    "OptionError",
    "Picture",
    "Pose",
    "RefineTable",
    "Residual",
    "Rest",
    "Score",
    "Selection",
    "Skeleton",
    "StoredMotion",
    "StreamingSaliency",
    "Swing",
    "SwingChange",
    "SwingEdit",
    "Swings",
    "Tally",
    "Tip",
    "Track",
    "UnknownJoint",
    "__version__",
    "balance",
    "breakdowns",
    "compare",
    "concatenate",
    "demo_motion",
    "edit",
    "farthest_search",
    "ladder",
    "load",
    "load_keyed",
    "load_swings",
    "methods",
    "open_kps",
    "plot_curves",
    "plot_errors",
    "rebake",
    "refine_table",
    "report",
    "save",
    "score",
    "select",
    "strip",
    "swings",
    "swings_within",
    "timeline",
    "tips_over",
    "unbake",
]

if not TYPE_CHECKING:  # a type checker that saw __getattr__ would believe that every name exists
    _ROOMS = {
        "keypose.balance": ("Balance", "Tip", "balance", "tips_over"),
        "keypose.batch.compare": ("compare",),
        "keypose.demo": ("demo_motion",),
        "keypose.errors": (
            "Conflict",
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
        "keypose.formats": ("Limits", "load", "load_keyed", "load_swings", "save"),
        "keypose.formats.kps": ("open_kps",),
        "keypose.inbetween.editing": ("Change", "Edit", "edit"),
        "keypose.library.library": ("Library",),
        "keypose.library.nouns": ("Clip", "Draft", "Facets", "Fault", "Ingested", "Tally"),
        "keypose.library.searching.hits": ("Hit",),
        "keypose.methods.farthest": ("FarthestSearch",),
        "keypose.methods.refine": ("RefineTable",),
        "keypose.methods.saliency": ("StreamingSaliency",),
        "keypose.metrics": ("Score", "score"),
        "keypose.model": (
            "Curves",
            "EdgeCosts",
            "Features",
            "FootContacts",
            "KeyedMotion",
            "Ladder",
            "Motion",
            "Pose",
            "Residual",
            "Selection",
            "Skeleton",
            "concatenate",
        ),
        "keypose.pictures.curves": ("plot_curves",),
        "keypose.pictures.error_curve": ("plot_errors",),
        "keypose.pictures.picture": ("Picture",),
        "keypose.pictures.report": ("report",),
        "keypose.pictures.strip": ("strip",),
        "keypose.pictures.timeline": ("timeline",),
        "keypose.storage": ("Damage", "StoredMotion"),
        "keypose.swings": ("KeyedSpan", "Rest", "Swing", "Swings", "Track", "swings"),
        "keypose.swings.editing": ("SwingChange", "SwingEdit"),
        "keypose.verbs": (
            "breakdowns",
            "farthest_search",
            "ladder",
            "methods",
            "rebake",
            "refine_table",
            "select",
            "swings_within",
            "unbake",
        ),
        "keypose.verbs.comparing": ("Comparison",),
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
        return sorted(__all__)

    import sys
    from types import ModuleType

    class _Package(ModuleType):
        """Some rooms and verbs share a name (``methods``, ``swings``): importing the room must not hide the verb."""

        def __setattr__(self, name: str, value: object) -> None:
            if not (isinstance(value, ModuleType) and name in _ROOM_OF):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package
