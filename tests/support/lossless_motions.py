"""Motions for the lossless codec, and their round trip."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import keypose as kp
from keypose.model import Pose, Skeleton
from keypose.storage.groups import CodedFrames
from keypose.storage.lossless import LosslessDecoder

EDGE_VALUES = [
    0.0,
    -0.0,
    5e-324,
    -2.2250738585072014e-308,
    1e-300,
    0.1,
    -0.1,
    1 / 3,
    1e15,
    -1e15,
    123456789.123,
    2.0**-30,
]
CHANNEL_SETS = [
    ("Zrotation", "Xrotation", "Yrotation"),
    ("Xposition", "Yposition", "Zposition", "Zrotation", "Yrotation", "Xrotation"),
    ("Yrotation",),
    ("Xrotation", "Zrotation", "Zposition"),
    ("Xposition",),
    (),
]


def decode_all(motion: kp.Motion, coded_frames: CodedFrames) -> tuple[np.ndarray, np.ndarray, Pose | None]:
    """Decode every group, the last one first, as groups are independent."""
    decoder = LosslessDecoder(motion.skeleton, motion.fps, motion.n_frames, coded_frames.parameters)
    groups = {
        g: decoder.decode_group(g, b"", coded_frames.bodies[g], None) for g in reversed(range(len(coded_frames.bodies)))
    }
    translations, rotations = (np.concatenate([groups[g][k] for g in sorted(groups)]) for k in (0, 1))
    return translations, rotations, decoder.reference_pose()


def assert_round_trip(motion: kp.Motion, coded_frames: CodedFrames) -> None:
    """Assert that all bits of the motion are restored."""
    translations, rotations, pose = decode_all(motion, coded_frames)
    assert translations.tobytes() == motion.translations.tobytes()
    assert rotations.tobytes() == motion.rotations.tobytes()
    assert (pose is None) == (motion.reference_pose is None)
    if pose is not None:
        assert pose.translations.tobytes() == motion.reference_pose.translations.tobytes()
        assert pose.rotations.tobytes() == motion.reference_pose.rotations.tobytes()


def coded_size(coded_frames: CodedFrames) -> int:
    return len(coded_frames.parameters) + sum(map(len, coded_frames.bodies))


def rotation_order(channels: tuple[str, ...]) -> str:
    axes = "".join(c[0] for c in channels if c.endswith("rotation"))
    return axes + "".join(axis for axis in "XYZ" if axis not in axes)


def build_skeleton(channels: list[tuple[str, ...]], parents: list[int] | None = None) -> Skeleton:
    n = len(channels)
    return Skeleton(
        names=tuple(f"joint{j}" for j in range(n)),
        parents=np.array(parents if parents is not None else range(-1, n - 1), np.int32),
        offsets=np.arange(3.0 * n).reshape(n, 3) / 7,
        rotation_orders=tuple(map(rotation_order, channels)),
        channels=tuple(channels),
    )


@st.composite
def arbitrary_motions(draw) -> kp.Motion:
    """Motions with any valid numbers, smooth or random, several roots, joints without channels."""
    channels = draw(st.lists(st.sampled_from(CHANNEL_SETS), min_size=1, max_size=4))
    parents = [draw(st.integers(-1, j - 1)) for j in range(len(channels))]
    n_frames, joints = draw(st.integers(1, 24)), len(channels)
    number = st.one_of(
        st.sampled_from(EDGE_VALUES), st.floats(-1e15, 1e15), st.integers(-5000, 5000).map(lambda k: k / 100)
    )
    translations = draw(arrays.arrays(float, (n_frames, joints, 3), elements=number, fill=st.sampled_from(EDGE_VALUES)))
    if draw(st.booleans()):
        translations = np.round(np.cumsum(np.clip(translations, -1, 1), axis=0), 3)
    rotations = _rotations(draw, n_frames, joints)
    skeleton = build_skeleton(channels, parents)
    if draw(st.booleans()):
        translations[:, 0] = skeleton.offsets[0]
    pose = Pose(translations[-1], rotations[0]) if draw(st.booleans()) else None
    return kp.Motion(
        "strange", skeleton, draw(st.sampled_from([1.0, 5.0, 7.5, 30.0])), translations, rotations, reference_pose=pose
    )


def _rotations(draw, n_frames: int, joints: int) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["still", "wild", "smooth", "plain"]))
    q = np.zeros((n_frames, joints, 4))
    q[..., 0] = 1.0
    if kind == "wild":
        q = rng.normal(size=q.shape) * rng.choice([1.0, 1e-9, 0.0], q.shape)
        q[..., 0] += 1e-3
    elif kind == "smooth":
        q[..., 1:] = np.cumsum(rng.normal(0, 0.02, (n_frames, joints, 3)), axis=0)
    elif kind == "plain":
        q = rng.choice([0.5, -0.5], q.shape)
        q[rng.random((n_frames, joints)) < 0.3] = (0.0, -1.0, -0.0, 0.0)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)
