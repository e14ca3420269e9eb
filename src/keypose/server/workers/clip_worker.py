"""Tasks about one clip: parse the payload, call ``clip_edit``, serialise the result."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import keypose
from keypose import metrics
from keypose.clip_edit import (
    FrameData,
    SelectionSpec,
    apply_draft,
    build_frame_data,
    choose_stride,
    compare_methods,
    describe_motion,
    export_clip,
    pack_arrays,
)
from keypose.clip_edit.clip_editor import MAX_SWING_CELLS, LadderView, contact_ranges, swing_bars
from keypose.clip_edit.display_data import MEDIA_TYPE, build_swing_arc
from keypose.clip_edit.drafts import edit_swings
from keypose.clip_edit.export import CHARACTER
from keypose.clip_edit.steps import find_swing
from keypose.errors import FormatError, OptionError
from keypose.extremes import list_parts_at_keys
from keypose.formats.base import Source
from keypose.formats.gltf.character import CharacterContents, find_character_contents
from keypose.library.analysis import unzip_content
from keypose.library.records import Clip
from keypose.methods.refine import METHOD as REFINE_METHOD
from keypose.model import Motion, Selection
from keypose.pictures.curves import plot_curves
from keypose.pictures.joint_rows import key_frames
from keypose.pictures.path import plot_path
from keypose.pictures.strip import strip
from keypose.server.schema.clips import ClipDetails, ClipRow
from keypose.server.schema.keys import (
    CURVE_PICTURE,
    CURVES,
    DRAFT,
    EXPORT,
    SELECTION,
    SPEC,
    SWINGS_DRAFT,
    ActionList,
    ActionRow,
    Cliff,
    Comparison,
    LadderResponse,
    MethodComparison,
    RefineRow,
    SelectionResponse,
)
from keypose.server.workers.worker_context import Task, TaskResult, WorkerContext, get_editor

PNG_SCALE = 2.0

# For responses that depend on clip and request alone: clients revalidate them by their ETag.
REVALIDATE = {"Cache-Control": "private, no-cache"}
_NOT_PLAIN = re.compile(r"[^ !#-\[\]-~]")  # characters that a quoted file name cannot hold


def describe_clip(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return the details of a clip."""
    clip, editor = context.clip(payload["clip"]), get_editor(context, payload["clip"])
    motion_details = editor.cache.get_or_make(("motion details",), lambda: describe_motion(editor))
    details = ClipDetails.model_validate(
        {
            **vars(clip),
            "key_frames": context.library.key_frames(clip.hash),
            "has_body": motion_details.has_body,
            "joints": motion_details.joints,
            "joint_groups": dict(motion_details.joint_groups),
            "contacts": dict(motion_details.contacts),
            "swings": motion_details.swings,
            "actions": context.library.actions(clip.hash),
            "notes": motion_details.notes,
            "character": editor.cache.get_or_make(("character",), lambda: _find_character(context, clip)),
        }
    )
    return TaskResult.from_model(details)


def _find_character(context: WorkerContext, clip: Clip) -> CharacterContents | None:
    if clip.suffix != CHARACTER:
        return None
    try:
        return find_character_contents(_read_stored_file(context, clip.hash))
    except FormatError:  # of an animation that the clip was not read from: an export into the file would say so
        return None


def _read_stored_file(context: WorkerContext, digest: str) -> Source:
    """Return the stored bytes of a clip, decompressed."""
    path = Path(f"clip{context.clip(digest).suffix}")
    return Source(path, unzip_content(context.library.original(digest), path, context.limits).unzipped, context.limits)


