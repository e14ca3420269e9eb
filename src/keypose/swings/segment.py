"""Motion into swings: for each joint the spans in which it turns about nearly one axis (Chia 2009).

Velocities ``log(R_t^-1 R_t+1)`` are smoothed by a box. Around each frame it is measured how far the axes of its
neighbours are from its own. From the steadiest free frame on a swing grows to the left or right, whichever axis is
nearer, while the mean difference from the first frame's axis stays within the threshold; then from the next free one.
Read differently from the thesis: growth goes by the angle between axes (its formula, read as 1 - cos, is the metric
``"cosine"``), and its windows of frames at 60 per second are times, so that any frame rate will do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from keypose import _core
from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.model import FootContacts, Motion, Skeleton
from keypose.swings.fallback import with_keys
from keypose.swings.means import mean_of, means_of
from keypose.swings.noun import Swings
from keypose.swings.parts import KeyedSpan
from keypose.swings.path import Path, fit_path
from keypose.swings.settings import Fallback, Metric, Settings
from keypose.swings.track import Track

Spans = tuple[Ints, Ints, Ints]  # joints, starts, ends
_SMALL = re.compile(r"(?:left_|right_)?(?:toe|big_toe|ball|palm|fingers|thumb|index|middle|ring|pinky)")


def swings(
    motion: Motion,
    threshold: float = Settings.threshold,
    *,
    metric: Metric = Settings.metric,
    smoothing_s: float = Settings.smoothing_s,
    window_s: float = Settings.window_s,
    least_s: float = Settings.least_s,
    rest_rad_per_s: float = Settings.rest_rad_per_s,
    left_out: str | Sequence[str] | None = None,
    fallback: Fallback | None = Settings.fallback,
    fallback_deg: float = Settings.fallback_deg,
    translation_mm: float = Settings.translation_mm,
) -> Swings:
    """A motion as swings of its joints.

    ``threshold``: the acceptable swing error, the mean difference of a swing's axes from that of the frame it grew
    from: 0 keeps only what turns about one axis exactly, pi takes anything. ``metric``: differences are angles in
    radians or, ``"cosine"``, 1 minus their cosines. ``smoothing_s``: the box that smooths velocities. ``window_s``: the
    window that tells where an axis is steady. ``least_s``: shorter swings are dropped. ``rest_rad_per_s``: slower
    frames are rest. ``left_out``: joints, parts or groups that are kept frame by frame; by default fingers, thumbs
    and toes, as in the thesis.

    ``fallback="keys"``: where swings leave a joint's turn farther off than ``fallback_deg`` degrees, it is kept by
    keys, which leave it no farther off. Translations of joints that move about are kept by curves through keys
    that leave them at most ``translation_mm`` off, on a figure of 1.7 m (0: a key on every frame).
    """
    if not isinstance(motion, Motion):
        raise OptionError(f"{type(motion).__name__}, expected a Motion, as kp.load gives it")
    settings = Settings(
        threshold=threshold,
        metric=metric,
        smoothing_s=smoothing_s,
        window_s=window_s,
        least_s=least_s,
        rest_rad_per_s=rest_rad_per_s,
        fallback=fallback,
        fallback_deg=fallback_deg,
        translation_mm=translation_mm,
        left_out=_left_out_names(motion.skeleton, left_out),
    )
    return segmented(motion, settings)


def segmented(motion: Motion, settings: Settings) -> Swings:
    """The same with all settings in one."""
    found = Swings(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        tracks=thesis_tracks(motion, settings),
        places=motion.translations[0],
        paths=tuple(_paths(motion, settings.translation_mm)),
        contacts=_contacts(motion),
        settings=settings,
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
    )
    return found if settings.fallback is None else with_keys(motion, found, settings.fallback_deg)


def _left_out_names(skeleton: Skeleton, wanted: str | Sequence[str] | None) -> tuple[str, ...]:
    """The joints that are kept frame by frame, in the skeleton's order."""
    if wanted is None:
        parts = skeleton.anatomy.parts
        joints = {j for j, part in enumerate(parts) if part is not None and _SMALL.match(part)}
    elif isinstance(wanted, str | list | tuple):
        joints = set(skeleton.joints([wanted] if isinstance(wanted, str) else list(wanted)))
    else:
        raise OptionError(f"left_out={wanted!r}, expected names of joints, body parts or groups")
    return tuple(skeleton.names[j] for j in sorted(joints))


def spans(rotations: Floats, fps: float, settings: Settings) -> tuple[Spans, Floats, Spans]:
    """Swings of joints (T, N, 4) by joint, start and end, their turns (S, 3), and rests; in order of joints."""
    return _core.swing_spans(
        rotations,
        max(1, round(settings.smoothing_s * fps)),
        max(1, round(settings.window_s * fps / 2)),
        max(2, round(settings.least_s * fps)),
        settings.rest_rad_per_s / fps,
        settings.threshold,
        settings.metric == "cosine",
    )


def thesis_tracks(motion: Motion, settings: Settings) -> tuple[Track, ...]:
    """A track for each joint: swings and rests, or a key on every frame of joints that are left out."""
    names, out = motion.skeleton.names, frozenset(settings.left_out)
    swung = np.array([j for j, name in enumerate(names) if name not in out], np.intp)
    turning = np.ascontiguousarray(motion.rotations[:, swung])
    (of, starts, ends), turns, (rest_of, rest_starts, rest_ends) = spans(turning, motion.fps, settings)
    start_rotations = turning[starts, of]
    rest_rotations = means_of(turning, rest_of, rest_starts, rest_ends)
    means = mean_of(motion.rotations)
    swing_edges = np.searchsorted(of, np.arange(len(swung) + 1)).tolist()
    rest_edges = np.searchsorted(rest_of, np.arange(len(swung) + 1)).tolist()
    every_frame = np.arange(motion.n_frames, dtype=np.int32)
    tracks: dict[int, Track] = {}
    for n, j in enumerate(swung.tolist()):
        some, still = slice(*swing_edges[n : n + 2]), slice(*rest_edges[n : n + 2])
        tracks[j] = Track(
            names[j], means[j], starts[some], ends[some], start_rotations[some], turns[some],
            rest_starts[still], rest_ends[still], rest_rotations[still],
        )  # fmt: skip
    for j, name in enumerate(names):
        if name in out:
            tracks[j] = Track(name, means[j], keyed=(KeyedSpan(every_frame, motion.rotations[:, j]),))
    return tuple(tracks[j] for j in range(motion.n_joints))


def _contacts(motion: Motion) -> FootContacts:
    return motion.foot_contacts() if motion.height > 0 else FootContacts((), np.zeros((motion.n_frames, 0), bool))


def _paths(motion: Motion, tolerance_mm: float) -> list[Path]:
    moving = np.flatnonzero((motion.translations != motion.translations[:1]).any(axis=(0, 2))).tolist()
    if not moving:
        return []
    # without a height there are no millimetres: then every frame is kept
    tolerance = tolerance_mm / motion.mm_per_unit if motion.height > 0 else 0.0
    return [fit_path(motion.skeleton.names[j], motion.translations[:, j], tolerance) for j in moving]
