"""HTML of the 3D player, accessible by keyboard and screen reader."""

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
from keypose.pictures.figure import Body, build_body
from keypose.pictures.figure.body import build_solids
from keypose.pictures.figure.paint import DASHES, DEPTH_RANGE, LIGHT, LIT_RADIUS, STRIPE, uses_strokes
from keypose.pictures.page import escape_text, read_package_text
from keypose.pictures.svg import number
from keypose.pictures.view import build_view
from keypose.validation import clean_line

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0)
SHORTCUTS = (
    ("Space", "play and pause"),
    (", .", "previous, next frame"),
    ("P N", "previous, next key"),
    ("Home End", "first, last frame"),
    ("← → ↑ ↓", "turn the view (when it has the focus)"),
    ("+ - 0", "zoom in, zoom out, reset view"),
)

MAX_FPS = 60.0
MAX_NUMBERS = 1_500_000  # coordinates of both figures: 4 MB in the page
MAX_ERROR_FRAMES = 200_000  # frames with stored errors
MIN_FRAMES = 2
INT16_MAX = 32_767
SMOOTHING_S = 0.5  # window of the smoothed camera path
SIDES = ("left", "middle", "right")


def player_script() -> str:
    """Return the script shared by all players of a page."""
    return "".join(read_package_text("keypose.pictures.report", name) for name in ("scene.js", "player.js"))


def player_style() -> str:
    """Return the style of the player."""
    return read_package_text("keypose.pictures.report", "player.css")


def render_player(clip: PlayerClip, motion: Motion, keyed: KeyedMotion, id: str) -> str:
    """Return the HTML of one player; ``id`` is unique in the page."""
    last = motion.n_frames - 1
    return (
        f'<div class="player" id="{id}" data-clip="{id}-clip" role="group" aria-label="3D player">\n'
        f'<div class="stage" data-part="stage" tabindex="0" role="group" aria-label="3D view" '
        f'aria-describedby="{id}-help" data-needs-script hidden>'
        f'<canvas role="img" aria-label="Original and unbaked motion of {escape_text(motion.name)}, one frame of it">'
        f"</canvas>"
        f'<div class="tags" data-part="tags" aria-hidden="true"><span class="side">original</span>'
        f'<span class="side">unbaked</span><span class="over">unbaked, over the original in grey</span></div></div>\n'
        f'<div class="controls" data-needs-script hidden>'
        f'<div class="line"><div class="scrub"><input type="range" data-part="scrub" min="0" max="{last}" step="1" '
        f'value="0" aria-label="Frame">{_key_marks(keyed)}</div></div>\n'
        f'<div class="line">{_render_buttons()}{_render_choices(id)}</div>\n'
        f'<p class="status"><output data-part="status"></output></p></div>\n'
        f"<noscript><p>The player needs JavaScript; the strip above shows the key poses without it.</p></noscript>\n"
        f'<p class="quiet help" id="{id}-help" data-needs-script hidden>{_render_help()}. '
        f"Drag to turn; the mouse wheel zooms when the view has the focus.</p>\n"
        f'<script type="application/json" id="{id}-clip">{clip.text}</script></div>\n'
    )


def _key_marks(keyed: KeyedMotion) -> str:
    """Return a mark at each key along the slider; extremes are longer than breakdowns."""
    last = max(keyed.n_frames - 1, 1)
    marks = "".join(
        f"M{number(1000 * frame / last)} 0V{10 if is_extreme else 6}"
        for frame, is_extreme in zip(keyed.keys.tolist(), keyed.extremes.tolist(), strict=True)
    )
    return (f'<svg class="marks" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<path d="{marks}" vector-effect="non-scaling-stroke"/></svg>')  # fmt: skip


def _render_buttons() -> str:
    buttons = (
        ("play", "Play", ""),
        ("first", "◂ key", "Previous key"),
        ("back", "◂", "Previous frame"),
        ("on", "▸", "Next frame"),
        ("next", "key ▸", "Next key"),
    )
    return '<span class="buttons">' + "".join(
        f'<button type="button" data-part="{part}"{_label(label)}>{text}</button>' for part, text, label in buttons
    ) + "</span>"  # fmt: skip


