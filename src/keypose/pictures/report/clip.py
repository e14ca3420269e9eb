"""A motion and its unbaked twin as the player of a page takes them: points of the body in few whole numbers."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Floats, Ints
from keypose.kinematics import REFERENCE_HEIGHT_MM, up_axis
from keypose.model import KeyedMotion, Motion
from keypose.pictures.figure import Body, body_of
from keypose.pictures.figure.paint import DEPTH_RANGE, LIGHT, LIT, STRIPE, is_crowd
from keypose.pictures.figure.solids import solids_of
from keypose.pictures.figure.sticks import DASHES
from keypose.pictures.svg import clean
from keypose.pictures.view import view_of

MOST_FPS = 60.0
MOST_NUMBERS = 1_500_000  # of points, of both figures: 4 MB in the page
MOST_ERRORS = 200_000  # frames whose error is told
LEAST_FRAMES = 2
WHOLE = 32_767  # the largest int16
FOLLOWED_S = 0.5  # over which the path that the camera follows is smoothed
SIDES = ("left", "middle", "right")


@dataclass(frozen=True)
class PlayedClip:
    """What the player reads, as JSON that can stand in a page, and what was left out of it."""

    text: str
    n_stored: int  # frames
    step: int  # of the motion's frames, from one stored to the next
    rounding_mm: float  # no point is farther off than this along an axis
    left_out: int  # parts of the body that are not drawn


def played_clip(motion: Motion, keyed: KeyedMotion, rebuilt: Motion, errors_mm: Floats | None) -> PlayedClip:
    """The clip for the player; ``errors_mm`` (T, J) is how far joints of ``rebuilt`` are off, if that can be said."""
    body = body_of(motion)
    used = np.unique([point for part in body.parts for point in part.points])
    step = _step(motion, len(used))
    frames = _stored(motion.n_frames, step, keyed.keys)
    mm = REFERENCE_HEIGHT_MM / (motion.height if motion.height > 0 else body.size)
    both = _seen(motion, rebuilt, body, frames, used, mm)  # (F, 2, P, 3)
    path = _followed(both[:, 0].mean(axis=1), motion.fps / step)
    around = both - path[:, None, None]
    unit = max(float(np.abs(around).max()), 1e-9) / WHOLE
    low, high = both.min(axis=(0, 1, 2)), both.max(axis=(0, 1, 2))
    radius = max(radius for part in body.parts for radius in part.radii) * mm
    tall = (high[1] - low[1]) / 2 + radius
    reach = float(np.percentile(np.linalg.norm(around[..., [0, 2]], axis=-1).max(axis=(1, 2)), 98)) + radius
    told = {
        "frames": motion.n_frames,
        "fps": motion.fps,
        "at": _packed(frames.astype("<u4")),
        "unit": unit,
        "keys": keyed.keys.tolist(),
        "parts": _parts(body, used, mm),
        "look": {
            "light": LIGHT.tolist(),
            "lit": LIT,
            "stripe": STRIPE,
            "depth": DEPTH_RANGE * body.size * mm,
            "dashed": is_crowd(solids_of(body)),
            "dashes": DASHES,
        },
        "floor": float(np.percentile(both[:, 0, :, 1].min(axis=1), 5)),
        "middle": [float((low[0] + high[0]) / 2), float((low[1] + high[1]) / 2), float((low[2] + high[2]) / 2)],
        "near": [reach, tall],
        "whole": [max(float(np.hypot(*(high - low)[[0, 2]])) / 2 + radius, reach), tall],
        "places": _packed(np.rint(around / unit).astype("<i2")),
        "path": _packed(path.astype("<f4")),
        **_errors(motion, errors_mm),
    }
    return PlayedClip(_as_json(told), len(frames), step, unit / 2, body.left_out)


def _step(motion: Motion, points: int) -> int:
    """How many frames to go on from one that is stored to the next."""
    most = max(LEAST_FRAMES, MOST_NUMBERS // (6 * points))
    return max(1, round(motion.fps / MOST_FPS), math.ceil((motion.n_frames - 1) / (most - 1)))


def _stored(n_frames: int, step: int, keys: Ints) -> Ints:
    """Every ``step``-th frame, the last, and as many keys as there are, so that these are seen as they are."""
    some = np.append(np.arange(0, n_frames, step), n_frames - 1)
    return np.unique(np.concatenate((some, keys))).astype(np.int32)


def _seen(motion: Motion, rebuilt: Motion, body: Body, frames: Ints, used: Ints, mm: float) -> Floats:
    """Points (F, 2, P, 3) of both in mm: to the right as the best view has it, up, and towards the viewer.

    They are counted from the middle of the first pose, so that a figure far from its origin loses nothing.
    """
    view = view_of(motion, "best")
    axis, sign = up_axis(motion.up)
    upward = sign * np.eye(3)[axis]
    axes = np.stack((view.right, upward, np.cross(view.right, upward)))
    both = np.stack([body.points_at(each, frames)[:, used] for each in (motion, rebuilt)], axis=1)
    seen: Floats = (both - both[0, 0].mean(axis=0)) @ axes.T * mm
    return seen


def _followed(middles: Floats, fps: float) -> Floats:
    """The way of the body's middle (F, 3), smoothed, so that a camera on it does not shake."""
    reach = min(round(FOLLOWED_S * fps / 2), (len(middles) - 1) // 2)
    if reach < 1:
        return middles
    padded = np.concatenate((middles[:1].repeat(reach, 0), middles, middles[-1:].repeat(reach, 0)))
    sums = np.cumsum(np.concatenate((np.zeros((1, 3)), padded)), axis=0)
    smooth: Floats = (sums[2 * reach + 1 :] - sums[: -2 * reach - 1]) / (2 * reach + 1)
    return smooth


def _parts(body: Body, used: Ints, mm: float) -> list[dict[str, object]]:
    places = {point: place for place, point in enumerate(used.tolist())}
    solids = solids_of(body)
    return [
        {
            "points": [places[point] for point in part.points],
            "radii": [round(radius * mm, 2) for radius in part.radii],
            "side": SIDES.index(part.side),
            "bias": round(bias * body.size * mm, 2),
            "striped": striped,
        }
        for part, bias, (_, striped) in zip(body.parts, solids.bias.tolist(), solids.looks, strict=True)
    ]


def _errors(motion: Motion, errors_mm: Floats | None) -> dict[str, object]:
    """Mean and largest error of frames in steps of ``off_unit``, and the joint that the largest is of."""
    if errors_mm is None:
        return {"off": "", "worst": "", "joints": []}
    step = math.ceil(len(errors_mm) / MOST_ERRORS)
    some = errors_mm[::step]
    worst = some.argmax(axis=1)
    joints, which = np.unique(worst, return_inverse=True)
    off = np.stack((some.mean(axis=1), some.max(axis=1)), axis=1)
    unit = max(float(off.max()), 1e-9) / (2 * WHOLE)
    return {
        "off": _packed(np.rint(off / unit).astype("<u2")),
        "off_unit": unit,
        "off_step": step,
        "worst": _packed(which.astype("<u2")),
        "joints": [clean(motion.skeleton.names[joint], 60) for joint in joints.tolist()],
    }


def _packed(numbers: NDArray[np.generic]) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()


def _as_json(told: dict[str, object]) -> str:
    """JSON that can stand in a script element: nothing in it ends one."""
    text = json.dumps(told, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
