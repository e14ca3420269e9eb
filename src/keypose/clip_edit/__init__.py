"""Operations on one clip as plain data: select keys, fit curves through them, edit, export.

``selection_spec.py`` holds the options of a selection and ``ladder_view.py`` computes it; ``clip_editor.py`` fits
curves through keys and ``partial_score.py`` measures them; ``key_steps.py``, ``swing_steps.py`` and ``drafts.py`` are
edits as data, which ``edit_result.py`` applies. ``display_space.py`` is the coordinate system of the viewer,
``frame_data.py`` the positions shown in it, ``face.py`` the direction of the head, ``array_packet.py`` the binary
encoding. ``motion_details.py`` describes a clip and ``export.py`` writes it as a file.

This package does not depend on HTTP. Its results are bit for bit those of the functions in ``keypose.api``.
"""

from keypose.clip_edit.array_packet import pack_arrays
from keypose.clip_edit.clip_editor import ClipEditor, FittedCurves
from keypose.clip_edit.comparison import MethodResult, compare_methods
from keypose.clip_edit.display_space import DisplaySpace, compute_display_space
from keypose.clip_edit.drafts import Draft, KeysDraft, SwingsDraft, parse_draft
from keypose.clip_edit.edit_result import EditResult, apply_draft
from keypose.clip_edit.export import ExportedFile, ExportOptions, export_clip
from keypose.clip_edit.file_names import safe_stem
from keypose.clip_edit.frame_data import FrameData, build_frame_data, choose_stride
from keypose.clip_edit.ladder_view import LadderView, compute_ladder_view, select_keys
from keypose.clip_edit.motion_details import MotionDetails, describe_motion
from keypose.clip_edit.partial_score import PartialScore, compute_score
from keypose.clip_edit.selection_spec import SelectionSpec, default_options

__all__ = [
    "ClipEditor",
    "DisplaySpace",
    "Draft",
    "EditResult",
    "ExportOptions",
    "ExportedFile",
    "FittedCurves",
    "FrameData",
    "KeysDraft",
    "LadderView",
    "MethodResult",
    "MotionDetails",
    "PartialScore",
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
    "parse_draft",
    "safe_stem",
    "select_keys",
]