def _label(label: str) -> str:
    return f' aria-label="{label}" title="{label}"' if label else ""


def _render_choices(id: str) -> str:
    speeds = "".join(
        f'<option value="{speed:g}"{" selected" if speed == 1 else ""}>{speed:g} ×</option>' for speed in SPEEDS
    )
    return (
        f'<label>View <select data-part="view"><option value="side" selected>side by side</option>'
        f'<option value="over">overlaid</option></select></label>'
        f'<label>Speed <select data-part="speed">{speeds}</select></label>'
        f'<label><input type="checkbox" data-part="loop" checked> Loop</label>'
        f'<label><input type="checkbox" data-part="follow" checked> Follow</label>'
        f'<button type="button" data-part="reset">Reset view</button>'
    )


def _render_help() -> str:
    return " · ".join(
        " ".join(f"<kbd>{escape_text(key)}</kbd>" for key in keys.split(" ")) + f" {action}"
        for keys, action in SHORTCUTS
    )


@dataclass(frozen=True)
class PlayerClip:
    """JSON for the player, safe within a script element, and what it leaves out."""

    text: str
    n_stored_frames: int
    step: int  # motion frames between two stored frames
    rounding_mm: float  # maximum rounding error along an axis
    n_omitted: int  # hulls of the figure that are not drawn


def build_player_clip(motion: Motion, keyed: KeyedMotion, rebuilt: Motion, errors_mm: Floats | None) -> PlayerClip:
    """Build the data of the player; ``errors_mm`` (T, J) are joint errors of ``rebuilt``, or None."""
    body = build_body(motion)
    used_points = np.unique([point for hull in body.hulls for point in hull.points])
    step = _frame_step(motion, len(used_points))
    frames = _stored_frames(motion.n_frames, step, keyed.keys)
    mm_per_unit = REFERENCE_HEIGHT_MM / (motion.height if motion.height > 0 else body.size)
    points = _points_in_view(motion, rebuilt, body, frames, used_points, mm_per_unit)  # (F, 2, P, 3)
    path = _smooth_path(points[:, 0].mean(axis=1), motion.fps / step)
    relative_points = points - path[:, None, None]
    unit = max(float(np.abs(relative_points).max()), 1e-9) / INT16_MAX
    low, high = points.min(axis=(0, 1, 2)), points.max(axis=(0, 1, 2))
    radius = max(radius for hull in body.hulls for radius in hull.radii) * mm_per_unit
    half_height = (high[1] - low[1]) / 2 + radius
    reach = float(np.percentile(np.linalg.norm(relative_points[..., [0, 2]], axis=-1).max(axis=(1, 2)), 98)) + radius
    payload = {
        "n_frames": motion.n_frames,
        "fps": motion.fps,
        "stored_frames": _encode_base64(frames.astype("<u4")),
        "unit": unit,
        "keys": keyed.keys.tolist(),
        "parts": _hull_rows(body, used_points, mm_per_unit),
        "shading": {
            "light": LIGHT.tolist(),
            "lit": LIT_RADIUS,
            "stripe": STRIPE,
            "depth": DEPTH_RANGE * body.size * mm_per_unit,
            "dashed": uses_strokes(build_solids(body)),
            "dashes": DASHES,
        },
        "floor": float(np.percentile(points[:, 0, :, 1].min(axis=1), 5)),
        "middle": [float((low[0] + high[0]) / 2), float((low[1] + high[1]) / 2), float((low[2] + high[2]) / 2)],
        "close_view": [reach, half_height],
        "full_view": [max(float(np.hypot(*(high - low)[[0, 2]])) / 2 + radius, reach), half_height],
        "positions": _encode_base64(np.rint(relative_points / unit).astype("<i2")),
        "path": _encode_base64(path.astype("<f4")),
        **_errors(motion, errors_mm),
    }
    return PlayerClip(_encode_json(payload), len(frames), step, unit / 2, body.n_omitted)


