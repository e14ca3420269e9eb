"""Joint swings: the thesis's error and its sweep, what keys make of it, sizes, speed."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
from benchmarks.measure import DATA, HERE, alternate
from benchmarks.papers.clips import MIXED, SWINGS, is_real, take
from benchmarks.swings.picture import draw

import keypose as kp
from keypose.swings.fallback import with_keys
from keypose.swings.packed import pack
from keypose.verbs import Sweep, sweep, swings_within

FPS = 60.0
THRESHOLD = 0.4
TOLERANCES = (1.0, 2.0, 2.4, 2.8, 3.2, 4.0, 6.0, 10.0)
AMC = ("01_01", "02_01", "07_05", "09_06", "131_04", "14_24")
NUMBER_BYTES = 4


def run() -> dict[str, float]:
    names = [f"swings/{name}" for name in SWINGS]
    amc = [DATA / "asf-amc" / f"{name}.amc" for name in AMC]
    if not is_real(MIXED, *names) or not all(path.exists() for path in amc):
        print("   NOT MEASURED: clips absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "swings" / "expected.toml").read_text()), math.nan)
    clips = [take(name).at_fps(FPS) for name in names]
    return _sweeps(clips) | _tolerances(clips) | _storage(amc) | _speed(take(MIXED)) | _waiting(take(MIXED).at_fps(FPS))


def _sweeps(clips: list[kp.Motion]) -> dict[str, float]:
    """Every threshold, without and with keys."""
    plain, keyed = [sweep(clip) for clip in clips], [sweep(clip, fallback="keys") for clip in clips]
    thresholds = [row.threshold for row in plain[0]]
    errors, errors_with = _mean(plain, "error_deg"), _mean(keyed, "error_deg")
    sizes, sizes_with = _mean(plain, "bytes"), _mean(keyed, "bytes")
    swings, swings_with = _mean(plain, "n_swings"), _mean(keyed, "n_swings")
    print(f"   means over {len(clips)} clips at {FPS:g} frames a second; left without, right with keys")
    print(f"   {'threshold':>12}{'error':>10}{'swings':>8}{'bytes':>9}{'error':>14}{'swings':>8}{'bytes':>9}")
    for i, threshold in enumerate(thresholds):
        print(f"   {threshold:>12g}{errors[i]:>10.2f}{swings[i]:>8.0f}{sizes[i]:>9,.0f}"
              f"{errors_with[i]:>14.2f}{swings_with[i]:>8.0f}{sizes_with[i]:>9,.0f}")  # fmt: skip
    at = thresholds.index(THRESHOLD)
    picture = HERE / "swings" / "sweep.svg"
    picture.write_text(draw(plain, keyed, THRESHOLD))
    print(f"   {picture.name}: error and size against the threshold")
    return {
        "mean_error_at_the_threshold": errors[at],
        "threshold_of_the_least_error": thresholds[int(np.argmin(errors))],
        "mean_error_with_keys": errors_with[at],
        "size_with_keys_over_without": sizes_with[at] / sizes[at],
    }


def _mean(sweeps: list[Sweep], what: str) -> list[float]:
    """Of all clips, threshold by threshold."""
    return np.mean([[getattr(row, what) for row in rows] for rows in sweeps], axis=0).tolist()


def _tolerances(clips: list[kp.Motion]) -> dict[str, float]:
    """Error and size against the tolerance of keys: how the default was chosen."""
    found = [kp.swings(clip, THRESHOLD) for clip in clips]
    plain = sum(len(pack(some)) for some in found)
    print(f"\n   {'keys within':>12}{'error':>10}{'largest':>9}{'swings':>8}{'keys':>7}{'size over plain':>17}")
    for tolerance in TOLERANCES:
        keyed = [with_keys(clip, some, tolerance) for clip, some in zip(clips, found, strict=True)]
        errors = [some.error(clip) for clip, some in zip(clips, keyed, strict=True)]
        keys = sum(some.n_keys for some in keyed)
        swings, size = sum(some.n_swings for some in keyed), sum(len(pack(some)) for some in keyed)
        print(f"   {tolerance:>8g} deg{np.mean(errors):>10.2f}{max(errors):>9.2f}{swings:>8}{keys:>7}"
              f"{size / plain:>17.3f}")  # fmt: skip
    return {}


def _storage(paths: list[Path]) -> dict[str, float]:
    """Plain swings of AMC clips against the numbers of their files."""
    figures = {}
    for fps in (120.0, FPS):
        parts: Counter[str] = Counter()
        raw = 0
        print(f"\n   packed over raw at {fps:g} frames a second, bytes for what")
        for path in paths:
            motion = kp.load(path).at_fps(fps)
            size = asdict(kp.swings(motion, THRESHOLD).size())
            del size["raw_bytes"]
            own = NUMBER_BYTES * _numbers_a_frame(path) * motion.n_frames
            parts.update(size)
            raw += own
            print(
                f"   {path.stem:<8}{motion.n_frames:>6} frames{sum(size.values()) / own:>8.3f}   {_listed(size, own)}"
            )
        total = sum(parts.values())
        print(f"   {'all':<8}{'':>13}{total / raw:>8.3f}   {_listed(parts, raw)}")
        figures[f"packed_over_raw_{fps:g}_fps"] = total / raw
    return figures


def _listed(parts: dict[str, int], raw: int) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {count / raw:.3f}" for name, count in parts.items() if count)


def _numbers_a_frame(path: Path) -> int:
    """How many numbers one frame of an AMC file has."""
    lines = iter(path.read_text().splitlines())
    numbers = 0
    for line in lines:
        if line.strip() == "1":
            break
    for line in lines:
        if line.strip() == "2":
            break
        numbers += len(line.split()) - 1
    return numbers


def _speed(clip: kp.Motion) -> dict[str, float]:
    """Times real time, and time per frame of four times the clip against that of the clip."""
    four = kp.concatenate([clip] * 4)
    found, found_in_four = kp.swings(clip), kp.swings(four)
    tolerance = found.settings.fallback_deg
    tasks = {
        "segmentation": (lambda: kp.swings(clip), lambda: kp.swings(four)),
        "with_keys": (lambda: with_keys(clip, found, tolerance), lambda: with_keys(four, found_in_four, tolerance)),
    }
    seconds = alternate(
        {f"{name} {n}": task for name, both in tasks.items() for n, task in zip((1, 4), both, strict=True)}, rounds=7
    )
    figures = {}
    print()
    for name in tasks:
        once = seconds[f"{name} 1"]
        faster, growth = clip.duration_s / once, seconds[f"{name} 4"] / 4 / once
        print(f"   {name.replace('_', ' ')} of {clip.n_frames} frames x {clip.n_joints} joints at {clip.fps:g}: "
              f"{1e3 * once:.0f} ms, {faster:.0f} times real time; {growth:.2f} times as long for each frame of "
              f"{four.n_frames}")  # fmt: skip
        figures[f"{name}_times_real_time"] = faster
        figures[f"{name}_time_per_frame_at_4_times_the_length"] = growth
    return figures


def _waiting(clip: kp.Motion) -> dict[str, float]:
    shot, longer = clip[:300], clip[:1000]
    seconds = alternate(
        {
            "within_3_degrees_300_frames_ms": lambda: swings_within(shot, max_deg=3.0),
            "within_20_mm_300_frames_ms": lambda: swings_within(shot, max_mm=20.0),
            "within_20_mm_1000_frames_ms": lambda: swings_within(longer, max_mm=20.0),
        },
        rounds=3,
    )
    return {name: 1e3 * each for name, each in seconds.items()}
