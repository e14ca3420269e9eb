"""USD (UsdSkel): skeletons and their animation in .usda, .usdc and .usd files.

OpenUSD reads the file in a child process (``subprocess_readers``), as it crashes on some damaged files. Referenced
files are not opened. A joint's rest rotation is part of its local rotation here, as in the file; an upright rest pose
becomes the reference pose. Scales and the transforms above the skeleton are applied to the poses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import ModelError, format_count
from keypose.formats.base import Extra, Format, Source
from keypose.formats.local_poses import LocalPoses, decompose, find_reference_pose, remove_scales
from keypose.formats.orientation import unique_names
from keypose.formats.subprocess_readers import (
    Arrays,
    ExternalLibrary,
    Facts,
    list_animations_in_subprocess,
    normalise_rotations,
    note_animations,
    note_not_read,
    read_array,
    read_in_subprocess,
    read_positive,
    read_strings,
)
from keypose.formats.usd.write import KeyposeData, read_keypose_data, write, write_keyed
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.options import LoadOptions
from keypose.rotations import IDENTITY

_EXTRA = Extra("usd", "pxr")
_OPENUSD = ExternalLibrary("OpenUSD", "usd_reader.py", 2 << 30, "reading USD", _EXTRA)
_BINARY_MAGIC = b"PXR-USDC"


def read(source: Source, options: LoadOptions) -> Motion:
    """Read one skeleton of a USD file and its animation."""
    arrays, facts = read_in_subprocess(source, _OPENUSD, _script_suffix(source), options)
    try:
        return _build_motion(source, options, arrays, facts)
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None


def list_animations(source: Source, options: LoadOptions) -> list[str]:
    """Return the names of the animations of a USD file."""
    return list_animations_in_subprocess(source, _OPENUSD, _script_suffix(source), options)


def _script_suffix(source: Source) -> str:
    return ".usdc" if source.data.startswith(_BINARY_MAGIC) else ".usda"


def _build_motion(source: Source, options: LoadOptions, arrays: Arrays, facts: Facts) -> Motion:
    _note_omissions(source, facts)
    joints, parents = _read_hierarchy(source, facts)
    poses, rest = _read_local_poses(source, arrays, facts, joints, parents)
    world_from_skeleton = read_array(source, arrays, "world_from_skeleton", (None, 4, 4)).swapaxes(-1, -2)
    if len(world_from_skeleton) != 1 and len(world_from_skeleton) != len(poses.translations):
        raise source.error(
            f"{len(world_from_skeleton)} transforms of the skeleton", code="inconsistent", expected="one per frame"
        )
    if poses.is_scaled and not poses.is_evenly_scaled:
        source.warn(
            "joints have a non-uniform or animated scale: their positions are preserved, their scale is not",
            code="uneven_scale",
        )
    # Products of scales may overflow; large numbers are refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        translations, rotations = remove_scales(poses, parents, world_from_skeleton)
        offsets, rest_rotations = remove_scales(rest, parents, world_from_skeleton[:1])
    skeleton = Skeleton(unique_names(source, _read_names(source, facts, joints)), parents, offsets[0])
    up: Up = "Z" if facts.get("up") == "Z" else "Y"
    keypose_data = read_keypose_data(source, facts.get("keypose"), skeleton, up) or KeyposeData(skeleton, up, None)
    translations, rotations = keypose_data.to_own_axes(translations, rotations)
    reference, skip = keypose_data.reference_pose, 0
    if reference is None:
        rest_pose = Pose(offsets[0], rest_rotations[0])
        reference, skip = find_reference_pose(source, options, skeleton, translations, rotations, rest_pose, up)
        # In a file of Keypose the rest pose is only the bind pose.
        if keypose_data.skeleton is not skeleton and not skip:
            reference = None
    metres = facts.get("metres_per_unit") if keypose_data.is_unit_known else None
    return Motion(
        name=source.name,
        skeleton=keypose_data.skeleton,
        fps=read_positive(source, facts.get("rate"), "frames per second"),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up=keypose_data.up,
        metres_per_unit=None if metres is None else read_positive(source, metres, "metres per unit"),
        first_frame=skip + _first_frame(facts.get("first")),
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _note_omissions(source: Source, facts: Facts) -> None:
    """Add notes and warnings about what is not read."""
    if skipped_files := read_strings(source, facts, "skipped_files"):
        source.warn(
            f"it references {skipped_files[0]!r}, which is not loaded; expected a file without references",
            code="unread_reference",
            value=skipped_files[0],
        )
    note_animations(source, facts)
    note_not_read(source, facts)
    if not facts.get("bound", True):
        source.note(f"{facts.get('chosen')} is bound to no skeleton; the skeleton with most of its joints is used")


def _read_hierarchy(source: Source, facts: Facts) -> tuple[list[str], Ints]:
    """Return the joint paths, parents before children, and the parent (J,) of each: its nearest listed ancestor."""
    joints = read_strings(source, facts, "joints")
    source.check_joints(len(joints))
    if not joints:
        raise source.error("the Skeleton has no joints", code="missing_data", expected="at least one")
    source.check_depth(max(path.count("/") for path in joints))
    index = {path: j for j, path in enumerate(joints)}
    if len(index) < len(joints) or "" in index:
        raise source.error("a joint path is empty or listed twice", code="inconsistent", expected="each joint once")

    parent_of = {path: next((a for a in _ancestors(path) if a in index), None) for path in joints}
    depth = {path: sum(a in index for a in _ancestors(path)) for path in joints}
    ordered = sorted(joints, key=depth.__getitem__) if _has_child_before_parent(joints, parent_of) else joints
    index = {path: j for j, path in enumerate(ordered)}
    parents = [index[a] if (a := parent_of[path]) is not None else -1 for path in ordered]
    return ordered, np.array(parents, np.int32)


def _ancestors(path: str) -> list[str]:
    """Return the paths above ``path``, the nearest first."""
    cuts = [at for at, letter in enumerate(path) if letter == "/" and at > 0]
    return [path[:at] for at in reversed(cuts)]


def _has_child_before_parent(joints: list[str], parent_of: dict[str, str | None]) -> bool:
    visited: set[str | None] = {None}
    for path in joints:
        if parent_of[path] not in visited:
            return True
        visited.add(path)
    return False


def _read_names(source: Source, facts: Facts, joints: list[str]) -> list[str]:
    """Return the joint names if the file has them, else the last element of each path."""
    paths, names = (read_strings(source, facts, key) for key in ("joints", "joint_names"))
    if len(names) == len(paths) and all(names):
        name_of = dict(zip(paths, names, strict=True))
        return [name_of[path] for path in joints]
    return [path.rsplit("/", 1)[-1] or path for path in joints]


def _read_local_poses(
    source: Source, arrays: Arrays, facts: Facts, joints: list[str], parents: Ints
) -> tuple[LocalPoses, LocalPoses]:
    """Return the poses, with the rest transform for joints that the animation does not move; and the rest pose."""
    listed_index = {path: k for k, path in enumerate(read_strings(source, facts, "joints"))}
    rest = _read_rest(source, arrays, np.array([listed_index[path] for path in joints]), parents)
    animated = read_strings(source, facts, "animated_joints")
    index = {path: j for j, path in enumerate(joints)}
    columns = [k for k, path in enumerate(animated) if path in index]
    joint_columns = [index[animated[k]] for k in columns]
    if not columns:
        raise source.error(
            f"the animation moves none of the skeleton's {format_count(len(joints), 'joint')}", code="missing_data"
        )
    if len(columns) < len(animated):
        source.note(f"{len(animated) - len(columns)} animated joints are not in the skeleton and are left out")
    channels = {
        name: read_array(source, arrays, name, (None, len(animated), width))
        for name, width in (("translations", 3), ("rotations", 4), ("scales", 3))
        if name in arrays
    }
    counts = {len(values) for values in channels.values()} or {1}
    frames = max(counts)
    if len(counts) > 1 or frames == 0:
        raise source.error(f"channels of {sorted(counts)} frames", code="bad_number", expected="one count above 0")
    source.check_size(frames, len(joints))
    if "translations" not in channels and rest is None:
        raise source.error(
            "neither rest transforms nor translations: nothing says how long the bones are", code="missing_data"
        )
    if rest is None:
        rest = LocalPoses(np.zeros((1, len(joints), 3)), *_identity_transforms(len(joints)))
        rest.translations[0, joint_columns] = channels["translations"][0, columns]
        source.note("no rest transforms; the offsets are those of the first frame")
    filled_channels = {}
    for name in ("translations", "rotations", "scales"):
        values = np.repeat(getattr(rest, name), frames, axis=0)
        if name in channels:
            values[:, joint_columns] = channels[name][:, columns]
        filled_channels[name] = values
    poses = LocalPoses(
        filled_channels["translations"],
        normalise_rotations(source, filled_channels["rotations"], joints),
        filled_channels["scales"],
    )
    return poses, LocalPoses(rest.translations, rest.rotations, poses.scales[:1])


def _read_rest(source: Source, arrays: Arrays, order: Ints, parents: Ints) -> LocalPoses | None:
    """Return the rest pose (1, J) from local rest or else from world bind transforms; None without either."""
    for name in ("rest", "bind"):
        matrices = read_array(source, arrays, name, (None, 4, 4)).swapaxes(-1, -2)
        if len(matrices) == len(order):
            matrices = matrices[order]
            if name == "bind":
                source.note("no rest transforms; the bind transforms are used instead")
                matrices = _local_matrices(source, matrices, parents)
            return decompose(matrices[None])
        if len(matrices):
            source.warn(
                f"{len(matrices)} {name} transforms for {format_count(len(order), 'joint')}; they are left out",
                code="transform_count",
                value=len(matrices),
            )
    return None


def _local_matrices(source: Source, world: Floats, parents: Ints) -> Floats:
    """Return matrices (J, 4, 4) relative to the parents of world matrices."""
    child = np.flatnonzero(parents >= 0)
    local = world.copy()
    try:
        local[child] = np.linalg.solve(world[parents[child]], world[child])
    except np.linalg.LinAlgError:
        raise source.error("a bind transform cannot be inverted", code="bad_number") from None
    if not np.isfinite(local).all():
        raise source.error("a bind transform cannot be inverted", code="bad_number")
    return local


def _identity_transforms(joints: int) -> tuple[Floats, Floats]:
    return np.tile(IDENTITY, (1, joints, 1)), np.ones((1, joints, 3))


def _first_frame(value: Any) -> int:
    """Return the number of the first frame; 0 if time codes do not count frames."""
    return int(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0


def _sniff(head: bytes) -> bool:
    return head.startswith((b"#usda", _BINARY_MAGIC))


FORMAT = Format(
    "USD",
    (".usda", ".usdc", ".usd"),
    _sniff,
    read,
    write,
    write_keyed=write_keyed,
    list_animations=list_animations,
    gzip=True,
    extra=_EXTRA,
    keys_as_metadata=True,
    rounding_mm=0.01,  # 32-bit numbers
    binary_suffixes=(".usdc", ".usd"),
    variants={".usda": "text", ".usdc": "binary", ".usd": "binary, like .usdc"},
)