def _frame_step(motion: Motion, n_points: int) -> int:
    """Return the number of motion frames between two stored frames."""
    max_frames = max(MIN_FRAMES, MAX_NUMBERS // (6 * n_points))
    return max(1, round(motion.fps / MAX_FPS), math.ceil((motion.n_frames - 1) / (max_frames - 1)))


def _stored_frames(n_frames: int, step: int, keys: Ints) -> Ints:
    """Return every ``step``-th frame, the last frame and all keys, so that keys are exact."""
    frames = np.append(np.arange(0, n_frames, step), n_frames - 1)
    return np.unique(np.concatenate((frames, keys))).astype(np.int32)


def _points_in_view(
    motion: Motion, rebuilt: Motion, body: Body, frames: Ints, used_points: Ints, mm_per_unit: float
) -> Floats:
    """Return points (F, 2, P, 3) of both motions in mm: right in the best view, up, and towards the viewer.

    Coordinates are relative to the centre of the first pose, for precision if the figure is far from the origin.
    """
    view = build_view(motion, "best")
    axis, sign = up_axis(motion.up)
    upward = sign * np.eye(3)[axis]
    axes = np.stack((view.right, upward, np.cross(view.right, upward)))
    world_points = np.stack([body.points_at(each, frames)[:, used_points] for each in (motion, rebuilt)], axis=1)
    view_points: Floats = (world_points - world_points[0, 0].mean(axis=0)) @ axes.T * mm_per_unit
    return view_points


def _smooth_path(centres: Floats, fps: float) -> Floats:
    """Return the smoothed path of the body's centre (F, 3), for a steady camera."""
    reach = min(round(SMOOTHING_S * fps / 2), (len(centres) - 1) // 2)
    if reach < 1:
        return centres
    padded_centres = np.concatenate((centres[:1].repeat(reach, 0), centres, centres[-1:].repeat(reach, 0)))
    sums = np.cumsum(np.concatenate((np.zeros((1, 3)), padded_centres)), axis=0)
    smooth: Floats = (sums[2 * reach + 1 :] - sums[: -2 * reach - 1]) / (2 * reach + 1)
    return smooth


def _hull_rows(body: Body, used_points: Ints, mm_per_unit: float) -> list[dict[str, object]]:
    indices = {point: index for index, point in enumerate(used_points.tolist())}
    solids = build_solids(body)
    return [
        {
            "points": [indices[point] for point in hull.points],
            "radii": [round(radius * mm_per_unit, 2) for radius in hull.radii],
            "side": SIDES.index(hull.side),
            "bias": round(bias * body.size * mm_per_unit, 2),
            "striped": is_striped,
        }
        for hull, bias, (_, is_striped) in zip(body.hulls, solids.bias.tolist(), solids.styles, strict=True)
    ]


def _errors(motion: Motion, errors_mm: Floats | None) -> dict[str, object]:
    """Return mean and largest error of frames in units of ``error_unit``, and the joint of the largest."""
    if errors_mm is None:
        return {"errors": "", "worst_joints": "", "joint_names": []}
    step = math.ceil(len(errors_mm) / MAX_ERROR_FRAMES)
    errors = errors_mm[::step]
    worst = errors.argmax(axis=1)
    joints, joint_indices = np.unique(worst, return_inverse=True)
    frame_errors = np.stack((errors.mean(axis=1), errors.max(axis=1)), axis=1)
    unit = max(float(frame_errors.max()), 1e-9) / (2 * INT16_MAX)
    return {
        "errors": _encode_base64(np.rint(frame_errors / unit).astype("<u2")),
        "error_unit": unit,
        "error_step": step,
        "worst_joints": _encode_base64(joint_indices.astype("<u2")),
        "joint_names": [clean_line(motion.skeleton.names[joint], 60) for joint in joints.tolist()],
    }


def _encode_base64(numbers: NDArray[np.generic]) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).tobytes()).decode()


def _encode_json(payload: dict[str, object]) -> str:
    """Return JSON that cannot end a script element."""
    text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
