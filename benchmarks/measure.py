"""Helpers shared by all benchmarks: timing, machine description, clip paths, comparison with expected.toml."""

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


def machine_description() -> str:
    """Return the processor model, number of cores and versions of Python and numpy."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, numpy {np.__version__}"


def alternate(tasks: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Return the seconds of the fastest run of each task; tasks alternate, so that noise affects all of them."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def clip_path(relative: str, folder: Path) -> Path:
    """Return the path of a real clip, or of the demo motion written to ``folder`` if the data are absent."""
    path = DATA / relative
    if path.exists():
        return path
    import keypose as kp

    demo_path = folder / "demo.bvh"
    if not demo_path.exists():
        print(f"   {relative} is not here: the demo motion takes its place")
        kp.save(kp.demo_motion(), demo_path)
    return demo_path


class Verdict(NamedTuple):
    """Result of one benchmark: number of expectations met, names of those missed, names of those not measured."""

    n_met: int
    missed: tuple[str, ...] = ()
    not_measured: tuple[str, ...] = ()


def check_figures(claim: str, figures: dict[str, float]) -> Verdict:
    """Print each figure beside its expected bound and return the verdict; a NaN figure counts as not measured."""
    expectations = tomllib.loads((HERE / claim / "expected.toml").read_text())
    missed, not_measured = [], []
    for name, expectation in expectations.items():
        value = figures[name]
        if np.isnan(value):
            not_measured.append(name)
            print(f"   --   {name:<34} not measured here")
            continue
        good = expectation.get("at_least", -np.inf) <= value <= expectation.get("at_most", np.inf)
        if not good:
            missed.append(name)
        bound = f">= {expectation['at_least']:g}" if "at_least" in expectation else f"<= {expectation['at_most']:g}"
        print(f"   {'ok  ' if good else 'MISS'} {name:<34} {value:8.2f}   expected {bound}")
    return Verdict(len(expectations) - len(missed) - len(not_measured), tuple(missed), tuple(not_measured))


def summarize(verdicts: Mapping[str, Verdict]) -> tuple[str, int]:
    """Return the summary line and the exit code: 1 if any is missed, 2 if none is missed but some not measured."""
    n_met = sum(each.n_met for each in verdicts.values())
    missed = [f"{claim} ({', '.join(each.missed)})" for claim, each in verdicts.items() if each.missed]
    unmeasured = [f"{len(each.not_measured)} of {claim}" for claim, each in verdicts.items() if each.not_measured]
    phrases = [f"expectations missed: {', '.join(missed)}"] if missed else []
    phrases += [f"not measured here: {', '.join(unmeasured)}"] if unmeasured else []
    phrases += [f"{n_met} expectations met" if phrases else f"all {n_met} expectations met"]
    return "; ".join(phrases), 1 if missed else 2 * bool(unmeasured)


def unmeasured_figures(claim: str) -> dict[str, float]:
    """Return NaN for every figure of a benchmark whose data or programs are absent."""
    return dict.fromkeys(tomllib.loads((HERE / claim / "expected.toml").read_text()), math.nan)
