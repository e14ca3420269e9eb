"""Add the captured detail to an edited animation; its keys may have been moved, added and deleted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias, get_args

import numpy as np

from keypose.api.rest_pose_alignment import align_rest_poses
from keypose.arrays import Floats, Ints, freeze
from keypose.errors import Hint, OptionError
from keypose.model import KeyedMotion, Motion, Residual, Skeleton
from keypose.model.motion import WHOLE_RATIO_TOLERANCE
from keypose.options import RebakeOptions, Timing, check_option_number
from keypose.rotations import angle_between, rotate
from keypose.validation import check_choice

MAX_LISTED_NAMES = 6

TIMINGS: tuple[Timing, ...] = get_args(Timing)

SAME_ROTATION_RAD = np.deg2rad(2.0)  # rotations between two keys with a smaller difference are equal
FRAME_TOLERANCE = 1e-3  # frames
KeyPair: TypeAlias = tuple[int, int]  # indices of a key in the edit and in the original


def rebake(
    edited: KeyedMotion | Motion, original_keyed: KeyedMotion, residual: float = 0.7, *, timing: Timing = "auto"
) -> Motion:
    """Return ``edited`` with a share ``residual`` of the detail of ``original_keyed``: 0 none, 1 all of it.

    The detail rotates and shifts each joint in its own frame, so it follows the edit. Joints are matched by name. The
    figure may have other units, another up axis and other joint axes, as programs write them: the detail is scaled and
    rotated. A figure with other bones, or another rest pose in its file, is an OptionError.

    ``timing`` assigns detail to frames. ``"keys"``: the n-th key of the edit is the n-th of the original, wherever it
    was moved. ``"frames"``: time is the same in both. ``"auto"``: use the detail of the edit itself, if it has any
    (from ``kp.edit`` and ``.blend`` files); else detail is moved with moved keys, as far as they can be identified, and
    is not moved elsewhere. Notes of the result state the choice.
    """
    if not isinstance(edited, KeyedMotion | Motion):
        raise OptionError(type(edited).__name__, expected="the edited KeyedMotion or Motion")
    if not isinstance(original_keyed, KeyedMotion):
        raise OptionError(type(original_keyed).__name__, expected="the KeyedMotion that was edited")
    result = compute_rebake(edited, original_keyed, check_option_number(RebakeOptions, "residual", residual), timing)
    return replace(result.motion, notes=(*result.motion.notes, *result.timing_notes))


class Rebake(NamedTuple):
    """An edit with its detail, and how the detail was timed."""

    motion: Motion  # without the notes about the timing
    uses_own_detail: bool  # that of the edit itself
    n_moved_keys: int  # with their detail; 0 if the edit's own detail is used

    @property
    def timing_notes(self) -> tuple[str, ...]:
        """Return the notes about the timing of the detail."""
        if self.uses_own_detail:
            return ("rebake: the edit has its own detail, which was added back",)
        if self.n_moved_keys:
            which = "1 key was" if self.n_moved_keys == 1 else f"{self.n_moved_keys} keys were"
            return (f"rebake: {which} moved in time together with the detail",)
        return ()


def compute_rebake(edited: KeyedMotion | Motion, original_keyed: KeyedMotion, share: float, timing: Timing) -> Rebake:
    """Return what ``rebake`` returns, with the timing as fields."""
    captured = original_keyed.residual
    if captured is None:
        raise OptionError(
            "no residual is stored, so there is no detail to add back",
            code="no_residual",
            subject=original_keyed.name,
            hint=Hint(
                "use what kp.unbake gave, or a file that holds the residual",
                "use what keypose unbake wrote, or a file that holds the residual",
            ),
        )
    check_choice("timing", timing, TIMINGS)
    motion = edited.sample() if isinstance(edited, KeyedMotion) else edited
    pairs = _match_joints(motion.skeleton, original_keyed.skeleton)
    if timing == "auto" and isinstance(edited, KeyedMotion) and edited.residual is not None:
        return Rebake(edited.sample(share), uses_own_detail=True, n_moved_keys=0)
    change = align_rest_poses(motion, original_keyed, pairs.edited, pairs.original)
    timing_map = build_timing_map(edited, original_keyed, captured, timing)
    original_joints = pairs.original
    detail = Residual(
        rotations=freeze(rotate(change.rotations, captured.rotations[:, original_joints])),
        shifts=freeze(change.scale * rotate(change.rotations, captured.shifts[:, original_joints])),
    )
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    if share:  # with 0 the edit does not change, bit for bit
        translations[:, pairs.edited], rotations[:, pairs.edited] = detail.apply(
            translations[:, pairs.edited], rotations[:, pairs.edited], timing_map.source_frames, share
        )
    rebaked = replace(
        motion,
        translations=freeze(translations),
        rotations=freeze(rotations),
        notes=(*motion.notes, *timing_map.notes, *pairs.notes(motion.skeleton, original_keyed.skeleton)),
    )
    return Rebake(rebaked, uses_own_detail=False, n_moved_keys=timing_map.n_moved_keys)


# Matching of joints


@dataclass(frozen=True)
class _JointPairs:
    """Pairs of joints of the edit and of the original with the same name."""

    edited: Ints  # (P,) joints of the edit
    original: Ints  # (P,) joints of the original

    def notes(self, edited: Skeleton, original: Skeleton) -> tuple[str, ...]:
        """Return notes about joints that only one figure has."""
        only_edited = [name for name in edited.names if name not in original.names]
        only_original = [name for name in original.names if name not in edited.names]
        notes = []
        if only_edited:
            notes.append(f"rebake: no detail for {_join_names(only_edited)}: not in the original")
        if only_original:
            notes.append(f"rebake: detail of {_join_names(only_original)} left out: not in the edit")
        return tuple(notes)


def _join_names(names: list[str]) -> str:
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return ", ".join(names[:MAX_LISTED_NAMES]) + more


def _match_joints(edited: Skeleton, original: Skeleton) -> _JointPairs:
    index = {name: j for j, name in enumerate(original.names)}
    pairs = [(j, index[name]) for j, name in enumerate(edited.names) if name in index]
    if not pairs:
        raise OptionError(
            f"no joint of the edit ({_join_names(list(edited.names))}) has the name of one of the original "
            f"({_join_names(list(original.names))})",
            code="different_motions",
        )
    edited_joints, original_joints = np.array(pairs, np.int32).T
    return _JointPairs(edited_joints, original_joints)


class TimingMap(NamedTuple):
    """The frame of the detail that each frame of an edit uses."""

    source_frames: Floats  # (T,)
    n_moved_keys: int  # with their detail
    n_late_frames: int  # beyond the end of the original

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the note about late frames, if there are any."""
        if not self.n_late_frames:
            return ()
        n_late = self.n_late_frames
        which = "last frame lies" if n_late == 1 else f"last {n_late} frames lie"
        return (
            f"rebake: the {which} beyond the original's end and {'holds' if n_late == 1 else 'hold'} its last detail",
        )


