"""Segment a motion into swings: for each joint the spans in which it rotates about nearly one axis (Chia 2009).

Velocities ``log(R_t^-1 R_t+1)`` are smoothed by a box. For each frame the differences of the axes of its neighbours
from its own are measured. A swing grows from the free frame with the smallest sum of differences, to the left or right,
whichever axis is nearer, while the mean difference from the axis of the first frame is within the threshold. Then the
next swing grows from the next free frame. Differences from the thesis: growth uses the angle between axes (its formula,
read as 1 - cos, is the metric ``"cosine"``), and its windows of frames at 60 per second are durations, so that any
frame rate works.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.model import FootContacts, Motion, Skeleton
from keypose.model.motion import check_motion
from keypose.options import Fallback, Metric
from keypose.swings.fallback import add_keys, mean_rotation, span_mean_rotations
from keypose.swings.model import Swings
from keypose.swings.settings import Settings
from keypose.swings.swing import KeyedSpan, Path, fit_path
from keypose.swings.track import Track

Spans = tuple[Ints, Ints, Ints]  # joints, starts, ends
_LEFT_OUT_PARTS = re.compile(r"(?:left_|right_)?(?:toe|big_toe|ball|palm|fingers|thumb|index|middle|ring|pinky)")


def swings(
    motion: Motion,
    threshold: float = Settings.threshold,
    *,
    metric: Metric = Settings.metric,
    smoothing_s: float = Settings.smoothing_s,
    window_s: float = Settings.window_s,
    min_duration_s: float = Settings.min_duration_s,
    rest_rad_per_s: float = Settings.rest_rad_per_s,
    left_out: str | Sequence[str] | None = None,
    fallback: Fallback | None = Settings.fallback,
    fallback_deg: float = Settings.fallback_deg,
    translation_mm: float = Settings.translation_mm,
) -> Swings:
    """Return a motion as swings of its joints.

    ``threshold``: the maximum mean difference of the axes of a swing from that of the frame from which it grew: 0
    accepts only rotations about exactly one axis, pi accepts any. ``metric``: differences are angles in radians or,
    ``"cosine"``, 1 minus their cosines. ``smoothing_s``: the length of the box filter of velocities. ``window_s``: the
    window in which the axes of a frame and its neighbours are compared. ``min_duration_s``: shorter swings are dropped.
    ``rest_rad_per_s``: slower frames are rest. ``left_out``: joints, body parts or groups that are stored frame by
    frame; by default fingers, thumbs and toes, as in the thesis.

    ``fallback="keys"``: where swings differ from the rotation of a joint by more than ``fallback_deg`` degrees, keys
    within that tolerance are used. Changing translations of joints are stored as curves through keys with errors of at
    most ``translation_mm``, on a figure of 1.7 m (0: a key on every frame).
    """
    check_motion(motion)
    settings = Settings(
        threshold=threshold,
        metric=metric,
        smoothing_s=smoothing_s,
        window_s=window_s,
        min_duration_s=min_duration_s,
        rest_rad_per_s=rest_rad_per_s,
        fallback=fallback,
        fallback_deg=fallback_deg,
        translation_mm=translation_mm,
        left_out=_left_out_names(motion.skeleton, left_out),
    )
    return segment_motion(motion, settings)


def segment_motion(motion: Motion, settings: Settings) -> Swings:
    """Return a motion as swings; as ``swings`` with all options in one object."""
    result = Swings(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        tracks=build_tracks(motion, settings),
        translations=motion.translations[0],
        paths=tuple(_fit_paths(motion, settings.translation_mm)),
        contacts=_find_contacts(motion),
        settings=settings,
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
        tolerance_mm=motion.tolerance_mm,
    )
    return result if settings.fallback is None else add_keys(motion, result, settings.fallback_deg)


def _left_out_names(skeleton: Skeleton, left_out: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the joints to be stored frame by frame, in the skeleton's order."""
    if left_out is None:
        body_parts = skeleton.anatomy.body_parts
        joints = {j for j, part in enumerate(body_parts) if part is not None and _LEFT_OUT_PARTS.match(part)}
    elif isinstance(left_out, str | list | tuple):
        joints = set(skeleton.joints([left_out] if isinstance(left_out, str) else list(left_out)))
    else:
        raise OptionError(option="left_out", value=left_out, expected="names of joints, body parts or groups")
    return tuple(skeleton.names[j] for j in sorted(joints))


