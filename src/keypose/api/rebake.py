"""Add the captured detail to an edited animation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keypose.api.rest_pose_alignment import align_rest_poses
from keypose.api.timing import TIMINGS, Timing, build_timing_map
from keypose.arrays import Ints, freeze
from keypose.errors import OptionError
from keypose.model import KeyedMotion, Motion, Residual, Skeleton
from keypose.rotations import rotate
from keypose.validation import check_choice, check_number

MAX_LISTED_NAMES = 6


def rebake(
    edited: KeyedMotion | Motion, original_keyed: KeyedMotion, residual: float = 0.7, *, timing: Timing = "auto"
) -> Motion:
    """Return ``edited`` with a share ``residual`` of the detail of ``original_keyed``: 0 none, 1 all of it.

    The detail rotates and shifts each joint in its own frame, so it follows the edit. Joints are matched by name. The
    figure may have other units, another up axis and other joint axes, as programs write them: the detail is scaled and
    rotated. A figure with other bones, or another rest pose in its file, is an OptionError.

    ``timing`` assigns detail to frames. ``"keys"``: the n-th key of the edit is the n-th of the original, wherever it
    was moved. ``"frames"``: time is the same in both. ``"auto"``: use the detail of the edit itself, if it has any
    (from ``kp.edit`` and ``.blend`` files); else detail follows moved keys, as far as they can be identified, and stays
    at its frames elsewhere. Notes of the result name the choice.
    """
    if not isinstance(edited, KeyedMotion | Motion):
        raise OptionError(f"{type(edited).__name__}, expected the edited KeyedMotion or Motion")
    if not isinstance(original_keyed, KeyedMotion):
        raise OptionError(f"{type(original_keyed).__name__}, expected the KeyedMotion that was edited")
    captured = original_keyed.residual
    if captured is None:
        raise OptionError(f"{original_keyed.name}: no residual was kept, so there is nothing to put back: use what "
                          "kp.unbake gave, or a file that holds the residual")  # fmt: skip
    share = check_number("residual", residual)
    check_choice("timing", timing, TIMINGS)
    motion = edited.sample() if isinstance(edited, KeyedMotion) else edited
    pairs = _match_joints(motion.skeleton, original_keyed.skeleton)
    if timing == "auto" and isinstance(edited, KeyedMotion) and edited.residual is not None:
        motion_with_detail = edited.sample(share)
        return replace(
            motion_with_detail,
            notes=(*motion_with_detail.notes, "rebake: the edit brings its own detail, which was put back"),
        )
    change = align_rest_poses(motion, original_keyed, pairs.edited, pairs.original)
    timing_map = build_timing_map(edited, original_keyed, captured, timing)
    original_joints = pairs.original
    detail = Residual(
        rotations=freeze(rotate(change.rotations, captured.rotations[:, original_joints])),
        shifts=freeze(change.scale * rotate(change.rotations, captured.shifts[:, original_joints])),
    )
    translations, rotations = motion.translations.copy(), motion.rotations.copy()
    if share:  # with 0 the edit is unchanged, bit for bit
        translations[:, pairs.edited], rotations[:, pairs.edited] = detail.apply(
            translations[:, pairs.edited], rotations[:, pairs.edited], timing_map.source_frames, share
        )
    return replace(
        motion,
        translations=freeze(translations),
        rotations=freeze(rotations),
        notes=(*motion.notes, *timing_map.notes, *pairs.notes(motion.skeleton, original_keyed.skeleton)),
    )


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
            f"({_join_names(list(original.names))})"
        )
    edited_joints, original_joints = np.array(pairs, np.int32).T
    return _JointPairs(edited_joints, original_joints)
