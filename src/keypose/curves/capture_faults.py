"""Faults of a capture: flips and spikes, what they are, how they are found, and how they are bridged.

In a flip a joint turns over from one frame to the next, and back within a few frames. Capture systems produce them in
thumbs, hands and feet. Where several joints turn over at once and the limbs stay in place, only the angles are odd:
that is no flip. In a spike a joint, or the whole body, jumps away for a single frame, farther than anything moves
shortly before and after. Both are faults, not motion. Fitted curves omit flips. They follow spikes, which may be much
smaller; those are named where they become keys. ``repair_capture`` bridges both.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints, freeze
from keypose.errors import FormatWarning, Hint, format_count
from keypose.model import Motion, Skeleton
from keypose.model.motion import check_motion
from keypose.rotations import align_signs, angle_between, normalise, slerp

FLIP_RAD = np.pi / 2  # smallest step from one frame to the next
RETURN_RAD = np.pi / 4  # largest rotation between the frames before and after
MAX_FLIP_S = 0.1
MAX_FLIP_JOINTS, MAX_FLIPS = 6, 3  # joints that a text lists, and flips of each
MAX_SPIKES = 6  # that a text lists

# A spike is compared with the frames up to this time, and this number, before and after it.
SPIKE_REACH_S, MIN_REACH_FRAMES = 0.1, 5
# Its size over the largest acceleration of these frames, both in the joint's own values, and of the point that moves
# farthest.
MIN_JOINT_RATIO, MIN_POINT_RATIO, MIN_LEAF_RATIO = 2.0, 3.0, 3.5
# Smallest size: of a turn and a shift of a joint, of what they move, and of the turn of a joint that moves nothing.
MIN_TURN_RAD, MIN_SHIFT_MM, MIN_MOVED_MM, MIN_LEAF_TURN_DEG = np.deg2rad(2.0), 5.0, 10.0, 20.0
MIN_COSINE = 0.5  # between the offsets of a spike from where the frames before it, around it and after it lead to
MAX_REMAINDER = 0.5  # of the size of a spike, without the joints that jump


class Flip(NamedTuple):
    """Frames ``start`` to ``stop`` (exclusive) in which a joint is turned over."""

    joint: int
    start: int
    stop: int


def find_flips(motion: Motion) -> tuple[Flip, ...]:
    """Return the flips of a motion: joints that turn over, and whose limbs move more evenly without that."""
    is_leaf = leaf_joints(motion.skeleton)
    flips: list[Flip] = []
    others: list[Flip] = []
    for flip in find_turnovers(motion.rotations, motion.fps):
        (flips if is_leaf[flip.joint] else others).append(flip)
    for group in _group_overlapping(others):
        flips += group if _moves_limbs(motion, group) else []
    return tuple(sorted(flips, key=lambda flip: (flip.start, flip.joint)))


def _group_overlapping(flips: Iterable[Flip]) -> list[list[Flip]]:
    """Return groups of ``flips``, sorted by start, that overlap or follow each other at once."""
    groups: list[list[Flip]] = []
    stop = -1
    for flip in flips:
        if flip.start > stop + 1:
            groups.append([])
        groups[-1].append(flip)
        stop = max(stop, flip.stop)
    return groups


def _moves_limbs(motion: Motion, flips: Sequence[Flip]) -> bool:
    """Return whether the joint that ``flips`` move farthest has a smaller largest acceleration without them."""
    first = max(0, min(flip.start for flip in flips) - 2)
    part = motion[first : max(flip.stop for flip in flips) + 2]
    shifted = [Flip(joint, start - first, stop - first) for joint, start, stop in flips]
    bridged = replace(part, rotations=freeze(bridge_rotations(part.rotations, shifted)))
    captured, even = part.world_positions(), bridged.world_positions()
    joint = int(np.linalg.norm(even - captured, axis=-1).max(axis=0).argmax())
    captured_bend, even_bend = (np.diff(points[:, joint], n=2, axis=0) for points in (captured, even))
    return bool(np.linalg.norm(even_bend, axis=-1).max() < np.linalg.norm(captured_bend, axis=-1).max())


def find_turnovers(rotations: Floats, fps: float) -> tuple[Flip, ...]:
    """Return steps of ``rotations`` (T, J, 4) by over 90 degrees that return within ``MAX_FLIP_S``, by start."""
    max_frames = max(1, round(MAX_FLIP_S * fps))
    is_step = np.abs(np.einsum("tjc,tjc->tj", rotations[:-1], rotations[1:])) < np.cos(FLIP_RAD / 2)
    flips = []
    for joint in np.flatnonzero(is_step.any(axis=0)).tolist():
        curve, stop = rotations[:, joint], 0
        for last_before in np.flatnonzero(is_step[:, joint]).tolist():
            if last_before < stop:  # the step back
                continue
            start = last_before + 1
            cosines = np.abs(curve[start : start + max_frames + 1] @ curve[last_before])
            returned = np.flatnonzero(cosines >= np.cos(RETURN_RAD / 2))
            if len(returned):
                stop = start + int(returned[0])
                flips.append(Flip(joint, start, stop))
    return tuple(sorted(flips, key=lambda flip: (flip.start, flip.joint)))


def list_flips(motion: Motion) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the first and last frame of each flip, by the name of the joint."""
    flips: dict[str, tuple[tuple[int, int], ...]] = {}
    for joint, start, stop in find_flips(motion):
        name = motion.skeleton.names[joint]
        flips[name] = (*flips.get(name, ()), (start, stop - 1))
    return flips


