"""Parse the text of an ASF file: its sections in one pass over the lines, every error with its line.

Commas and parentheses count as blanks, ``#`` starts a comment, keywords may have any case. Limits are checked to be
numbers and otherwise ignored, as the AMC has been clipped to them already.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from keypose.formats.base import Source
from keypose.rotations import AXES, ORDERS

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
        """The intrinsic order of the bone's rotations: the one that the file applies first comes last."""
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
    bone: Bone | None = None  # whose block is open
    in_limits = False
    text = source.data.removeprefix(BOM).decode("utf-8", "surrogateescape").rstrip()
    line = 0
    for line, raw in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        words = raw.split("#", 1)[0].translate(_BLANKS).split()
        if not words:
            continue
        if words[0].startswith(":"):
            if bone is not None:
                raise source.error(f"{words[0]} inside {_label(bone)}, expected 'end' first", line=line)
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
                    raise source.error(f"'begin' inside {_label(bone)}, expected 'end' first", line=line)
                bone = Bone(line)
                source.check_joints(len(t.bones) + 2, line=line)
            elif bone is None:
                raise source.error(f"{words[0]!r} between bones, expected 'begin'", line=line)
            elif keyword == "end":
                _add_bone(source, t, bone)
                bone = None
            elif not (in_limits and _LIMIT.fullmatch(keyword)):
                _read_bone(source, t, bone, keyword, words[1:], line)
            in_limits = keyword == "limits" or (in_limits and _LIMIT.fullmatch(keyword) is not None)
            if in_limits:
                _check_limits(source, words[keyword == "limits" :], line)
        elif not section:
            raise source.error(f"{words[0][:40]!r}, expected a section such as :version or :bonedata", line=line)
    if bone is not None:
        raise source.error(f"the file ends inside {_label(bone)}, expected 'end'", line=line)
    warn_unknown(source, t.unknown)
    if not t.root.dof:
        raise source.error("no order in :root, expected one such as TX TY TZ RX RY RZ", line=line)
    if not t.bones:
        raise source.error("no bones in :bonedata, expected at least one", line=line)
    return t


def warn_unknown(source: Source, unknown: list[tuple[str, int]]) -> None:
    """Emit one warning for all unknown keywords."""
    if unknown:
        (word, line), others = unknown[0], len(unknown) - 1
        more = f" (and {others} more)" if others else ""
        source.warn(f"the keyword {word[:40]!r}{more} is not known and is left out", line=line)


def _read_unit(source: Source, t: AsfText, keyword: str, words: list[str], line: int) -> None:
    if keyword == "angle":
        unit = words[0].lower() if words else ""
        if not unit.startswith(("deg", "rad")):
            raise source.error(f"angle {unit!r}, expected deg or rad", line=line)
        t.degrees = unit.startswith("deg")
    elif keyword in ("length", "mass"):
        (value,) = _parse_numbers(source, words, 1, f"the unit of {keyword}", line)
        if keyword == "length":
            if not MIN_UNIT <= value <= MAX_UNIT:
                raise source.error(
                    f"length {words[0][:40]}, expected a unit from {MIN_UNIT:g} to {MAX_UNIT:g}", line=line
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
            raise source.error(f"id {' '.join(words)!r}, expected a whole number", line=line)
        if int(words[0]) in t.ids:
            raise source.error(f"id {words[0]} is used by two bones", line=line)
        t.ids.add(int(words[0]))
    elif keyword == "name":
        if len(words) != 1:
            raise source.error(f"name {' '.join(words)!r}, expected one word", line=line)
        bone.name = words[0]
        if bone.name in t.bones or bone.name == ROOT:
            raise source.error(f"the bone name {bone.name!r} is used more than once", line=line)
    elif keyword == "direction":
        bone.direction = _parse_numbers(source, words, 3, f"the direction of {_label(bone)}", line)
    elif keyword == "length":
        (bone.length,) = _parse_numbers(source, words, 1, f"the length of {_label(bone)}", line)
        if bone.length < 0.0:
            raise source.error(f"length {words[0]} of {_label(bone)}, expected 0 or more", line=line)
    elif keyword == "axis":
        bone.axis = _parse_numbers(source, words[:3], 3, f"the axis of {_label(bone)}", line)
        bone.axis_order = _parse_axis_order(source, words[3:], line) if len(words) > 3 else "XYZ"
    elif keyword == "dof":
        bone.dof = _parse_dof(source, words, (*TRANSLATIONS, *ROTATIONS, STRETCH), f"dof of {_label(bone)}", line)
    elif keyword not in ("limits", "bodymass", "cofmass"):
        t.unknown.append((keyword, line))


def _add_bone(source: Source, t: AsfText, bone: Bone) -> None:
    if not bone.name:
        raise source.error("a bone without a name", line=bone.line)
    t.bones[bone.name] = bone


def _read_children(source: Source, t: AsfText, words: list[str], line: int) -> None:
    for name in words:
        if name != ROOT and name not in t.bones:
            raise source.error(f"no bone {name!r} in :bonedata", line=line)
    parent, *children = words
    for child in children:
        if child == ROOT:
            raise source.error(f"the root as a child of {parent!r}, expected it on top", line=line)
        if child in t.parents:
            other, where = t.parents[child]
            raise source.error(f"bone {child!r} as a child of {parent!r}, but line {where} says {other!r}", line=line)
        t.parents[child] = parent, line


def _parse_dof(source: Source, words: list[str], allowed: tuple[str, ...], label: str, line: int) -> tuple[str, ...]:
    dof = tuple(word.lower() for word in words)
    if len(set(dof)) != len(dof) or not set(dof) <= set(allowed):
        raise source.error(f"{label} {' '.join(words)!r}, expected each of {' '.join(allowed)} at most once", line=line)
    return dof


def _parse_axis_order(source: Source, words: list[str], line: int) -> str:
    order = words[0].upper() if len(words) == 1 else ""
    if order not in ORDERS:
        raise source.error(f"axis order {' '.join(words)!r}, expected one of {', '.join(ORDERS)}", line=line)
    return order


def _check_limits(source: Source, words: list[str], line: int) -> None:
    bad_word = next((word for word in words if not _LIMIT.fullmatch(word)), None)
    if bad_word is not None:
        raise source.error(f"{bad_word!r} as a limit, expected a number or inf", line=line)


def _parse_numbers(source: Source, words: list[str], count: int, label: str, line: int) -> list[float]:
    if len(words) != count:
        raise source.error(f"{len(words)} numbers for {label}, expected {count}", line=line)
    values = [float(word) if NUMBER.fullmatch(word) else math.nan for word in words]
    for word, value in zip(words, values, strict=True):
        if not math.isfinite(value):
            raise source.error(f"{word!r} in {label}, expected a finite number", line=line)
    return values


def _label(bone: Bone) -> str:
    return f"bone {bone.name!r}" if bone.name else f"the bone of line {bone.line}"
