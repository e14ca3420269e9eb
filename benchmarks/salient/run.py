"""Optimal keyframes for every number of keys: speed against numpy and a plain loop, and growth."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import HERE, alternate, clip_path
from benchmarks.salient import rivals

CLIPS = ("86_01_mixed-jumps-kicks-punches", "02_07_sword", "49_02_jump-hop", "135_07_kicking")
TARGET_MS = {300: 4, 1000: 40, 5000: 1500}  # on a quiet core

# Prints the seconds of one search and the high-water mark of memory of the kernel, instead of ru_maxrss, which a child
# process inherits from its parent.
CHILD = """
import pathlib, sys, time
import numpy as np
from benchmarks.salient.run import own_paths
points = np.load(sys.argv[1])
start = time.perf_counter()
costs, keys = own_paths(points, threads=int(sys.argv[2]))
seconds = time.perf_counter() - start
assert np.isfinite(costs[2:]).all() and keys[-1] == len(points) - 1
status = pathlib.Path("/proc/self/status").read_text().splitlines()
print(seconds, next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e9)
"""


def own_paths(points: np.ndarray, threads: int = 1) -> rivals.Paths:
    """Return costs and keys for every number of keys up to a tenth of the frames, in the format of the rivals."""
    import keypose as kp

    ladder = kp.ladder(points, "salient", fps=120, max_keys=len(points) // 10, threads=threads)
    return np.concatenate(([np.inf, np.inf], ladder.cost_values**2)), ladder.frames


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        points = _world_positions(10000, folder)
        thousand = points[:1000]
        plain = rivals.compile_plain_loop(folder)
        rivalry = alternate(
            {"ours": lambda: own_paths(thousand), "numpy": lambda: rivals.numpy_paths(thousand, 100)}, rounds=7
        )
        seconds = alternate(
            {
                "300": lambda: own_paths(points[:300]),
                "1000": lambda: own_paths(thousand),
                "5000": lambda: own_paths(points[:5000]),
            }
        )
        threads = alternate(
            {"1": lambda: own_paths(points[:2500], 1), "2": lambda: own_paths(points[:2500], 2)}, rounds=20
        )
        _check_costs("numpy", thousand, rivals.numpy_paths(thousand, 100))
        for frames, target in TARGET_MS.items():
            print(f"   {frames:>5} frames, one thread {1e3 * seconds[str(frames)]:9.1f} ms   target {target}")
        print(f"   {2500:>5} frames, one and two threads {1e3 * threads['1']:.1f} and {1e3 * threads['2']:.1f} ms")
        print(f"   numpy at 1000 {1e3 * rivalry['numpy']:9.1f} ms, ours beside it {1e3 * rivalry['ours']:.1f} ms")
        if plain is None:
            print("   no C++ compiler here: the plain loop is not measured")
            seconds["plain"] = math.nan
        else:
            paths: list[rivals.Paths] = []
            seconds |= alternate({"plain": lambda: paths.append(plain(thousand, 100))}, rounds=1)
            _check_costs("the plain loop", thousand, paths[0])
            print(f"   plain loop at 1000 {1e3 * seconds['plain']:9.1f} ms")
        _, peak = _run_alone(points[:5000], 1, folder)
        print(f"   {5000:>5} frames, a process of its own: peak {peak:.2f} GB")
        total_seconds, total_peak = _run_alone(points, 2, folder)
        print(f"   {len(points):>5} frames, two threads {total_seconds:.1f} s, peak {total_peak:.2f} GB")
    return {
        "numpy_against_ours_at_1000": rivalry["numpy"] / rivalry["ours"],
        "plain_loop_against_ours_at_1000": seconds["plain"] / seconds["1000"],
        "growth_exponent_1000_to_5000": math.log(seconds["5000"] / seconds["1000"], 5),
        "two_threads_at_2500": threads["1"] / threads["2"],
        "peak_gigabytes_at_5000": peak,
    }


def _world_positions(frames: int, folder: Path) -> np.ndarray:
    """Return world positions of real clips in sequence, each shifted so that no pose repeats."""
    import keypose as kp

    blocks: list[np.ndarray] = []
    while sum(map(len, blocks)) < frames:
        motion = kp.load(clip_path(f"cmu120/{CLIPS[len(blocks) % len(CLIPS)]}.bvh", folder))
        blocks.append(motion.world_positions().reshape(motion.n_frames, -1) + 0.1 * len(blocks))
    return np.concatenate(blocks)[:frames]


def _check_costs(rival: str, points: np.ndarray, answer: rivals.Paths) -> None:
    """Raise unless a rival finds the same costs; print the share of equal keys."""
    costs, keys = own_paths(points)
    diameter = 4 * ((points - points.mean(axis=0)) ** 2).sum(axis=1).max()
    np.testing.assert_allclose(answer[0][2:], costs[2:], rtol=1e-9, atol=1e-14 * diameter, err_msg=rival)
    print(f"   {rival}: the same costs, {np.mean(answer[1] == keys):.0%} of the keys the same")


def _run_alone(points: np.ndarray, threads: int, folder: Path) -> tuple[float, float]:
    """Return seconds and peak gigabytes of a search in a new process."""
    path = folder / "points.npy"
    np.save(path, points)
    command = [sys.executable, "-c", CHILD, str(path), str(threads)]
    process = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE.parent)
    seconds, gigabytes = map(float, process.stdout.split())
    return seconds, gigabytes