def encode_frames(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return the positions of all joints."""
    editor = get_editor(context, payload["clip"])
    skeleton = editor.motion.skeleton
    stride = choose_stride(editor.motion, payload.get("fps"), payload.get("max_frames"))
    data = build_frame_data(editor.motion, editor.display_space, stride, editor.face)
    header = {
        **data.header(),
        "names": list(skeleton.names),
        "parents": skeleton.parents.tolist(),
        "end_joints": skeleton.end_joints.tolist(),
        "head": None if editor.face is None else editor.face.head,
    }
    return TaskResult(pack_arrays(header, data.arrays()), MEDIA_TYPE, {"ETag": etag("frames", payload), **REVALIDATE})


def compute_pose_vector(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return the vector that a search by pose compares."""
    vector = context.library.pose_vector(context.motion(payload["clip"]), payload["frame"])
    return TaskResult(json.dumps(vector).encode())


def draw_strip(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return poses of a clip, or of an edit of it, as a picture."""
    motion, frames = context.motion(payload["clip"]), payload["frames"]
    if payload.get("draft") is not None:
        result = apply_draft(get_editor(context, payload["clip"]), DRAFT.validate_python(payload["draft"]))
        keys = None if result.keyed is None else result.keyed.keys.tolist()
        motion, frames = result.motion, keys if frames is None else frames
    style = {name: payload[name] for name in ("theme", "layout", "height_px") if payload.get(name) is not None}
    keys = _rank_frames(frames, motion) if payload.get("rank") else frames
    picture = strip(motion, keys, rank=bool(payload.get("rank")), **style)
    headers = {"ETag": etag("strip", payload, motion.name), **REVALIDATE}
    if payload["format"] == "png":
        return TaskResult(picture.png(PNG_SCALE), "image/png", headers)
    return TaskResult(picture.svg.encode(), "image/svg+xml", headers)


def _rank_frames(frames: Sequence[int], motion: Motion) -> Selection:
    """Return frames that are listed with the most important first as a selection that ranks them."""
    order = np.array(list(dict.fromkeys(frames)), np.int32)
    return Selection(key_frames(frames, motion.n_frames), motion.n_frames, "", order)


def compute_ladder(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return the selections for every number of keys."""
    start = time.perf_counter()
    view = get_editor(context, payload["clip"]).ladder_view(SPEC.validate_python(payload["spec"]))
    return TaskResult.from_model(_ladder_response(view, 1000.0 * (time.perf_counter() - start)))


def _ladder_response(view: LadderView, elapsed_ms: float) -> LadderResponse:
    ladder = view.ladder
    counts = ladder.counts.tolist()
    ends = ladder.counts.cumsum().tolist()
    keys = ladder.frames.tolist()
    return LadderResponse(
        method=ladder.method,
        options=dict(view.options),
        counts=tuple(counts),
        costs=tuple(ladder.cost_values.tolist()),
        unit=view.unit,
        order=tuple(keys) if ladder.is_nested else None,
        selections=None
        if ladder.is_nested
        else tuple(tuple(keys[end - count : end]) for count, end in zip(counts, ends, strict=True)),
        natural=ladder.natural,
        auto=view.auto,
        cliffs=tuple(Cliff(keys=cliff.keys, strength=cliff.strength) for cliff in ladder.cliffs()),
        elapsed_ms=round(elapsed_ms, 3),
    )


def select_within(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return a number of keys, the fewest within a tolerance, or automatic ones."""
    editor, request = get_editor(context, payload["clip"]), SELECTION.validate_python(payload["request"])
    frames = (
        editor.select_within(request.spec, request.tolerance_mm, request)
        if request.keys is None
        else editor.select_count(request.spec, request.keys)
    )
    return TaskResult.from_model(SelectionResponse(keys=len(frames), frames=frames))


def fit_curves(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return curves through keys, with their score."""
    editor, request = get_editor(context, payload["clip"]), CURVES.validate_python(payload["request"])
    curves = editor.fit_curves(request, polish=not request.quick, residual=request.residual)
    spec, keyed, joint_keys, refine = request.joint_keys, curves.keyed, None, None
    if spec is not None:
        joint_keys = [keyed.joint_keys(name).tolist() for name in keyed.skeleton.names]
        if spec.method == REFINE_METHOD.name:
            refine = [RefineRow.model_validate(row).model_dump() for row in editor.refine_rows(spec)]
    header = {
        "keys": keyed.keys.tolist(),
        "extremes": _extreme_frames(keyed),
        "extreme_parts": list_parts_at_keys(keyed.keys, editor.extremes, editor.motion.fps),
        "joint_keys": joint_keys,
        "refine": refine,
    }
    data = build_frame_data(curves.motion, editor.display_space, request.stride, editor.face)
    return _encode_motion(data, curves.score, header)


def draw_curves(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return a picture of the curves or of the path of one joint, captured and through the keys, as SVG."""
    editor, request = get_editor(context, payload["clip"]), CURVE_PICTURE.validate_python(payload["request"])
    if request.joint not in editor.motion.skeleton.names:
        raise OptionError(option="joint", value=request.joint, expected="a joint of the clip")
    keyed = None if request.picture == "saliency" else editor.fit_keys(request)
    style: dict[str, Any] = {"title": "", "width_px": request.width_px, "theme": request.theme}
    if keyed is None:
        picture = plot_curves(editor.motion, joints=[request.joint], axes=request.axes, each_axis=True, **style)
    elif request.picture == "path":
        picture = plot_path(editor.motion, keyed, request.joint, **style)
    else:
        style |= {"axes": request.axes, "values": request.values}
        picture = plot_curves(editor.motion, reduced=keyed, joints=[request.joint], **style)
    return TaskResult(picture.svg.encode(), "image/svg+xml")


def apply_edit(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return a clip after an edit."""
    editor = get_editor(context, payload["clip"])
    result = apply_draft(editor, DRAFT.validate_python(payload["draft"]))
    header = {
        "keys": None if result.keyed is None else result.keyed.keys.tolist(),
        "extremes": None if result.keyed is None else _extreme_frames(result.keyed),
        "swings": None if result.swings is None else [vars(bar) for bar in swing_bars(result.swings)],
        "swing_figures": None if result.swing_figures is None else vars(result.swing_figures),
        "contacts": None
        if result.swings is None or result.swings.contacts is None
        else contact_ranges(result.swings.contacts),
        "history": list(result.history),
        "changed_frames": None if result.changed_frames is None else list(result.changed_frames),
        "notes": list(result.notes),
        "displacements": [asdict(displacement) for displacement in result.displacements],
        "reach_error_mm": result.reach_error_mm,
    }
    data = build_frame_data(result.motion, editor.display_space, payload["stride"], editor.face)
    return _encode_motion(data, result.score, header)


def describe_swing(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return a swing of a draft: its angles, its axis, and the arc that the end of its bone describes."""
    editor, draft = get_editor(context, payload["clip"]), SWINGS_DRAFT.validate_python(payload["draft"])
    edit = edit_swings(editor, draft)
    swing = find_swing(edit, payload["joint"], payload["index"])
    header = {
        "joint": swing.joint,
        "index": payload["index"],
        "start": swing.start,
        "end": swing.end,
        "start_angle_deg": swing.start_angle_deg,
        "angle_deg": swing.angle_deg,
        "axis": swing.axis.tolist(),
    }
    arc = build_swing_arc(swing, edit.play(), editor.display_space)
    return TaskResult(pack_arrays(header, arc.arrays()), MEDIA_TYPE)


def list_actions(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return the actions of a clip."""
    editor = get_editor(context, payload["clip"])
    if editor.motion.n_frames * editor.motion.n_joints > MAX_SWING_CELLS:
        return TaskResult.from_model(ActionList(actions=(), notes=("the clip is too long to find actions in it",)))
    actions = editor.actions
    return TaskResult.from_model(
        ActionList(actions=tuple(map(ActionRow.model_validate, actions.all)), notes=actions.notes)
    )


def compare(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Compare methods with the same number of keys: their keys, and the scores of curves through them."""
    clip, editor = context.clip(payload["clip"]), get_editor(context, payload["clip"])
    keys = payload["keys"]
    comparisons = []
    for row in compare_methods(editor, payload["methods"], keys):
        frames = tuple(row.frames)
        comparisons.append(MethodComparison(method=row.method, keys=len(frames), frames=frames, score=row.curves.score))
    if keys is None:
        keys = len(editor.select_within(SelectionSpec()))  # cached
    return TaskResult.from_model(Comparison(clip=ClipRow.model_validate(clip), keys=keys, methods=tuple(comparisons)))


def export(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return a clip as a file."""
    editor = get_editor(context, payload["clip"])
    options = EXPORT.validate_python(payload["options"])
    source = _read_stored_file(context, payload["clip"]).data if options.into_source else None
    file = export_clip(editor, options, source)
    return TaskResult(file.data, file.media_type, {"Content-Disposition": content_disposition(file.name)})


def _encode_motion(data: FrameData, score: metrics.Score | None, header: dict[str, Any]) -> TaskResult:
    score_values = None if score is None else _finite_values(score)
    arrays = {**data.arrays(), **({} if score is None else score.arrays())}
    return TaskResult(pack_arrays({**data.header(), **header, "score": score_values}, arrays), MEDIA_TYPE)


def _finite_values(score: metrics.Score) -> dict[str, Any]:
    """Return the scalar measures of a score, None for those that are not finite."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in score.figures().items()
    }


def _extreme_frames(keyed: Any) -> list[int]:
    frames: list[int] = keyed.keys[keyed.extremes].tolist()
    return frames


TASKS: dict[str, Task] = {
    "details": describe_clip,
    "frames": encode_frames,
    "pose": compute_pose_vector,
    "strip": draw_strip,
    "ladder": compute_ladder,
    "selection": select_within,
    "curves": fit_curves,
    "curve picture": draw_curves,
    "edit": apply_edit,
    "swing": describe_swing,
    "actions": list_actions,
    "comparison": compare,
    "export": export,
}


def etag(task: str, payload: Mapping[str, Any], *extra: str) -> str:
    """Return the ETag of a response that depends on the request and the version of Keypose alone."""
    text = json.dumps([task, payload, extra, keypose.__version__], sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def content_disposition(name: str) -> str:
    """Return the Content-Disposition header for a download under ``name``."""
    plain = _NOT_PLAIN.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
