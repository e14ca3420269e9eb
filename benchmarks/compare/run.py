"""Every method on the eight long clips, beside the figures that were there before the program."""

from __future__ import annotations

import math
import time
import tomllib

from benchmarks.measure import DATA, HERE
from benchmarks.papers.clips import LONG, is_real, label

from keypose.batch.compare import compare
from keypose.verbs.comparing import Comparison, Middle

FPS = 60.0
FRAMES = 2000  # at 120 frames a second: 16.7 s
# Median mean and largest mm over twelve clips, eight of them these, at 80, 90, 95 and 97.5 % removed.
KNOWN = {
    ("uniform", "linear"): ((3.5, 108), (11.3, 241), (33, 540), (95, 930)),
    ("simplify", "linear"): ((3.8, 42), (15.4, 136), (43, 332), (106, 695)),
    ("salient", "linear"): ((3.7, 34), (13.0, 138), (40, 287), (100, 722)),
    ("salient", "fitted"): ((0.58, 9.8), (1.44, 25), (5.8, 86), (25, 223)),
    ("salient-inbetween", "fitted"): ((0.47, 2.4), (1.14, 6.4), (3.6, 22), (17, 100)),
}
OURS = ("salient-inbetween", "fitted")

Middles = dict[tuple[str, str, float], Middle]


def run() -> dict[str, float]:
    absent = [name for name in LONG if not is_real(name)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(map(label, absent))} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "compare" / "expected.toml").read_text()), math.nan)
    start = time.perf_counter()
    clips = [DATA / "cmu120" / f"{name}.bvh" for name in LONG]
    found = compare(clips, frames=(0, FRAMES), fps=FPS, curves=False)
    print(f"   {len(clips)} clips in {time.perf_counter() - start:.0f} s on one core")
    print("\n".join(f"   {line}" for line in str(found).splitlines()))
    middles = {(each.method, each.inbetweens, each.removed_percent): each for each in found.middles()}
    return _off_known(found, middles) | _others(found, middles)


def _off_known(found: Comparison, middles: Middles) -> dict[str, float]:
    """By how much, up or down, each row is off at most what was known of it."""
    print(f"\n   {'beside the known figures, mean/max mm':<40}" + "".join(f"{p:>20g} %" for p in found.removed_percent))
    figures = {}
    for way, known in KNOWN.items():
        ratios, cells = [], []
        for percent, (mean, largest) in zip(found.removed_percent, known, strict=True):
            each = middles[(*way, percent)]
            ratios += [each.mean_mm / mean, each.max_mm / largest]
            cells.append(f"{each.mean_mm:.3g}/{each.max_mm:.3g} ({mean:g}/{largest:g})")
        print(f"   {', '.join(way):<40}" + "".join(f"{cell:>22}" for cell in cells))
        name = "_".join(way).replace("-", "_")
        figures[f"{name}_off_known_figures"] = max(max(ratio, 1 / ratio) for ratio in ratios)
    return figures


def _others(found: Comparison, middles: Middles) -> dict[str, float]:
    """How much closer the best way is than the next of equal keys, and than references of equal stored values."""
    ours = middles[(*OURS, 90.0)]
    others = [middles[(*way, 90.0)] for way in found.ways if way[0] != OURS[0]]
    keyed = [each for each in others if each.kind != "reference"]
    return {
        "next_over_ours_max_90_removed": min(each.max_mm for each in keyed) / ours.max_mm,
        "per_curve_over_ours_mean_at_equal_values": middles["per-curve", "own", 90.0].mean_mm / ours.mean_mm,
        "pca_over_ours_mean_at_equal_values": middles["pca", "own", 90.0].mean_mm / ours.mean_mm,
    }
