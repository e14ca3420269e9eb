"""Read one animation of a glTF file: its tracks and keys."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats
from keypose.errors import OptionError
from keypose.formats.base import Source
from keypose.formats.gltf.accessors import Accessors
from keypose.formats.json_document import JsonObject
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
    location: str


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
        """Return the values of a track at its keys: (K, 3), or (K, 4) unit wxyz for a rotation; for CUBICSPLINE
        (3 K, 3 or 4), in-tangent, value and out-tangent of each key, not normalised.
        """
        values = self.accessors.floats(track.values, _KINDS[track.path], only_floats=track.path != "rotation")
        n_keys = len(self.key_times[track.times])
        cubic = track.interpolation == "CUBICSPLINE"
        if len(values) != n_keys * (3 if cubic else 1):
            expected = f"3 x {n_keys}" if cubic else f"{n_keys}"
            raise self.source.error(f"{track.location}: {len(values)} values for {n_keys} keys, expected {expected}")
        if track.path != "rotation":
            return values
        values = values[:, (3, 0, 1, 2)]
        if cubic:
            return values
        self.check_quaternions(values, f"{track.location}, key")
        return normalise(values)

    def check_quaternions(self, quaternions: Floats, location: str) -> None:
        """Raise FormatError if one of ``quaternions`` (N, 4) has length 0."""
        is_zero = np.einsum("ij,ij->i", quaternions, quaternions) < 1e-12
        if is_zero.any():
            k = int(np.argmax(is_zero))
            raise self.source.error(
                f"{location} {k}: {quaternions[k].tolist()} is no rotation, expected a quaternion of length 1"
            )

    @property
    def source(self) -> Source:
        """The file of the animation."""
        return self.accessors.container.source


def animated_nodes(json: JsonObject, n_nodes: int) -> set[int]:
    """Return the nodes that any animation of the file moves, rotates or scales."""
    return {
        node
        for animation in json.objects("animations")
        for channel in animation.objects("channels")
        for node, _ in [_read_target(channel, n_nodes)]
        if node is not None
    }


def choose_animation(json: JsonObject, selector: str | int | None) -> JsonObject | None:
    """Return the animation of that name or index, by default the first; None if the file has none."""
    animations = json.objects("animations")
    names = [animation.text("name", f"animation {k}") for k, animation in enumerate(animations)]
    if selector is None:
        if len(animations) > 1:
            others = ", ".join(map(repr, names[1:40])) + (", ..." if len(names) > 40 else "")
            json.source.note(f"of {len(animations)} animations the first, {names[0]!r}, is read; the others: {others}")
        return animations[0] if animations else None
    if isinstance(selector, str) and selector in names:
        return animations[names.index(selector)]
    if isinstance(selector, str) and selector.isdecimal() and len(selector) < 9:
        selector = int(selector)
    if isinstance(selector, int) and 0 <= selector < len(animations):
        return animations[selector]
    available = ", ".join(map(repr, names[:40])) or "none"
    raise OptionError(
        f"{json.source.path}: animation={selector!r}, expected a name or a number from 0; there are: {available}"
    )


def read_animation(entry: JsonObject, accessors: Accessors, n_nodes: int) -> Animation:
    """Read the tracks and key times of one animation; values are read when they are sampled."""
    samplers = entry.objects("samplers")
    animation = Animation(entry.text("name", ""), [], accessors)
    animated: set[tuple[int, str]] = set()
    duplicates = []
    for channel in entry.objects("channels"):
        node, path = _read_target(channel, n_nodes)
        if node is None:
            continue
        if (node, path) in animated:
            duplicates.append(f"{channel.location}: {path} of nodes[{node}]")
            continue
        animated.add((node, path))
        sampler = samplers[channel.index("sampler", len(samplers))]
        interpolation = sampler.text("interpolation", "LINEAR")
        if interpolation not in _INTERPOLATIONS:
            raise sampler.member_error("interpolation", f"one of {', '.join(_INTERPOLATIONS)}")
        times, values = sampler.index("input", len(accessors)), sampler.index("output", len(accessors))
        animation.tracks.append(Track(node, path, interpolation, times, values, sampler.location))
        if times not in animation.key_times:
            animation.key_times[times] = _read_key_times(sampler, accessors, times)
    if duplicates:
        more = f" (and {len(duplicates) - 1} more)" if len(duplicates) > 1 else ""
        entry.source.warn(f"{duplicates[0]}{more} has keys already; these are left out")
    if animation.key_times:
        animation.start_s = min(float(times[0]) for times in animation.key_times.values())
        animation.end_s = max(float(times[-1]) for times in animation.key_times.values())
    return animation


def _read_target(channel: JsonObject, n_nodes: int) -> tuple[int | None, str]:
    """Return the node and property of a channel; None as node if it animates something else, as morph weights."""
    target = channel.optional_object("target")
    if target is None:
        raise channel.member_error("target", "an object")
    path = target.text("path")
    if path not in _KINDS or "node" not in target:
        return None, path
    return target.index("node", n_nodes), path


def _read_key_times(sampler: JsonObject, accessors: Accessors, index: int) -> Floats:
    times = accessors.floats(index, "SCALAR", only_floats=True)[:, 0]
    steps = np.diff(times)
    if (steps <= 0).any():
        k = int(np.argmax(steps <= 0))
        raise sampler.source.error(f"{sampler.location}: key {k + 1} is at {times[k + 1]:g} s after one at "
                                   f"{times[k]:g} s, expected increasing times")  # fmt: skip
    return times
