"""Few keys with fitted curves: how close they come to eight real clips, beside other ways, and how long it takes."""

from __future__ import annotations

import math
import tomllib

import numpy as np
from benchmarks.measure import HERE, alternate
from benchmarks.papers.clips import LONG, MIXED, WALK, is_real, label, take
from benchmarks.unbake.ways import OURS, OURS_SLERP, POLISHED, PUBLISHED, REMOVED, Cell, Ways, median

import keypose as kp

FRAMES = 1000
RATES = (60.0, 120.0)
WANTED_POLISHED = {90.0: (1.0, 6.0), 95.0: (3.0, 23.0)}  # at 60 frames a second: mean and largest mm

Cells = dict[float, dict[str, list[Cell]]]  # by percent removed, by way: one for each clip


def run() -> dict[str, float]:
    absent = [name for name in LONG if not is_real(name)]
    if absent:
        print(f"   NOT MEASURED: {', '.join(map(label, absent))} absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "unbake" / "expected.toml").read_text()), math.nan)
    figures = _times()
    for fps in RATES:
        keys, values, poses = _measure(fps)
        _show(f"{fps:g} frames a second, equal numbers of keys", keys)
        _show(f"{fps:g} frames a second, as many stored values as fitted keys", values)
        _show(f"{fps:g} frames a second, as many stored values as plain poses at the keys", poses)
        for removed, cells in keys.items():
            best = median(cells[OURS])
            figures[f"mean_mm_{fps:g}_fps_{removed:g}_removed"] = best.mean_mm
            figures[f"max_mm_{fps:g}_fps_{removed:g}_removed"] = best.max_mm
        if fps == 60.0:
            figures |= _against_others(keys[90.0])
            for removed, (mean, largest) in WANTED_POLISHED.items():
                found = median(keys[removed][POLISHED])
                figures[f"mean_mm_polished_{removed:g}_removed"] = found.mean_mm
                figures[f"max_mm_polished_{removed:g}_removed"] = found.max_mm
                print(f"   polished, {removed:g} % removed: {found.mean_mm:.2f}/{found.max_mm:.1f} mm, "
                      f"wanted {mean:g}/{largest:g}")  # fmt: skip
    return figures


def _measure(fps: float) -> tuple[Cells, Cells, Cells]:
    """All ways on all clips: at equal keys, and at the stored values of fitted keys and of plain poses."""
    at_keys, at_values, at_poses = ({removed: {} for removed in REMOVED} for _ in range(3))
    for name in LONG:
        clip = Ways(take(name).at_fps(fps)[:FRAMES])
        if name == WALK:
            clip.check(90.0)
        for removed in REMOVED:
            equal = clip.equal_keys(removed)
            as_many = {way: equal[way] for way in (OURS, POLISHED)} | clip.as_many_values(equal[OURS].stored)
            for table, cells in (
                (at_keys, equal),
                (at_values, as_many),
                (at_poses, clip.as_many_as_poses(removed)),
            ):
                for way, cell in cells.items():
                    table[removed].setdefault(way, []).append(cell)
    return at_keys, at_values, at_poses


def _show(title: str, table: Cells) -> None:
    """Medians over the clips of mean/max mm, and the rest at 90 % removed.

    That is foot slide and acceleration at keys, both over the original's, and stored values.
    """
    print(f"\n   {title}")
    print(f"   {'median mean/max mm, % of frames removed':<44}" + "".join(f"{removed:>12g} %" for removed in REMOVED)
          + "    slide   accel    values")  # fmt: skip
    for way in table[REMOVED[0]]:
        middle = {removed: median(table[removed][way]) for removed in REMOVED}
        errors = "".join(f"{f'{_short(cell.mean_mm)}/{_short(cell.max_mm)}':>14}" for cell in middle.values())
        at_90 = middle[90.0]
        acceleration = "" if math.isnan(at_90.acceleration) else f"{at_90.acceleration:.2f}"
        print(f"   {way:<44}{errors}{at_90.slide:>9.2f}{acceleration:>8}{at_90.stored:>10,.0f}")


def _short(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _against_others(cells: dict[str, list[Cell]]) -> dict[str, float]:
    """How many times closer ours is by the medians over the clips; beside it, the median of what it is on each clip."""
    figures = {"foot_slide_over_original_90_removed": median(cells[OURS]).slide}
    for name, other in (("published", PUBLISHED), ("slerp", OURS_SLERP)):
        for what in ("mean", "max"):
            theirs, ours, best = (
                np.array([getattr(cell, f"{what}_mm") for cell in cells[way]]) for way in (other, OURS, POLISHED)
            )
            ratio = float(np.median(theirs) / np.median(ours))
            figures[f"{name}_over_ours_{what}_90_removed"] = ratio
            figures[f"{name}_over_polished_{what}_90_removed_in_the_median_clip"] = float(np.median(theirs / best))
            print(f"   90 % removed, {what} mm, {other} over ours: {ratio:.2f}; in the median clip "
                  f"{np.median(theirs / ours):.2f}, polished {np.median(theirs / best):.2f}")  # fmt: skip
    return figures


def _times() -> dict[str, float]:
    """What an animator waits for, and how fast keys are played."""
    clip = take(MIXED).at_fps(60)[:FRAMES]
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
