"""The coordinate system of the viewer, and frames of a clip in it, encoded for the browser."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.arrays import Floats, Frozen, freeze, freeze_floats
from keypose.errors import ModelError, OptionError
from keypose.kinematics import Up, end_positions, up_axis
from keypose.model import Motion
from keypose.pictures.figure.human import gaze_direction
from keypose.pictures.figure.paint import sample_motion
from keypose.rotations import IDENTITY, conjugate, exp, multiply, rotate, to_matrix
from keypose.swings import Swing
from keypose.validation import check_int, check_number

FLOOR_PERCENT = 5.0  # percent of poses may reach below the floor: a toe that dips does not lower it
SAMPLE_FRAMES = 1000  # evenly spread frames from which floor and path are estimated
MAX_POINTS = 40_000_000  # joints and end sites of all frames in one response: 480 MB
ARC_STEP_DEG = 3.0
MAX_ARC_RAD = 2.0 * math.pi
MIN_ARC_SHARE = 0.2  # of the bone: one with a smaller distance from the axis only turns about itself
TWIST_RADIUS_SHARE = 0.4  # radius of such an arc, of the bone
MIN_BONE_SHARE = 0.01  # of the height: children that are nearer are at the joint itself
ARC_SHARE_WITHOUT_BONE = 0.1  # of the height
DISTANCE_HEIGHTS = 0.1  # from the head joint to the point, in heights of the figure

MEDIA_TYPE = "application/vnd.keypose.arrays"
ALIGNMENT_BYTES = 8  # of the end of the header and the start of each array
DTYPES = {"float32": np.dtype("<f4"), "int32": np.dtype("<i4")}


@dataclass(frozen=True, eq=False)
class DisplaySpace(Frozen):
    """Metres on a figure of 1.7 m, right-handed, Y up, the floor at 0, the middle of the hips' path at X = Z = 0.

    A figure without height cannot be scaled: it keeps the metres of its file or, if unknown, the file's units.
    """

    rotation: Floats  # (3, 3) display directions from file directions
    metres_per_unit: float
    origin: Floats  # (3,) the point of the file that is the origin of the display

    def __post_init__(self) -> None:
        self._set_field("rotation", freeze_floats(self.rotation, (3, 3), "rotation of the display"))
        self._set_field("origin", freeze_floats(self.origin, (3,), "origin of the display"))

    def to_display(self, points: Floats) -> Floats:
        """Return ``points`` (..., 3), given in file units, in display metres."""
        return np.asarray((points - self.origin) @ (self.metres_per_unit * self.rotation.T))

    def to_file(self, point: ArrayLike) -> Floats:
        """Return a display point (..., 3) in file units."""
        return self.origin + self.offset_to_file(point)

    def offset_to_file(self, offset: ArrayLike) -> Floats:
        """Return a display offset (..., 3) in file units."""
        return np.asarray(np.asarray(offset, np.float64) @ self.rotation / self.metres_per_unit)

    def rotation_to_file(self, quaternion: ArrayLike) -> Floats:
        """Return a rotation (..., 4), wxyz, about display axes as one about file axes."""
        wxyz = np.asarray(quaternion, np.float64)
        return np.concatenate((wxyz[..., :1], wxyz[..., 1:] @ self.rotation), axis=-1)


def compute_display_space(motion: Motion) -> DisplaySpace:
    """Return the space in which ``motion`` and everything derived from it is shown."""
    rotation = rotation_to_y_up(motion.up)
    sample = _sample_frames(motion)
    points = np.concatenate((sample.world_positions(), sample.end_positions()), axis=1) @ rotation.T
    lowest = points[..., 1].min(axis=1)
    path = _hips_path(points, motion)
    middle = (path.min(axis=0) + path.max(axis=0)) / 2
    corner = np.array((middle[0], np.percentile(lowest, FLOOR_PERCENT), middle[2]))
    return DisplaySpace(freeze(rotation), _scale(motion), freeze(corner @ rotation))


def rotation_to_y_up(up: Up) -> Floats:
    """Return the rotation (3, 3) that brings ``up`` to Y and keeps handedness."""
    axis, sign = up_axis(up)
    rotation = np.roll(np.eye(3), 1 - axis, axis=0)  # a cycle of the axes
    return rotation if sign > 0 else np.diag((-1.0, -1.0, 1.0)) @ rotation


def _sample_frames(motion: Motion) -> Motion:
    """Return at most SAMPLE_FRAMES frames spread over the motion."""
    if motion.n_frames <= SAMPLE_FRAMES:
        return motion
    return motion.at_frames(np.linspace(0, motion.n_frames - 1, SAMPLE_FRAMES).round())


def _hips_path(points: Floats, motion: Motion) -> Floats:
    """Return the path (T, 3) of the figure: its hips, else the mean of its joints."""
    body_parts = motion.skeleton.anatomy.body_parts
    joints = points[:, : motion.n_joints]
    return joints[:, body_parts.index("hips")] if "hips" in body_parts else joints.mean(axis=1)


def _scale(motion: Motion) -> float:
    if motion.height > 0:
        return motion.mm_per_unit / 1000.0
    return 1.0 if motion.metres_per_unit is None else motion.metres_per_unit


@dataclass(frozen=True, eq=False)
class FrameData:
    """Positions in display space of every ``stride``-th frame, from frame 0 on."""

    positions: NDArray[np.float32]  # (N, J, 3) metres
    ends: NDArray[np.float32]  # (N, E, 3)
    face: NDArray[np.float32]  # (N, 1, 3) a point in front of the face; (N, 0, 3): no face
    fps: float  # of the rows
    n_frames: int  # of the motion
    stride: int

    def header(self) -> dict[str, Any]:
        """Return the scalar fields."""
        return {"fps": self.fps, "n_frames": self.n_frames, "stride": self.stride}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays."""
        return {"positions": self.positions, "ends": self.ends, "face": self.face}


