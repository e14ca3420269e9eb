"""What the benchmarks share: alternating timing, the machine's name, the clip, the verdict."""

from __future__ import annotations

import math
import os
import platform
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

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


class Verdict(NamedTuple):
    """How many promises of a claim are kept, which are missed, and which were not measured on this machine."""

    kept: int
    missed: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()


def verdict(claim: str, figures: dict[str, float]) -> Verdict:
    """Prints each figure beside its promise. One that is NaN was not measured, which is not the same as kept."""
    promises = tomllib.loads((HERE / claim / "expected.toml").read_text())
    missed, not_measured = [], []
    for name, promise in promises.items():
        value = figures[name]
        if np.isnan(value):
            not_measured.append(name)
            print(f"   --   {name:<34} not measured here")
            continue
        good = promise.get("at_least", -np.inf) <= value <= promise.get("at_most", np.inf)
        if not good:
            missed.append(name)
        bound = f">= {promise['at_least']:g}" if "at_least" in promise else f"<= {promise['at_most']:g}"
        print(f"   {'ok  ' if good else 'MISS'} {name:<34} {value:8.2f}   promised {bound}")
    return Verdict(len(promises) - len(missed) - len(not_measured), tuple(missed), tuple(not_measured))


def summed_up(verdicts: Mapping[str, Verdict]) -> tuple[str, int]:
    """The last line about several claims, by name, and the exit code: 1 missed, 2 not missed but not measured."""
    kept = sum(each.kept for each in verdicts.values())
    missed = [f"{claim} ({', '.join(each.missed)})" for claim, each in verdicts.items() if each.missed]
    absent = [f"{len(each.not_measured)} of {claim}" for claim, each in verdicts.items() if each.not_measured]
    said = [f"promises missed: {', '.join(missed)}"] if missed else []
    said += [f"not measured here: {', '.join(absent)}"] if absent else []
    said += [f"{kept} promises kept" if said else f"all {kept} promises kept"]
    return "; ".join(said), 1 if missed else 2 * bool(absent)


def not_measured(claim: str) -> dict[str, float]:
    """The figures of a claim on a machine that lacks what it needs."""
    return dict.fromkeys(tomllib.loads((HERE / claim / "expected.toml").read_text()), math.nan)
