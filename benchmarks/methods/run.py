"""How the time of methods grows with the number of frames, and selection times of a shot of 300 frames."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
from benchmarks.measure import alternate, clip_path

SHORT, LONG = 10_000, 40_000


def run() -> dict[str, float]:
    import keypose as kp
    from keypose.methods import METHODS
    from keypose.model import Column, Features

    rng = np.random.default_rng(0)
    smooth = np.cumsum(np.cumsum(rng.normal(size=(LONG, 54)), axis=0) * 0.01, axis=0)
    columns = tuple(Column(f"joint {d // 3}", "xyz"[d % 3]) for d in range(54))
    long, short = Features(smooth, 120, columns), Features(smooth[:SHORT], 120, columns)
    figures = {}
    for name in ("saliency", "refine"):
        ladder = METHODS[name].ladder
        seconds = alternate(
            {"short": lambda ladder=ladder: ladder(short), "long": lambda ladder=ladder: ladder(long)}, rounds=3
        )
        print(
            f"   {name:<9} {SHORT} frames {seconds['short']:6.3f} s, {LONG} frames {seconds['long']:6.3f} s, 54 columns"
        )
        figures[f"{name}_growth_exponent"] = math.log(seconds["long"] / seconds["short"], LONG / SHORT)
    with tempfile.TemporaryDirectory() as folder:
        motion = kp.load(clip_path("cmu120/86_01_mixed-jumps-kicks-punches.bvh", Path(folder)))
    positions = motion.world_positions().reshape(motion.n_frames, -1)
    five = Features(np.concatenate((positions, positions + 1.0))[:5000], 120)
    seconds = alternate(
        {name: lambda name=name: METHODS[name].ladder(five) for name in ("decimate", "simplify")}, rounds=3
    )
    for name, value in seconds.items():
        print(f"   {name:<9} 5000 frames x {five.values.shape[1]}, every number of keys {value:6.3f} s")
    figures["decimate_seconds_at_5000"] = seconds["decimate"]
    shot = motion[:300]
    shot.world_positions()
    interactive = alternate(
        {
            "every number of keys": lambda: kp.ladder(shot, max_keys=300),
            "a tolerance": lambda: kp.select(shot, tolerance_mm=20.0),
            "auto": lambda: kp.select(shot, auto=True),
        }
    )
    for name, value in interactive.items():
        print(f"   a shot of 300 frames, {name:<22} {1e3 * value:7.1f} ms")
    figures["shot_every_number_of_keys_ms"] = 1e3 * interactive["every number of keys"]
    return figures