def build_frame_data(motion: Motion, space: DisplaySpace, stride: int = 1, face: Face | None = None) -> FrameData:
    """Return the positions of joints, end sites and ``face`` of ``motion`` in every ``stride``-th frame."""
    check_int("stride", stride, min_value=1)
    strided = motion if stride == 1 else Motion(
        motion.name, motion.skeleton, motion.fps, motion.translations[::stride], motion.rotations[::stride], motion.up
    )  # fmt: skip
    points = strided.n_frames * (motion.n_joints + len(motion.skeleton.end_joints))
    if points > MAX_POINTS:
        min_stride = math.ceil(stride * points / MAX_POINTS)
        raise OptionError(
            f"{points:,} places", expected=f"at most {MAX_POINTS:,} at once: show every {min_stride}th frame"
        )
    face_positions = np.empty((strided.n_frames, 0, 3)) if face is None else face.world_positions(strided)
    positions, ends, face_points = (
        space.to_display(each).astype(np.float32)
        for each in (strided.world_positions(), strided.end_positions(), face_positions)
    )
    return FrameData(positions, ends, face_points, motion.fps / stride, motion.n_frames, stride)


def choose_stride(motion: Motion, fps: float | None = None, max_frames: int | None = None) -> int:
    """Return the stride that gives about ``fps`` frames per second, and at most ``max_frames`` frames."""
    stride = 1 if fps is None else max(1, round(min(motion.fps / check_number("fps", fps, above=0.0), motion.n_frames)))
    if max_frames is not None:
        stride = max(stride, math.ceil(motion.n_frames / check_int("max_frames", max_frames, min_value=1)))
    return stride


@dataclass(frozen=True, eq=False)
class Face(Frozen):
    """A point straight ahead of the head joint, in the direction in which the figure looks."""

    head: int  # index of the joint
    offset: Floats  # (3,) in the frame of the joint, file units

    def __post_init__(self) -> None:
        self._set_field("offset", freeze_floats(self.offset, (3,), "offset of the face"))

    def world_positions(self, motion: Motion) -> Floats:
        """Return the point (T, 1, 3) in the world of ``motion``, which has the same skeleton; file units."""
        positions, rotations = motion.world_positions(), motion.world_rotations()
        return end_positions(positions, rotations, np.array([self.head], np.int32), self.offset[None])


def find_face(motion: Motion) -> Face | None:
    """Return the face of the figure of ``motion``; None if no head or no direction is recognised."""
    sample = sample_motion(motion)
    ahead = gaze_direction(sample)
    return None if ahead is None else Face(sample.joints["head"], DISTANCE_HEIGHTS * sample.size * ahead)


