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
from keypose.errors import OptionError
from keypose.model import FootContacts, Motion, Skeleton
from keypose.options import number, one_of
from keypose.swings.fallback import with_keys
from keypose.swings.noun import Fallback, Metric, Settings, Swings
from keypose.swings.path import Path, fit_path
from keypose.swings.track import KeyedSpan, Track, mean_of, means_of

THRESHOLD = 0.4
LONGEST_WINDOW_S = 10.0
GREATEST_THRESHOLD = float(np.pi)  # every axis is that near
_SMALL = re.compile(r"(?:left_|right_)?(?:toe|big_toe|ball|palm|fingers|thumb|index|middle|ring|pinky)")


def swings(
    motion: Motion,
    threshold: float = THRESHOLD,
    *,
    metric: Metric = "angle",
    smoothing_s: float = 10 / 60,
    window_s: float = 20 / 60,
    least_s: float = 8 / 60,
    rest_rad_per_s: float = 0.003 * 60,
    left_out: str | Sequence[str] | None = None,
    fallback: Fallback | None = None,
    fallback_deg: float = 2.8,
    translation_mm: float = 1.0,
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
        number("threshold", threshold, least=0.0, most=GREATEST_THRESHOLD),
        one_of("metric", metric, ("angle", "cosine")),  # type: ignore[arg-type]
        number("smoothing_s", smoothing_s, least=0.0, most=LONGEST_WINDOW_S),
        number("window_s", window_s, above=0.0, most=LONGEST_WINDOW_S),
        number("least_s", least_s, least=0.0),
        number("rest_rad_per_s", rest_rad_per_s, least=0.0),
        None if fallback is None else one_of("fallback", fallback, ("keys",)),  # type: ignore[arg-type]
        number("fallback_deg", fallback_deg, above=0.0),
        number("translation_mm", translation_mm, least=0.0),
    )
    return segmented(motion, settings, left_out)


def segmented(motion: Motion, settings: Settings, left_out: str | Sequence[str] | None = None) -> Swings:
    """The same with all settings in one."""
    out = set(left_out_joints(motion.skeleton, left_out))
    tracks = thesis_tracks(motion, settings, out)
    found = Swings(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        tracks=tuple(tracks),
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


def left_out_joints(skeleton: Skeleton, names: str | Sequence[str] | None) -> tuple[int, ...]:
    """The joints that are kept frame by frame."""
    if names is not None:
        if not isinstance(names, str | list | tuple):
            raise OptionError(f"left_out={names!r}, expected names of joints, body parts or groups")
        wanted = [names] if isinstance(names, str) else list(names)
        return skeleton.joints(wanted)
    parts = skeleton.anatomy.parts
    return tuple(j for j, part in enumerate(parts) if part is not None and _SMALL.match(part))


def thesis_tracks(motion: Motion, settings: Settings, left_out: set[int]) -> list[Track]:
    """A track for each joint: swings and rests, or a key on every frame of joints that are left out."""
    swung = np.array([j for j in range(motion.n_joints) if j not in left_out], np.intp)
    turning = np.ascontiguousarray(motion.rotations[:, swung])
    (of, starts, ends), turns, (rest_of, rest_starts, rest_ends) = _core.swing_spans(
        turning,
        max(1, round(settings.smoothing_s * motion.fps)),
        max(1, round(settings.window_s * motion.fps / 2)),
        max(2, round(settings.least_s * motion.fps)),
        settings.rest_rad_per_s / motion.fps,
        settings.threshold,
        settings.metric == "cosine",
    )
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
            motion.skeleton.names[j], means[j], starts[some], ends[some], start_rotations[some], turns[some],
            rest_starts[still], rest_ends[still], rest_rotations[still],
        )  # fmt: skip
    for j in left_out:
        span = KeyedSpan(every_frame, motion.rotations[:, j])
        tracks[j] = Track(motion.skeleton.names[j], means[j], keyed=(span,))
    return [tracks[j] for j in range(motion.n_joints)]


def _contacts(motion: Motion) -> FootContacts:
    return motion.foot_contacts() if motion.height > 0 else FootContacts((), np.zeros((motion.n_frames, 0), bool))


def _paths(motion: Motion, tolerance_mm: float) -> list[Path]:
    moving = np.flatnonzero((motion.translations != motion.translations[:1]).any(axis=(0, 2))).tolist()
    if not moving:
        return []
    # without a height there are no millimetres: then every frame is kept
    tolerance = tolerance_mm / motion.mm_per_unit if motion.height > 0 else 0.0
    return [fit_path(motion.skeleton.names[j], motion.translations[:, j], tolerance) for j in moving]
