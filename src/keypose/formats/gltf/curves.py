"""Write the keys of a motion as the channels of a glTF animation, Y up and in metres, and encode the file."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import MAX_MAGNITUDE, Bools, Floats, Ints, freeze
from keypose.curves.cubic_fit import Channels
from keypose.curves.keyed_motion import build_joint_keyed_motion
from keypose.errors import FormatWarning, OptionError, format_count
from keypose.formats.base import warn_caller
from keypose.formats.gltf.container import BINARY_CHUNK, GLB_MAGIC, JSON_CHUNK
from keypose.formats.orientation import ROTATION_TO_Y_UP
from keypose.kinematics import Up
from keypose.model import Curves, KeyedMotion, Motion, Pose
from keypose.rotations import align_signs, to_matrix

Floats32 = NDArray[np.float32]
_XYZW = (1, 2, 3, 0)
MIN_M = 1e-25  # dimensions of a smaller figure would be 0 in 32 bits

MAX_GLB_BYTES = (1 << 32) - 1  # the size of a GLB is a 32-bit number
_COMPONENTS = {"f4": 5126, "u1": 5121, "u2": 5123, "u4": 5125}
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


@dataclass(frozen=True)
class Keys:
    """The frames of the key poses of a motion, and the in- and out-tangents of its curves there."""

    frames: Ints  # (K,) increasing
    n_frames: int
    translation_tangents: tuple[Floats, ...] = ()  # in, out: (K, J, 3) per frame; empty: linear
    rotation_tangents: tuple[Floats, ...] = ()  # in, out: (K, J, 4) wxyz
    translation_is_key: Bools | None = None  # (K, J) which joints have each key; None: all
    rotation_is_key: Bools | None = None

    @staticmethod
    def of(keyed: KeyedMotion) -> Keys:
        """Return the keys of a keyed motion with quaternion curves."""
        return Keys(
            keyed.keys,
            keyed.n_frames,
            _list_tangents(keyed.translations),
            _list_tangents(keyed.rotations),
            keyed.translations.is_key,
            keyed.rotations.is_key,
        )


def _list_tangents(curves: Curves) -> tuple[Floats, ...]:
    return (
        () if curves.in_tangents is None or curves.out_tangents is None else (curves.in_tangents, curves.out_tangents)
    )


@dataclass(frozen=True)
class _Property:
    """One property of all joints."""

    path: str
    values: Floats32  # (J, K, 3 or 4)
    tangents: tuple[Floats32, ...] = ()  # in, out: (J, K, 3 or 4) per second; empty: linear
    is_key: Bools | None = None  # (K, J) which joints have each key; None: all

    def constant_joints(self) -> Bools:
        """Return a mask (J,) of the joints that never change and have no keys between the first and the last one."""
        is_constant = (self.values == self.values[:, :1]).all(axis=(1, 2))
        for tangents in self.tangents:
            is_constant &= (tangents == 0).all(axis=(1, 2))
        if self.is_key is not None:
            is_constant &= ~self.is_key[1:-1].any(axis=0)
        return np.asarray(is_constant)

    def first_key(self) -> _Property:
        """Return the first key alone."""
        return _Property(self.path, self.values[:, :1])

    def group_joints(self, joints: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the joints that have the same keys, with the indices of these keys."""
        if self.is_key is None:
            yield joints, np.arange(self.values.shape[1])
            return
        masks, group = np.unique(self.is_key[:, joints], axis=1, return_inverse=True)
        for number, mask in enumerate(masks.T):
            yield joints[group.ravel() == number], np.flatnonzero(mask)

    def samples(self, joints: NDArray[np.intp], keys: NDArray[np.intp], hold: tuple[int, int]) -> Floats32:
        """Return the sampler outputs (N, K or 3 K, 3 or 4) of these joints, with ``hold`` extra keys at each end."""
        arrays = (self.values, *self.tangents)
        values, *tangents = (
            np.pad(array[np.ix_(joints, keys)], ((0, 0), hold, (0, 0)), mode="edge") for array in arrays
        )
        if not tangents:
            return values
        in_tangents, out_tangents = tangents
        if hold[0]:
            out_tangents[:, 0] = in_tangents[:, :2] = 0
        if hold[1]:
            out_tangents[:, -2:] = in_tangents[:, -1] = 0
        triples = np.stack((in_tangents, values, out_tangents), axis=2)
        return triples.reshape(len(joints), -1, triples.shape[-1])


