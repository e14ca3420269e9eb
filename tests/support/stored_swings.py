"""Swings of many kinds for tests of storage, constructed and random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import keypose as kp
from keypose.rotations import IDENTITY, exp, from_euler
from keypose.swings import Path, Settings

NAMES = ("Hips", "Spine", "LeftHand", "LeftFoot")
PARENTS = (-1, 0, 1, 0)
OFFSETS = np.array([[0, 0.9, 0], [0, 0.2, 0], [0.6, 0.3, 0.0], [0.1, -0.85, 0.05]])


def skeleton(**more) -> kp.Skeleton:
    ends = {"end_joints": np.array([2, 3]), "end_offsets": np.array([[0.1, 0, 0], [0, 0, 0.15]])}
    return kp.Skeleton(NAMES, np.array(PARENTS), OFFSETS, **(ends | more))


def random_rotations(rng: np.random.Generator, count: int, size: float = 1.0) -> np.ndarray:
    """Return rotations (N, 4) of both signs."""
    return exp(rng.normal(0, size, (count, 3)) % np.pi) * rng.choice((-1.0, 1.0), (count, 1))


def random_track(rng: np.random.Generator, joint: str, n_frames: int) -> kp.Track:
    """Return a track of items of all kinds, with or without gaps between them."""
    cuts = np.unique(rng.integers(0, n_frames, rng.integers(0, 14)))
    swings, rests, keyed = [], [], []
    for start, end in zip(cuts[:-1].tolist(), (cuts[1:] - 1).tolist(), strict=True):
        kind = rng.integers(5)
        if kind == 0 and end > start:
            swings.append(
                kp.Swing.from_rotation_vector(joint, start, end, random_rotations(rng, 1)[0], rng.normal(0, 1, 3))
            )
        elif kind == 1:
            rests.append(kp.Rest(joint, start, end, random_rotations(rng, 1)[0]))
        elif kind == 2:
            frames = np.unique(rng.integers(start, end + 1, 8))
            keyed.append(kp.KeyedSpan(frames, random_rotations(rng, len(frames))))
        elif kind == 3:
            frames = np.arange(start, end + 1)
            angles = rng.normal(0, 1, (len(frames), 3)) * rng.integers(0, 2, 3)
            keyed.append(kp.KeyedSpan(frames, from_euler(angles, "ZXY")))
    return kp.Track.build(joint, random_rotations(rng, 1)[0], swings, keyed, rests)


def random_path(rng: np.random.Generator, joint: str, n_frames: int) -> Path:
    keys = np.unique(rng.integers(0, n_frames, rng.integers(1, 9)))
    rows = [rng.normal(0, 3, (len(keys), 1, 3)) for _ in range(3 if rng.integers(2) else 1)]
    return Path(joint, keys, kp.Curves(*rows))


def random_swings(seed: int, n_frames: int = 120, **more) -> kp.Swings:
    """Return a clip with random content."""
    rng = np.random.default_rng(seed)
    paths = [random_path(rng, joint, n_frames) for joint in NAMES if rng.integers(2)]
    contacts = kp.FootContacts(("left", "right"), rng.random((n_frames, 2)) < rng.random())
    fields = {
        "name": f"drawn {seed}",
        "skeleton": skeleton(),
        "fps": 60.0,
        "n_frames": n_frames,
        "tracks": tuple(random_track(rng, joint, n_frames) for joint in NAMES),
        "translations": OFFSETS + rng.normal(0, 1, (4, 3)) * rng.integers(0, 2, (4, 1)),
        "paths": tuple(paths),
        "contacts": contacts if rng.integers(3) else None,
        "settings": Settings(left_out=tuple(joint for joint in NAMES if rng.integers(2))),
    }
    return kp.Swings(**(fields | more))


def _still(n_frames: int = 9, names: tuple[str, ...] = ("A",), **more) -> kp.Swings:
    """Return still joints without parents, channels or end sites."""
    joints = len(names)
    bare = kp.Skeleton(names, np.full(joints, -1), np.zeros((joints, 3)), channels=((),) * joints)
    tracks = tuple(kp.Track(name, np.array(IDENTITY)) for name in names)
    return kp.Swings("still", bare, 30.0, n_frames, tracks, np.zeros((joints, 3)), **more)


def _odd_numbers() -> kp.Swings:
    """Return swings with signed zeros, very small and very large numbers, and quaternions of either sign."""
    half = np.array([-0.0, -1.0, 0.0, -0.0])
    swings = [kp.Swing("Hips", 3, 40, half, (0.0, -0.0, -1.0), 2.0), kp.Swing("Hips", 41, 42, -half, (0.6, 0.8, 0), 0)]
    track = kp.Track.build("Hips", np.array([-1.0, -0.0, 0.0, 5e-324]), swings)
    rows = np.array([[[-0.0, 5e-324, 1e14]], [[1e-300, -1e14, 1 / 3]]])
    path = Path("Spine", np.array([7, 100]), kp.Curves(rows, -rows * 1e-3, rows * 1e-9))
    plain = random_swings(3)
    return replace(plain, tracks=(track, *plain.tracks[1:]), paths=(path,))


DEMO = kp.demo_motion(fps=30)[:150]
CASES = {
    "found": kp.swings(DEMO),
    "nothing left out": kp.swings(DEMO, left_out=[]),
    "every place": kp.swings(DEMO, translation_mm=0.0),
    "other settings": kp.swings(DEMO, 0.3, metric="cosine", window_s=0.5, min_duration_s=0.0),
    "drawn": random_swings(0),
    "drawn again": random_swings(1),
    "keys on every frame": replace(
        random_swings(2),
        tracks=tuple(
            kp.Track(
                name,
                np.array(IDENTITY),
                keyed=(kp.KeyedSpan(np.arange(120), random_rotations(np.random.default_rng(5), 120)),),
            )
            for name in NAMES
        ),
        settings=Settings(left_out=("LeftHand",)),
    ),
    "one frame": kp.swings(DEMO[:1]),
    "one joint": _still(),
    "points": _still(names=("A", "B", "C"), contacts=kp.FootContacts((), np.zeros((9, 0), bool))),
    "no end sites": random_swings(4, skeleton=kp.Skeleton(NAMES, np.array(PARENTS), OFFSETS)),
    "odd channels": random_swings(
        5,
        skeleton=skeleton(
            rotation_orders=("XYZ", "ZYX", "YXZ", "XZY"),
            channels=(("Xposition", "Xrotation", "Yrotation"), (), ("Yrotation",), ("Xrotation", "Zposition")),
        ),
    ),
    "Z up, inches, starts late": random_swings(
        6, up="-Z", metres_per_unit=0.0254, first_frame=-17, notes=("a note", "ein Wörtchen 字", "")
    ),
    "odd rate": random_swings(7, fps=1 / 0.0083333),
    "reference pose": random_swings(8, reference_pose=kp.Pose(OFFSETS, from_euler(np.full((4, 3), 0.1), "ZXY"))),
    "odd names": _still(
        names=('ge\udce4hen "x"\n', "字", "\\", "", " "), settings=Settings(metric="cosine", left_out=("字", ""))
    ),
    "odd numbers": _odd_numbers(),
}
