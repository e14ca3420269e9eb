"""USD (UsdSkel): skeletons and their animation in .usda, .usdc and .usd files.

OpenUSD reads the file in a child process (``child/``): it crashes on some damaged files. Other files that
it refers to are not opened. A joint's rest rotation is part of its local rotation here, as in the file; the
rest pose is kept as the reference pose where it stands upright. Scales and the transforms above the skeleton
are folded into the poses.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import MissingExtra, ModelError
from keypose.formats.base import Format, ReadOptions, Source
from keypose.formats.child import (
    Arrays,
    Facts,
    Library,
    floats,
    positive,
    read_in_child,
    say_which_animation,
    texts,
    unit_rotations,
)
from keypose.formats.jointspace import LocalPoses, decompose, fold, reference_of
from keypose.formats.names import unique_names
from keypose.formats.usd.own import OwnData, read_own
from keypose.formats.usd.write import write, write_keyed
from keypose.kinematics import Up
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import IDENTITY

MISSING = "reading USD needs: pip install 'keypose[usd]'"
_OPENUSD = Library("OpenUSD", "usd_reader.py", start_bytes=2 << 30, missing=MISSING)
_BINARY_MAGIC = b"PXR-USDC"


def read(source: Source, options: ReadOptions) -> Motion:
    """A motion from one skeleton of a USD file and its animation."""
    if importlib.util.find_spec("pxr") is None:
        raise MissingExtra(MISSING)
    suffix = ".usdc" if source.data.startswith(_BINARY_MAGIC) else ".usda"
    arrays, facts = read_in_child(source, _OPENUSD, sys.executable, suffix, options)
    try:
        return _motion(source, options, arrays, facts)
    except ModelError as error:
        raise source.error(str(error)) from None


def _motion(source: Source, options: ReadOptions, arrays: Arrays, facts: Facts) -> Motion:
    _say(source, facts)
    joints, parents = _hierarchy(source, facts)
    poses, rest = _local_poses(source, arrays, facts, joints, parents)
    world_from_skeleton = floats(source, arrays, "world_from_skeleton", (None, 4, 4)).swapaxes(-1, -2)
    if len(world_from_skeleton) != 1 and len(world_from_skeleton) != len(poses.translations):
        raise source.error(f"{len(world_from_skeleton)} transforms of the skeleton, expected one per frame")
    if poses.scaled and not poses.evenly_scaled:
        source.warn("joints are scaled unevenly or while they move: their places are kept, their size is not")
    with np.errstate(over="ignore", invalid="ignore"):  # scales of scales: what grows too large is refused below
        translations, rotations = fold(poses, parents, world_from_skeleton)
        offsets, rest_rotations = fold(rest, parents, world_from_skeleton[:1])
    plain = Skeleton(unique_names(source, _names(source, facts, joints)), parents, offsets[0])
    up: Up = "Z" if facts.get("up") == "Z" else "Y"
    own = read_own(source, facts.get("keypose"), plain, up) or OwnData(plain, up, None)
    translations, rotations = own.in_its_axes(translations, rotations)
    reference, skip = own.reference_pose, 0
    if reference is None:
        rest_pose = Pose(offsets[0], rest_rotations[0])
        reference, skip = reference_of(source, options, plain, translations, rotations, rest_pose, up)
        if own.skeleton is not plain and not skip:  # our own file: its rest pose is only where the figure is bound
            reference = None
    metres = facts.get("metres_per_unit") if own.unit_known else None
    return Motion(
        name=source.name,
        skeleton=own.skeleton,
        fps=positive(source, facts.get("rate"), "frames per second"),
        translations=translations[skip:],
        rotations=rotations[skip:],
        up=own.up,
        metres_per_unit=None if metres is None else positive(source, metres, "metres per unit"),
        first_frame=skip + _whole(facts.get("first")),
        reference_pose=reference,
        notes=tuple(source.notes),
    )


def _say(source: Source, facts: Facts) -> None:
    """What of the file is not read."""
    if left_out := texts(source, facts, "left_out"):
        source.warn(f"it refers to {left_out[0]!r}, which is not followed; expected a file that stands alone")
    say_which_animation(source, facts)
    if not facts.get("bound", True):
        source.note(f"{facts.get('chosen')} is bound to no skeleton; the skeleton with most of its joints was taken")


def _hierarchy(source: Source, facts: Facts) -> tuple[list[str], Ints]:
    """The joint paths with parents before children, and each one's nearest listed ancestor."""
    joints = texts(source, facts, "joints")
    source.check_joints(len(joints))
    if not joints:
        raise source.error("the Skeleton has no joints, expected at least one")
    source.check_depth(max(path.count("/") for path in joints))
    place = {path: j for j, path in enumerate(joints)}
    if len(place) < len(joints) or "" in place:
        raise source.error("a joint path is empty or listed twice, expected each joint once")

    above = {path: next((a for a in _ancestors(path) if a in place), None) for path in joints}
    depth = {path: sum(a in place for a in _ancestors(path)) for path in joints}
    ordered = sorted(joints, key=depth.__getitem__) if _children_come_early(joints, above) else joints
    place = {path: j for j, path in enumerate(ordered)}
    parents = [place[a] if (a := above[path]) is not None else -1 for path in ordered]
    return ordered, np.array(parents, np.int32)


