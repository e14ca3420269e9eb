"""Animations of a glTF file: which one, and its keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.formats.base import Source
from keypose.formats.document import Part
from keypose.formats.gltf.accessors import Accessors
from keypose.rotations import normalise

_KINDS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}
_INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")


@dataclass(frozen=True)
class Track:
    """The keys of one property of one node."""

    node: int
    path: str  # "translation", "rotation" or "scale"
    interpolation: str
    times: int  # the accessor of the key times
    values: int  # the accessor of the values
    where: str


@dataclass
class Animation:
    """One animation with the times of its keys."""

    name: str
    tracks: list[Track]
    accessors: Accessors
    key_times: dict[int, Floats] = field(default_factory=dict)  # (K,) seconds, by accessor
    start_s: float = 0.0
    end_s: float = 0.0

    def values(self, track: Track) -> Floats:
        """What a track has at its keys (K, 3), or (K, 4) unit wxyz of a rotation; of CUBICSPLINE (3 K, 3 or 4), each
        key's in-tangent, value and out-tangent, as they are.
        """
        values = self.accessors.floats(track.values, _KINDS[track.path], only_floats=track.path != "rotation")
        n_keys = len(self.key_times[track.times])
        cubic = track.interpolation == "CUBICSPLINE"
        if len(values) != n_keys * (3 if cubic else 1):
            expected = f"3 x {n_keys}" if cubic else f"{n_keys}"
            raise self.source.error(f"{track.where}: {len(values)} values for {n_keys} keys, expected {expected}")
        if track.path != "rotation":
            return values
        values = values[:, (3, 0, 1, 2)]
        if cubic:
            return values
        self.check_turns(values, f"{track.where}, key")
        return normalise(values)

    def check_turns(self, turns: Floats, where: str) -> None:
        """Refuses a quaternion (N, 4) without length."""
        short = np.einsum("ij,ij->i", turns, turns) < 1e-12
        if short.any():
            k = int(np.argmax(short))
            raise self.source.error(
                f"{where} {k}: {turns[k].tolist()} is no rotation, expected a quaternion of length 1"
            )

    @property
    def source(self) -> Source:
        """The file."""
        return self.accessors.container.source


def animated_nodes(json: Part, n_nodes: int) -> set[int]:
    """The nodes that any animation of the file moves, turns or scales."""
    return {
        node
        for animation in json.parts("animations")
        for channel in animation.parts("channels")
        for node, _ in [_target(channel, n_nodes)]
        if node is not None
    }


def choose(json: Part, wanted: str | int | None) -> Part | None:
    """The animation of that name or number, by default the first; None where the file has none."""
    animations = json.parts("animations")
    names = [animation.text("name", f"animation {k}") for k, animation in enumerate(animations)]
    if wanted is None:
        if len(animations) > 1:
            others = ", ".join(map(repr, names[1:40])) + (", ..." if len(names) > 40 else "")
            json.source.note(f"of {len(animations)} animations the first, {names[0]!r}, is read; the others: {others}")
        return animations[0] if animations else None
    if isinstance(wanted, str) and wanted in names:
        return animations[names.index(wanted)]
    if isinstance(wanted, str) and wanted.isdecimal() and len(wanted) < 9:
        wanted = int(wanted)
    if isinstance(wanted, int) and 0 <= wanted < len(animations):
        return animations[wanted]
    there = ", ".join(map(repr, names[:40])) or "none"
    raise OptionError(
        f"{json.source.path}: animation={wanted!r}, expected a name or a number from 0; there are: {there}"
    )


def read_animation(part: Part, accessors: Accessors, n_nodes: int) -> Animation:
    """The tracks of one animation, their key times checked; values are read when they are sampled."""
    samplers = part.parts("samplers")
    animation = Animation(part.text("name", ""), [], accessors)
    taken: set[tuple[int, str]] = set()
    repeated = []
    for channel in part.parts("channels"):
        node, path = _target(channel, n_nodes)
        if node is None:
            continue
        if (node, path) in taken:
            repeated.append(f"{channel.where}: {path} of nodes[{node}]")
            continue
        taken.add((node, path))
        sampler = samplers[channel.index("sampler", len(samplers))]
        interpolation = sampler.text("interpolation", "LINEAR")
        if interpolation not in _INTERPOLATIONS:
            raise sampler.wrong("interpolation", f"one of {', '.join(_INTERPOLATIONS)}")
        times, values = sampler.index("input", len(accessors)), sampler.index("output", len(accessors))
        animation.tracks.append(Track(node, path, interpolation, times, values, sampler.where))
        if times not in animation.key_times:
            animation.key_times[times] = _key_times(sampler, accessors, times)
    if repeated:
        more = f" (and {len(repeated) - 1} more)" if len(repeated) > 1 else ""
        part.source.warn(f"{repeated[0]}{more} has keys already; these are left out")
    if animation.key_times:
        animation.start_s = min(float(times[0]) for times in animation.key_times.values())
        animation.end_s = max(float(times[-1]) for times in animation.key_times.values())
    return animation


def _target(channel: Part, n_nodes: int) -> tuple[int | None, str]:
    """The node and property of a channel; no node where it animates something else, as morph weights."""
    target = channel.part("target")
    if target is None:
        raise channel.wrong("target", "an object")
    path = target.text("path")
    if path not in _KINDS or "node" not in target:
        return None, path
    return target.index("node", n_nodes), path


def _key_times(sampler: Part, accessors: Accessors, index: int) -> Floats:
    times = accessors.floats(index, "SCALAR", only_floats=True)[:, 0]
    steps = np.diff(times)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0))
        raise sampler.source.error(f"{sampler.where}: key {k + 1} is at {times[k + 1]:g} s after one at "
                                   f"{times[k]:g} s, expected increasing times")  # fmt: skip
    return times
