"""Drift of curves in holds: with the keys of ``kp.unbake``, and with those of the smallest error alone."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from benchmarks.measure import alternate, unmeasured_figures
from benchmarks.papers.clips import LONG, SHORT, is_real, label, load_clip
from benchmarks.search.clips import is_data_present, more

import keypose as kp
from keypose.extremes import find_holds

TUNED = ("118_12", "118_14", "120_10", "136_13", "137_06", "32_07", "79_64", "79_69")
STEP = 5  # one clip in so many
MAX_FRAMES = 600
SHARES = (0.8, 0.9, 0.95)  # of the frames that are removed
WITHOUT_HOLDS_FRAMES = 600  # of each clip at 120 frames a second


class Result(NamedTuple):
    """Drift of curves in the holds of a clip beyond that of the capture, and their errors, in mm."""

    drift: float
    mean: float
    max: float


def run() -> dict[str, float]:
    warnings.simplefilter("ignore", kp.FormatWarning)
    figures = measure_demo()
    if not is_data_present() or not is_real(*LONG, SHORT):
        print("   NOT MEASURED: the clips are absent, set KEYPOSE_TEST_DATA")
        return {**unmeasured_figures("holds"), **figures}
    n_same, n_all = count_same_keys()
    figures["same_keys_without_holds"] = n_same / n_all
    clips = [clip.motion()[:MAX_FRAMES] for clip in more()[::STEP] if clip.name not in TUNED]
    clips = [motion for motion in clips if motion.n_frames >= 60 and find_holds(motion)]
    print(
        f"\n   {len(clips)} clips with holds, in mm: drift in the hold, mean and max error; smallest error -> default"
    )
    for share in SHARES:
        pairs = [measure(motion, share) for motion in clips]
        percent = round(100 * share)
        drift = np.array([[before.drift, after.drift] for before, after in pairs])
        means, maxima = (
            np.median([getattr(after, name) / getattr(before, name) for before, after in pairs])
            for name in ("mean", "max")
        )
        figures[f"drift_{percent}"] = float(drift[:, 1].mean())
        figures[f"mean_error_ratio_{percent}"] = float(means)
        figures[f"max_error_ratio_{percent}"] = float(maxima)
        print(
            f"   {percent} % removed: drift {drift[:, 0].mean():.1f} -> {drift[:, 1].mean():.1f} (mean), "
            f"{np.percentile(drift[:, 0], 90):.1f} -> {np.percentile(drift[:, 1], 90):.1f} (90th percentile); "
            f"mean error x {means:.2f}, max error x {maxima:.2f} (median)"
        )
    return figures


def measure_demo() -> dict[str, float]:
    """Print and return the drift of the demo motion, with its last frame repeated for two seconds."""
    demo = kp.demo_motion(fps=60)[:300]
    order = np.minimum(np.arange(420), 299)
    motion = replace(demo, rotations=demo.rotations[order], translations=demo.translations[order])
    figures = {}
    for keys in (8, 12):
        before, after = measure_keys(motion, keys)
        print(
            f"   demo with a hold of two seconds, {keys} keys: drift {before.drift:.1f} -> {after.drift:.1f} mm, "
            f"mean error {before.mean:.1f} -> {after.mean:.1f}, max error {before.max:.0f} -> {after.max:.0f}"
        )
        figures[f"demo_drift_{keys}_keys"] = after.drift
    seconds = alternate(
        {
            "default": lambda: unbake_default(motion, 42),
            "smallest": lambda: kp.unbake(motion, smallest_error(motion, 42)),
        }
    )
    figures["time_ratio"] = seconds["default"] / seconds["smallest"]
    print(f"   time of 42 keys: {figures['time_ratio']:.2f} times that of the smallest error")
    return figures


def count_same_keys() -> tuple[int, int]:
    """Return how often the default has the keys of the smallest error, in clips without holds."""
    n_same = n_all = 0
    for name in (*LONG, SHORT):
        motion = load_clip(name)[:WITHOUT_HOLDS_FRAMES]
        if find_holds(motion):
            print(f"   {label(name)} has a hold: not counted")
            continue
        for share in SHARES:
            keys = max(2, round((1 - share) * motion.n_frames))
            n_same += np.array_equal(unbake_default(motion, keys).keys, smallest_error(motion, keys).frames)
            n_all += 1
    print(f"   clips at 120 frames a second without holds: {n_same} of {n_all} selections are the same")
    return n_same, n_all


def max_gap_frames(motion: kp.Motion) -> int:
    """Return the maximum gap of both: that of ``kp.unbake`` in a hold, which it would otherwise reach in steps."""
    return round(4 * motion.fps)


def unbake_default(motion: kp.Motion, keys: int) -> kp.KeyedMotion:
    return kp.unbake(motion, keys=keys, max_gap_frames=max_gap_frames(motion))


def smallest_error(motion: kp.Motion, keys: int) -> kp.Selection:
    return kp.select(motion, "salient", cost="inbetween", keys=keys, max_gap_frames=max_gap_frames(motion))


def measure(motion: kp.Motion, share: float) -> tuple[Result, Result]:
    return measure_keys(motion, max(4, round((1 - share) * motion.n_frames)))


def measure_keys(motion: kp.Motion, keys: int) -> tuple[Result, Result]:
    """Return the result of the smallest error, and of the default."""
    selection = smallest_error(motion, keys)
    before, after = kp.unbake(motion, selection), unbake_default(motion, keys)
    return measure_curves(motion, before), measure_curves(motion, after)


def measure_curves(motion: kp.Motion, keyed: kp.KeyedMotion) -> Result:
    captured, curves = (each.world_positions() * motion.mm_per_unit for each in (motion, keyed.sample(residual=0.0)))
    errors = np.linalg.norm(captured - curves, axis=-1)
    drift = max(
        largest_move(curves[first : last + 1]) - largest_move(captured[first : last + 1])
        for first, last in find_holds(motion)
    )
    return Result(max(0.0, drift), float(errors.mean()), float(errors.max()))


def largest_move(positions: np.ndarray) -> float:
    """Return how far a joint (F, J, 3) moves from where it is in the first frame."""
    return float(np.linalg.norm(positions - positions[0], axis=-1).max())
