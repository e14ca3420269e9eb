"""Plain curves: keys of the optimal search against a greedy reduction at the same largest error, and its speed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from benchmarks.measure import DATA, unmeasured_figures

import keypose as kp
from keypose.arrays import Floats
from keypose.formats.base import Source
from keypose.formats.gltf.container import Accessors, open_container
from keypose.limits import Limits
from keypose.options import MeasuredInterpolation

MAX_FRAMES = 600
TOLERANCES_DEG = (0.5, 2.0)
TRACK_TOLERANCE = 1e-3  # of the largest value of a track of scale or morph weights
CHARACTERS = ("characters/Knight.glb", "gltf/RobotExpressive.glb", "gltf/CesiumMan.glb", "gltf/RiggedFigure.glb")
KINDS: tuple[MeasuredInterpolation, ...] = ("bezier", "linear")
SPEED_CURVES, SPEED_SAMPLES = 100, 1000


class Curves(NamedTuple):
    """The curves of one clip or track."""

    name: str
    times: Floats  # (N,)
    values: Floats  # (N, C)


def run() -> dict[str, float]:
    paths = sorted((DATA / "cmu120").glob("*.bvh"))
    if not paths or not all((DATA / name).exists() for name in CHARACTERS):
        print("   NOT MEASURED: the clips are absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("reduce_curves")
    clips = [euler_curves(path.stem, kp.load(path)) for path in paths]
    figures = {}
    for tolerance in TOLERANCES_DEG:
        for kind in KINDS:
            figures |= compare_with_greedy(clips, tolerance, kind)
    tracks = [track for name in CHARACTERS for track in gltf_tracks(name)]
    moving = [track for track in tracks if np.ptp(track.values, axis=0).max() > TRACK_TOLERANCE * largest(track)]
    before = sum(track.values.size for track in tracks)
    reduced = [
        kp.reduce_curves(each.times, each.values, tolerance=TRACK_TOLERANCE * largest(each), groups="all")
        for each in tracks
    ]
    after = sum(each.n_keys for each in reduced)
    worst = max(
        curve.max_error / largest(track) for track, each in zip(tracks, reduced, strict=True) for curve in each.curves
    )
    print(
        f"   scale and morph weights: {len(tracks)} tracks, {len(moving)} of which change by more than the tolerance; "
        f"values at keys {before} -> {after}, largest error {worst:.2e} of the largest value"
    )
    figures["gltf_track_values_share"] = after / before
    figures["gltf_track_error_share_of_tolerance"] = worst / TRACK_TOLERANCE
    return figures | measure_speed(clips)


def euler_curves(name: str, motion: kp.Motion) -> Curves:
    """Return the Euler angles of all joints that turn, in degrees."""
    part = motion[:MAX_FRAMES]
    angles = part.euler_curves().reshape(part.n_frames, -1)
    return Curves(name, np.arange(part.n_frames) / part.fps, angles[:, np.ptp(angles, axis=0) > 0])


def gltf_tracks(name: str) -> Iterator[Curves]:
    """Yield every track of scale and of morph weights in a file."""
    path = DATA / name
    container = open_container(Source(path, path.read_bytes(), Limits()))
    accessors = Accessors(container)
    for animation in container.json.objects("animations"):
        samplers = animation.objects("samplers")
        for channel in animation.objects("channels"):
            target = channel.required_object("target").values["path"]
            if target in ("scale", "weights"):
                sampler = samplers[channel.index("sampler", len(samplers))].values
                times = accessors.floats(sampler["input"], "SCALAR")[:, 0]
                values = accessors.floats(sampler["output"], "VEC3" if target == "scale" else "SCALAR")
                yield Curves(f"{name} {target}", times, values.reshape(len(times), -1))


def largest(track: Curves) -> float:
    return max(float(np.abs(track.values).max()), 1e-9)


def compare_with_greedy(clips: Sequence[Curves], tolerance: float, kind: MeasuredInterpolation) -> dict[str, float]:
    """Compare the keys of all curves at the same tolerance, and at the very error that the greedy ones have."""
    n_greedy = n_optimal = n_same_error = n_curves = 0
    worst = 0.0
    for clip in clips:
        names = list(map(str, range(clip.values.shape[1])))
        greedy = [greedy_keys(clip.times, column, tolerance, kind) for column in clip.values.T]
        errors = {name: max(error, 1e-9) for name, (_, error) in zip(names, greedy, strict=True)}
        optimal = kp.reduce_curves(clip.times, clip.values, tolerance=tolerance, interpolation=kind)
        same_error = kp.reduce_curves(clip.times, clip.values, tolerance=errors, interpolation=kind)
        worst = max(worst, max(curve.max_error for curve in optimal.curves))
        n_curves += len(names)
        n_greedy += sum(count for count, _ in greedy)
        n_optimal += optimal.n_keys
        n_same_error += same_error.n_keys
    print(
        f"   {n_curves} Euler curves, {tolerance:g} degrees, {kind}: greedy {n_greedy} keys, optimal {n_optimal} "
        f"({n_optimal / n_greedy:.3f}), at the largest error of the greedy ones {n_same_error} "
        f"({n_same_error / n_greedy:.3f}); largest error {worst:.4f}"
    )
    label = f"{kind}_{tolerance:g}_deg".replace(".", "_")
    return {
        f"keys_against_greedy_{label}": n_optimal / n_greedy,
        f"keys_at_same_error_{label}": n_same_error / n_greedy,
        f"error_in_tolerances_{label}": worst / tolerance,
    }


def greedy_keys(times: Floats, values: Floats, tolerance: float, kind: MeasuredInterpolation) -> tuple[int, float]:
    """Return the number of keys and the largest error of the reduction of Ramer, Douglas and Peucker.

    A span whose least-squares cubic (or chord) is beyond the tolerance is split at its worst sample.
    """
    spans, n_keys, largest_error = [(0, len(values) - 1)], 2, 0.0
    while spans:
        start, end = spans.pop()
        errors = span_errors(times, values, start, end, kind)
        worst = int(np.argmax(errors)) if len(errors) else 0
        if len(errors) and errors[worst] > tolerance:
            middle = start + 1 + worst
            spans += [(start, middle), (middle, end)]
            n_keys += 1
        elif len(errors):
            largest_error = max(largest_error, float(errors[worst]))
    return n_keys, largest_error


def span_errors(times: Floats, values: Floats, start: int, end: int, kind: MeasuredInterpolation) -> Floats:
    """Return the distances of the samples inside a span from its curve."""
    s = (times[start + 1 : end] - times[start]) / (times[end] - times[start])
    rest = values[start + 1 : end] - values[start] - (values[end] - values[start]) * s
    if kind == "bezier" and len(s):
        basis = np.stack([s * (1 - s) ** 2, -s * s * (1 - s)], axis=1)
        rest = rest - basis @ np.linalg.lstsq(basis, rest, rcond=None)[0]
    return np.abs(rest)


def measure_speed(clips: Sequence[Curves]) -> dict[str, float]:
    """Measure curves of so many samples, made of those of the clips."""
    columns = [column for clip in clips for column in clip.values.T if np.ptp(column) > 5]
    joined = np.stack(
        [np.resize(np.append(column, column[::-1]), SPEED_SAMPLES) for column in columns[:SPEED_CURVES]], axis=1
    )
    times = np.arange(SPEED_SAMPLES) / 120
    started, started_cpu = time.perf_counter(), time.process_time()
    reduced = kp.reduce_curves(times, joined, tolerance=1.0, threads=1)
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - started_cpu
    started_cpu = time.process_time()
    reduced.ladder("0", max_keys=200)
    ladder_s = time.process_time() - started_cpu
    print(
        f"   {SPEED_CURVES} curves of {SPEED_SAMPLES} samples: {seconds:.2f} s, {cpu_s:.2f} s of processor time, "
        f"{reduced.n_keys} keys; the ladder of one to 200 keys {ladder_s:.2f} s of processor time"
    )
    return {"cpu_s_of_100_curves": cpu_s, "cpu_s_of_a_ladder": ladder_s}
