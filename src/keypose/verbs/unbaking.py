"""Dense motion in, a few key poses with fitted curves out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keypose.inbetween.channels import Turning, channels_of
from keypose.inbetween.keyed import Interpolation, keyed_motion, with_residual
from keypose.model import KeyedMotion, Motion, Selection
from keypose.verbs.selecting import select


def unbake(
    motion: Motion,
    selection: Selection | Sequence[int] | None = None,
    *,
    keys: int | None = None,
    tolerance_mm: float | None = None,
    auto: bool = False,
    interpolation: Interpolation = "bezier",
    rotation: Turning = "quaternion",
    shared_tangents: bool = False,
    jump_penalty: float | None = None,
    polish: bool | None = None,
    residual: bool = True,
    extremes: Selection | Sequence[int] | None = None,
    **options: Any,
) -> KeyedMotion:
    """A few key poses with curves between them that come close to ``motion``."""
    if selection is None:
        selection = select(motion, "salient", keys=keys, tolerance_mm=tolerance_mm, auto=auto, **options)
    frames = np.asarray(selection.frames if isinstance(selection, Selection) else selection, np.int32)
    keyed = keyed_motion(
        motion,
        frames,
        interpolation,
        channels_of(motion, rotation),
        shared=shared_tangents,
        jump_penalty=jump_penalty or 0.0,
    )
    return with_residual(keyed, motion) if residual else keyed