def describe_flips(flips: Mapping[str, Sequence[tuple[int, int]]]) -> str:
    """Return the joints that flip and the frames, first ones if there are many, as text."""
    joints = []
    for joint, spans in list(flips.items())[:MAX_FLIP_JOINTS]:
        frames = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:MAX_FLIPS]]
        more = f" and {len(spans) - MAX_FLIPS} more" if len(spans) > MAX_FLIPS else ""
        is_one = len(spans) == 1 and spans[0][0] == spans[0][1]
        joints.append(f"{joint} in {'frame' if is_one else 'frames'} {', '.join(frames)}{more}")
    if len(flips) > MAX_FLIP_JOINTS:
        joints.append(f"{len(flips) - MAX_FLIP_JOINTS} more joints")
    return "; ".join(joints)


class FlipFlags(NamedTuple):
    """Which joints flips concern in each frame: those that turn over, and those below them, which they move."""

    is_turned: Bools  # (T, J)
    is_moved: Bools  # (T, J)


def flag_flips(motion: Motion) -> FlipFlags:
    """Return the joints that flips of a motion turn over, and those that they move, in each frame."""
    is_turned, is_moved = np.zeros((2, motion.n_frames, motion.n_joints), bool)
    for joint, start, stop in find_flips(motion):
        is_turned[start:stop, joint] = True
    for joint, parent in enumerate(motion.skeleton.parents.tolist()):  # parents come first
        if parent >= 0:
            is_moved[:, joint] = is_moved[:, parent] | is_turned[:, parent]
    return FlipFlags(is_turned, is_moved)


def bridge_rotations(rotations: Floats, spans: Iterable[Flip]) -> Floats:
    """Return ``rotations`` (T, J, 4) with those of ``spans`` replaced by even turns from the frame before to that
    after."""
    bridged = rotations.copy()
    for joint, start, stop in spans:
        fractions = (np.arange(start, stop) - start + 1.0) / (stop - start + 1)
        ends = np.broadcast_to(rotations[[start - 1, stop], joint][:, None], (2, stop - start, 4))
        bridged[start:stop, joint] = normalise(slerp(ends[0], ends[1], fractions[:, None]))
    return bridged


def remove_flips(motion: Motion) -> Motion:
    """Return ``motion`` without the flips that move other joints; the motion itself if there are none.

    Flips of leaf joints, which move none, remain; ``build_channels`` removes them.
    """
    is_leaf = leaf_joints(motion.skeleton)
    flips = [flip for flip in find_flips(motion) if not is_leaf[flip.joint]]
    return replace(motion, rotations=freeze(bridge_rotations(motion.rotations, flips))) if flips else motion


