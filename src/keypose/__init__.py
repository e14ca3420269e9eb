"""Keypose turns dense motion capture into a few key poses with fitted curves.

Start with ``import keypose as kp``, ``m = kp.load("walk.bvh")``, ``kp.save(m, "walk.glb")``.
"""

# Public names are imported on first use, so that `keypose --help` does not import numpy.
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keypose.api.compare import Comparison
    from keypose.api.rebake import rebake
    from keypose.api.reduce_curves import reduce_curves
    from keypose.api.select import breakdowns, farthest_search, ladder, methods, refine_table, select
    from keypose.api.swings import swings_within
    from keypose.api.unbake import unbake
    from keypose.balance import Balance, Tip, balance, tips_over
    from keypose.batch.compare import compare
    from keypose.curves.capture_faults import CaptureFault, find_capture_faults, repair_capture
    from keypose.curves.edit import Change, Edit, edit
    from keypose.curves.reduce import ReducedCurve, ReducedCurves
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
    from keypose.formats import Limits, load, load_keyed, load_swings, open_kps, save
    from keypose.library.library import Library
    from keypose.library.records import Clip, Draft, Facets, Fault, IngestCounts, IngestReport
    from keypose.library.search.hits import Hit
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
    from keypose.pictures.path import plot_path
    from keypose.pictures.report import report
    from keypose.pictures.strip import strip
    from keypose.pictures.svg import Picture
    from keypose.pictures.timeline import timeline
    from keypose.storage import Damage, StoredMotion
    from keypose.swings import Action, Actions, KeyedSpan, Rest, Swing, Swings, Track, swings
    from keypose.swings.edit import SwingChange, SwingEdit

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Actions",
    "Balance",
    "CaptureFault",
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
    "IngestCounts",
    "IngestReport",
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
    "ReducedCurve",
    "ReducedCurves",
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
    "find_capture_faults",
    "ladder",
    "load",
    "load_keyed",
    "load_swings",
    "methods",
    "open_kps",
    "plot_curves",
    "plot_errors",
    "plot_path",
    "rebake",
    "reduce_curves",
    "refine_table",
    "repair_capture",
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

if not TYPE_CHECKING:  # with __getattr__ visible, a type checker would accept every name
    _PUBLIC_NAMES = {
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
        "keypose.formats": ("Limits", "load", "load_keyed", "load_swings", "open_kps", "save"),
        "keypose.curves.capture_faults": ("CaptureFault", "find_capture_faults", "repair_capture"),
        "keypose.curves.edit": ("Change", "Edit", "edit"),
        "keypose.curves.reduce": ("ReducedCurve", "ReducedCurves"),
        "keypose.library.library": ("Library",),
        "keypose.library.records": ("Clip", "Draft", "Facets", "Fault", "IngestCounts", "IngestReport"),
        "keypose.library.search.hits": ("Hit",),
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
        "keypose.pictures.path": ("plot_path",),
        "keypose.pictures.svg": ("Picture",),
        "keypose.pictures.report": ("report",),
        "keypose.pictures.strip": ("strip",),
        "keypose.pictures.timeline": ("timeline",),
        "keypose.storage": ("Damage", "StoredMotion"),
        "keypose.swings": ("Action", "Actions", "KeyedSpan", "Rest", "Swing", "Swings", "Track", "swings"),
        "keypose.swings.edit": ("SwingChange", "SwingEdit"),
        "keypose.api.rebake": ("rebake",),
        "keypose.api.reduce_curves": ("reduce_curves",),
        "keypose.api.select": ("breakdowns", "farthest_search", "ladder", "methods", "refine_table", "select"),
        "keypose.api.swings": ("swings_within",),
        "keypose.api.unbake": ("unbake",),
        "keypose.api.compare": ("Comparison",),
    }
    _MODULE_OF = {name: module for module, names in _PUBLIC_NAMES.items() for name in names}
    # Python lets one of two threads see a module that is not complete if each of them imports what the other imports.
    _import_lock = threading.RLock()

    def __getattr__(name: str) -> object:
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'keypose' has no attribute {name!r}")
        import importlib

        with _import_lock:
            value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted(__all__)

    import sys
    from types import ModuleType

    class _Package(ModuleType):
        """A package and a function may have the same name (``methods``, ``swings``): importing the package must not
        hide the function.
        """

        def __setattr__(self, name: str, value: object) -> None:
            if not (isinstance(value, ModuleType) and name in _MODULE_OF):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package
