"""Unusual motions that a stored file must support, with the expectations of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

import keypose as kp
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import exp, multiply
from support.lossy_shapes import animate, build_skeleton, chain, replace_rotations, spine_with_fingers, waves

STILL = (1.0, 0.0, 0.0, 0.0)


def _noise(seed: int, frames: int = 45, joints: int = 6) -> Motion:
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(frames, joints, 4))
    positions = 30 * rng.normal(size=(frames, joints, 3))
    return Motion("noise", chain(joints), 30.0, positions, q / np.linalg.norm(q, axis=-1, keepdims=True))


def _markers(n: int = 40, frames: int = 80, fps: float = 50.0) -> Motion:
    """Markers without rotations or parents; one is lost for some frames and lies at the origin."""
    rng = np.random.default_rng(4)
    skeleton = Skeleton(tuple(f"M{j}" for j in range(n)), np.full(n, -1), np.zeros((n, 3)))
    positions = rng.uniform(0, 1800, (n, 3)) + 100 * waves((frames, n, 3), fps, rng) + rng.normal(size=(frames, n, 3))
    positions[20:30, 3] = 0
    return Motion("markers", skeleton, fps, positions, np.tile(STILL, (frames, n, 1)), "Z", 0.001)


def _flip_signs(motion: Motion) -> Motion:
    """Flip the signs of random quaternions: the same motion."""
    signs = np.random.default_rng(5).choice([-1.0, 1.0], motion.rotations.shape[:2])
    return replace(motion, rotations=motion.rotations * signs[..., None])


def _pops(motion: Motion, angle: float = np.pi) -> Motion:
    """Joints that jump by half a turn and back, some from frame to frame."""
    rng = np.random.default_rng(6)
    away = rng.random(motion.rotations.shape[:2]) < 0.2
    away[: len(away) // 2, ::2] = np.arange(len(away) // 2)[:, None] % 2 == 0
    axes = np.eye(3)[rng.integers(0, 3, motion.n_joints)]
    return replace(motion, rotations=multiply(motion.rotations, exp(away[..., None] * angle * axes)))


def _spins(revolutions_per_s: float = 3.0) -> Motion:
    """The first joint about the vertical, the second about its bone, the third about all axes, the fourth about a hinge."""
    motion = animate(chain(6), 100)
    seconds = np.arange(100)[:, None] / 30.0
    angle = 2 * np.pi * revolutions_per_s * seconds
    motion = replace_rotations(motion, angle * [0, 1, 0] + 0.2 * waves((100, 3), 30.0, np.random.default_rng(1)), [0])
    motion = replace_rotations(motion, angle * [0.1, 1, 0.1], [1])
    motion = replace_rotations(motion, np.cumsum(0.5 * np.random.default_rng(2).normal(size=(100, 3)), axis=0), [2])
    return replace_rotations(motion, angle * [0.6, 0, 0.8], [3])


def _upside_down(axis: int) -> Motion:
    """A root without defined heading: upside down, swaying about that pose."""
    up = ("X", "Y", "Z")[axis]
    motion = animate(chain(4), 90, up=up)
    over = exp(np.pi * np.eye(3)[(axis + 1) % 3])
    sway = exp(0.3 * waves((90, 3), 30.0, np.random.default_rng(axis)))
    rotations = motion.rotations.copy()
    rotations[:, 0] = multiply(sway, over)
    return replace(motion, rotations=rotations)


def _simple_rotations() -> Motion:
    """Hinges, pairs of axes, fixed rotations, joints off their offsets, and joints that only translate."""
    motion = animate(chain(8), 100, radians=0.0)
    wave = waves((100, 8), 30.0, np.random.default_rng(7))[..., None]
    rotations, positions = motion.rotations.copy(), motion.translations.copy()
    rotations[:, 1] = multiply(exp(np.array([0.4, 1.0, -2.0])), exp(wave[:, 1] * [0.6, 0.8, 0.0]))
    rotations[:, 2] = multiply(exp(wave[:, 2] * [0, 0, 1.0]), exp(wave[:, 3] * [1.0, 0, 0]))
    rotations[:, 3] = exp(np.array([3.0, 0.5, 0.0]))
    positions[:, 4] += (1.0, -2.0, 3.0)
    positions[:, 5] += wave[:, 5] * [5.0, 0, 0]
    rotations[:, 6] = exp(wave[:, 6] * [0, 4.0, 0])
    return replace(motion, rotations=rotations, translations=positions)


def _barely(n: int = 120) -> Motion:
    """A rope in which each joint rotates negligibly, but all together do not."""
    motion = animate(chain(n, ends=[n - 1]), 60, radians=0.0, travel=0.0)
    return replace_rotations(motion, 8e-5 * np.sin(np.arange(60) / 9.0)[:, None] * [1.0, 0, 0])


def _all_fields() -> Motion:
    """A motion with all optional fields."""
    skeleton = replace(
        chain(3),
        names=("Hüfte", "mixamorig:Spine", "日本"),
        rotation_orders=("YXZ", "ZYX", "XZY"),
        channels=(("Xposition", "Yposition", "Zposition", "Yrotation", "Xrotation", "Zrotation"), ("Zrotation",), ()),
    )
    motion = animate(
        skeleton, 70, 59.94, up="-Z", metres_per_unit=0.0254 / 0.45, first_frame=-12, notes=("a", "ß" * 90)
    )
    return replace(motion, reference_pose=Pose(motion.translations[3] + 0.1, motion.rotations[5]), name="näme\t1")


def _scale_demo(metres_per_unit: float | None, units_per_metre: float) -> Motion:
    motion = kp.demo_motion(fps=30)[:60]
    factor = units_per_metre / (1.7 / motion.mm_per_unit * 1000)
    s = motion.skeleton
    scaled = replace(s, offsets=s.offsets * factor, end_offsets=s.end_offsets * factor)
    return replace(
        motion,
        skeleton=scaled,
        translations=motion.translations * factor,
        metres_per_unit=metres_per_unit,
        reference_pose=None,
    )


def _far(units: float) -> Motion:
    motion = animate(chain(5), 60)
    positions = motion.translations.copy()
    positions[:, 0] += (units, -units / 3, units / 7)
    return replace(motion, translations=positions)


def _flat(metres_per_unit: float | None) -> Motion:
    """All joints at one position: no height to scale by."""
    skeleton = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.zeros((3, 3)))
    return animate(skeleton, 40, travel=0.3, metres_per_unit=metres_per_unit)


def _still(n_frames: int) -> Motion:
    motion = animate(chain(4), n_frames)
    return replace(
        motion,
        translations=motion.translations[:1].repeat(n_frames, 0),
        rotations=motion.rotations[:1].repeat(n_frames, 0),
    )


EXOTIC: dict[str, Callable[[], Motion]] = {
    "one joint, no end site": lambda: animate(build_skeleton([-1], ends=[]), metres_per_unit=0.01),
    "one joint, no end site, no unit": lambda: animate(build_skeleton([-1], ends=[]), travel=2.0),
    "one joint with an end site": lambda: animate(build_skeleton([-1])),
    "one joint with ten end sites": lambda: animate(build_skeleton([-1], ends=[0] * 10)),
    "170 joints in a row": lambda: animate(chain(170, length=3.0), 40, radians=0.05),
    "170 joints, mostly fingers": lambda: animate(spine_with_fingers(170), 45),
    "a rod of 250 joints that never turn": lambda: animate(chain(250, length=2.0), 40, radians=0.0),
    "a star of 60 joints": lambda: animate(build_skeleton([-1] + [0] * 59), 40),
    "no end sites": lambda: animate(build_skeleton([-1, 0, 1, 1, 0], ends=[])),
    "three roots": lambda: animate(build_skeleton([-1, 0, -1, 2, 2, -1])),
    "markers": _markers,
    "in metres": lambda: _scale_demo(1.0, 1.0),
    "in millimetres": lambda: _scale_demo(0.001, 1000.0),
    "in a unit of no name": lambda: _scale_demo(None, 17.3),
    "a figure of a micrometre": lambda: _scale_demo(None, 1e-6),
    "a figure as large as the sun": lambda: _scale_demo(None, 1e9),
    "all places move": lambda: animate(build_skeleton([-1, 0, 1, 2, 1, 4]), stretch=3.0),
    "places move, nothing turns": lambda: animate(chain(5), radians=0.0, stretch=3.0),
    "bones without length": lambda: animate(chain(6, length=1e-9), travel=3.0, metres_per_unit=0.01),
    "all joints at one place": lambda: _flat(0.01),
    "all joints at one place, no unit": lambda: _flat(None),
    "some joints at one place": lambda: animate(replace(chain(6), offsets=np.diag([0, 0, 9.0]).repeat(2, 0))),
    "pops of half a turn": lambda: _pops(animate(chain(6))),
    "pops of nearly half a turn": lambda: _pops(animate(chain(6)), np.pi - 1e-7),
    "spins": _spins,
    "spins, many turns a second": lambda: _spins(29.0),
    "upside down, X up": lambda: _upside_down(0),
    "upside down, Y up": lambda: _upside_down(1),
    "upside down, Z up": lambda: _upside_down(2),
    "any turn in any frame": lambda: _noise(0),
    "signs of quaternions flip": lambda: _flip_signs(animate(chain(5))),
    "hinges, pairs, fixed turns": _simple_rotations,
    "a rope that barely moves": _barely,
    "1e6 units away": lambda: _far(1e6),
    "1e9 units away": lambda: _far(1e9),
    "every fact there is": _all_fields,
    "still": lambda: _still(70),
    "one frame": lambda: animate(chain(5), 1),
    "one frame at 1000 fps": lambda: animate(chain(5), 1, 1000.0),
    "two frames": lambda: animate(chain(5), 2),
    "three frames": lambda: animate(chain(5), 3),
    "n fps frames": lambda: animate(chain(5), 90, 30.0),
    "n fps + 1 frames": lambda: animate(chain(5), 91, 30.0),
    "a frame more than half a second over": lambda: animate(chain(5), 75, 30.0),
    "1 fps": lambda: animate(chain(5), 9, 1.0),
    "0.001 fps": lambda: animate(chain(5), 9, 0.001),
    "2.5 fps": lambda: animate(chain(5), 21, 2.5),
    "23.976 fps": lambda: animate(chain(5), 75, 23.976),
    "1000 fps": lambda: animate(chain(4), 1300, 1000.0),
    "1e6 fps": lambda: animate(chain(2), 700, 1e6),
}  # fmt: skip

LARGE = (
    "170 joints in a row",
    "170 joints, mostly fingers",
    "a rod of 250 joints that never turn",
    "a star of 60 joints",
    "markers",
    "a rope that barely moves",
    "1000 fps",
)  # the slowest


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    """Any small skeleton, with smooth or random motion, at any rate and scale."""
    n = draw(st.integers(1, 7))
    parents = [-1] + [draw(st.integers(-1, j - 1)) for j in range(1, n)]
    ends = draw(st.none() | st.lists(st.integers(0, n - 1), max_size=3))
    seed = draw(st.integers(0, 2**32 - 1))
    skeleton = build_skeleton(
        parents, 10.0 ** draw(st.integers(-3, 3)), ends=ends, along=draw(st.integers(0, 2)), seed=seed
    )
    length = float(np.abs(skeleton.offsets).max()) or 1.0
    motion = animate(
        skeleton,
        draw(st.integers(1, 70)),
        draw(st.sampled_from((1.0, 3.0, 10.0, 23.976, 30.0, 120.0))),
        seed=seed,
        radians=draw(st.sampled_from((0.0, 1e-4, 0.3, 3.0))),
        travel=length * draw(st.sampled_from((0.0, 1e-4, 3.0, 1e4))),
        stretch=length * draw(st.sampled_from((0.0, 0.0, 1e-4, 0.3))),
        up=draw(st.sampled_from(("X", "Y", "Z", "-Y"))),
        metres_per_unit=draw(st.sampled_from((None, 1.0, 0.001))),
    )
    rng = np.random.default_rng(seed)
    wild = rng.random(motion.rotations.shape[:2]) < draw(st.sampled_from((0.0, 0.0, 0.05, 1.0)))
    return replace(
        motion, rotations=multiply(motion.rotations, exp(wild[..., None] * rng.uniform(-4, 4, (*wild.shape, 3))))
    )
