"""JSON documents of swings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.api.swings import mean_sweep
from keypose.batch import Outcome
from keypose.batch.swing_edit import SwingEditJob, SwingEditResult
from keypose.batch.swings import JointSwingStats, SwingsJob, SwingsResult
from keypose.cli import messages
from keypose.swings import Swing, Swings
from keypose.swings.size import Size


def clip_document(job: SwingsJob, outcome: Outcome[SwingsResult]) -> dict[str, Any]:
    """Return the swings of one clip, or its failure, as a JSON document."""
    clip = outcome.value
    if clip is None:
        assert outcome.failure is not None
        return {"file": str(job.path), **messages.failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    assert clip.swings is not None
    document: dict[str, Any] = {
        "file": clip.path,
        "settings": dict(clip.settings),
        "max_deg": job.loader.max_deg,
        "max_mm": job.loader.max_mm,
        "level": job.level,
        "n_frames": clip.n_frames,
        "fps": clip.fps,
        "duration_s": clip.n_frames / clip.fps,
        "first_frame": clip.swings.first_frame,
        "n_swings": clip.n_swings,
        "n_keys": clip.n_keys,
        "error_deg": clip.error_deg,
        "error_per_angle_deg": clip.error_per_angle_deg,
        "score": None if clip.score is None else asdict(clip.score),
        "size": size_document(clip.size),
        "joints": [_joint_document(clip.swings, joint) for joint in clip.joints],
        "paths": [{"joint": path.joint, "frames": path.keys.tolist()} for path in clip.swings.paths],
        "contacts": [asdict(standing) for standing in clip.swings.timeline().contacts],
        "notes": list(clip.notes),
        "warnings": list(outcome.warnings),
    }
    if clip.matches is not None:
        matches = [{"joint": swing.joint, "index": n, **_swing_document(swing, clip.fps)} for n, swing in clip.matches]
        document["matches"] = matches
    if clip.sweep is not None:
        document["sweep"] = [asdict(row) for row in clip.sweep]
    return document


def mean_sweep_documents(clips: Sequence[SwingsResult]) -> list[dict[str, Any]]:
    """Return the means of several sweeps as one document, printed after those of the clips; empty without sweeps."""
    swept = [clip.sweep for clip in clips if clip.sweep is not None]
    return [{"clips": len(swept), "mean": [asdict(row) for row in mean_sweep(swept)]}] if swept else []


def written_document(job: SwingEditJob, result: SwingEditResult) -> dict[str, Any]:
    """Return the result of one written clip as JSON fields."""
    fields = asdict(result)
    return {**fields, "level": job.level}


def size_document(size: Size) -> dict[str, Any]:
    """Return bytes by purpose, their sum and the ratio to all frames."""
    return {**asdict(size), "total": size.total, "ratio": size.ratio}


def _joint_document(swings: Swings, joint: JointSwingStats) -> dict[str, Any]:
    """Return swings, rests and keys of one joint; joints stored frame by frame have no keys here."""
    track, fps = swings.track(joint.joint), swings.fps
    keyed = () if joint.left_out else track.keyed
    return {
        **asdict(joint),
        "swings": [_swing_document(swing, fps) for swing in track.swings],
        "rests": [
            _span_document(rest.start, rest.end, fps) | {"rotation": rest.rotation.tolist()} for rest in track.rests
        ],
        "keys": [
            _span_document(span.start, span.end, fps)
            | {"frames": span.frames.tolist(), "rotations": span.rotations.tolist()}
            for span in keyed
        ],
    }


def _swing_document(swing: Swing, fps: float) -> dict[str, Any]:
    return _span_document(swing.start, swing.end, fps) | {
        "angle_deg": swing.angle_deg,
        "axis": swing.axis.tolist(),
        "start_rotation": swing.start_rotation.tolist(),
    }


def _span_document(start: int, end: int, fps: float) -> dict[str, Any]:
    return {"start": start, "end": end, "start_s": start / fps, "end_s": end / fps}
