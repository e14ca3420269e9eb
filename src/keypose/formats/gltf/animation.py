"""Animations of a glTF file: which one, at what rate, and its keys sampled at frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import OptionError
from keypose.formats.gltf.accessors import Accessors
from keypose.formats.gltf.document import Part
from keypose.rotations import normalise, slerp

DEFAULT_FPS = 30.0
COMMON_RATES = (30.0, 24.0, 25.0, 60.0, 50.0, 48.0, 120.0, 100.0, 240.0, 24e3 / 1001, 30e3 / 1001, 60e3 / 1001)
LEAST_UNIFORM_RATE = 20.0  # even keys further apart are sparse keys, not the frames of a recording
LEAST_STEP_S = 1e-3
ON_FRAME = 0.02  # a key this part of a frame away from a frame stands on it: exporters round to milliseconds
FLOAT32_STEP = 2.4e-7  # times are float32: their rounding, relative
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


def find_rate(key_times: Sequence[Floats], start_s: float) -> float | None:
    """The frame rate on which all keys stand: their own if they are even, else a common one, else None."""
    times = np.unique(np.concatenate(key_times)) if key_times else np.zeros(0)
    steps = np.diff(times)
    steps = steps[steps > LEAST_STEP_S]
    if not steps.size:
        return None
    span = float(times[-1] - start_s)
    for rate in _likely_rates(round(span / float(steps.min())) / span):
        frames = (times - start_s) * rate
        slack = ON_FRAME + FLOAT32_STEP * np.abs(times) * rate
        if (np.abs(frames - np.round(frames)) <= slack).all():
            return rate
    return None


def _likely_rates(even: float) -> tuple[float, ...]:
    """Rates to try, likeliest first, for keys that would be ``even`` frames per second if each had one."""
    if even < LEAST_UNIFORM_RATE:
        return COMMON_RATES
    known = sorted((float(round(even)), *COMMON_RATES), key=lambda rate: abs(rate - even))
    if abs(known[0] - even) < 1e-4 * even:  # measured on float32 times
        return known[0], *COMMON_RATES
    nearby = [rate for rate in COMMON_RATES if abs(rate - even) < 0.01 * even]  # measured on rounded times
    return *sorted(nearby, key=lambda rate: abs(rate - even)), even, *COMMON_RATES


@dataclass(frozen=True)
class _Places:
    """Where frames lie between keys."""

    before: Ints  # (T,) the key at or before each frame
    after: Ints  # (T,)
    part: Floats  # (T, 1) of the way from one to the other
    gap_s: Floats  # (T, 1)
    on_keys: bool  # every frame stands on a key


class Sampler:
    """Samples tracks of one animation at given times (T,) in seconds; best those with the same keys in turn."""

    def __init__(self, animation: Animation, at_s: Floats, fps: float) -> None:
        self._animation = animation
        self._at_s = at_s
        self._slack = FLOAT32_STEP * np.abs(at_s) + 1e-5 / fps  # float32 key times stand beside their frame
        self._last: tuple[int, _Places] | None = None  # one only: there may be as many as tracks

    def sample(self, track: Track) -> Floats:
        """The values (T, 3) of a track, or (T, 4) unit wxyz of a rotation."""
        accessors = self._animation.accessors
        values = accessors.floats(track.values, _KINDS[track.path], only_floats=track.path != "rotation")
        source = accessors.container.source
        n_keys = len(self._animation.key_times[track.times])
        cubic = track.interpolation == "CUBICSPLINE"
        if len(values) != n_keys * (3 if cubic else 1):
            expected = f"3 x {n_keys}" if cubic else f"{n_keys}"
            raise source.error(f"{track.where}: {len(values)} values for {n_keys} keys, expected {expected}")
        places = self._of(track.times)
        if track.path != "rotation":
            return _between(track.interpolation, values, places, n_keys)
        values = values[:, (3, 0, 1, 2)]
        if not cubic:
            self._check_turns(values, f"{track.where}, key")
            values = normalise(values)
        if track.interpolation == "LINEAR" and not places.on_keys:
            return normalise(slerp(values[places.before], values[places.after], places.part))
        turns = _between(track.interpolation, values, places, n_keys)
        self._check_turns(turns, f"{track.where}, frame")
        return normalise(turns) if cubic else turns

    def _check_turns(self, turns: Floats, where: str) -> None:
        short = np.einsum("ij,ij->i", turns, turns) < 1e-12
        if short.any():
            k = int(np.argmax(short))
            raise self._animation.accessors.container.source.error(
                f"{where} {k}: {turns[k].tolist()} is no rotation, expected a quaternion of length 1"
            )

    def _of(self, accessor: int) -> _Places:
        if self._last is None or self._last[0] != accessor:
            times, at = self._animation.key_times[accessor], self._at_s
            last = len(times) - 1
            after = np.searchsorted(times, at, side="right").clip(0, last)
            before = (np.searchsorted(times, at, side="right") - 1).clip(0, last)
            before = np.where(times[after] - at <= self._slack, after, before)
            gap = times[after] - times[before]
            into = np.where(at - times[before] <= self._slack, 0.0, at - times[before])
            part = np.divide(into, gap, out=np.zeros_like(gap), where=gap > 0).clip(0.0, 1.0)
            self._last = accessor, _Places(before, after, part[:, None], gap[:, None], not part.any())
        return self._last[1]


def _between(interpolation: str, values: Floats, places: _Places, n_keys: int) -> Floats:
    """Key values, component by component, at the frames."""
    if interpolation == "CUBICSPLINE":
        keys = values.reshape(n_keys, 3, -1)  # in-tangent, value, out-tangent; tangents per second
        u, dt = places.part, places.gap_s
        start, leaving = keys[places.before, 1], keys[places.before, 2] * dt
        end, arriving = keys[places.after, 1], keys[places.after, 0] * dt
        u2, u3 = u * u, u * u * u
        curve: Floats = (
            (2 * u3 - 3 * u2 + 1) * start + (u3 - 2 * u2 + u) * leaving
            + (3 * u2 - 2 * u3) * end + (u3 - u2) * arriving
        )  # fmt: skip
        return curve
    if interpolation == "STEP" or places.on_keys:
        return values[places.before]
    return values[places.before] * (1.0 - places.part) + values[places.after] * places.part