@dataclass
class _ChannelBuilder:
    """The channels and samplers of an animation under construction."""

    key_times: Floats32  # (K,)
    end_times: Floats32  # (2,) of the first and the last frame
    buffer: Buffer
    nodes: Sequence[int]  # of the joints
    channels: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    _inputs: dict[bytes, int] = field(default_factory=dict)  # accessor of each list of times

    def add(self, prop: _Property, joint_mask: Bools, *, full_length: bool = False) -> None:
        """Add a channel for each joint of the mask (J,); ``full_length``: from the first frame to the last one."""
        if not joint_mask.any():
            return
        for joints, keys in prop.group_joints(np.flatnonzero(joint_mask)):
            times, hold = self.key_times[keys], (0, 0)
            if full_length:
                hold = int(times[0] > self.end_times[0]), int(times[-1] < self.end_times[1])
                times = np.concatenate((self.end_times[:1][: hold[0]], times, self.end_times[1:][: hold[1]]))
            if times.tobytes() not in self._inputs:
                self._inputs[times.tobytes()] = self.buffer.add(times[:, None], bounds=True)
            samples = prop.samples(joints, keys, hold)
            view = self.buffer.view(samples)
            for k, joint in enumerate(joints.tolist()):
                output = self.buffer.accessor(samples[k], view, k * samples[k].nbytes)
                target = {"node": self.nodes[joint], "path": prop.path}
                self.channels.append({"sampler": len(self.samplers), "target": target})
                interpolation = "CUBICSPLINE" if prop.tangents else "LINEAR"
                self.samplers.append(
                    {"input": self._inputs[times.tobytes()], "output": output, "interpolation": interpolation}
                )


@dataclass(frozen=True)
class Placement:
    """Where an animation belongs in an existing file."""

    nodes: Sequence[int]  # of the joints
    start_s: float  # the time of frame 0
    # masks (J,) of the joints at rest that get a channel, by path; None: their rotation, as in a new file
    animated: Mapping[str, Bools] | None


def build_animation(
    motion: Motion, keys: Keys, rest: Pose, buffer: Buffer, placement: Placement | None = None
) -> dict[str, Any]:
    """Build the animation of ``motion``, the poses at ``keys``: all keys for joints that move, one key for joints that
    are constant but not at rest. By default the joints are the first nodes.

    The rotation of the first root always has keys at the first and last frame, as some channel must be as long as the
    motion.
    """
    joints = np.arange(motion.n_joints)
    if placement is None:
        placement = Placement(joints.tolist(), 0.0, None)
    frames = np.concatenate(([0], keys.frames, [keys.n_frames - 1]))
    times = float32(placement.start_s + frames / motion.fps, motion.name)
    if (np.diff(times)[np.diff(frames) > 0] <= 0).any():
        raise OptionError(
            f"{format_count(keys.n_frames, 'frame')} at {motion.fps:g} fps are more "
            "than glTF's times of 32 bits can tell apart",
            subject=motion.name,
            value=keys.n_frames,
        )
    builder = _ChannelBuilder(times[1:-1], times[[0, -1]], buffer, placement.nodes)
    rotations, translations = _build_properties(motion, keys)
    first_root = joints == motion.skeleton.roots[0]
    animated = placement.animated or {
        "rotation": np.ones(len(joints), bool),
        "translation": np.zeros(len(joints), bool),
    }
    builder.add(rotations, first_root, full_length=True)
    builder.add(rotations, ~rotations.constant_joints() & ~first_root)
    at_rest = (rotations.values[:, 0] == np.float32(rest.rotations[:, _XYZW])).all(axis=1) & ~animated["rotation"]
    builder.add(rotations.first_key(), rotations.constant_joints() & ~first_root & ~at_rest)
    at_rest = (translations.values[:, 0] == np.float32(rest.translations)).all(axis=1) & ~animated["translation"]
    builder.add(translations, ~translations.constant_joints())
    builder.add(translations.first_key(), translations.constant_joints() & ~at_rest)
    return {"name": valid_text(motion.name) or "motion", "channels": builder.channels, "samplers": builder.samplers}


