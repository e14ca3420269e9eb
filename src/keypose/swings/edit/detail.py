"""Apply edits of swings to the capture and preserve its detail, which swings do not represent.

The detail of a joint is the rotation from its unedited swings to the capture. It moves with swings that are moved in
time, and is scaled where the whole motion of a joint is scaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from keypose.arrays import Bools, Floats, freeze
from keypose.model import Motion
from keypose.rotations import (
    IDENTITY,
    align_signs,
    angle_between,
    at_frames,
    conjugate,
    exp,
    log,
    multiply,
    normalise,
    rotate,
)
from keypose.swings.edit.pieces import nearest_branch
from keypose.swings.fallback import mean_rotation
from keypose.swings.model import Swings

SMOOTHING_S = 0.1  # window that smooths steps of the edit at adapted seams
STEP_RATIO, MIN_STEP = 2.0, np.deg2rad(0.5)  # minimum ratio of a step to its neighbours, and minimum angle of a step


MIN_DETAIL = 0.5  # share of the detail from which on steps are smoothed


def apply_to_capture(
    capture: Motion,
    base: Swings,
    swings: Swings,
    source: Floats | None,
    gains: Mapping[int, float],
    warps: Mapping[int, Floats],
    shares: Mapping[int, Floats],
) -> Motion:
    """Return ``capture`` rotated, in each joint's parent, by the difference from the swings ``base`` to ``swings``.

    ``source`` (T,): the frame of the capture, which may be fractional, of each frame; None: the same. By joint:
    ``gains``, factors of the distance from the mean; ``warps`` (T,), the frame of ``base`` that corresponds to each
    frame; ``shares`` (T,), the share of the detail that remains. Joints that do not change, and frames farther than
    ``spread_frames`` from any change, are exact copies of the capture.
    """
    frames = np.arange(swings.n_frames, dtype=np.float64)
    clip_times = frames if source is None else source
    retimed = capture if source is None else capture.at_frames(source)
    rotations = retimed.rotations.copy()
    for j, (base_track, new_track) in enumerate(zip(base.tracks, swings.tracks, strict=True)):
        gain, warp, share = gains.get(j, 1.0), warps.get(j), shares.get(j)
        if base_track is new_track and gain == 1 and warp is None and share is None:
            continue
        source_times = frames if warp is None else warp
        captured_rotations = retimed.rotations[:, j]
        if warp is not None:
            captured_rotations = at_frames(capture.rotations[:, j], np.interp(warp, frames, clip_times))
        base_rotations, is_changed = base_track.sample(source_times), source_times != frames
        if share is not None:
            captured_rotations = np.where(
                share[:, None] < 1, _scale_detail(captured_rotations, base_rotations, share), captured_rotations
            )
            is_changed |= share < 1
        if gain != 1:
            base_rotations, captured_rotations = (
                scale_about(base_track.mean_rotation, each, gain) for each in (base_rotations, captured_rotations)
            )
            is_changed[:] = True
        is_changed, new_rotations = _apply_edit(
            captured_rotations, base_rotations, new_track.sample(frames), is_changed, share, spread_frames(swings.fps)
        )
        rotations[is_changed, j] = new_rotations[is_changed]
    return replace(
        retimed, name=swings.name, fps=swings.fps, first_frame=swings.first_frame, rotations=freeze(rotations)
    )


def spread_frames(fps: float) -> int:
    """Return the number of frames by which smoothing extends the range of an edit on both sides."""
    return round(SMOOTHING_S * fps / 2)


def _scale_detail(captured_rotations: Floats, base_rotations: Floats, share: Floats) -> Floats:
    """Return ``captured_rotations`` (T, 4) with a share (T,) of their difference from ``base_rotations`` (T, 4)."""
    detail = log(multiply(conjugate(base_rotations), captured_rotations))
    return normalise(multiply(base_rotations, exp(share[:, None] * detail)))


def _apply_edit(
    captured_rotations: Floats,
    base_rotations: Floats,
    edited_rotations: Floats,
    is_changed: Bools,
    share: Floats | None,
    spread: int,
) -> tuple[Bools, Floats]:
    """Return flags (T,) of the frames of one joint that change, and its new rotations (T, 4)."""
    is_same = (edited_rotations == base_rotations).all(axis=1)
    edit_rotations = align_signs(
        np.where(is_same[:, None], np.array(IDENTITY), multiply(edited_rotations, conjugate(base_rotations)))
    )
    is_step = _find_steps(edit_rotations)
    if share is not None:
        # without detail, the steps of the edit are those of the base, and cancel each other out
        is_step &= share > MIN_DETAIL
    is_near_step = _dilate(is_step, spread)
    edit_rotations[is_near_step] = _moving_average(edit_rotations, 2 * spread + 1)[is_near_step]
    return is_changed | is_near_step | ~is_same, normalise(multiply(normalise(edit_rotations), captured_rotations))


def _find_steps(rotations: Floats) -> Bools:
    """Return flags (T,) of frames beside a step in rotations (T, 4): a change much larger than its neighbours."""
    is_step = np.zeros(len(rotations), bool)
    if len(rotations) < 4:
        return is_step
    steps = angle_between(rotations[1:], rotations[:-1])
    neighbour_steps = np.maximum(np.append(0.0, steps[:-1]), np.append(steps[1:], 0.0))
    sudden = np.flatnonzero(steps > STEP_RATIO * neighbour_steps + MIN_STEP)
    is_step[sudden] = is_step[sudden + 1] = True
    return is_step


def _dilate(frames: Bools, spread: int) -> Bools:
    """Return flags (T,) widened by ``spread`` frames on both sides."""
    counts = np.convolve(frames, np.ones(2 * spread + 1))
    return np.asarray(counts[spread : spread + len(frames)] > 0.5)


def _moving_average(values: Floats, box: int) -> Floats:
    """Return means (T, C) over ``box`` frames around each.

    Beyond the ends the values are mirrored at the end value, so that the first and the last frame do not change.
    """
    padding = ((box // 2, box // 2), (0, 0))
    padded_values = np.pad(values, padding, mode="reflect", reflect_type="odd")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded_values, box, axis=0).mean(axis=-1))


def scale_about(mean: Floats, rotations: Floats, factor: float) -> Floats:
    """Return successive rotations (K, 4) scaled about the mean (4,); about their own mean if they make full turns."""
    offsets, is_far = _offsets_from_mean(mean, rotations)
    if not is_far:
        return normalise(multiply(mean, exp(factor * offsets)))
    mean = mean_rotation(rotations)
    offsets, _ = _offsets_from_mean(mean, rotations)
    candidates = (_scale_full_turns(mean, rotations, factor), normalise(multiply(mean, exp(factor * offsets))))
    expected_step = factor * _largest_step(rotations)
    return min(candidates, key=lambda some: abs(_largest_step(some) - expected_step))


def _offsets_from_mean(mean: Floats, rotations: Floats) -> tuple[Floats, bool]:
    """Return continuous rotation vectors (K, 3) from the mean (4,) to rotations (K, 4), and whether any is far.

    A rotation is far if it is more than half a turn away.
    """
    rotation_vectors = log(multiply(conjugate(mean), rotations))
    if (np.linalg.norm(np.diff(rotation_vectors, axis=0), axis=1) <= np.pi).all():
        return rotation_vectors, False
    followed = _follow_branches(rotation_vectors, 0)
    # start at the key nearest to the mean, or at the middle one of several such keys
    distances = np.linalg.norm(rotation_vectors, axis=1) + 0.1 * np.linalg.norm(
        followed - followed.mean(axis=0), axis=1
    )
    return _follow_branches(rotation_vectors, int(distances.argmin())), True


def _follow_branches(rotation_vectors: Floats, start: int) -> Floats:
    """Return equivalent rotation vectors (K, 3), each nearest to the one beside it, from key ``start`` on."""
    rotation_vectors = rotation_vectors.copy()
    for k in range(start + 1, len(rotation_vectors)):
        rotation_vectors[k] = nearest_branch(rotation_vectors[k : k + 1], rotation_vectors[k - 1 : k])[0]
    for k in range(start - 1, -1, -1):
        rotation_vectors[k] = nearest_branch(rotation_vectors[k : k + 1], rotation_vectors[k + 1 : k + 2])[0]
    return rotation_vectors


def _scale_full_turns(mean: Floats, rotations: Floats, factor: float) -> Floats:
    """Return rotations (K, 4) scaled about their mean (4,), separately about their main axis and across it.

    About a full turn from the mean the axis of a rotation is ill-defined, and a slight lean would become a large one.
    """
    steps = log(multiply(rotations[1:], conjugate(rotations[:-1])))
    axis = rotate(conjugate(mean), np.linalg.eigh(steps.T @ steps)[1][:, -1])
    offsets = multiply(conjugate(mean), rotations)
    angles = np.unwrap(2.0 * np.arctan2(offsets[:, 1:] @ axis, offsets[:, 0]))
    leans = log(multiply(exp(-angles[:, None] * axis), offsets))
    angles -= 2 * np.pi * np.round(angles.mean() / (2 * np.pi))
    return normalise(multiply(mean, multiply(exp(factor * angles[:, None] * axis), exp(factor * leans))))


def _largest_step(rotations: Floats) -> float:
    return float(angle_between(rotations[:-1], rotations[1:]).max())
