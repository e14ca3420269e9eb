"""Curves out: the keys of a motion as the channels of a glTF animation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import Bools, Floats, Ints
from keypose.errors import OptionError
from keypose.formats.gltf.buffer import Buffer, float32, sound_text
from keypose.model import Motion, Pose
from keypose.rotations import sign_continuous

Floats32 = NDArray[np.float32]
_XYZW = (1, 2, 3, 0)


@dataclass(frozen=True)
class Keys:
    """Which frames the poses of a motion are, and the slopes with which its curves arrive at and leave each."""

    frames: Ints  # (K,) increasing
    n_frames: int
    translation_slopes: tuple[Floats, ...] = ()  # both (K, J, 3) per frame; none: straight
    rotation_slopes: tuple[Floats, ...] = ()  # both (K, J, 4) wxyz


@dataclass(frozen=True)
class _Property:
    """One property of all joints."""

    path: str
    values: Floats32  # (J, K, 3 or 4)
    tangents: tuple[Floats32, ...] = ()  # arriving, leaving: (J, K, 3 or 4) per second; none: straight

    def still(self) -> Bools:
        """(J,) the joints that never change."""
        still = (self.values == self.values[:, :1]).all(axis=(1, 2))
        for tangents in self.tangents:
            still &= (tangents == 0).all(axis=(1, 2))
        return np.asarray(still)

    def first(self) -> _Property:
        """Its first key alone."""
        return _Property(self.path, self.values[:, :1])

    def samples(self, joints: NDArray[np.intp], hold: tuple[int, int]) -> Floats32:
        """What the samplers of these joints hold (N, K or 3 K, 3 or 4), a further key that ``hold``s at either end."""
        parts = (self.values, *self.tangents)
        values, *tangents = (np.pad(part[joints], ((0, 0), hold, (0, 0)), mode="edge") for part in parts)
        if not tangents:
            return values
        arriving, leaving = tangents
        if hold[0]:
            leaving[:, 0] = arriving[:, :2] = 0
        if hold[1]:
            leaving[:, -2:] = arriving[:, -1] = 0
        triples = np.stack((arriving, values, leaving), axis=2)
        return triples.reshape(len(joints), -1, triples.shape[-1])


@dataclass
class _Channels:
    """The channels and samplers of an animation as they grow."""

    times: Floats32  # (K, 1) of all keys, those that hold included
    hold: tuple[int, int]  # how many of these hold, at either end
    buffer: Buffer
    channels: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    _inputs: dict[tuple[int, int], int] = field(default_factory=dict)  # the accessor of the times from one to another

    def add(self, what: _Property, of: Bools, *, lasting: bool = False) -> None:
        """A channel for each of these joints (J,); ``lasting`` from the first frame to the last one."""
        joints = np.flatnonzero(of)
        if not joints.size:
            return
        hold = self.hold if lasting else (0, 0)
        start = self.hold[0] - hold[0]
        end = start + what.values.shape[1] + sum(hold)
        if (start, end) not in self._inputs:
            self._inputs[start, end] = self.buffer.add(self.times[start:end], bounds=True)
        samples = what.samples(joints, hold)
        view = self.buffer.view(samples)
        for k, joint in enumerate(joints.tolist()):
            output = self.buffer.accessor(samples[k], view, k * samples[k].nbytes)
            self.channels.append({"sampler": len(self.samplers), "target": {"node": joint, "path": what.path}})
            way = "CUBICSPLINE" if what.tangents else "LINEAR"
            self.samplers.append({"input": self._inputs[start, end], "output": output, "interpolation": way})


def animation(motion: Motion, keys: Keys, rest: Pose, buffer: Buffer) -> dict[str, Any]:
    """``motion``, the poses at ``keys``: all of these for what moves, one for what is still elsewhere than at rest.

    The turn of the first root always has keys, also at the first and the last frame: some channel must last as long
    as the motion.
    """
    hold = int(keys.frames[0] > 0), int(keys.frames[-1] < keys.n_frames - 1)
    frames = np.concatenate(([0] * hold[0], keys.frames, [keys.n_frames - 1] * hold[1]))
    times = float32(frames / motion.fps, motion.name)[:, None]
    if (np.diff(times[:, 0]) <= 0).any():
        raise OptionError(f"{motion.name}: {keys.n_frames} frames at {motion.fps:g} fps are more than glTF's "
                          f"times of 32 bits can tell apart")  # fmt: skip
    made = _Channels(times, hold, buffer)
    turns, places = _properties(motion, keys)
    first_root = np.arange(motion.n_joints) == motion.skeleton.roots[0]
    made.add(turns, first_root, lasting=True)
    made.add(turns, ~turns.still() & ~first_root)
    made.add(turns.first(), turns.still() & ~first_root)
    at_rest = (places.values[:, 0] == np.float32(rest.translations)).all(axis=1)
    made.add(places, ~places.still())
    made.add(places.first(), places.still() & ~at_rest)
    return {"name": sound_text(motion.name) or "motion", "channels": made.channels, "samplers": made.samplers}


def _properties(motion: Motion, keys: Keys) -> tuple[_Property, _Property]:
    """Rotations (xyzw) and translations."""

    def by_joint(values: Floats) -> Floats32:
        return np.ascontiguousarray(float32(values, motion.name).swapaxes(0, 1))

    if not keys.rotation_slopes or len(keys.frames) == 1:  # from a single key no slope leads anywhere
        turns = sign_continuous(motion.rotations)[..., _XYZW]
        return _Property("rotation", by_joint(turns)), _Property("translation", by_joint(motion.translations))
    of_turns = tuple(by_joint(slopes[..., _XYZW] * motion.fps) for slopes in keys.rotation_slopes)
    of_places = tuple(by_joint(slopes * motion.fps) for slopes in keys.translation_slopes)
    return (
        _Property("rotation", by_joint(motion.rotations[..., _XYZW]), of_turns),
        _Property("translation", by_joint(motion.translations), of_places),
    )
