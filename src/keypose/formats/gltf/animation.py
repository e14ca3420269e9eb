"""Read one animation of a glTF file: its tracks and keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from keypose.arrays import Floats, Ints
from keypose.errors import format_count
from keypose.formats.base import Source, list_names
from keypose.formats.gltf.container import Accessors
from keypose.formats.json_document import JsonObject
from keypose.rotations import normalise, slerp

_KINDS = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3"}
_INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")

DEFAULT_FPS = 30.0
COMMON_RATES = (30.0, 24.0, 25.0, 60.0, 50.0, 48.0, 120.0, 100.0, 240.0, 24e3 / 1001, 30e3 / 1001, 60e3 / 1001)
MIN_UNIFORM_FPS = 20.0  # evenly spaced keys below this rate are sparse keys, not frames
MIN_STEP_S = 1e-3
ON_FRAME = 0.02  # tolerance in frames for a key to be on a frame: exporters round to milliseconds
MAX_ANIMATIONS_CHARS = 400  # of the names of other animations in a note
FLOAT32_STEP = 2.4e-7  # relative rounding of float32 times


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

    tracks: list[Track]
    accessors: Accessors
    entry: JsonObject | None = None  # None: the file has no animation
    morphed_nodes: list[int] = field(default_factory=list)  # with tracks of morph weights, which are not read
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
            raise self.source.error(
                f"{format_count(len(values), 'value')} for {format_count(n_keys, 'key')}",
                subject=track.location,
                code="inconsistent",
                expected=expected,
            )
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
                f"{quaternions[k].tolist()} is no rotation",
                code="bad_number",
                subject=f"{location} {k}",
                value=quaternions[k].tolist(),
                expected="a quaternion of length 1",
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


def animation_names(json: JsonObject) -> list[str]:
    """Return the names of all animations of the file; those without a name are numbered."""
    return [animation.text("name", "") or f"animation {k}" for k, animation in enumerate(json.objects("animations"))]


def choose_animation(json: JsonObject, selector: str | int | None) -> int | None:
    """Return the index of the animation of that name or index, by default the first; None if the file has none."""
    names = animation_names(json)
    if selector is None:
        if len(names) > 1:
            json.source.note(
                f"of {len(names)} animations the first, {names[0]!r}, is read; the option animation chooses "
                f"another: {list_names(names[1:], MAX_ANIMATIONS_CHARS)}",
                code="other_animations",
            )
        return 0 if names else None
    if isinstance(selector, str) and selector in names:
        return names.index(selector)
    if isinstance(selector, str) and selector.isdecimal() and len(selector) < 9:
        selector = int(selector)
    if isinstance(selector, int) and 0 <= selector < len(names):
        return selector
    raise json.source.unknown_animation_error(selector, names)


def read_animation(entry: JsonObject, accessors: Accessors, n_nodes: int) -> Animation:
    """Read the tracks and key times of one animation; values are read when they are sampled."""
    samplers = entry.objects("samplers")
    animation = Animation([], accessors, entry)
    animated: set[tuple[int, str]] = set()
    duplicates = []
    for channel in entry.objects("channels"):
        node, path = _read_target(channel, n_nodes)
        if node is None:
            morphed = channel.required_object("target").values.get("node")
            if path == "weights" and isinstance(morphed, int) and 0 <= morphed < n_nodes:
                animation.morphed_nodes.append(morphed)
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
        entry.source.warn(
            f"{duplicates[0]}{more} has keys already; further ones are left out",
            code="repeated_channel",
            value=len(duplicates),
        )
    if animation.key_times:
        animation.start_s = min(float(times[0]) for times in animation.key_times.values())
        animation.end_s = max(float(times[-1]) for times in animation.key_times.values())
    return animation


def _read_target(channel: JsonObject, n_nodes: int) -> tuple[int | None, str]:
    """Return the node and property of a channel; the node is None if it animates something else, such as morph
    weights."""
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
        raise sampler.source.error(
            f"key {k + 1} is at {times[k + 1]:g} s after one at {times[k]:g} s",
            subject=sampler.location,
            code="inconsistent",
            expected="increasing times",
        )
    return times


def find_rate(key_times: Sequence[Floats], start_s: float) -> float | None:
    """Return a rate at which all keys are on frames: their own if they are evenly spaced, else a common one, else
    None."""
    times = np.unique(np.concatenate(key_times)) if key_times else np.zeros(0)
    steps = np.diff(times)
    steps = steps[steps > MIN_STEP_S]
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
    """Return the rates to try, likeliest first; ``even`` is the rate if every frame had a key."""
    if even < MIN_UNIFORM_FPS:
        return COMMON_RATES
    rates = sorted((float(round(even)), *COMMON_RATES), key=lambda rate: abs(rate - even))
    if abs(rates[0] - even) < 1e-4 * even:  # measured on float32 times
        return rates[0], *COMMON_RATES
    nearby = [rate for rate in COMMON_RATES if abs(rate - even) < 0.01 * even]  # measured on rounded times
    return *sorted(nearby, key=lambda rate: abs(rate - even)), even, *COMMON_RATES


def _slack(times: Floats, fps: float) -> Floats:
    """Return the rounding error (N,) in seconds of float32 key times."""
    return FLOAT32_STEP * np.abs(times) + 1e-5 / fps


def snap_to_frames(times: Floats, start_s: float, fps: float) -> Floats:
    """Return key times (K,) snapped to frames if the difference is only rounding."""
    frames = start_s + np.round((times - start_s) * fps) / fps
    return np.where(np.abs(times - frames) <= _slack(times, fps), frames, times)


@dataclass(frozen=True)
class _KeyIntervals:
    """The key interval of each frame."""

    before: Ints  # (T,) the key at or before each frame
    after: Ints  # (T,)
    fraction: Floats  # (T, 1) from 0 at ``before`` to 1 at ``after``
    gap_s: Floats  # (T, 1)
    on_keys: bool  # every frame is on a key


class Sampler:
    """Samples tracks of one animation at times (T,) in seconds; fastest if tracks with the same keys are adjacent."""

    def __init__(self, animation: Animation, at_s: Floats, fps: float) -> None:
        self._animation = animation
        self._at_s = at_s
        self._fps = fps
        self._slack = _slack(at_s, fps)
        self._cached: tuple[int, _KeyIntervals] | None = None  # only the last one, as there may be as many as tracks

    def sample(self, track: Track) -> Floats:
        """Return the values (T, 3) of a track, or (T, 4) unit wxyz for a rotation."""
        values = self._animation.values(track)
        n_keys = len(self._animation.key_times[track.times])
        is_cubic = track.interpolation == "CUBICSPLINE"
        intervals = self._find_intervals(track.times)
        if track.path != "rotation":
            return _interpolate(track.interpolation, values, intervals, n_keys)
        if track.interpolation == "LINEAR" and not intervals.on_keys:
            return normalise(slerp(values[intervals.before], values[intervals.after], intervals.fraction))
        rotations = _interpolate(track.interpolation, values, intervals, n_keys)
        self._animation.check_quaternions(rotations, f"{track.location}, frame")
        return normalise(rotations) if is_cubic else rotations

    def _find_intervals(self, accessor: int) -> _KeyIntervals:
        if self._cached is None or self._cached[0] != accessor:
            start, at = self._animation.start_s, self._at_s
            times = snap_to_frames(self._animation.key_times[accessor], start, self._fps)
            last = len(times) - 1
            after = np.searchsorted(times, at, side="right").clip(0, last)
            before = (np.searchsorted(times, at, side="right") - 1).clip(0, last)
            before = np.where(times[after] - at <= self._slack, after, before)
            gap = times[after] - times[before]
            elapsed = np.where(at - times[before] <= self._slack, 0.0, at - times[before])
            fraction = np.divide(elapsed, gap, out=np.zeros_like(gap), where=gap > 0).clip(0.0, 1.0)
            self._cached = accessor, _KeyIntervals(before, after, fraction[:, None], gap[:, None], not fraction.any())
        return self._cached[1]


def _interpolate(interpolation: str, values: Floats, intervals: _KeyIntervals, n_keys: int) -> Floats:
    """Interpolate key values at the frames, component by component."""
    if interpolation == "CUBICSPLINE":
        keys = values.reshape(n_keys, 3, -1)  # in-tangent, value, out-tangent; tangents per second
        u, dt = intervals.fraction, intervals.gap_s
        start, out_tangent = keys[intervals.before, 1], keys[intervals.before, 2] * dt
        end, in_tangent = keys[intervals.after, 1], keys[intervals.after, 0] * dt
        u2, u3 = u * u, u * u * u
        curve: Floats = (
            (2 * u3 - 3 * u2 + 1) * start + (u3 - 2 * u2 + u) * out_tangent
            + (3 * u2 - 2 * u3) * end + (u3 - u2) * in_tangent
        )  # fmt: skip
        return curve
    if interpolation == "STEP" or intervals.on_keys:
        return values[intervals.before]
    return values[intervals.before] * (1.0 - intervals.fraction) + values[intervals.after] * intervals.fraction
