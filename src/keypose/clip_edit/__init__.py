"""Operations on one clip as plain data: select keys, fit curves through them, edit, export.

``selection_spec.py`` holds the options of a selection; ``clip_editor.py`` describes a clip, selects keys, fits curves
through them and measures these; ``steps.py`` and ``drafts.py`` are edits as data, and apply them;
``field_checks.py`` checks their fields. ``display_data.py``
has the coordinate system of the viewer, the positions displayed in it and their binary encoding. ``export.py`` writes a
clip as a file.

This package does not depend on HTTP. Its results are bit for bit those of the functions in ``keypose.api``.
"""

from keypose.clip_edit.clip_editor import (
    ClipEditor,
    FittedCurves,
    LadderView,
    MethodResult,
    MotionDetails,
    compare_methods,
    compute_ladder_view,
    compute_score,
    describe_motion,
    select_keys,
)
from keypose.clip_edit.display_data import (
    DisplaySpace,
    FrameData,
    build_frame_data,
    choose_stride,
    compute_display_space,
    pack_arrays,
)
from keypose.clip_edit.drafts import Draft, EditResult, KeysDraft, SwingsDraft, apply_draft
from keypose.clip_edit.export import ExportedFile, ExportOptions, export_clip, safe_stem
from keypose.clip_edit.selection_spec import CurveSpec, JointKeysSpec, KeyedSpec, SelectionSpec, default_options

__all__ = [
    "ClipEditor",
    "CurveSpec",
    "DisplaySpace",
    "Draft",
    "EditResult",
    "ExportOptions",
    "ExportedFile",
    "FittedCurves",
    "FrameData",
    "JointKeysSpec",
    "KeyedSpec",
    "KeysDraft",
    "LadderView",
    "MethodResult",
    "MotionDetails",
    "SelectionSpec",
    "SwingsDraft",
    "apply_draft",
    "build_frame_data",
    "choose_stride",
    "compare_methods",
    "compute_display_space",
    "compute_ladder_view",
    "compute_score",
    "default_options",
    "describe_motion",
    "export_clip",
    "pack_arrays",
    "safe_stem",
    "select_keys",
]
