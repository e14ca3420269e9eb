"""Keyed motions made fit for formats that know less of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, give_away
from keypose.formats.base import warn_caller
from keypose.inbetween.channels import Channels
from keypose.inbetween.keyed import keyed_motion
from keypose.model import Curves, KeyedMotion, Motion, Pose
from keypose.rotations import sign_continuous

WARN_MM = 0.5  # on a figure of 1.7 m


def every_frame_a_key(motion: Motion) -> KeyedMotion:
    """A dense motion as a keyed one whose every frame is a key."""
    return KeyedMotion(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        keys=np.arange(motion.n_frames, dtype=np.int32),
        translations=Curves(motion.translations),
        rotations=Curves(give_away(sign_continuous(motion.rotations))),
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
    )


def as_quaternions(keyed: KeyedMotion) -> KeyedMotion:
    """The same keys with quaternion curves, fitted where it has Euler curves; without a residual.

    A warning says how far the two are apart, should that be visible.
    """
    if keyed.rotation_orders is None:
        return replace(keyed, residual=None)
    dense = keyed.sample()
    refitted = keyed_motion(
        dense,
        keyed.keys,
        channels=Channels(dense.translations, give_away(sign_continuous(dense.rotations)), None),
    )
    refitted = replace(refitted, extremes=keyed.extremes)
    if keyed.is_cubic:
        refitted = replace(refitted, translations=keyed.translations)
    if dense.height > 0:
        away = np.linalg.norm(refitted.sample().world_positions() - dense.world_positions(), axis=-1)
        most_mm = float(away.max()) * dense.mm_per_unit
        if most_mm > WARN_MM:
            warn_caller(
                f"{keyed.name}: the format has no Euler curves; quaternion curves through the same keys are up to "
                f"{most_mm:.1f} mm away from them, on a figure of 1.7 m"
            )
    return refitted


def with_first_key(keyed: KeyedMotion, pose: Pose) -> KeyedMotion:
    """``keyed``, of quaternion curves, with ``pose`` as an extra first frame, which is a key; without a residual."""
    held = bool(keyed.keys[0] > 0)  # then the first key pose begins in the frame after
    sign = np.where(np.sum(pose.rotations * keyed.rotations.values[0], axis=-1, keepdims=True) < 0, -1.0, 1.0)

    def curves(old: Curves, first: Floats) -> Curves:
        values = np.concatenate((first[None], old.values[:1].repeat(held, axis=0), old.values))
        if old.arriving is None or old.leaving is None:
            return Curves(values)
        none = np.zeros((1 + held, *first.shape))
        arriving, leaving = np.concatenate((none, old.arriving)), np.concatenate((none, old.leaving))
        arriving[1] = leaving[0] = values[1] - values[0]
        if held:
            arriving[2] = 0.0
        return Curves(values, arriving, leaving)

    return replace(
        keyed,
        n_frames=keyed.n_frames + 1,
        keys=np.concatenate(([0, 1] if held else [0], keyed.keys + 1)),
        translations=curves(keyed.translations, pose.translations),
        rotations=curves(keyed.rotations, sign * pose.rotations),
        extremes=np.concatenate(([True, False] if held else [True], keyed.extremes)),
        first_frame=keyed.first_frame - 1,
        residual=None,
    )