def leaf_joints(skeleton: Skeleton) -> Bools:
    """Return flags (J,) of the joints without children: their rotations move no other joint."""
    flags = np.ones(skeleton.n_joints, bool)
    flags[skeleton.parents[skeleton.parents >= 0]] = False
    return flags


class CaptureFault(NamedTuple):
    """A flip or spike of the capture: frames in which a joint is somewhere else than just before and after."""

    kind: Literal["flip", "spike"]
    joint: str  # of several that jump at once the uppermost one
    first_frame: int
    last_frame: int  # of a spike the same
    size_mm: float  # farthest that it moves anything, on a figure of 1.7 m
    size_deg: float  # farthest that it turns a joint


class _Jump(NamedTuple):
    """The joints whose own values jump in one frame."""

    frame: int
    turned: tuple[int, ...]
    shifted: tuple[int, ...]


def find_capture_faults(motion: Motion) -> tuple[CaptureFault, ...]:
    """Return the flips and spikes of a motion, by frame; none of a figure without height.

    A one-frame flip is no spike as well. The first and last two frames have no spikes.
    """
    check_motion(motion)
    if motion.height <= 0:
        return ()
    flips = find_flips(motion)
    without_flips = _bridge(motion, flips)
    faults = [*_describe_flips(motion, flips), *find_spikes(without_flips)]
    return tuple(sorted(faults, key=lambda fault: (fault.first_frame, fault.kind)))


def repair_capture(motion: Motion) -> Motion:
    """Return ``motion`` without its flips and spikes; the motion itself if there are none.

    Where a joint is turned over or jumps away, it moves evenly from the frame before to the frame after. All other
    frames and joints stay as they are. A note says which frames were repaired; ``find_capture_faults`` lists them.
    """
    check_motion(motion)
    if motion.height <= 0:
        return motion
    flips = find_flips(motion)
    without_flips = _bridge(motion, flips)
    spikes = list(_find_spike_jumps(without_flips, None))
    if not flips and not spikes:
        return motion
    faults = [*_describe_flips(motion, flips), *(fault for fault, _ in spikes)]
    repaired = _bridge_jumps(without_flips, [jump for _, jump in spikes])
    note = f"repaired: {describe_faults(sorted(faults, key=lambda fault: fault.first_frame))}"
    return replace(repaired, notes=(*motion.notes, note))


def find_spikes(motion: Motion, frames: Ints | None = None) -> tuple[CaptureFault, ...]:
    """Return the spikes of a motion among ``frames``, by default all; none of a figure without height."""
    return () if motion.height <= 0 else tuple(fault for fault, _ in _find_spike_jumps(motion, frames))


def warn_of_spikes(motion: Motion, keys: Ints) -> None:
    """Issue a FormatWarning with code ``spike``, whose value is the CaptureFault, for each spike at a key or beside it:
    curves with keys on both sides follow it, too."""
    near = np.unique(np.concatenate((keys - 1, keys, keys + 1))).astype(np.int32)
    for spike in find_spikes(motion, near):
        warnings.warn(
            FormatWarning(
                f"a key is at or beside a spike: {describe_faults((spike,))}",
                code="spike",
                subject=motion.name,
                value=spike,
                hint=Hint("kp.repair_capture(motion) removes spikes", "--repair removes spikes"),
            ),
            stacklevel=3,
        )


