"""Keys of their own for every joint against keys that all joints share, at equal numbers of stored values."""

from __future__ import annotations

import math
import time
import tomllib
from statistics import median

from benchmarks.measure import DATA, HERE
from benchmarks.papers.clips import LONG, is_real, label

import keypose as kp

FPS = 60.0
FRAMES = 500  # 8.3 s
REMOVED = (0.90, 0.95)  # of the frames, with shared keys
STEPS = 7  # of the search for the tolerance with a number of stored values
OWN_COUNT = (("refine", {"threshold": 0.13}), ("refine", {"threshold": 0.5}), ("saliency", {}))


def run() -> dict[str, float]:
    absent = [name for name in LONG if not is_real(name)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(map(label, absent))} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "joint_keys" / "expected.toml").read_text()), math.nan)
    start = time.perf_counter()
    motions = [kp.load(DATA / "cmu120" / f"{name}.bvh").at_fps(FPS)[:FRAMES] for name in LONG]
    figures = _compare_optimal(motions) | _compare_own_counts(motions)
    print(f"   {len(motions)} clips in {time.perf_counter() - start:.0f} s")
    return figures


def _compare_optimal(motions: list[kp.Motion]) -> dict[str, float]:
    """Compare the optimal keys of each joint with optimal whole poses."""
    figures = {}
    print(f"   {'optimal keys, mean/max mm (stored values)':<44}{'whole poses':>26}{'per joint':>26}{'joint keys':>12}")
    for removed in REMOVED:
        ratios: list[tuple[float, float]] = []
        for name, motion in zip(LONG, motions, strict=True):
            shared = kp.unbake(motion, keys=max(3, round((1 - removed) * motion.n_frames)))
            budget = kp.score(motion, shared)
            own = _fit_values(motion, budget.stored_values or 0)
            score = kp.score(motion, own)
            ratios.append((score.mean_mm / budget.mean_mm, score.max_mm / budget.max_mm))
            counts = [len(own.joint_keys(joint)) for joint in motion.skeleton.names]
            title = f"{label(name)}, {removed:.0%} removed"
            mean_keys = sum(counts) / len(counts)
            print(f"   {title:<44}{_text(budget):>26}{_text(score):>26}{mean_keys:>12.1f}")
        means, largest = map(median, zip(*ratios, strict=True))
        print(f"   per joint over whole poses, median: mean {means:.2f}, max {largest:.2f}")
        figures |= {
            f"salient_per_joint_over_poses_mean_{removed * 100:.0f}": means,
            f"salient_per_joint_over_poses_max_{removed * 100:.0f}": largest,
        }
    return figures


def _fit_values(motion: kp.Motion, n_values: int) -> kp.KeyedMotion:
    """Return the keys per joint with the smallest tolerance that store at most ``n_values``."""
    low, high = 0.01, 500.0
    best = kp.unbake(motion, per="joint", tolerance_mm=high)
    for _ in range(STEPS):
        tolerance_mm = math.sqrt(low * high)
        keyed = kp.unbake(motion, per="joint", tolerance_mm=tolerance_mm, residual=False)
        if kp.score(motion, keyed).stored_values <= n_values:
            best, high = keyed, tolerance_mm
        else:
            low = tolerance_mm
    return best


def _compare_own_counts(motions: list[kp.Motion]) -> dict[str, float]:
    """Compare the keys per joint of methods with a number of their own with whole poses of as many values."""
    figures = {}
    print(f"   {'own number of keys, mean/max mm':<44}{'whole poses':>26}{'per joint':>26}{'fitted':>26}")
    for method, options in OWN_COUNT:
        ratios = []
        for name, motion in zip(LONG, motions, strict=True):
            keyed = kp.unbake(motion, per="joint", method=method, **options)
            score = kp.score(motion, keyed)
            fitted = kp.score(motion, kp.unbake(motion, per="joint", method=method, interpolation="bezier", **options))
            shared = kp.score(motion, _shared_with_values(motion, score.stored_values or 0))
            ratios.append(score.mean_mm / max(shared.mean_mm, 1e-9))
            title = f"{label(name)} {method} {' '.join(f'{value:g}' for value in options.values())}"
            print(f"   {title:<44}{_text(shared):>26}{_text(score):>26}{_text(fitted):>26}")
        suffix = "".join(f"_{value:g}".replace(".", "_") for value in options.values())
        figures[f"{method}{suffix}_per_joint_over_poses_mean"] = median(ratios)
        print(f"   per joint over whole poses, median of the mean error: {median(ratios):.2f}")
    return figures


def _shared_with_values(motion: kp.Motion, n_values: int) -> kp.KeyedMotion:
    """Return whole-pose keys that store at most ``n_values``."""
    few = kp.score(motion, kp.unbake(motion, keys=4, residual=False)).stored_values or 1
    return kp.unbake(motion, keys=min(motion.n_frames, max(3, round(4 * n_values / few))), residual=False)


def _text(score: kp.Score) -> str:
    return f"{score.mean_mm:.2f}/{score.max_mm:.1f} ({score.stored_values})"