def change_threshold(motion: Motion, found: Swings, threshold: float) -> Swings:
    """Return the swings of ``motion`` with another threshold than ``found``; everything else is reused."""
    settings = replace(found.settings, threshold=threshold)
    tracks = tuple(
        old if found.is_left_out(j) else new
        for j, (old, new) in enumerate(zip(found.tracks, build_tracks(motion, settings), strict=True))
    )
    result = replace(found, tracks=tracks, settings=settings)
    return result if settings.fallback is None else add_keys(motion, result, settings.fallback_deg)


def find_spans(rotations: Floats, fps: float, settings: Settings) -> tuple[Spans, Floats, Spans]:
    """Return spans of swings of rotations (T, N, 4), their rotation vectors (S, 3), and spans of rests, by joint."""
    return _core.swing_spans(
        rotations,
        max(1, round(settings.smoothing_s * fps)),
        max(1, round(settings.window_s * fps / 2)),
        max(2, round(settings.min_duration_s * fps)),
        settings.rest_rad_per_s / fps,
        settings.threshold,
        settings.metric == "cosine",
    )


def build_tracks(motion: Motion, settings: Settings) -> tuple[Track, ...]:
    """Return a track for each joint: swings and rests, or a key on every frame of joints that are left out."""
    names, left_out = motion.skeleton.names, frozenset(settings.left_out)
    swing_joints = np.array([j for j, name in enumerate(names) if name not in left_out], np.intp)
    rotations = np.ascontiguousarray(motion.rotations[:, swing_joints])
    (joint_indices, starts, ends), rotation_vectors, (rest_joints, rest_starts, rest_ends) = find_spans(
        rotations, motion.fps, settings
    )
    start_rotations = rotations[starts, joint_indices]
    rest_rotations = span_mean_rotations(rotations, rest_joints, rest_starts, rest_ends)
    means = mean_rotation(motion.rotations)
    swing_edges = np.searchsorted(joint_indices, np.arange(len(swing_joints) + 1)).tolist()
    rest_edges = np.searchsorted(rest_joints, np.arange(len(swing_joints) + 1)).tolist()
    every_frame = np.arange(motion.n_frames, dtype=np.int32)
    tracks: dict[int, Track] = {}
    for n, j in enumerate(swing_joints.tolist()):
        swing_slice, rest_slice = slice(*swing_edges[n : n + 2]), slice(*rest_edges[n : n + 2])
        tracks[j] = Track(
            names[j], means[j], starts[swing_slice], ends[swing_slice], start_rotations[swing_slice],
            rotation_vectors[swing_slice], rest_starts[rest_slice], rest_ends[rest_slice], rest_rotations[rest_slice],
        )  # fmt: skip
    for j, name in enumerate(names):
        if name in left_out:
            tracks[j] = Track(name, means[j], keyed=(KeyedSpan(every_frame, motion.rotations[:, j]),))
    return tuple(tracks[j] for j in range(motion.n_joints))


def _find_contacts(motion: Motion) -> FootContacts:
    return motion.foot_contacts() if motion.height > 0 else FootContacts((), np.zeros((motion.n_frames, 0), bool))


def _fit_paths(motion: Motion, tolerance_mm: float) -> list[Path]:
    moving_joints = np.flatnonzero((motion.translations != motion.translations[:1]).any(axis=(0, 2))).tolist()
    if not moving_joints:
        return []
    # millimetres are undefined without a height: a key on every frame
    tolerance = tolerance_mm / motion.mm_per_unit if motion.height > 0 else 0.0
    return [fit_path(motion.skeleton.names[j], motion.translations[:, j], tolerance) for j in moving_joints]
