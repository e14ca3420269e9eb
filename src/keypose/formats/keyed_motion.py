"""Convert keyed motions for formats with fewer features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keypose.arrays import Floats, freeze
from keypose.curves.channels import Channels
from keypose.curves.keyed_motion import build_keyed_motion
from keypose.formats.base import warn_caller
from keypose.model import Curves, KeyedMotion, Motion, Pose
from keypose.rotations import align_signs

WARN_MM = 0.5  # on a figure of 1.7 m


def key_every_frame(motion: Motion) -> KeyedMotion:
    """Return a dense motion as a keyed one with a key on every frame."""
    return KeyedMotion(
        name=motion.name,
        skeleton=motion.skeleton,
        fps=motion.fps,
        n_frames=motion.n_frames,
        keys=np.arange(motion.n_frames, dtype=np.int32),
        translations=Curves(motion.translations),
        rotations=Curves(freeze(align_signs(motion.rotations))),
        up=motion.up,
        metres_per_unit=motion.metres_per_unit,
        first_frame=motion.first_frame,
        reference_pose=motion.reference_pose,
        notes=motion.notes,
    )


def fit_quaternion_curves(keyed: KeyedMotion) -> KeyedMotion:
    """Return the same keys with quaternion curves, fitted if ``keyed`` has Euler curves; without a residual.

    Warn if the fitted curves deviate visibly.
    """
    if keyed.rotation_orders is None:
        return replace(keyed, residual=None)
    dense = keyed.sample()
    refitted = build_keyed_motion(
        dense,
        keyed.keys,
        channels=Channels(dense.translations, freeze(align_signs(dense.rotations)), None),
    )
    refitted = replace(refitted, extremes=keyed.extremes)
    if keyed.is_cubic:
        refitted = replace(refitted, translations=keyed.translations)
    if dense.height > 0:
        distances = np.linalg.norm(refitted.sample().world_positions() - dense.world_positions(), axis=-1)
        max_mm = float(distances.max()) * dense.mm_per_unit
        if max_mm > WARN_MM:
            warn_caller(
                f"{keyed.name}: the format has no Euler curves; quaternion curves through the same keys are up to "
                f"{max_mm:.1f} mm away from them, on a figure of 1.7 m"
            )
    return refitted


def prepend_key_pose(keyed: KeyedMotion, pose: Pose) -> KeyedMotion:
    """Return ``keyed`` (quaternion curves) with ``pose`` as an extra first frame and key; without a residual."""
    is_held = bool(keyed.keys[0] > 0)  # the first pose holds before the first key
    sign = np.where(np.sum(pose.rotations * keyed.rotations.values[0], axis=-1, keepdims=True) < 0, -1.0, 1.0)

    def curves(old: Curves, first: Floats) -> Curves:
        values = np.concatenate((first[None], old.values[:1].repeat(is_held, axis=0), old.values))
        if old.in_tangents is None or old.out_tangents is None:
            return Curves(values)
        zeros = np.zeros((1 + is_held, *first.shape))
        in_tangents, out_tangents = np.concatenate((zeros, old.in_tangents)), np.concatenate((zeros, old.out_tangents))
        in_tangents[1] = out_tangents[0] = values[1] - values[0]
        if is_held:
            in_tangents[2] = 0.0
        return Curves(values, in_tangents, out_tangents)

    return replace(
        keyed,
        n_frames=keyed.n_frames + 1,
        keys=np.concatenate(([0, 1] if is_held else [0], keyed.keys + 1)),
        translations=curves(keyed.translations, pose.translations),
        rotations=curves(keyed.rotations, sign * pose.rotations),
        extremes=np.concatenate(([True, False] if is_held else [True], keyed.extremes)),
        first_frame=keyed.first_frame - 1,
        residual=None,
    )
