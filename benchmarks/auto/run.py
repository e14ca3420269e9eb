"""The automatic number of keys: errors on every real clip, key counts at four frame rates, and times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np
from benchmarks.auto.clips import TABLE, TOLERANCE_MM, ClipResult, format_rows, measure
from benchmarks.measure import DATA, alternate, unmeasured_figures
from benchmarks.papers.clips import MIXED, is_real, load_clip

import keypose as kp
from keypose.api import key_count
from keypose.arrays import Floats, freeze
from keypose.rotations import align_signs, normalise

RATES = (24.0, 30.0, 60.0, 120.0)
WALKS = ("cmu120/07_05_walk.bvh", "asf-amc/02_01.bvh")
MAX_FRAMES = 2400  # of a motion that is compared at several rates
SPREAD = 0.2  # of the median of the numbers of keys
WEAK_CLIFF = 0.1  # strength of a local maximum that is a cliff at all
SMOOTHING_S = 1 / 120  # sigma of the filter that removes the trembling of a capture from frame to frame
OTHERS = (  # motions of 120 frames a second by other programs
    "fbx/07_01.bvh",
    "fbx/09_11.bvh",
    "formats/bvh/cmu05_20_mb.bvh",
    "formats/bvh/cmu10_03_daz.bvh",
    "formats/bvh/cmu131_01_metres.bvh",
    "formats/bvh/daz-friendly_cmu_pirouette.bvh",
    "formats/bvh/deepmotion-net_cmu_blender.bvh",
    "formats/bvh/motionbuilder_root-offset_8walk.bvh",
)


class RateRows(NamedTuple):
    """Automatic numbers of keys of one motion, each a list for ``RATES``."""

    unbake: list[int]
    cliffs: list[int]
    smoothed: list[int]
    select: list[int]
    chords: list[int]


TITLES = {
    "unbake": "unbake",
    "cliffs": "unbake, if every cliff counted",
    "smoothed": "unbake, after a Gaussian filter of 1/120 s",
    "select": "select",
    "chords": "select, by chords",
}


def run() -> dict[str, float]:
    if not DATA.is_dir() or not is_real(MIXED):
        print("   NOT MEASURED: real clips absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("auto")
    results = measure()
    TABLE.write_text("\n".join(["# The automatic number of keys of every clip", "", *format_rows(results), ""]))
    _print_folders(results)
    flipped = [each for each in results if each.flip_mm > TOLERANCE_MM]
    print(f"   {len(flipped)} clips have flips that move a joint by over {TOLERANCE_MM:g} mm")
    return {
        "clips": len(results),
        "largest_mm": max(each.max_mm for each in results),
        **_measure_rates(),
        **_measure_times(),
    }


def _print_folders(results: Sequence[ClipResult]) -> None:
    print("   folder           clips   frames    keys  removed  keys/s  median mm  largest mm  clips with flips")
    for folder in sorted({each.folder for each in results}):
        part = [each for each in results if each.folder == folder]
        frames, keys = sum(each.n_frames for each in part), sum(each.n_keys for each in part)
        seconds = sum(each.n_frames / each.fps for each in part)
        errors = [each.max_mm for each in part]
        removed = 100 * (1 - keys / frames)
        print(f"   {folder:<16} {len(part):5} {frames:8} {keys:7} {removed:6.1f} % {keys / seconds:7.2f} "
              f"{np.median(errors):10.1f} {max(errors):11.1f} {sum(each.flips > 0 for each in part):17}")  # fmt: skip


def _measure_rates() -> dict[str, float]:
    """Print the numbers of keys of motions at four frame rates, and return how far they are from their medians."""
    paths = (*sorted((DATA / "cmu120").rglob("*.bvh")), *sorted((DATA / "asf-amc").glob("*.bvh")))
    rows = {path: _count_rows(kp.load(path)[:MAX_FRAMES]) for path in (*paths, *(DATA / name for name in OTHERS))}
    for name in RateRows._fields:
        print(f"\n   {TITLES[name]}: keys at 24, 30, 60, 120 frames a second, largest deviation from their median")
        for path, each in rows.items():
            counts = getattr(each, name)
            text = " ".join(f"{count:4}" for count in counts)
            print(f"   {path.relative_to(DATA)!s:<56} {text}   {100 * _deviation(counts):.0f} %")
    deviations = {
        name: np.array([_deviation(getattr(each, name)) for each in rows.values()]) for name in RateRows._fields
    }
    n = len(paths)
    print(f"\n   of {n} motions and {len(OTHERS)} others, over {100 * SPREAD:g} %:")
    for name, values in deviations.items():
        print(f"   {TITLES[name]:<44} {(values[:n] > SPREAD).sum():2} and {(values[n:] > SPREAD).sum()}")
    chords, curves = (sum(getattr(rows[path], name)[-1] for path in paths) for name in ("chords", "select"))
    print(f"   keys of select at 120 frames a second, by chords over those by curves: {chords / curves:.2f}")
    return {
        "walks_largest_deviation_from_median_keys": max(_deviation(rows[DATA / name].unbake) for name in WALKS),
        "share_of_motions_within_20_percent": float((deviations["unbake"][:n] <= SPREAD).mean()),
        "share_of_motions_within_20_percent_select": float((deviations["select"][:n] <= SPREAD).mean()),
        "largest_deviation_smoothed": float(deviations["smoothed"].max()),
        "keys_by_chords_over_those_by_curves": chords / curves,
    }


def _count_rows(motion: kp.Motion) -> RateRows:
    at_rates = [motion.at_fps(fps) for fps in RATES]
    smooth = _smooth(motion)
    unbake = [_count_keys(each) for each in at_rates]
    with mock.patch.object(key_count, "MIN_CLIFF_STRENGTH", WEAK_CLIFF):
        cliffs = [_count_keys(each) for each in at_rates]
    return RateRows(
        unbake,
        cliffs,
        [_count_keys(smooth.at_fps(fps)) for fps in RATES],
        [len(kp.select(each, auto=True, extremes_first=False)) for each in at_rates],
        [len(kp.select(each, auto=True, extremes_first=False, cost="chord")) for each in at_rates],
    )


def _count_keys(motion: kp.Motion) -> int:
    """Return the automatic number of keys, which does not depend on whether they are moved to extremes."""
    return kp.unbake(motion, residual=False, extremes_first=False).n_keys


def _smooth(motion: kp.Motion) -> kp.Motion:
    """Return the motion without trembling: local rotations and translations after a Gaussian filter."""
    reach = math.ceil(3 * SMOOTHING_S * motion.fps)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / (SMOOTHING_S * motion.fps)) ** 2)

    def average(values: Floats) -> Floats:
        padded = np.pad(values, ((reach, reach), (0, 0), (0, 0)), mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, len(weights), axis=0)
        return np.asarray(windows @ (weights / weights.sum()))

    rotations = normalise(average(align_signs(motion.rotations)))
    return replace(motion, translations=freeze(average(motion.translations)), rotations=freeze(rotations))


def _deviation(counts: Sequence[int]) -> float:
    """Return the largest deviation of a number of keys from their median, over it."""
    return float(np.abs(np.array(counts) / np.median(counts) - 1).max())


def _measure_times() -> dict[str, float]:
    clip = load_clip(MIXED)
    short, long = clip.at_fps(60)[:300], kp.concatenate([clip.at_fps(30)] * 5)[:5000]
    seconds = alternate({"300": lambda: kp.unbake(short), "5000": lambda: kp.unbake(long)}, rounds=3)
    print(f"   unbake: 300 frames at 60 fps {1e3 * seconds['300']:.0f} ms, 5000 at 30 fps {seconds['5000']:.2f} s")
    return {"unbake_300_frames_ms": 1e3 * seconds["300"], "unbake_5000_frames_s": seconds["5000"]}