def build_timing_map(
    edited: KeyedMotion | Motion, original: KeyedMotion, detail: Residual, timing: Timing
) -> TimingMap:
    """Return the timing of the detail of ``original`` in ``edited``."""
    frames = np.arange(edited.n_frames, dtype=np.float64)
    rate = original.fps / edited.fps
    if abs(rate - 1) <= WHOLE_RATIO_TOLERANCE:
        rate = 1.0
    pairs: list[KeyPair] = []
    if timing == "keys":
        if not isinstance(edited, KeyedMotion):
            raise OptionError(
                "needs an edit with keys",
                option="timing",
                value="keys",
                expected=Hint(
                    "a KeyedMotion, as kp.load_keyed gives", "an edit whose file keeps keys: GLB, .keys.json"
                ),
            )
        if edited.n_keys != original.n_keys:
            raise OptionError(
                f"needs as many keys in the edit ({edited.n_keys}) as in the original ({original.n_keys})",
                option="timing",
                value="keys",
                hint=Hint("use timing='frames'", "use --timing frames"),
            )
        pairs = [(k, k) for k in range(edited.n_keys)]
    elif timing == "auto" and isinstance(edited, KeyedMotion):
        pairs = match_keys(edited, original, rate)
    source_frames, n_moved = rate * frames + _trimmed_frames(edited, original), 0
    if pairs and isinstance(edited, KeyedMotion):
        edited_keys, original_keys = edited.keys[[k for k, _ in pairs]], original.keys[[k for _, k in pairs]]
        source_frames = np.interp(frames, edited_keys, original_keys)
        source_frames += rate * (
            np.minimum(0, frames - edited_keys[0]) + np.maximum(0, frames - edited_keys[-1])
        )  # time continues beyond the keys
        n_moved = int((np.abs(rate * edited_keys - original_keys) > FRAME_TOLERANCE).sum())
    n_late = int((source_frames > original.n_frames - 1 + 1e-6).sum())
    return TimingMap(detail.source_frames(source_frames), n_moved, n_late)


