"""Write BVH, with the rotation orders, channels, names and frame time of the file that the motion came from."""

from __future__ import annotations

import math
import re

import numpy as np

from keypose import _core
from keypose.arrays import Floats
from keypose.errors import FormatWarning, format_count
from keypose.formats.base import SaveOptions, warn_caller
from keypose.formats.orientation import find_up, number_duplicates, prepend_pose, rotate_to_y_up
from keypose.model import Motion
from keypose.model.skeleton import POSITION_CHANNELS, ROTATION_CHANNELS
from keypose.rotations import AXES

DECIMALS = 6
MAX_LISTED_JOINTS = 5
_MIN_ROTATION_DEG = 1e-4  # smaller rotations and translations are ignored
_MIN_TRANSLATION_UNITS = 1e-6
_MIN_TRANSLATION_OF_HEIGHT = 1e-6  # positions of 32 bits, as in FBX files, vary by less


def write(motion: Motion, suffix: str, options: SaveOptions) -> bytes:
    """Encode a BVH file. A joint whose movement does not fit its channels gets the channels it needs."""
    if options.reference_pose and motion.reference_pose is not None:
        motion = prepend_pose(motion, motion.reference_pose)
    if find_up(motion.skeleton, motion.translations, motion.rotations) != motion.up:
        motion = rotate_to_y_up(motion)  # BVH cannot state the up axis: readers expect Y
    euler = motion.euler_curves()
    channels = _required_channels(motion, euler)
    lines = ["HIERARCHY", *hierarchy_lines(motion, channels), "MOTION"]
    lines += [f"Frames: {motion.n_frames}", f"Frame Time: {1.0 / motion.fps:.15g}", ""]
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    return text + _core.format_rows(_channel_rows(motion, euler, channels), _decimals(motion))


def _decimals(motion: Motion) -> int:
    """Return the number of decimals for a millionth of a unit, or of the height if the figure is less than a unit
    tall."""
    height = motion.height
    return DECIMALS if height >= 1 or height <= 0 else min(17, DECIMALS + math.ceil(-math.log10(height)))


def _required_channels(motion: Motion, euler: Floats) -> list[tuple[str, ...]]:
    """Return the channels of each joint, extended where the joint moves or rotates outside its own channels."""
    s = motion.skeleton
    min_translation = max(_MIN_TRANSLATION_UNITS, _MIN_TRANSLATION_OF_HEIGHT * motion.height)
    moves = np.abs(motion.translations - s.offsets).max(axis=0) > min_translation  # (J, 3) by axis
    rotates = np.abs(euler).max(axis=0) > _MIN_ROTATION_DEG  # (J, 3) by index in the order
    required = []
    for j, (own_channels, order) in enumerate(zip(s.channels, s.rotation_orders, strict=True)):
        channels = own_channels
        if any(moves[j, AXES.index(c[0])] for c in POSITION_CHANNELS if c not in channels):
            channels = POSITION_CHANNELS + tuple(c for c in channels if c in ROTATION_CHANNELS)
        if any(rotates[j, k] for k, axis in enumerate(order) if f"{axis}rotation" not in channels):
            positions = tuple(c for c in channels if c in POSITION_CHANNELS)
            channels = positions + tuple(f"{axis}rotation" for axis in order)
        required.append(channels)
    extended = [j for j, channels in enumerate(required) if channels != s.channels[j]]
    if extended:
        _warn_added_channels(motion, extended, required[extended[0]])
    if not any(required):  # a file without channels could not contain frames
        required[0] = POSITION_CHANNELS + tuple(f"{axis}rotation" for axis in s.rotation_orders[0])
    return required


def _warn_added_channels(motion: Motion, joints: list[int], channels: tuple[str, ...]) -> None:
    """Warn about joints that are written with further channels; ``channels`` are those of the first."""
    names = [motion.skeleton.names[j] for j in joints]
    if len(joints) == 1:
        own_channels = " ".join(motion.skeleton.channels[joints[0]]) or "none"
        problem = f"joint {names[0]} moves outside its channels ({own_channels})"
        hint = f"written with {' '.join(channels)}"
    else:
        listing = ", ".join(names[:MAX_LISTED_JOINTS]) + (", ..." if len(names) > MAX_LISTED_JOINTS else "")
        problem = f"{len(joints)} of {format_count(motion.n_joints, 'joint')} move outside their channels ({listing})"
        hint = "written with the channels that they need"
    warn_caller(FormatWarning(problem, code="channels_added", subject=motion.name, value=len(joints), hint=hint))


def hierarchy_lines(motion: Motion, channels: list[tuple[str, ...]], *, exact: bool = False) -> list[str]:
    """Return the lines of the joints with these ``channels``; offsets exact or to nine digits."""
    s = motion.skeleton
    triple = _exact_triple if exact else _short_triple
    names, _ = number_duplicates([_clean_name(name) for name in s.names])
    children: list[list[int]] = [[] for _ in s.names]
    for j, parent in enumerate(s.parents.tolist()):
        if parent >= 0:
            children[parent].append(j)
    lines: list[str] = []
    stack: list[tuple[int, int] | str] = [(root, 0) for root in reversed(s.roots)]  # (joint, depth) or a line
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        j, depth = item
        indent = "\t" * depth
        lines += [f"{indent}{'JOINT' if depth else 'ROOT'} {names[j]}", f"{indent}{{"]
        lines.append(f"{indent}\tOFFSET {triple(s.offsets[j])}")
        lines.append(f"{indent}\tCHANNELS {' '.join((str(len(channels[j])), *channels[j]))}")
        for e in np.flatnonzero(s.end_joints == j):
            lines += [f"{indent}\tEnd Site", f"{indent}\t{{", f"{indent}\t\tOFFSET {triple(s.end_offsets[e])}"]
            lines.append(f"{indent}\t}}")
        stack.append(f"{indent}}}")
        stack += [(child, depth + 1) for child in reversed(children[j])]
    return lines


def _clean_name(name: str) -> str:
    """Return the name without braces and line ends, not empty."""
    # These cannot be encoded; other surrogates are escaped bytes.
    name = re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", name)
    return " ".join(re.sub(r"[{}]", "_", name).split()) or "joint"


def _short_triple(vector: Floats) -> str:
    return " ".join(f"{x:.9g}" for x in (vector + 0.0).tolist())


def _exact_triple(vector: Floats) -> str:
    return " ".join(map(repr, vector.tolist()))


def _channel_rows(motion: Motion, euler: Floats, channels: list[tuple[str, ...]]) -> Floats:
    columns = []
    for j in file_order(motion.skeleton.parents.tolist()):
        for channel in channels[j]:
            if channel in POSITION_CHANNELS:
                columns.append(motion.translations[:, j, AXES.index(channel[0])])
            else:
                columns.append(euler[:, j, motion.skeleton.rotation_orders[j].index(channel[0])])
    return np.stack(columns, axis=1) if columns else np.zeros((motion.n_frames, 0))


def file_order(parents: list[int]) -> list[int]:
    """Return the joints depth first, the order in which the hierarchy is written."""
    children: dict[int, list[int]] = {}
    for j, parent in enumerate(parents):
        children.setdefault(parent, []).append(j)
    order, stack = [], list(reversed(children.get(-1, [])))
    while stack:
        j = stack.pop()
        order.append(j)
        stack += reversed(children.get(j, []))
    return order