@dataclass(frozen=True, eq=False)
class SwingArc:
    """The path of the end of a bone in a swing, which moves with the parent of the joint."""

    points: NDArray[np.float32]  # (K, 3) from the joint, in the frame of its parent, metres
    axis: NDArray[np.float32]  # (3,) direction in the frame of the parent
    origins: NDArray[np.float32]  # (T, 3) the joint in display space
    rotations: NDArray[np.float32]  # (T, 3, 3) display directions from those of the parent

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays."""
        return {"arc": self.points, "axis": self.axis, "origins": self.origins, "rotations": self.rotations}


def build_swing_arc(swing: Swing, motion: Motion, space: DisplaySpace) -> SwingArc:
    """Return the arc of ``swing`` in ``motion``, which is shown."""
    joint, parent = motion.skeleton.joint(swing.joint), int(motion.skeleton.parents[motion.skeleton.joint(swing.joint)])
    n_points = 1 + max(2, math.ceil(swing.angle_deg / ARC_STEP_DEG))
    angles = np.linspace(0.0, min(swing.angle, MAX_ARC_RAD), n_points)
    local_rotations = multiply(swing.start_rotation, exp(angles[:, None] * swing.axis))
    points = rotate(local_rotations, _arc_radius(motion, joint, swing) * space.metres_per_unit)
    parent_rotations = (
        np.tile(np.array(IDENTITY), (motion.n_frames, 1)) if parent < 0 else motion.world_rotations()[:, parent]
    )
    return SwingArc(
        points.astype(np.float32),
        rotate(swing.start_rotation, swing.axis).astype(np.float32),
        space.to_display(motion.world_positions()[:, joint]).astype(np.float32),
        (space.rotation @ to_matrix(parent_rotations)).astype(np.float32),
    )


def _arc_radius(motion: Motion, joint: int, swing: Swing) -> Floats:
    """Return the vector (3,) that the arc sweeps, in the frame of the joint, in file units.

    That is the bone; of one that only turns about itself, a radius perpendicular to it.
    """
    bone = _bone_vector(motion, joint, min(swing.start, motion.n_frames - 1))
    length = float(np.linalg.norm(bone))
    perpendicular = bone - (bone @ swing.axis) * swing.axis
    if np.linalg.norm(perpendicular) > MIN_ARC_SHARE * length:
        return bone
    side = np.cross(swing.axis, np.eye(3)[np.abs(swing.axis).argmin()])
    return np.asarray(TWIST_RADIUS_SHARE * length * side / np.linalg.norm(side))


def _bone_vector(motion: Motion, joint: int, frame: int) -> Floats:
    """Return the vector (3,), in the frame of a joint, to its farthest child or end site that is not in its place."""
    skeleton, pose = motion.skeleton, motion[frame : frame + 1]
    positions, ends = pose.world_positions()[0], pose.end_positions()[0]
    min_length = MIN_BONE_SHARE * motion.height
    level = [joint]
    while level:
        tips = np.concatenate((positions[np.isin(skeleton.parents, level)], ends[np.isin(skeleton.end_joints, level)]))
        offsets = tips - positions[joint]
        lengths = np.linalg.norm(offsets, axis=1)
        if lengths.max(initial=0.0) > min_length:
            return rotate(conjugate(pose.world_rotations()[0, joint]), offsets[lengths.argmax()])
        level = np.flatnonzero(np.isin(skeleton.parents, level)).tolist()
    return np.array((0.0, ARC_SHARE_WITHOUT_BONE * motion.height, 0.0))


def pack_arrays(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return ``header`` and ``arrays`` (float32 or int32; others are rounded to float32) as one block of bytes.

    uint32 LE: the length of the header; the header, JSON in UTF-8 with ``arrays: {name: {dtype, shape, offset}}``
    besides its own fields, padded with spaces so that 4 + its length is a multiple of 8; then the arrays,
    little-endian, each padded to 8 bytes. Offsets count from the end of the padded header.
    """
    if "arrays" in header:
        raise ModelError("packet: a header with 'arrays' of its own", expected="any other names")
    array_index: dict[str, dict[str, Any]] = {}
    chunks: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        dtype = "int32" if array.dtype.kind in "iub" else "float32"
        data = np.ascontiguousarray(array, DTYPES[dtype]).tobytes()
        array_index[name] = {"dtype": dtype, "shape": list(array.shape), "offset": offset}
        padding = -len(data) % ALIGNMENT_BYTES
        chunks += [data, bytes(padding)]
        offset += len(data) + padding
    header_json = json.dumps({**header, "arrays": array_index}, allow_nan=False, separators=(",", ":")).encode()
    header_json += b" " * (-(4 + len(header_json)) % ALIGNMENT_BYTES)
    return b"".join((struct.pack("<I", len(header_json)), header_json, *chunks))
