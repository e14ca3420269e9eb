"""An hour at 120 frames a second: optimal keys with a maximum gap of two seconds, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import HERE, clip_path

FRAMES, GAP, KEYS = 432_000, 240, 3600

CHILD = """
import pathlib, sys, time
import numpy as np
import keypose as kp
path, frames, gap, keys = sys.argv[1], *map(int, sys.argv[2:])
positions = kp.load(path).world_positions()
one = positions.reshape(len(positions), -1)
there_and_back = np.concatenate((one, one[::-1]))
take = there_and_back[np.arange(frames) % len(there_and_back)]
take += np.random.default_rng(0).normal(scale=0.01, size=take.shape)
del positions, one, there_and_back
take.setflags(write=False)
start = time.perf_counter()
ladder = kp.ladder(take, "salient", fps=120, max_keys=keys, max_gap_frames=gap)
seconds = time.perf_counter() - start
assert ladder.counts[0] == -(-(frames - 1) // gap) + 1 and np.diff(ladder.at(keys).frames).max() <= gap
status = pathlib.Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e9
print(seconds, peak, take.nbytes / 1e9)
"""


def run() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = clip_path("cmu120/86_01_mixed-jumps-kicks-punches.bvh", Path(folder))
        command = [sys.executable, "-c", CHILD, str(path), str(FRAMES), str(GAP), str(KEYS)]
        process = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE.parent)
    seconds, peak, take = map(float, process.stdout.split())
    print(f"   {FRAMES} frames, up to {KEYS} keys: {seconds:.0f} s, peak {peak:.1f} GB, of it {take:.1f} GB the take")
    return {"hour_seconds": seconds, "hour_peak_gigabytes": peak}