def _build_properties(motion: Motion, keys: Keys) -> tuple[_Property, _Property]:
    """Return rotations (xyzw) and translations."""

    def by_joint(values: Floats) -> Floats32:
        return np.ascontiguousarray(float32(values, motion.name).swapaxes(0, 1))

    if not keys.rotation_tangents or len(keys.frames) == 1:  # tangents of a single key have no effect
        rotations = align_signs(motion.rotations)[..., _XYZW]
        return (
            _Property("rotation", by_joint(rotations), is_key=keys.rotation_is_key),
            _Property("translation", by_joint(motion.translations), is_key=keys.translation_is_key),
        )
    rotation_tangents = tuple(by_joint(tangents[..., _XYZW] * motion.fps) for tangents in keys.rotation_tangents)
    translation_tangents = tuple(by_joint(tangents * motion.fps) for tangents in keys.translation_tangents)
    return (
        _Property("rotation", by_joint(motion.rotations[..., _XYZW]), rotation_tangents, keys.rotation_is_key),
        _Property("translation", by_joint(motion.translations), translation_tangents, keys.translation_is_key),
    )


def convert_to_metres(motion: Motion, metres_per_unit: float) -> Motion:
    """Return the motion with Y up and in metres."""
    s, pose = motion.skeleton, motion.reference_pose
    vectors = [s.offsets, s.end_offsets, motion.translations, *([] if pose is None else [pose.translations])]
    largest = max(float(np.abs(array).max(initial=0.0)) for array in vectors) * metres_per_unit
    if not (largest == 0.0 or MIN_M <= largest <= MAX_MAGNITUDE):
        raise OptionError(
            f"its largest number is {largest:g} in metres",
            subject=motion.name,
            expected=f"{MIN_M:g} to {MAX_MAGNITUDE:g}, which fit into glTF's 32 bits",
        )
    basis = _y_up_matrix(motion.up)
    offsets, end_offsets, translations, *pose_translations = (array @ basis.T * metres_per_unit for array in vectors)
    return replace(
        motion,
        skeleton=replace(s, offsets=offsets, end_offsets=end_offsets),
        translations=translations,
        rotations=_rotate_basis(motion.rotations, basis),
        up="Y",
        metres_per_unit=1.0,
        reference_pose=None if pose is None else Pose(pose_translations[0], _rotate_basis(pose.rotations, basis)),
    )


def convert_tangents_to_metres(keys: Keys, up: Up, metres_per_unit: float) -> Keys:
    """Return keys with tangents converted like the poses in ``convert_to_metres``, by the same linear map."""
    basis = _y_up_matrix(up)
    return replace(
        keys,
        translation_tangents=tuple(tangents @ basis.T * metres_per_unit for tangents in keys.translation_tangents),
        rotation_tangents=tuple(_rotate_basis(tangents, basis) for tangents in keys.rotation_tangents),
    )


def convert_to_own_unit(
    translations: Floats, rotations: Floats, up: Up, metres_per_unit: float
) -> tuple[Floats, Floats]:
    """Return glTF poses, translations (..., 3) and rotations (..., 4), in the motion's own axes and unit.

    Also converts the tangents of curves.
    """
    basis = _y_up_matrix(up).T
    with np.errstate(over="ignore"):  # if the unit is extreme, Motion refuses the numbers
        return translations @ basis.T / metres_per_unit, _rotate_basis(rotations, basis)


def move_roots(translations: Floats, roots: Sequence[int], offset: Floats) -> Floats:
    """Return translations (..., J, 3) with the roots moved by ``offset`` (3,)."""
    result = translations.copy()
    result[..., list(roots), :] += offset
    return result


def _y_up_matrix(up: Up) -> Floats:
    """Return the matrix (3, 3) that rotates ``up`` to Y; its elements are 0, 1 and -1, so that nothing is rounded."""
    return np.rint(to_matrix(np.array(ROTATION_TO_Y_UP[up])))


def _rotate_basis(rotations: Floats, basis: Floats) -> Floats:
    """Return rotations (..., 4) in another basis: the same angle about the rotated axis."""
    return np.concatenate((rotations[..., :1], rotations[..., 1:] @ basis.T), axis=-1)


