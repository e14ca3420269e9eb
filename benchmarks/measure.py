"""What the benchmarks share: alternating timing, the machine's name, the clip, the verdict."""

from __future__ import annotations

import os
import platform
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("KEYPOSE_TEST_DATA", HERE.parents[1] / "shared" / "data"))


def machine() -> str:
    """The processor and the versions that the figures depend on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, numpy {np.__version__}"


def alternate(tasks: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Seconds of the best run of each task; the tasks take turns so that noise hits all alike."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def clip(relative: str, folder: Path) -> Path:
    """A real clip, or the demo motion written to ``folder`` where the data are absent."""
    path = DATA / relative
    if path.exists():
        return path
    import keypose as kp

    made = folder / "demo.bvh"
    if not made.exists():
        print(f"   {relative} is not here: the demo motion takes its place")
        kp.save(kp.demo_motion(), made)
    return made


def verdict(claim: str, figures: dict[str, float]) -> bool:
    """Prints each figure beside its promise; whether all are kept."""
    promises = tomllib.loads((HERE / claim / "expected.toml").read_text())
    kept = True
    for name, promise in promises.items():
        value = figures[name]
        if np.isnan(value):
            print(f"   --   {name:<34} not measured here")
            continue
        good = promise.get("at_least", -np.inf) <= value <= promise.get("at_most", np.inf)
        kept &= good
        bound = f">= {promise['at_least']:g}" if "at_least" in promise else f"<= {promise['at_most']:g}"
        print(f"   {'ok  ' if good else 'MISS'} {name:<34} {value:8.2f}   promised {bound}")
    return kept
