"""Few keys with fitted curves: errors on eight real clips, compared with other methods, and times."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import numpy as np
from benchmarks.measure import DATA, HERE, alternate
from benchmarks.papers.clips import LONG, MIXED, SWINGS, WALK, is_real, label, load_clip
from benchmarks.unbake.variants import OURS, OURS_SLERP, POLISHED, PUBLISHED, REMOVED, Cell, ClipVariants, median_cell

import keypose as kp

FRAMES = 1000
RATES = (60.0, 120.0)
TARGET_POLISHED = {90.0: (1.0, 6.0), 95.0: (3.0, 23.0)}  # at 60 frames a second: mean and largest mm

SMOOTH_REMOVED = 95.0
TUNED_CLIPS = tuple((f"cmu120/{name}.bvh", 60.0) for name in (*LONG, "09_01"))
OTHER_NAMES = ("01_13", "02_02", "05_01", "06_04", "08_03", "102_19")
OTHER_CLIPS = (
    *((f"cmu120/swings/{name}.bvh", 120.0) for name in SWINGS),
    *((f"cmu30-more/{name}.bvh.gz", 30.0) for name in OTHER_NAMES),
)

Cells = dict[float, dict[str, list[Cell]]]  # by percent removed, by variant: one for each clip


def run() -> dict[str, float]:
    absent = [name for name in LONG if not is_real(name)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(map(label, absent))} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "unbake" / "expected.toml").read_text()), math.nan)
    figures = _measure_times() | _measure_smoothness()
    for fps in RATES:
        keys, values, poses = _measure_clips(fps)
        _print_table(f"{fps:g} frames a second, equal numbers of keys", keys)
        _print_table(f"{fps:g} frames a second, as many stored values as fitted keys", values)
        _print_table(f"{fps:g} frames a second, as many stored values as plain poses at the keys", poses)
        for removed, cells in keys.items():
            own_median = median_cell(cells[OURS])
            figures[f"mean_mm_{fps:g}_fps_{removed:g}_removed"] = own_median.mean_mm
            figures[f"max_mm_{fps:g}_fps_{removed:g}_removed"] = own_median.max_mm
        if fps == 60.0:
            figures |= _compare_with_others(keys[90.0])
            for removed, (mean, largest) in TARGET_POLISHED.items():
                polished = median_cell(keys[removed][POLISHED])
                figures[f"mean_mm_polished_{removed:g}_removed"] = polished.mean_mm
                figures[f"max_mm_polished_{removed:g}_removed"] = polished.max_mm
                print(f"   polished, {removed:g} % removed: {polished.mean_mm:.2f}/{polished.max_mm:.1f} mm, "
                      f"target {mean:g}/{largest:g}")  # fmt: skip
    return figures


def _measure_clips(fps: float) -> tuple[Cells, Cells, Cells]:
    """Return all variants on all clips: at equal keys, at the stored values of fitted keys, and of plain poses."""
    at_keys, at_values, at_poses = ({removed: {} for removed in REMOVED} for _ in range(3))
    for name in LONG:
        clip = ClipVariants(load_clip(name).at_fps(fps)[:FRAMES])
        if name == WALK:
            clip.check_one_call(90.0)
        for removed in REMOVED:
            equal = clip.measure_at_equal_keys(removed)
            at_equal_values = {variant: equal[variant] for variant in (OURS, POLISHED)} | clip.measure_references(
                equal[OURS].stored_values
            )
            for table, cells in (
                (at_keys, equal),
                (at_values, at_equal_values),
                (at_poses, clip.measure_at_pose_values(removed)),
            ):
                for variant, cell in cells.items():
                    table[removed].setdefault(variant, []).append(cell)
    return at_keys, at_values, at_poses


def _measure_smoothness() -> dict[str, float]:
    """Measure the acceleration at keys and what it costs to limit it; the options were tuned on the first clips."""
    figures: dict[str, float] = {}
    print(f"\n   smooth curves, {SMOOTH_REMOVED:g} % removed: acceleration at keys over the capture's, and mean/max mm")
    print(f"   {'clip':<26}{'fps':>5}{'keys':>6}{'not smooth':>22}{'default':>22}{'smooth':>22}")
    for group, clips in (("tuned", TUNED_CLIPS), ("other", OTHER_CLIPS)):
        ratios, mean_ratios, default_mean_ratios, max_ratios = [], [], [], []
        for path, fps in clips:
            motion = kp.load(DATA / path).at_fps(fps)[:FRAMES]
            keys = max(3, round((1 - SMOOTH_REMOVED / 100) * motion.n_frames))
            selection = kp.unbake(motion, keys=keys, smooth=False, residual=False).keys
            plain, default, smooth = (
                kp.score(motion, kp.unbake(motion, selection, smooth=each, residual=False))
                for each in (False, None, True)
            )
            texts = [
                f"{each.key_acceleration:.2f} {each.mean_mm:.2f}/{each.max_mm:.1f}" for each in (plain, default, smooth)
            ]
            print(
                f"   {Path(path).name.partition('.')[0][:25]:<26}{fps:>5g}{keys:>6}"
                + "".join(f"{text:>22}" for text in texts)
            )
            ratios.append(smooth.key_acceleration)
            mean_ratios.append(smooth.mean_mm / plain.mean_mm)
            default_mean_ratios.append(default.mean_mm / plain.mean_mm)
            max_ratios.append(default.max_mm / plain.max_mm)
        median, largest = float(np.median(mean_ratios)), max(mean_ratios)
        print(f"   {group}: smooth at most {max(ratios):.2f} times the acceleration")
        print(f"   mean error {median:.3f} times as large in the median clip, {largest:.2f} in the worst one")
        figures |= {
            f"smooth_acceleration_{group}_clips": max(ratios),
            f"smooth_over_plain_mean_mm_{group}_clips": median,
            f"default_over_plain_mean_mm_{group}_clips": max(default_mean_ratios),
            f"default_over_plain_max_mm_{group}_clips": max(max_ratios),
        }
    return figures


def _print_table(title: str, table: Cells) -> None:
    """Print medians over the clips of mean/max mm; at 90 % removed also foot slide, acceleration and stored values.

    Foot slide and acceleration at keys are divided by those of the original.
    """
    print(f"\n   {title}")
    print(f"   {'median mean/max mm, % of frames removed':<44}" + "".join(f"{removed:>12g} %" for removed in REMOVED)
          + "    slide   accel    values")  # fmt: skip
    for name in table[REMOVED[0]]:
        medians = {removed: median_cell(table[removed][name]) for removed in REMOVED}
        errors = "".join(
            f"{f'{_format_number(cell.mean_mm)}/{_format_number(cell.max_mm)}':>14}" for cell in medians.values()
        )
        at_90 = medians[90.0]
        acceleration = "" if math.isnan(at_90.acceleration) else f"{at_90.acceleration:.2f}"
        print(f"   {name:<44}{errors}{at_90.slide:>9.2f}{acceleration:>8}{at_90.stored_values:>10,.0f}")


def _format_number(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _compare_with_others(cells: dict[str, list[Cell]]) -> dict[str, float]:
    """Return errors of others over ours, as a ratio of medians over clips and as a median of ratios per clip."""
    figures = {"foot_slide_over_original_90_removed": median_cell(cells[OURS]).slide}
    for name, other in (("published", PUBLISHED), ("slerp", OURS_SLERP)):
        for measure in ("mean", "max"):
            theirs, ours, polished = (
                np.array([getattr(cell, f"{measure}_mm") for cell in cells[variant]])
                for variant in (other, OURS, POLISHED)
            )
            ratio = float(np.median(theirs) / np.median(ours))
            figures[f"{name}_over_ours_{measure}_90_removed"] = ratio
            figures[f"{name}_over_polished_{measure}_90_removed_in_the_median_clip"] = float(
                np.median(theirs / polished)
            )
            print(f"   90 % removed, {measure} mm, {other} over ours: {ratio:.2f}; in the median clip "
                  f"{np.median(theirs / ours):.2f}, polished {np.median(theirs / polished):.2f}")  # fmt: skip
    return figures


def _measure_times() -> dict[str, float]:
    """Measure the times of unbake, ladder and sampling."""
    clip = load_clip(MIXED).at_fps(60)[:FRAMES]
    shot = clip[:300]
    keyed = kp.unbake(clip, keys=100)
    seconds = alternate(
        {
            "300": lambda: kp.unbake(shot, keys=30),
            "1000": lambda: kp.unbake(clip, keys=100),
            "every": lambda: kp.ladder(clip, "salient", cost="inbetween"),
            "tolerance": lambda: kp.unbake(clip, tolerance_mm=5.0),
            "sample": keyed.sample,
            "back": lambda: keyed.sample(1.0),
        }
    )
    faster = {name: clip.duration_s / seconds[name] for name in ("sample", "back")}
    print(f"   unbake: 300 frames to 30 keys {1e3 * seconds['300']:.0f} ms, 1000 to 100 {1e3 * seconds['1000']:.0f} ms")
    print(f"   1000 frames: every number of keys {1e3 * seconds['every']:.0f} ms, "
          f"fewest within 5 mm {1e3 * seconds['tolerance']:.0f} ms")  # fmt: skip
    print(f"   sampling: {faster['sample']:.0f} times real time, {faster['back']:.0f} with the residual")
    return {
        "unbake_300_frames_ms": 1e3 * seconds["300"],
        "unbake_1000_frames_ms": 1e3 * seconds["1000"],
        "every_number_of_keys_of_1000_frames_ms": 1e3 * seconds["every"],
        "unbake_1000_frames_within_5_mm_ms": 1e3 * seconds["tolerance"],
        "sampling_times_real_time": faster["sample"],
    }
