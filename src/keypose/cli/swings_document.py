"""Swings for programs: one JSON document with all that is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from keypose.batch import Outcome
from keypose.batch.swings import ClipSwings, JointFigures, SwingsWanted
from keypose.batch.swings_edit import Played, Playing
from keypose.cli import said
from keypose.swings import Swing, Swings
from keypose.swings.size import Size
from keypose.verbs.swinging import mean_sweep


def of_clip(job: SwingsWanted, outcome: Outcome[ClipSwings]) -> dict[str, Any]:
    """The swings of one clip, or why there are none."""
    clip = outcome.value
    if clip is None:
        assert outcome.failure is not None
        return {"file": str(job.path), **said.failure_document(outcome.failure), "warnings": list(outcome.warnings)}
    assert clip.swings is not None
    document: dict[str, Any] = {
        "file": clip.path,
        "settings": dict(clip.settings),
        "within_deg": job.finding.max_deg,
        "within_mm": job.finding.max_mm,
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
        "size": of_size(clip.size),
        "joints": [_joint(clip.swings, joint) for joint in clip.joints],
        "paths": [{"joint": path.joint, "frames": path.keys.tolist()} for path in clip.swings.paths],
        "contacts": [asdict(standing) for standing in clip.swings.timeline().contacts],
        "notes": list(clip.notes),
        "warnings": list(outcome.warnings),
    }
    if clip.listed is not None:
        listed = [{"joint": swing.joint, "index": n, **_swing(swing, clip.fps)} for n, swing in clip.listed]
        document["found"] = listed
    if clip.sweep is not None:
        document["sweep"] = [asdict(row) for row in clip.sweep]
    return document


def of_mean(clips: Sequence[ClipSwings]) -> list[dict[str, Any]]:
    """The means of several sweeps, as one more document behind those of the clips; nothing without any sweep."""
    swept = [clip.sweep for clip in clips if clip.sweep is not None]
    return [{"clips": len(swept), "mean": [asdict(row) for row in mean_sweep(swept)]}] if swept else []


def of_written(job: Playing, made: Played) -> dict[str, Any]:
    """What was made of one clip, for JSON."""
    told = asdict(made)
    return {**told, "level": job.level}


def of_size(size: Size) -> dict[str, Any]:
    """Bytes by what they are for, their sum, and their share."""
    return {**asdict(size), "total": size.total, "ratio": size.ratio}


def _joint(swings: Swings, joint: JointFigures) -> dict[str, Any]:
    """All that one joint does; of one that is kept frame by frame the frames are those of the file."""
    track, fps = swings.track(joint.joint), swings.fps
    keyed = () if joint.left_out else track.keyed
    return {
        **asdict(joint),
        "swings": [_swing(swing, fps) for swing in track.swings],
        "rests": [_span(rest.start, rest.end, fps) | {"rotation": rest.rotation.tolist()} for rest in track.rests],
        "keys": [_span(span.start, span.end, fps)
                 | {"frames": span.frames.tolist(), "rotations": span.rotations.tolist()} for span in keyed],
    }  # fmt: skip


def _swing(swing: Swing, fps: float) -> dict[str, Any]:
    return _span(swing.start, swing.end, fps) | {
        "angle_deg": swing.angle_deg,
        "axis": swing.axis.tolist(),
        "start_rotation": swing.start_rotation.tolist(),
    }


def _span(start: int, end: int, fps: float) -> dict[str, Any]:
    return {"start": start, "end": end, "start_s": start / fps, "end_s": end / fps}