def _ancestors(path: str) -> list[str]:
    """Paths above ``path``, the nearest first."""
    cuts = [at for at, letter in enumerate(path) if letter == "/" and at > 0]
    return [path[:at] for at in reversed(cuts)]


def _children_come_early(joints: list[str], above: dict[str, str | None]) -> bool:
    seen: set[str | None] = {None}
    for path in joints:
        if above[path] not in seen:
            return True
        seen.add(path)
    return False


def _names(source: Source, facts: Facts, joints: list[str]) -> list[str]:
    """The joints' own names if the file has them, else the last part of each path."""
    listed, names = (texts(source, facts, key) for key in ("joints", "joint_names"))
    if len(names) == len(listed) and all(names):
        named = dict(zip(listed, names, strict=True))
        return [named[path] for path in joints]
    return [path.rsplit("/", 1)[-1] or path for path in joints]


def _local_poses(
    source: Source, arrays: Arrays, facts: Facts, joints: list[str], parents: Ints
) -> tuple[LocalPoses, LocalPoses]:
    """The animation's poses, with the rest transform for joints that it does not move; and the rest pose."""
    listed = {path: k for k, path in enumerate(texts(source, facts, "joints"))}
    rest = _rest(source, arrays, np.array([listed[path] for path in joints]), parents)
    moved = texts(source, facts, "moved")
    place = {path: j for j, path in enumerate(joints)}
    columns = [k for k, path in enumerate(moved) if path in place]
    into = [place[moved[k]] for k in columns]
    if not columns:
        raise source.error(f"the animation moves none of the skeleton's {len(joints)} joints")
    if len(columns) < len(moved):
        source.note(f"{len(moved) - len(columns)} animated joints are not in the skeleton and are left out")
    channels = {
        name: floats(source, arrays, name, (None, len(moved), width))
        for name, width in (("translations", 3), ("rotations", 4), ("scales", 3))
        if name in arrays
    }
    counts = {len(values) for values in channels.values()} or {1}
    frames = max(counts)
    if len(counts) > 1 or frames == 0:
        raise source.error(f"channels of {sorted(counts)} frames, expected one count above 0")
    source.check_size(frames, len(joints))
    if "translations" not in channels and rest is None:
        raise source.error("neither rest transforms nor translations: nothing says how long the bones are")
    if rest is None:
        rest = LocalPoses(np.zeros((1, len(joints), 3)), *_neutral(len(joints)))
        rest.translations[0, into] = channels["translations"][0, columns]
        source.note("no rest transforms; the offsets are those of the first frame")
    filled = {}
    for name in ("translations", "rotations", "scales"):
        values = np.repeat(getattr(rest, name), frames, axis=0)
        if name in channels:
            values[:, into] = channels[name][:, columns]
        filled[name] = values
    poses = LocalPoses(filled["translations"], unit_rotations(source, filled["rotations"], joints), filled["scales"])
    return poses, LocalPoses(rest.translations, rest.rotations, poses.scales[:1])


def _rest(source: Source, arrays: Arrays, order: Ints, parents: Ints) -> LocalPoses | None:
    """The rest pose (1, J), from local rest or else from world bind transforms; None without either."""
    for name in ("rest", "bind"):
        matrices = floats(source, arrays, name, (None, 4, 4)).swapaxes(-1, -2)
        if len(matrices) == len(order):
            matrices = matrices[order]
            if name == "bind":
                source.note("no rest transforms; the bind transforms stand in for them")
                matrices = _local_matrices(source, matrices, parents)
            return decompose(matrices[None])
        if len(matrices):
            source.warn(f"{len(matrices)} {name} transforms for {len(order)} joints; they are left out")
    return None


def _local_matrices(source: Source, world: Floats, parents: Ints) -> Floats:
    """World matrices (J, 4, 4) relative to the parents'."""
    child = np.flatnonzero(parents >= 0)
    local = world.copy()
    try:
        local[child] = np.linalg.solve(world[parents[child]], world[child])
    except np.linalg.LinAlgError:
        raise source.error("a bind transform cannot be inverted") from None
    if not np.isfinite(local).all():
        raise source.error("a bind transform cannot be inverted")
    return local


def _neutral(joints: int) -> tuple[Floats, Floats]:
    return np.tile(IDENTITY, (1, joints, 1)), np.ones((1, joints, 3))


def _whole(value: Any) -> int:
    """The number of the first frame; 0 where time codes do not count frames."""
    return int(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0


def _sniff(head: bytes) -> bool:
    return head.startswith((b"#usda", _BINARY_MAGIC))


FORMAT = Format("USD", (".usda", ".usdc", ".usd"), _sniff, read, write, write_keyed=write_keyed, gzip=True)
