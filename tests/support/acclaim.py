"""A small ASF/AMC pair as text, and a slow reference reader."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ASF = """\
# a leg and an arm
:version 1.10
:name TWO LIMBS
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
   root and hierarchy are only words here
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name thigh
     direction 0 -1 0
     length 4
     axis 0 0 20 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-inf inf)
           (-60.0, 70.0)
  end
  begin
     id 2
     name shin
     direction 0.6 -0.8 0
     length 5
     axis 30 -40 50 XYZ
    dof rx rz
  end
  begin
     id 3
     name arm
     direction 1 0 0
     length 2.5
     axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root thigh arm
    thigh shin
  end
"""

AMC = """\
#!OML:ASF F:\\SOMEWHERE\\leg.ASF
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 10 20 30
thigh 11 -12 13
shin -14.5 15e0
2
root 1.5 2 3 -10 20 30
thigh 21 -22 +23
shin -.5 1.5E+1
3
root 2 2 3 -20 20 30
thigh 31 -32 33
shin 0 -0
"""


def write(folder: Path, asf: str = ASF, motion: str = AMC, name: str = "leg") -> Path:
    (folder / f"{name}.asf").write_bytes(asf.encode())
    path = folder / f"{name}.amc"
    path.write_bytes(motion.encode())
    return path


def swap(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in the text"
    return text.replace(old, new)


# The slow reference: matrices, one frame and one bone at a time.


@dataclass
class Bone:
    name: str
    parent: str
    direction: tuple[float, float, float]
    length: float
    axis: tuple[float, float, float]
    axis_order: str
    dof: tuple[str, ...]


def turn(axis: str, degrees: float) -> np.ndarray:
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return {
        "X": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "Y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "Z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def axis_matrix(angles, order: str) -> np.ndarray:
    matrix = np.eye(3)
    for letter in order:  # about fixed axes, the first one first
        matrix = turn(letter, angles["XYZ".index(letter)]) @ matrix
    return matrix


def naive_world(bones, order, position, orientation, values) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return start and end of each bone in one frame; ``values`` maps bone -> its numbers in degrees."""

    def moves(dof, numbers):
        motion, shift, stretch = np.eye(3), np.zeros(3), 0.0
        for token, value in zip(dof, numbers, strict=True):
            if token[0] == "r":
                motion = turn(token[1].upper(), value) @ motion
            elif token[0] == "t":
                shift["xyz".index(token[1])] += value
            else:
                stretch = value
        return motion, shift, stretch

    base = axis_matrix(orientation, "XYZ")
    motion, shift, _ = moves(order, values["root"])
    start = np.array(position) + base @ shift
    frames = {"root": (base @ motion, start, start)}
    for bone in bones:  # parents first
        parent_turn, _, parent_end = frames[bone.parent]
        own = axis_matrix(bone.axis, bone.axis_order)
        motion, shift, stretch = moves(bone.dof, values.get(bone.name, ()))
        start = parent_end + parent_turn @ own @ shift
        world = parent_turn @ own @ motion @ own.T
        frames[bone.name] = world, start, start + world @ np.array(bone.direction) * (bone.length + stretch)
    return {name: (start, end) for name, (_, start, end) in frames.items()}


def asf_text(bones, order, position, orientation, radians=False) -> str:
    scale = np.pi / 180 if radians else 1.0
    numbers = lambda v: " ".join(repr(float(x)) for x in v)  # noqa: E731
    blocks = "".join(
        f"begin\n id {k}\n name {b.name}\n direction {numbers(b.direction)}\n length {b.length!r}\n"
        f" axis {numbers(scale * np.array(b.axis))} {b.axis_order}\n"
        + (f" dof {' '.join(b.dof)}\n" if b.dof else "")
        + "end\n"
        for k, b in enumerate(bones)
    )
    children = "".join(f"{b.parent} {b.name}\n" for b in bones)
    return (
        f":units\n angle {'rad' if radians else 'deg'}\n:root\n order {' '.join(order)}\n axis XYZ\n"
        f" position {numbers(position)}\n orientation {numbers(scale * np.array(orientation))}\n"
        f":bonedata\n{blocks}:hierarchy\nbegin\n{children}end\n"
    )


def random_figure(rng, count=9):
    orders = ["".join(p) for p in itertools.permutations("XYZ")]
    bones = []
    for k in range(count):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        dof = [t for t in ("tx", "ty", "tz", "rx", "ry", "rz", "l") if rng.random() < 0.5]
        if k == count - 1:  # an end site cannot stretch
            dof = [t for t in dof if t != "l"]
        rng.shuffle(dof)
        parent = "root" if k == 0 else bones[rng.integers(k)].name if rng.random() < 0.4 else bones[-1].name
        bones.append(Bone(f"bone{k}", parent, tuple(direction), float(rng.uniform(0, 5)),
                          tuple(rng.uniform(-180, 180, 3)), orders[rng.integers(6)], tuple(dof)))  # fmt: skip
    return bones


def amc_text(frames, radians=False, dof=None) -> str:
    lines = [":FULLY-SPECIFIED", ":RADIANS" if radians else ":DEGREES"]
    for number, values in enumerate(frames, 1):
        lines.append(str(number))
        for name, numbers in values.items():
            if radians:
                rotations = [token[0] == "r" for token in dof[name]]
                numbers = np.where(rotations, np.deg2rad(numbers), numbers)
            lines.append(" ".join([name, *(repr(float(x)) for x in numbers)]))
    return "\n".join(lines) + "\n"
