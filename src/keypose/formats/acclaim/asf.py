"""Read ASF, the skeleton file of an Acclaim pair: bones, their axes and their degrees of freedom.

A bone starts at the end of its parent and has a ``length`` along a ``direction``. Here the start of a bone is a joint
with the name of the bone, the root is a separate joint, and a bone without children gets an end site. Directions and
axes are in world axes of the rest pose, so every rest rotation except that of the root is the identity. Angles are
about X, Y and Z, and rotate about fixed axes in the written order (extrinsic): ``axis 10 20 30 XYZ`` is ``C = Rz(30)
Ry(20) Rx(10)``.

The length unit is a divisor to inches, as in CMU files and in the example of the format: ``length 0.45`` makes one file
unit 1/0.45 inch = 0.05644 m.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from keypose.arrays import Floats
from keypose.formats.base import Source
from keypose.model import Skeleton
from keypose.model.skeleton import POSITION_CHANNELS
from keypose.rotations import AXES, ORDERS, from_euler

ROOT = "root"
METRES_PER_INCH = 0.0254
MIN_UNIT, MAX_UNIT = 1e-9, 1e9  # of length, per inch
BOM = b"\xef\xbb\xbf"
ROTATIONS = ("rx", "ry", "rz")
TRANSLATIONS = ("tx", "ty", "tz")
STRETCH = "l"
_SECTIONS = ("version", "name", "units", "documentation", "root", "bonedata", "hierarchy", "skin")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LIMIT = re.compile(rf"{NUMBER.pattern}|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_BLANKS = str.maketrans("(),", "   ")


@dataclass(frozen=True, eq=False)
class AcclaimSkeleton:
    """A skeleton, and the data to compute its poses from the values of an AMC file. Joint 0 is the root."""

    path: Path
    skeleton: Skeleton
    dof: tuple[tuple[str, ...], ...]  # (J,) the values of each joint in an AMC: "tx" ... "rz", "l"
    axes: Floats  # (J, 4) wxyz: the frame of a bone's values
    directions: Floats  # (J, 3) unit vectors from a bone's start to its end
    degrees: bool
    metres_per_unit: float | None


def read_skeleton(source: Source) -> AcclaimSkeleton:
    """Read the skeleton of an ASF file."""
    t = read_text(source)
    joints = _joints_parents_first(source, t)
    index = {bone.name: j for j, bone in enumerate(joints)}
    parents = [-1] + [index[t.parents[bone.name][0]] for bone in joints[1:]]
    directions, vectors = _bone_vectors(source, joints)
    offsets = np.array([t.position] + [vectors[parent] for parent in parents[1:]])
    leaves = sorted(set(range(1, len(joints))) - set(parents))
    return AcclaimSkeleton(
        path=source.path,
        skeleton=Skeleton(
            names=tuple(index),
            parents=np.array(parents, np.int32),
            offsets=offsets,
            rotation_orders=tuple(bone.order for bone in joints),
            channels=_channels(joints, parents),
            end_offsets=vectors[leaves],
            end_joints=np.array(leaves, np.int32),
            channel_counts=np.array([len(bone.dof) for bone in joints], np.int32),
        ),
        dof=tuple(bone.dof for bone in joints),
        axes=_axis_rotations(joints, t.degrees),
        directions=directions,
        degrees=t.degrees,
        metres_per_unit=METRES_PER_INCH / t.length_unit if t.length_unit is not None else None,
    )


def _axis_rotations(joints: list[Bone], degrees: bool) -> Floats:
    """Return the unit quaternions (J, 4) of the axes: rotations about fixed axes, the first written applied first."""
    axis_angles = np.array([bone.axis for bone in joints])
    angles = np.deg2rad(axis_angles) if degrees else axis_angles
    rotations = np.empty((len(joints), 4))
    orders = np.array([bone.axis_order for bone in joints])
    for order in set(orders.tolist()):
        intrinsic = order[::-1]
        rotations[orders == order] = from_euler(
            angles[orders == order][:, [AXES.index(a) for a in intrinsic]], intrinsic
        )
    return rotations


def _channels(joints: list[Bone], parents: list[int]) -> tuple[tuple[str, ...], ...]:
    """Return the channels of each joint: all three rotations, as a rotation about one axis of a bone is about several
    of its parent; positions for the root and for joints that are moved by values of their bone or by a parent of
    variable length.
    """
    channels = []
    for bone, parent in zip(joints, parents, strict=True):
        moves = parent < 0 or STRETCH in joints[parent].dof or any(d in TRANSLATIONS for d in bone.dof)
        rotations = tuple(f"{axis}rotation" for axis in bone.order)
        channels.append((POSITION_CHANNELS if moves else ()) + rotations)
    return tuple(channels)


def _bone_vectors(source: Source, joints: list[Bone]) -> tuple[Floats, Floats]:
    """Return unit directions (J, 3), and vectors (J, 3) from the start of each bone to its end."""
    directions, vectors = np.zeros((2, len(joints), 3))
    for j, bone in enumerate(joints):
        if bone.direction is None or bone.length is None:
            missing = "direction" if bone.direction is None else "length"
            raise source.error(f"bone {bone.name!r} has no {missing}", code="missing_data", line=bone.line)
        norm = math.hypot(*bone.direction)
        if norm == 0.0 and bone.length != 0.0:
            raise source.error(
                f"bone {bone.name!r} has length {bone.length:g} but direction 0 0 0",
                code="inconsistent",
                line=bone.line,
            )
        if not math.isfinite(norm):
            raise source.error(
                f"bone {bone.name!r} has a direction too long to compute with", code="bad_number", line=bone.line
            )
        if norm > 0.0:
            directions[j] = [d / norm for d in bone.direction]
        vectors[j] = directions[j] * bone.length
    return directions, vectors


def _joints_parents_first(source: Source, t: AsfText) -> list[Bone]:
    """Return the root and its bones, each after its parent, without recursion."""
    children: dict[str, list[str]] = {}
    for child, (parent, _) in t.parents.items():
        children.setdefault(parent, []).append(child)
    joints, depths = [], {ROOT: 1}
    stack = [ROOT]
    while stack:
        name = stack.pop()
        joints.append(t.bones[name] if name != ROOT else t.root)
        for child in reversed(children.get(name, [])):
            depths[child] = depths[name] + 1
            source.check_depth(depths[child], line=t.parents[child][1])
            stack.append(child)
    for name, bone in t.bones.items():  # each has one parent at most, so a bone that is not reached has none
        if name not in t.parents:
            raise source.error(
                f"bone {name!r} is in no line of :hierarchy",
                code="missing_data",
                line=bone.line,
                expected="a parent for it",
            )
    for name, (_, line) in t.parents.items():  # ... or is in a cycle
        if name not in depths:
            raise source.error(
                f"bone {name!r} is its own ancestor or hangs on one that is", code="inconsistent", line=line
            )
    return joints


@dataclass
class Bone:
    """The block of one bone; the root is a bone without length."""

    line: int
    name: str = ""
    direction: list[float] | None = None
    length: float | None = None
    axis: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # about X, Y, Z, in the file's unit
    axis_order: str = "XYZ"  # extrinsic
    dof: tuple[str, ...] = ()  # lower case, as the AMC lists their values

    @property
    def order(self) -> str:
        """The intrinsic order of the rotations of the bone: that which the file applies first is the last one."""
        rotation_axes = "".join(d[1].upper() for d in self.dof if d in ROTATIONS)
        axis_order = "".join(axis for axis in self.axis_order if axis in rotation_axes)
        return (
            self.axis_order
            if axis_order == rotation_axes
            else rotation_axes + "".join(a for a in AXES if a not in rotation_axes)
        )[::-1]


@dataclass
class AsfText:
    """The sections of the file, before they are combined to a skeleton."""

    root: Bone = field(default_factory=lambda: Bone(0, ROOT, [0.0, 0.0, 0.0], 0.0))
    position: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    bones: dict[str, Bone] = field(default_factory=dict)
    ids: set[int] = field(default_factory=set)
    parents: dict[str, tuple[str, int]] = field(default_factory=dict)  # bone -> parent, line
    length_unit: float | None = None
    degrees: bool = True
    unknown: list[tuple[str, int]] = field(default_factory=list)  # unknown keywords, line


def read_text(source: Source) -> AsfText:
    """Parse the sections of the file; names are checked, the shape of the hierarchy is not."""
    t = AsfText()
    section = ""
    bone: Bone | None = None  # the bone of the block being read
    in_limits = False
    text = source.data.removeprefix(BOM).decode("utf-8", "surrogateescape").rstrip()
    line = 0
    for line, raw in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        words = raw.split("#", 1)[0].translate(_BLANKS).split()
        if not words:
            continue
        if words[0].startswith(":"):
            if bone is not None:
                raise source.error(
                    f"{words[0]} inside {_label(bone)}", code="syntax", line=line, expected="'end' first"
                )
            section = words.pop(0)[1:].lower()
            if section not in _SECTIONS:
                t.unknown.append((f":{section}", line))
            if not words:
                continue
        keyword = words[0].lower()
        if section == "units":
            _read_unit(source, t, keyword, words[1:], line)
        elif section == "root":
            _read_root(source, t, keyword, words[1:], line)
        elif section == "hierarchy":
            if len(words) > 1 or keyword not in ("begin", "end"):
                _read_children(source, t, words, line)
        elif section == "bonedata":
            if keyword == "begin":
                if bone is not None:
                    raise source.error(
                        f"'begin' inside {_label(bone)}", code="syntax", line=line, expected="'end' first"
                    )
                bone = Bone(line)
                source.check_joints(len(t.bones) + 2, line=line)
            elif bone is None:
                raise source.error(f"{words[0]!r} between bones", code="syntax", line=line, expected="'begin'")
            elif keyword == "end":
                _add_bone(source, t, bone)
                bone = None
            elif not (in_limits and _LIMIT.fullmatch(keyword)):
                _read_bone(source, t, bone, keyword, words[1:], line)
            in_limits = keyword == "limits" or (in_limits and _LIMIT.fullmatch(keyword) is not None)
            if in_limits:
                _check_limits(source, words[keyword == "limits" :], line)
        elif not section:
            raise source.error(
                f"{words[0][:40]!r}", code="syntax", line=line, expected="a section such as :version or :bonedata"
            )
    if bone is not None:
        raise source.error(f"the file ends inside {_label(bone)}", code="truncated", line=line, expected="'end'")
    warn_unknown(source, t.unknown)
    if not t.root.dof:
        raise source.error(
            "no order in :root", code="missing_data", line=line, expected="one such as TX TY TZ RX RY RZ"
        )
    if not t.bones:
        raise source.error("no bones in :bonedata", code="missing_data", line=line, expected="at least one")
    return t


def warn_unknown(source: Source, unknown: list[tuple[str, int]]) -> None:
    """Emit one warning for all unknown keywords."""
    if unknown:
        (word, line), others = unknown[0], len(unknown) - 1
        more = f" (and {others} more)" if others else ""
        source.warn(
            f"the keyword {word[:40]!r}{more} is unknown and is left out",
            code="unknown_word",
            line=line,
            value=word[:40],
        )


def _read_unit(source: Source, t: AsfText, keyword: str, words: list[str], line: int) -> None:
    if keyword == "angle":
        unit = words[0].lower() if words else ""
        if not unit.startswith(("deg", "rad")):
            raise source.error(f"angle {unit!r}", code="syntax", line=line, expected="deg or rad")
        t.degrees = unit.startswith("deg")
    elif keyword in ("length", "mass"):
        (value,) = _parse_numbers(source, words, 1, f"the unit of {keyword}", line)
        if keyword == "length":
            if not MIN_UNIT <= value <= MAX_UNIT:
                raise source.error(
                    f"length {words[0][:40]}",
                    code="bad_number",
                    line=line,
                    expected=f"a unit from {MIN_UNIT:g} to {MAX_UNIT:g}",
                )
            t.length_unit = value
    else:
        t.unknown.append((keyword, line))


def _read_root(source: Source, t: AsfText, keyword: str, words: list[str], line: int) -> None:
    if keyword == "order":
        t.root.dof = _parse_dof(source, words, (*TRANSLATIONS, *ROTATIONS), "order of the root", line)
    elif keyword == "axis":
        t.root.axis_order = _parse_axis_order(source, words, line)
    elif keyword == "position":
        t.position = _parse_numbers(source, words, 3, "the root's position", line)
    elif keyword == "orientation":
        t.root.axis = _parse_numbers(source, words, 3, "the root's orientation", line)
    else:
        t.unknown.append((keyword, line))


def _read_bone(source: Source, t: AsfText, bone: Bone, keyword: str, words: list[str], line: int) -> None:
    if keyword == "id":
        if len(words) != 1 or not re.fullmatch(r"\d{1,9}", words[0], re.ASCII):
            value = " ".join(words)
            raise source.error(f"id {value!r}", code="bad_number", line=line, value=value, expected="a whole number")
        if int(words[0]) in t.ids:
            raise source.error(f"id {words[0]} is used by two bones", code="inconsistent", line=line)
        t.ids.add(int(words[0]))
    elif keyword == "name":
        if len(words) != 1:
            raise source.error(f"name {' '.join(words)!r}", code="syntax", line=line, expected="one word")
        bone.name = words[0]
        if bone.name in t.bones or bone.name == ROOT:
            raise source.error(f"the bone name {bone.name!r} is used more than once", code="inconsistent", line=line)
    elif keyword == "direction":
        bone.direction = _parse_numbers(source, words, 3, f"the direction of {_label(bone)}", line)
    elif keyword == "length":
        (bone.length,) = _parse_numbers(source, words, 1, f"the length of {_label(bone)}", line)
        if bone.length < 0.0:
            raise source.error(
                f"length {words[0]} of {_label(bone)}",
                code="bad_number",
                line=line,
                value=words[0],
                expected="0 or more",
            )
    elif keyword == "axis":
        bone.axis = _parse_numbers(source, words[:3], 3, f"the axis of {_label(bone)}", line)
        bone.axis_order = _parse_axis_order(source, words[3:], line) if len(words) > 3 else "XYZ"
    elif keyword == "dof":
        bone.dof = _parse_dof(source, words, (*TRANSLATIONS, *ROTATIONS, STRETCH), f"dof of {_label(bone)}", line)
    elif keyword not in ("limits", "bodymass", "cofmass"):
        t.unknown.append((keyword, line))


def _add_bone(source: Source, t: AsfText, bone: Bone) -> None:
    if not bone.name:
        raise source.error("a bone without a name", code="missing_data", line=bone.line)
    t.bones[bone.name] = bone


def _read_children(source: Source, t: AsfText, words: list[str], line: int) -> None:
    for name in words:
        if name != ROOT and name not in t.bones:
            raise source.error(f"no bone {name!r} in :bonedata", code="missing_data", line=line)
    parent, *children = words
    for child in children:
        if child == ROOT:
            raise source.error(
                f"the root as a child of {parent!r}", code="inconsistent", line=line, expected="it on top"
            )
        if child in t.parents:
            other, where = t.parents[child]
            raise source.error(
                f"bone {child!r} as a child of {parent!r}, but line {where} says {other!r}",
                code="inconsistent",
                line=line,
            )
        t.parents[child] = parent, line


def _parse_dof(source: Source, words: list[str], allowed: tuple[str, ...], label: str, line: int) -> tuple[str, ...]:
    dof = tuple(word.lower() for word in words)
    if len(set(dof)) != len(dof) or not set(dof) <= set(allowed):
        raise source.error(
            f"{label} {' '.join(words)!r}",
            code="syntax",
            line=line,
            expected=f"each of {' '.join(allowed)} at most once",
        )
    return dof


def _parse_axis_order(source: Source, words: list[str], line: int) -> str:
    order = words[0].upper() if len(words) == 1 else ""
    if order not in ORDERS:
        raise source.error(
            f"axis order {' '.join(words)!r}", code="syntax", line=line, expected=f"one of {', '.join(ORDERS)}"
        )
    return order


def _check_limits(source: Source, words: list[str], line: int) -> None:
    bad_word = next((word for word in words if not _LIMIT.fullmatch(word)), None)
    if bad_word is not None:
        raise source.error(
            f"{bad_word!r} as a limit", code="bad_number", line=line, value=bad_word, expected="a number or inf"
        )


def _parse_numbers(source: Source, words: list[str], count: int, label: str, line: int) -> list[float]:
    if len(words) != count:
        raise source.error(
            f"{len(words)} numbers for {label}", code="syntax", line=line, value=len(words), expected=f"{count}"
        )
    values = [float(word) if NUMBER.fullmatch(word) else math.nan for word in words]
    for word, value in zip(words, values, strict=True):
        if not math.isfinite(value):
            raise source.error(
                f"{word!r} in {label}", code="bad_number", line=line, value=word, expected="a finite number"
            )
    return values


def _label(bone: Bone) -> str:
    return f"bone {bone.name!r}" if bone.name else f"the bone of line {bone.line}"