@dataclass
class Buffer:
    """The buffer of a file under construction, with its views and accessors."""

    chunks: list[bytes] = field(default_factory=list)
    size: int = 0
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def view(self, array: NDArray[Any], target: int | None = None) -> int:
        """Append an array and return the index of its view."""
        data = array.tobytes()
        entry = {"buffer": 0, "byteOffset": self.size, "byteLength": len(data)}
        self.views.append(entry | ({"target": target} if target else {}))
        data += bytes(-len(data) % 4)
        self.chunks.append(data)
        self.size += len(data)
        return len(self.views) - 1

    def accessor(
        self, array: NDArray[Any], view: int, start: int = 0, *, bounds: bool = False, normalised: bool = False
    ) -> int:
        """Add an accessor of an array (count, width) at byte ``start`` of a view and return its index."""
        entry: dict[str, Any] = {
            "bufferView": view,
            "byteOffset": start,
            "componentType": _COMPONENTS[array.dtype.str[1:]],
            "count": len(array),
            "type": _TYPES[array.shape[1]],
        }
        if normalised:
            entry["normalized"] = True
        if bounds:
            entry |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def add(self, array: NDArray[Any], target: int | None = None, **flags: bool) -> int:
        """Append an array with a view and an accessor of its own; return the index of the accessor."""
        return self.accessor(array, self.view(array, target), **flags)

    def glb(self, document: dict[str, Any], name: str, more_chunks: bytes | memoryview = b"") -> bytes:
        """Return the content of a GLB; ``name`` is that of the motion, for errors."""
        first, *others = document.get("buffers", [{}])
        text = _json(document | {"buffers": [first | {"byteLength": self.size}, *others]})
        text += b" " * (-len(text) % 4)
        total = 12 + 8 + len(text) + 8 + self.size + len(more_chunks)
        if total > MAX_GLB_BYTES:
            raise OptionError(
                format_count(total, "byte"),
                subject=name,
                expected=f"at most the {MAX_GLB_BYTES} of a GLB: save it in parts, or as .bvh",
            )
        head = GLB_MAGIC + struct.pack("<IIII", 2, total, len(text), JSON_CHUNK)
        return b"".join((head, text, struct.pack("<II", self.size, BINARY_CHUNK), *self.chunks, more_chunks))

    def gltf(self, document: dict[str, Any]) -> bytes:
        """Return the content of a glTF file with the buffer as a data URI."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(b"".join(self.chunks)).decode()
        return _json(document | {"buffers": [{"byteLength": self.size, "uri": uri}]}) + b"\n"


def _json(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text).encode()  # lone surrogates


def float32(values: Floats, name: str) -> NDArray[np.float32]:
    """Return float32 values; raise OptionError with the name of the motion if one is too large."""
    with np.errstate(over="ignore"):
        narrow = values.astype("<f4")
    if not np.isfinite(narrow).all():
        raise OptionError(f"numbers as large as {np.abs(values).max():g} do not fit into glTF's 32 bits", subject=name)
    return narrow


def rounded_numbers(values: Floats, name: str) -> list[float]:
    """Return values rounded to 32 bits, as the shortest numbers that round to them."""
    return [float(str(value)) for value in float32(values, name)]


def valid_text(name: str) -> str:
    """Return a name as valid Unicode: escaped bytes of another encoding are decoded as Latin-1."""
    try:
        name.encode()
    except UnicodeEncodeError:
        try:
            return name.encode("utf-8", "surrogateescape").decode("latin-1")
        except UnicodeEncodeError:  # a lone surrogate that is no escaped byte
            return name.encode("utf-8", "replace").decode()
    return name


WARN_MM = 0.5  # on a figure of 1.7 m


def fit_quaternion_curves(keyed: KeyedMotion) -> KeyedMotion:
    """Return the same keys with quaternion curves, fitted if ``keyed`` has Euler curves; without a residual.

    Warn if the fitted curves deviate visibly.
    """
    if keyed.rotation_orders is None:
        return replace(keyed, residual=None)
    dense = keyed.sample()
    channels = Channels(dense.translations, freeze(align_signs(dense.rotations)), None)
    rotation_keys, translation_keys = (
        [keyed.keys[is_key] for is_key in curves.key_flags().T] for curves in (keyed.rotations, keyed.translations)
    )
    refitted = build_joint_keyed_motion(dense, rotation_keys, translation_keys, channels=channels)
    refitted = replace(refitted, extremes=keyed.extremes)
    if keyed.is_cubic:
        refitted = replace(refitted, translations=keyed.translations)
    if dense.height > 0:
        distances = np.linalg.norm(refitted.sample().world_positions() - dense.world_positions(), axis=-1)
        max_mm = float(distances.max()) * dense.mm_per_unit
        if max_mm > WARN_MM:
            warn_caller(
                FormatWarning(
                    "the format has no Euler curves; quaternion curves through the same keys are up to "
                    f"{max_mm:.1f} mm away from them, on a figure of 1.7 m",
                    code="curves_differ",
                    subject=keyed.name,
                    value=max_mm,
                )
            )
    return refitted
