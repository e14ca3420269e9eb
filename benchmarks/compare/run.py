"""Every method on the eight long clips, compared with figures measured by earlier prototypes."""

from __future__ import annotations

import math
import time
import tomllib

from benchmarks.measure import DATA, HERE
from benchmarks.papers.clips import LONG, is_real, label

from keypose.api.compare import Comparison, MedianRow
from keypose.batch.compare import compare

FPS = 60.0
FRAMES = 2000  # at 120 frames a second: 16.7 s
# Median mean and largest mm over twelve clips, eight of them these, at 80, 90, 95 and 97.5 % removed.
REFERENCE = {
    ("uniform", "linear"): ((3.5, 108), (11.3, 241), (33, 540), (95, 930)),
    ("simplify", "linear"): ((3.8, 42), (15.4, 136), (43, 332), (106, 695)),
    ("salient", "linear"): ((3.7, 34), (13.0, 138), (40, 287), (100, 722)),
    ("salient", "fitted"): ((0.58, 9.8), (1.44, 25), (5.8, 86), (25, 223)),
    ("salient-inbetween", "fitted"): ((0.47, 2.4), (1.14, 6.4), (3.6, 22), (17, 100)),
}
OURS = ("salient-inbetween", "fitted")

Medians = dict[tuple[str, str, float], MedianRow]


def run() -> dict[str, float]:
    absent = [name for name in LONG if not is_real(name)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(map(label, absent))} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "compare" / "expected.toml").read_text()), math.nan)
    start = time.perf_counter()
    clips = [DATA / "cmu120" / f"{name}.bvh" for name in LONG]
    comparison = compare(clips, frames=(0, FRAMES), fps=FPS, curves=False)
    print(f"   {len(clips)} clips in {time.perf_counter() - start:.0f} s on one core")
    print("\n".join(f"   {line}" for line in str(comparison).splitlines()))
    medians = {(row.method, row.inbetweens, row.removed_percent): row for row in comparison.medians()}
    return _reference_ratios(comparison, medians) | _rival_ratios(comparison, medians)


def _reference_ratios(comparison: Comparison, medians: Medians) -> dict[str, float]:
    """Return the largest factor, in either direction, between each row and its reference."""
    print(
        f"\n   {'beside the known figures, mean/max mm':<40}"
        + "".join(f"{p:>20g} %" for p in comparison.removed_percent)
    )
    figures = {}
    for pair, reference in REFERENCE.items():
        ratios, cells = [], []
        for percent, (mean, largest) in zip(comparison.removed_percent, reference, strict=True):
            row = medians[(*pair, percent)]
            ratios += [row.mean_mm / mean, row.max_mm / largest]
            cells.append(f"{row.mean_mm:.3g}/{row.max_mm:.3g} ({mean:g}/{largest:g})")
        print(f"   {', '.join(pair):<40}" + "".join(f"{cell:>22}" for cell in cells))
        name = "_".join(pair).replace("-", "_")
        figures[f"{name}_off_reference"] = max(max(ratio, 1 / ratio) for ratio in ratios)
    return figures


def _rival_ratios(comparison: Comparison, medians: Medians) -> dict[str, float]:
    """Return errors of the next best method at equal keys, and of references at equal stored values, over ours."""
    ours = medians[(*OURS, 90.0)]
    other_rows = [medians[(*pair, 90.0)] for pair in comparison.method_pairs if pair[0] != OURS[0]]
    keyed_rows = [row for row in other_rows if row.kind != "reference"]
    return {
        "next_over_ours_max_90_removed": min(each.max_mm for each in keyed_rows) / ours.max_mm,
        "per_curve_over_ours_mean_at_equal_values": medians["per-curve", "own", 90.0].mean_mm / ours.mean_mm,
        "pca_over_ours_mean_at_equal_values": medians["pca", "own", 90.0].mean_mm / ours.mean_mm,
    }
