"""Write the keys of a motion as the channels of a glTF animation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.formats.gltf.buffer import Buffer, float32, valid_text
from keypose.model import Motion, Pose
from keypose.rotations import align_signs

Floats32 = NDArray[np.float32]
_XYZW = (1, 2, 3, 0)


@dataclass(frozen=True)
class Keys:
    """The frames of the key poses of a motion, and the in- and out-tangents of its curves there."""

    frames: Ints  # (K,) increasing
    n_frames: int
    translation_tangents: tuple[Floats, ...] = ()  # in, out: (K, J, 3) per frame; empty: linear
    rotation_tangents: tuple[Floats, ...] = ()  # in, out: (K, J, 4) wxyz


@dataclass(frozen=True)
class _Property:
    """One property of all joints."""

    path: str
    values: Floats32  # (J, K, 3 or 4)
    tangents: tuple[Floats32, ...] = ()  # in, out: (J, K, 3 or 4) per second; empty: linear

    def constant_joints(self) -> Bools:
        """Return a mask (J,) of the joints that never change."""
        is_constant = (self.values == self.values[:, :1]).all(axis=(1, 2))
        for tangents in self.tangents:
            is_constant &= (tangents == 0).all(axis=(1, 2))
        return np.asarray(is_constant)

    def first_key(self) -> _Property:
        """Return the first key alone."""
        return _Property(self.path, self.values[:, :1])

    def samples(self, joints: NDArray[np.intp], hold: tuple[int, int]) -> Floats32:
        """Return the sampler outputs (N, K or 3 K, 3 or 4) of these joints, with ``hold`` extra keys at each end."""
        arrays = (self.values, *self.tangents)
        values, *tangents = (np.pad(array[joints], ((0, 0), hold, (0, 0)), mode="edge") for array in arrays)
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

    times: Floats32  # (K, 1) of all keys, including hold keys
    hold: tuple[int, int]  # number of hold keys at each end
    buffer: Buffer
    channels: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    _inputs: dict[tuple[int, int], int] = field(default_factory=dict)  # accessor of the times by (start, end)

    def add(self, prop: _Property, joint_mask: Bools, *, full_length: bool = False) -> None:
        """Add a channel for each joint of the mask (J,); ``full_length``: from the first frame to the last one."""
        joints = np.flatnonzero(joint_mask)
        if not joints.size:
            return
        hold = self.hold if full_length else (0, 0)
        start = self.hold[0] - hold[0]
        end = start + prop.values.shape[1] + sum(hold)
        if (start, end) not in self._inputs:
            self._inputs[start, end] = self.buffer.add(self.times[start:end], bounds=True)
        samples = prop.samples(joints, hold)
        view = self.buffer.view(samples)
        for k, joint in enumerate(joints.tolist()):
            output = self.buffer.accessor(samples[k], view, k * samples[k].nbytes)
            self.channels.append({"sampler": len(self.samplers), "target": {"node": joint, "path": prop.path}})
            interpolation = "CUBICSPLINE" if prop.tangents else "LINEAR"
            self.samplers.append({"input": self._inputs[start, end], "output": output, "interpolation": interpolation})


def build_animation(motion: Motion, keys: Keys, rest: Pose, buffer: Buffer) -> dict[str, Any]:
    """Build the animation of ``motion``, the poses at ``keys``: all keys for joints that move, one key for joints that
    are constant but not at rest.

    The rotation of the first root always has keys at the first and last frame, as some channel must be as long as the
    motion.
    """
    hold = int(keys.frames[0] > 0), int(keys.frames[-1] < keys.n_frames - 1)
    frames = np.concatenate(([0] * hold[0], keys.frames, [keys.n_frames - 1] * hold[1]))
    times = float32(frames / motion.fps, motion.name)[:, None]
    if (np.diff(times[:, 0]) <= 0).any():
        raise OptionError(f"{motion.name}: {keys.n_frames} frames at {motion.fps:g} fps are more than glTF's "
                          f"times of 32 bits can tell apart")  # fmt: skip
    builder = _ChannelBuilder(times, hold, buffer)
    rotations, translations = _build_properties(motion, keys)
    first_root = np.arange(motion.n_joints) == motion.skeleton.roots[0]
    builder.add(rotations, first_root, full_length=True)
    builder.add(rotations, ~rotations.constant_joints() & ~first_root)
    builder.add(rotations.first_key(), rotations.constant_joints() & ~first_root)
    at_rest = (translations.values[:, 0] == np.float32(rest.translations)).all(axis=1)
    builder.add(translations, ~translations.constant_joints())
    builder.add(translations.first_key(), translations.constant_joints() & ~at_rest)
    return {"name": valid_text(motion.name) or "motion", "channels": builder.channels, "samplers": builder.samplers}


def _build_properties(motion: Motion, keys: Keys) -> tuple[_Property, _Property]:
    """Return rotations (xyzw) and translations."""

    def by_joint(values: Floats) -> Floats32:
        return np.ascontiguousarray(float32(values, motion.name).swapaxes(0, 1))

    if not keys.rotation_tangents or len(keys.frames) == 1:  # tangents of a single key have no effect
        rotations = align_signs(motion.rotations)[..., _XYZW]
        return _Property("rotation", by_joint(rotations)), _Property("translation", by_joint(motion.translations))
    rotation_tangents = tuple(by_joint(tangents[..., _XYZW] * motion.fps) for tangents in keys.rotation_tangents)
    translation_tangents = tuple(by_joint(tangents * motion.fps) for tangents in keys.translation_tangents)
    return (
        _Property("rotation", by_joint(motion.rotations[..., _XYZW]), rotation_tangents),
        _Property("translation", by_joint(motion.translations), translation_tangents),
    )