@contextmanager
def without_spike_warnings() -> Iterator[None]:
    """Ignore warnings of spikes, as for a search whose keys nobody sees."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*a key is at or beside a spike", FormatWarning)
        yield


def describe_faults(faults: Sequence[CaptureFault]) -> str:
    """Return flips and spikes as text, the first ones if there are many."""
    texts = []
    for fault in faults[:MAX_SPIKES]:
        is_one = fault.first_frame == fault.last_frame
        frames = f"frame {fault.first_frame}" if is_one else f"frames {fault.first_frame}-{fault.last_frame}"
        size = f"{fault.size_mm:.0f} mm" if fault.size_mm >= MIN_MOVED_MM else f"{fault.size_deg:.0f} degrees"
        texts.append(f"{frames}: {fault.joint} jumps by {size} and back" if fault.kind == "spike" else
                     f"{frames}: {fault.joint} turns over")  # fmt: skip
    more = len(faults) - MAX_SPIKES
    return "; ".join([*texts, *([f"{format_count(more, 'more fault')}"] if more > 0 else [])])


def _describe_flips(motion: Motion, flips: Sequence[Flip]) -> Iterator[CaptureFault]:
    for flip in flips:
        first = max(0, flip.start - 1)
        part = motion[first : flip.stop + 1]
        even = _bridge(part, [Flip(flip.joint, flip.start - first, flip.stop - first)])
        moved = np.linalg.norm(_points(part) - _points(even), axis=-1).max()
        turned = angle_between(part.rotations[:, flip.joint], even.rotations[:, flip.joint]).max()
        name = motion.skeleton.names[flip.joint]
        yield CaptureFault(
            "flip", name, flip.start, flip.stop - 1, float(moved * motion.mm_per_unit), float(np.rad2deg(turned))
        )


def _find_spike_jumps(motion: Motion, frames: Ints | None) -> Iterator[tuple[CaptureFault, _Jump]]:
    """Yield each spike with the joints that jump."""
    at = np.arange(motion.n_frames, dtype=np.int32) if frames is None else frames
    at = at[(at >= 2) & (at < motion.n_frames - 2)]
    if not len(at):
        return
    reach = max(MIN_REACH_FRAMES, round(SPIKE_REACH_S * motion.fps))
    # A unit quaternion moves by half the angle.
    turned = _find_jumps(motion.rotations, at, reach, MIN_TURN_RAD / 2.0, MIN_JOINT_RATIO)
    shifted = _find_jumps(motion.translations, at, reach, MIN_SHIFT_MM / motion.mm_per_unit, MIN_JOINT_RATIO)
    for frame in sorted({*turned, *shifted}):
        jump = _Jump(frame, tuple(turned.get(frame, ())), tuple(shifted.get(frame, ())))
        spike = _measure_spike(motion, jump, reach)
        if spike is not None:
            yield spike, jump


def _find_jumps(values: Floats, frames: Ints, reach: int, min_size: float, min_ratio: float) -> dict[int, list[int]]:
    """Return the columns of ``values`` (T, N, C) that jump away in a single one of ``frames``, by frame; with four
    components they are quaternions."""
    bends = 2 * values[frames] - _align(values[frames - 1], values[frames]) - _align(values[frames + 1], values[frames])
    rows, columns = np.nonzero(np.einsum("tnc,tnc->tn", bends, bends) >= (2 * min_size) ** 2)
    sizes = _jump_sizes(values, frames[rows], columns)
    jumps: dict[int, list[int]] = {}
    for pair in np.flatnonzero(sizes >= min_size).tolist():
        frame, column = int(frames[rows[pair]]), int(columns[pair])
        first = max(0, frame - reach - 1)
        around = values[first : frame + reach + 2, column]
        if sizes[pair] >= min_ratio * _roughness(around, frame - first):
            jumps.setdefault(frame, []).append(column)
    return jumps


def _jump_sizes(values: Floats, frames: Ints, columns: NDArray[np.intp]) -> Floats:
    """Return how far columns of ``values`` (T, N, C) at ``frames`` are from where the two frames before them lead to,
    from where the two frames after them come from, and from the middle of their neighbours: the least of the three; 0
    if these are not all on one side."""
    centre = values[frames, columns]
    x = {k: _align(values[frames + k, columns], centre) for k in (-2, -1, 1, 2)}
    offsets = [centre - expected for expected in (2 * x[-1] - x[-2], (x[-1] + x[1]) / 2.0, 2 * x[1] - x[2])]
    lengths = [np.linalg.norm(offset, axis=-1) for offset in offsets]
    is_one_side = np.ones(lengths[0].shape, bool)
    for n in (0, 2):
        cosines = np.einsum("nc,nc->n", offsets[n], offsets[1])
        is_one_side &= cosines >= MIN_COSINE * lengths[n] * lengths[1]
    return np.where(is_one_side, np.minimum(np.minimum(lengths[0], lengths[1]), lengths[2]), 0.0)


def _align(values: Floats, reference: Floats) -> Floats:
    """Return quaternions with the sign that is nearest to the ``reference``; other values as they are."""
    if values.shape[-1] != 4:
        return values
    return np.where(np.einsum("...c,...c->...", values, reference)[..., None] < 0, -values, values)


def _roughness(path: Floats, frame: int) -> float:
    """Return the largest second difference of ``path`` (T, C) that does not contain ``frame``."""
    continuous = align_signs(path[:, None])[:, 0] if path.shape[1] == 4 else path
    second = np.linalg.norm(np.diff(continuous, n=2, axis=0), axis=-1)  # that at frame t is number t - 1
    second[max(0, frame - 2) : frame + 1] = 0.0
    return float(second.max(initial=0.0))


def _measure_spike(motion: Motion, jump: _Jump, reach: int) -> CaptureFault | None:
    """Return the spike of joints that jump in one frame; None if the body stays where it is, or would jump without
    them too."""
    first = max(0, jump.frame - reach - 1)
    part, frame = motion[first : jump.frame + reach + 2], jump.frame - first
    even = _bridge_jumps(part, [jump._replace(frame=frame)])
    captured, at = _points(part), np.array([frame], np.int32)
    min_size = MIN_MOVED_MM / motion.mm_per_unit
    points = _find_jumps(captured, at, reach, min_size, MIN_POINT_RATIO).get(frame, [])
    columns = np.arange(captured.shape[1])
    sizes, sizes_without = (
        _jump_sizes(each, np.full(len(columns), frame, np.int32), columns) for each in (captured, _points(even))
    )
    turns = np.rad2deg(angle_between(part.rotations[frame], even.rotations[frame]))
    is_leaf = leaf_joints(motion.skeleton)
    leaf_turns = _find_jumps(part.rotations, at, reach, np.deg2rad(MIN_LEAF_TURN_DEG) / 2.0, MIN_LEAF_RATIO).get(
        frame, []
    )
    size = sizes[points].max(initial=0.0)
    if not (size > 0 and sizes_without.max() <= MAX_REMAINDER * size) and not any(is_leaf[leaf_turns]):
        return None
    joint = motion.skeleton.names[min(jump.turned + jump.shifted)]
    moved = size or np.linalg.norm(captured[frame] - _points(even)[frame], axis=-1).max()
    size_mm = float(moved) * motion.mm_per_unit
    return CaptureFault("spike", joint, jump.frame, jump.frame, size_mm, float(turns.max()))


def _bridge(motion: Motion, flips: Sequence[Flip]) -> Motion:
    return replace(motion, rotations=freeze(bridge_rotations(motion.rotations, flips))) if flips else motion


def _bridge_jumps(motion: Motion, jumps: Sequence[_Jump]) -> Motion:
    """Return the motion with the values of each jump replaced by those halfway between its two neighbours."""
    turns = [Flip(joint, jump.frame, jump.frame + 1) for jump in jumps for joint in jump.turned]
    translations = motion.translations.copy()
    for jump in jumps:
        joints = list(jump.shifted)
        translations[jump.frame, joints] = motion.translations[[jump.frame - 1, jump.frame + 1]][:, joints].mean(axis=0)
    return replace(_bridge(motion, turns), translations=freeze(translations))


def _points(motion: Motion) -> Floats:
    """Return the positions (T, J + E, 3) of joints and end sites in the world."""
    return np.concatenate((motion.world_positions(), motion.end_positions()), axis=1)