def _trimmed_frames(edited: KeyedMotion | Motion, original: KeyedMotion) -> int:
    """Return how many frames of the original were trimmed before the edit, by its frame numbers."""
    cut = edited.first_frame - original.first_frame
    is_part = isinstance(edited, Motion) and 0 < cut <= original.n_frames - edited.n_frames
    return cut if is_part and edited.name == original.name else 0


def match_keys(edited: KeyedMotion, original: KeyedMotion, rate: float) -> list[KeyPair]:
    """Return pairs of corresponding keys of the edit and the original, in order.

    Keys at the same frame correspond; so do keys between two such keys if both motions have the same number of keys
    there. If both have the same number of keys in total, the n-th keys correspond if fewer than half of the frames
    agree, or if the rotations between consecutive keys agree (all keys were moved, some onto the frames of others).
    Rotations between keys do not depend on the axes of the joints.
    """
    edited_keys, original_keys = (rate * edited.keys).tolist(), original.keys.tolist()
    n_in_place = sum(round(frame) in set(original_keys) for frame in edited_keys)
    in_order = [(k, k) for k in range(edited.n_keys)]
    if len(edited_keys) == len(original_keys) and (
        2 * n_in_place < len(edited_keys) or _has_same_rotations(edited, original)
    ):
        return in_order
    return _match_around_anchors(edited_keys, original_keys)


def _match_around_anchors(edited_keys: list[float], original_keys: list[int]) -> list[KeyPair]:
    index = {frame: j for j, frame in enumerate(original_keys)}
    anchors = [(i, index[round(frame)]) for i, frame in enumerate(edited_keys) if round(frame) in index]
    pairs: list[KeyPair] = []
    for (i, j), (k, m) in pairwise([(-1, -1), *anchors, (len(edited_keys), len(original_keys))]):
        if k - i == m - j:
            pairs += zip(range(i + 1, k), range(j + 1, m), strict=True)
        if k < len(edited_keys):
            pairs.append((k, m))
    return pairs


def _has_same_rotations(edited: KeyedMotion, original: KeyedMotion) -> bool:
    """Return whether the joint rotations between consecutive keys agree with the original."""
    common = [name for name in edited.skeleton.names if name in original.skeleton.names]
    steps = []
    for keyed in (edited, original):
        joints = [keyed.skeleton.names.index(name) for name in common]
        rotations = np.stack([pose.rotations[joints] for pose in keyed.poses])
        steps.append(angle_between(rotations[:-1], rotations[1:]))  # (K - 1, common joints)
    return bool((np.abs(steps[0] - steps[1]) < SAME_ROTATION_RAD).all())
