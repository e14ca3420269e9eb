"""Strategies of clip headers for tests of the container, with skeletons of every kind, and their comparison."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from keypose.limits import Limits
from keypose.model import Motion, Pose, Skeleton
from keypose.rotations import ORDERS, from_euler
from keypose.storage.byte_source import open_source
from keypose.storage.container import FileContents, build_file, read_contents
from keypose.storage.groups import CodedFrames, group_count
from keypose.storage.header.clip_header import ClipHeader
from keypose.storage.header.names import common_names

COMMON_NAMES = [word.name for word in common_names()]
numbers = st.one_of(
    st.sampled_from((0.0, -0.0, 1.0, -2.36836, 0.1, 1e-5, 123456.789, 1e15, -1e15, 5e-324)),
    st.integers(-(10**7), 10**7).map(lambda n: n / 10**5),
    st.floats(-1e15, 1e15),
    st.floats(-1000, 1000, width=32),
)
vectors = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4)  # few, so that some are equal
texts = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(("x" * 61, "ä" * 200, "\x00", "\ud800"))


@st.composite
def channels(draw, order: str) -> tuple[str, ...]:
    """Any subset of the six channels, in any order compatible with the rotation order."""
    rotation_channels = [f"{axis}rotation" for axis in order[: draw(st.integers(0, 3))]]
    result = draw(st.permutations(["Xposition", "Yposition", "Zposition"]))[: draw(st.integers(0, 3))]
    for rotation_channel in reversed(rotation_channels):
        result.insert(
            draw(st.integers(0, len(result))) if rotation_channel == rotation_channels[-1] else 0, rotation_channel
        )
    return tuple(result)


@st.composite
def skeletons(draw, max_joints: int = 12) -> Skeleton:
    n = draw(st.integers(1, max_joints))
    first_common = draw(st.integers(0, len(COMMON_NAMES) - n))
    prefix = draw(st.sampled_from(("", "", "mixamorig:", "日本:")))
    any_name = st.one_of(texts, st.sampled_from(COMMON_NAMES))
    names = draw(
        st.lists(any_name, min_size=n, max_size=n, unique=True)
        | st.just(COMMON_NAMES[first_common : first_common + n]).filter(lambda found: len(set(found)) == n)
    )
    orders = draw(st.lists(st.sampled_from(ORDERS), min_size=n, max_size=n)) if draw(st.booleans()) else ["ZYX"] * n
    pool = draw(vectors)
    ends = draw(st.lists(st.integers(0, n - 1), max_size=6))
    pick = st.sampled_from(pool)
    return Skeleton(
        tuple(prefix + name for name in names),
        np.array([draw(st.integers(-1, j - 1)) for j in range(n)], np.int32),
        np.array([draw(pick) for _ in range(n)]),
        tuple(orders),
        tuple(draw(channels(order)) for order in orders) if draw(st.booleans()) else (),
        end_offsets=np.array([draw(pick) for _ in ends]).reshape(-1, 3),
        end_joints=np.array(ends if draw(st.booleans()) else sorted(ends), np.int32),
    )


@st.composite
def poses(draw, skeleton: Skeleton) -> Pose:
    n, rng = skeleton.n_joints, np.random.default_rng(draw(st.integers(0, 99)))
    angles = rng.integers(-180, 180, (n, 3)).astype(float) * rng.integers(0, 2, (n, 1))
    rotations = from_euler(np.deg2rad(angles + (rng.normal(size=(n, 3)) if draw(st.booleans()) else 0)), "ZYX")
    moved = rng.integers(0, 2, (n, 1)) * rng.normal(size=(n, 3))
    return Pose(np.clip(skeleton.offsets + moved, -1e15, 1e15), rotations)


@st.composite
def clip_headers(draw) -> tuple[ClipHeader, CodedFrames, bytes | None, bytes | None]:
    """A header with its coded frames, keys and swings."""
    skeleton = draw(skeletons())
    kind = draw(st.integers(0, 2))
    fps = draw(st.sampled_from((30.0, 120.0, 59.94, 1e-3, 1e6, 1 / 3, 29.97002997)))
    n_frames = draw(st.integers(1, 400))
    count = group_count(n_frames, fps) if kind else 0
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    poses_, bodies = ([rng.bytes(int(rng.integers(0, 40))) for _ in range(count)] for _ in range(2))
    coded_frames = CodedFrames(kind, rng.bytes(int(rng.integers(0, 9))), tuple(poses_), tuple(bodies))
    keys, swings = (draw(st.none() | st.binary(max_size=20)) for _ in range(2))
    header = ClipHeader(
        kind=kind,
        tolerance_mm=draw(st.sampled_from((1.0, 0.1, 0.3, 1 / 3))) if kind == 1 else None,
        name=draw(texts),
        skeleton=skeleton,
        fps=fps,
        n_frames=n_frames,
        up=draw(st.sampled_from(("X", "Y", "Z", "-X", "-Y", "-Z"))),
        metres_per_unit=draw(st.sampled_from((None, 1.0, 0.01, 0.0254, 0.0254 / 0.45))),
        first_frame=draw(st.sampled_from((0, 1, -7, 10**12))),
        reference_pose=draw(st.none() | poses(skeleton)),
        notes=tuple(draw(st.lists(texts, max_size=3))),
        parameters_bytes=len(coded_frames.parameters),
        pose_bytes=tuple(map(len, coded_frames.poses)),
        body_bytes=tuple(map(len, coded_frames.bodies)),
        keys_bytes=None if keys is None else len(keys),
        swings_bytes=None if swings is None else len(swings),
    )
    return header, coded_frames, keys, swings


def tiny_motion(n_frames: int = 8, fps: float = 2.0) -> Motion:
    rng = np.random.default_rng(3)
    skeleton = Skeleton(("Hips",), np.array([-1]), np.round(rng.normal(size=(1, 3)), 2))
    rotations = np.tile((1.0, 0, 0, 0), (n_frames, 1, 1))
    return Motion("tiny", skeleton, fps, rng.normal(size=(n_frames, 1, 3)), rotations, notes=("a note",))


def build_header(motion: Motion, coded_frames: CodedFrames) -> ClipHeader:
    return ClipHeader(
        coded_frames.kind, 1.0 if coded_frames.kind == 1 else None, motion.name, motion.skeleton, motion.fps, motion.n_frames, motion.up,
        motion.metres_per_unit, motion.first_frame, motion.reference_pose, motion.notes, len(coded_frames.parameters),
        tuple(map(len, coded_frames.poses)), tuple(map(len, coded_frames.bodies)), None, None,
    )  # fmt: skip


def read_back(data: bytes, limits: Limits | None = None) -> FileContents:
    return read_contents(open_source(data), limits or Limits())


def assert_same_bits(a: np.ndarray, b: object, shape: tuple[int, ...]) -> None:
    assert a.tobytes() == np.array(b, float).reshape(shape).tobytes()


def assert_same_header(a: ClipHeader, b: ClipHeader) -> None:
    """Assert that two headers are equal in every bit; the signs of zeros in rotations may differ."""
    first, second = a.skeleton, b.skeleton
    assert (first.names, first.rotation_orders, first.channels) == (
        second.names,
        second.rotation_orders,
        second.channels,
    )
    assert first.parents.tolist() == second.parents.tolist() and first.end_joints.tolist() == second.end_joints.tolist()
    assert_same_bits(first.offsets, second.offsets, first.offsets.shape)
    assert_same_bits(first.end_offsets, second.end_offsets, first.end_offsets.shape)
    plain = [name for name in vars(a) if name not in ("skeleton", "reference_pose")]
    assert {name: getattr(a, name) for name in plain} == {name: getattr(b, name) for name in plain}
    assert (a.reference_pose is None) == (b.reference_pose is None)
    if a.reference_pose is not None and b.reference_pose is not None:
        assert (a.reference_pose.translations == b.reference_pose.translations).all()
        assert (a.reference_pose.rotations == b.reference_pose.rotations).all()


__all__ = [
    "assert_same_bits",
    "assert_same_header",
    "build_file",
    "build_header",
    "clip_headers",
    "read_back",
    "skeletons",
    "texts",
    "tiny_motion",
]
