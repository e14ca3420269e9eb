"""Joint swings: error and threshold sweep of the thesis, effect of fallback keys, sizes and speed."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.measure import DATA, HERE, alternate
from benchmarks.papers.clips import MIXED, SWINGS, is_real, load_clip
from benchmarks.swings.edits import OUTCOMES, RETURN_S, try_random_edits
from benchmarks.swings.picture import draw

import keypose as kp
from keypose.api.swings import Sweep, sweep, swings_within
from keypose.swings import KeyedSpan, Track
from keypose.swings.codec import SwingSize, pack
from keypose.swings.fallback import add_keys

FPS = 60.0
THRESHOLD = 0.4
NUMBER_BYTES = 4  # of one number of a file in memory
TOLERANCES = (1.0, 2.0, 2.4, 2.8, 3.2, 4.0, 6.0, 10.0)
AMC = ("01_01", "02_01", "07_05", "09_06", "131_04", "14_24")
OTHER_STEP = 10  # every tenth clip of ``cmu30``
N_EDITS, MAX_EDIT_FRAMES = 20, 3000
READINGS: dict[str, dict[str, Any]] = {
    "angle, box of 10 frames (default)": {},
    "angle, box of 20": {"smoothing_s": 20 / 60},
    "1 - cos, box of 10": {"metric": "cosine"},
    "1 - cos, box of 20": {"metric": "cosine", "smoothing_s": 20 / 60},
    "1 - cos, box of 10, threshold 0.1": {"metric": "cosine", "threshold": 0.1},
}


def run() -> dict[str, float]:
    names = [f"swings/{name}" for name in SWINGS]
    amc = [DATA / "asf-amc" / f"{name}.amc" for name in AMC]
    if not is_real(MIXED, *names) or not all(path.exists() for path in amc):
        print("   NOT MEASURED: clips absent, set KEYPOSE_TEST_DATA")
        return dict.fromkeys(tomllib.loads((HERE / "swings" / "expected.toml").read_text()), math.nan)
    clips = [load_clip(name).at_fps(FPS) for name in names]
    return (
        _measure_readings(clips)
        | _measure_sweeps(clips)
        | _print_tolerances(clips)
        | _measure_storage(amc)
        | _measure_speed(load_clip(MIXED))
        | _measure_waiting_times(load_clip(MIXED).at_fps(FPS))
        | _measure_edits()
    )


def _load_other_clips() -> list[kp.Motion]:
    """Return clips on which nothing was fitted, of all classes of ``cmu30``."""
    paths = sorted((DATA / "cmu30").glob("*/*.bvh"))[::OTHER_STEP]
    return [kp.load(path) for path in paths]


def _measure_readings(clips: list[kp.Motion]) -> dict[str, float]:
    """Measure the interpretations of what the thesis leaves open, and playback with and without rests."""
    others = _load_other_clips()
    print(f"   error in degrees on the {len(clips)} clips, without and with rests; the same on {len(others)} others")
    for name, options in READINGS.items():
        cells = [_mean_error(some, rests, options) for some in (clips, others) for rests in (False, True)]
        print(f"   {name:<40}" + "".join(f"{cell:>9.1f}" for cell in cells))
    figures = {}
    for label, some in (("twelve", clips), ("others", others)):
        plain, played, held = (
            np.array([measure(kp.swings(clip), clip) for clip in some])
            for measure in (_errors_without_rests, _errors_with_rests, _errors_with_held_rests)
        )
        print(f"   {label}: degrees and mm, interpolated {_format_pair(plain)}, rests in their middle "
              f"{_format_pair(played)}, held {_format_pair(held)}; smaller with rests on "
              f"{(played < plain).sum(axis=0).tolist()} of {len(some)}")  # fmt: skip
        figures[f"error_with_rests_over_without_{label}"] = played[:, 0].mean() / plain[:, 0].mean()
        figures[f"mm_with_rests_over_without_{label}"] = played[:, 1].mean() / plain[:, 1].mean()
    return figures


def _mean_error(clips: list[kp.Motion], rests: bool, options: dict[str, Any]) -> float:
    return float(np.mean([kp.swings(clip, **options).error(clip, rests=rests) for clip in clips]))


def _errors_without_rests(swings: kp.Swings, clip: kp.Motion) -> tuple[float, float]:
    return swings.error(clip, rests=False), kp.score(clip, swings.play(rests=False)).mean_mm


def _errors_with_rests(swings: kp.Swings, clip: kp.Motion) -> tuple[float, float]:
    return swings.error(clip), kp.score(clip, swings.play()).mean_mm


def _errors_with_held_rests(swings: kp.Swings, clip: kp.Motion) -> tuple[float, float]:
    return _errors_with_rests(_hold_rests(swings), clip)


def _format_pair(values: np.ndarray) -> str:
    return "{:.2f} and {:.2f}".format(*values.mean(axis=0))


def _hold_rests(swings: kp.Swings) -> kp.Swings:
    """Return swings with rests as keys that hold their rotation from the first to the last frame."""
    tracks = {}
    for j, track in enumerate(swings.tracks):
        held = [
            KeyedSpan(np.unique([rest.start, rest.end]), np.tile(rest.rotation, (min(2, rest.end - rest.start + 1), 1)))
            for rest in track.rests
        ]
        keyed = sorted((*track.keyed, *held), key=lambda span: span.start)
        tracks[j] = Track.build(track.joint, track.mean_rotation, track.swings, keyed)
    return swings.replace_tracks(tracks)


def _measure_edits() -> dict[str, float]:
    """Count random single edits after which joints return to the capture in time, or that say so if they do not."""
    paths = sorted((DATA / "cmu120").glob("**/*.bvh"))
    others = _load_other_clips()
    figures = {}
    for label, clips in (("cmu120", [kp.load(path)[:MAX_EDIT_FRAMES] for path in paths]), ("others", others)):
        outcomes = [outcome for seed, clip in enumerate(clips) for outcome in try_random_edits(clip, N_EDITS, seed)]
        counts = Counter((outcome.operation, outcome.outcome) for outcome in outcomes)
        totals = Counter(outcome.outcome for outcome in outcomes)
        n_done = len(outcomes) - totals["refused"]
        headings = "".join(f"{outcome:>10}" for outcome in OUTCOMES)
        print(f"\n   {f'single edits of {len(clips)} clips ({label})':<34}{headings}")
        for operation in dict.fromkeys(outcome.operation for outcome in outcomes):
            cells = (counts[operation, outcome] for outcome in OUTCOMES)
            print(f"   {operation:<34}" + "".join(f"{cell:>10}" for cell in cells))
        returned, reported = totals["returns"] / n_done, totals["reported"] / n_done
        print(f"   of {n_done}: {returned:.1%} return within {RETURN_S:g} s, {reported:.1%} are reported, "
              f"{totals['silent']} silent")  # fmt: skip
        figures |= {f"edits_that_return_{label}": returned, f"silent_edits_{label}": float(totals["silent"])}
    return figures


def _measure_sweeps(clips: list[kp.Motion]) -> dict[str, float]:
    """Measure every threshold, without and with keys, and as in the thesis: without rests."""
    plain, keyed = [sweep(clip) for clip in clips], [sweep(clip, fallback="keys") for clip in clips]
    thresholds = [row.threshold for row in plain[0]]
    thesis_errors = [_mean_error(clips, False, {"threshold": threshold}) for threshold in thresholds]
    errors, keyed_errors = _mean_column(plain, "error_deg"), _mean_column(keyed, "error_deg")
    sizes, keyed_sizes = _mean_column(plain, "bytes"), _mean_column(keyed, "bytes")
    n_swings, n_keyed_swings = _mean_column(plain, "n_swings"), _mean_column(keyed, "n_swings")
    print(f"   means over {len(clips)} clips at {FPS:g} frames a second; left without, right with keys")
    print(f"   {'threshold':>12}{'thesis':>10}{'error':>10}{'swings':>8}{'bytes':>9}"
          f"{'error':>14}{'swings':>8}{'bytes':>9}")  # fmt: skip
    for i, threshold in enumerate(thresholds):
        print(f"   {threshold:>12g}{thesis_errors[i]:>10.2f}{errors[i]:>10.2f}{n_swings[i]:>8.0f}{sizes[i]:>9,.0f}"
              f"{keyed_errors[i]:>14.2f}{n_keyed_swings[i]:>8.0f}{keyed_sizes[i]:>9,.0f}")  # fmt: skip
    default_index = thresholds.index(THRESHOLD)
    picture = HERE / "swings" / "sweep.svg"
    picture.write_text(draw(plain, keyed, thesis_errors, THRESHOLD))
    print(f"   {picture.name}: error and size against the threshold")
    return {
        "mean_error_at_the_threshold": thesis_errors[default_index],
        "threshold_of_min_error": thresholds[int(np.argmin(thesis_errors))],
        "mean_error_with_keys": keyed_errors[default_index],
        "size_with_keys_over_without": keyed_sizes[default_index] / sizes[default_index],
    }


def _mean_column(sweeps: list[Sweep], name: str) -> list[float]:
    """Return the mean over clips of a sweep column, one value per threshold."""
    return np.mean([[getattr(row, name) for row in rows] for rows in sweeps], axis=0).tolist()


def _print_tolerances(clips: list[kp.Motion]) -> dict[str, float]:
    """Print error and size against the key tolerance, by which the default was chosen."""
    clip_swings = [kp.swings(clip, THRESHOLD) for clip in clips]
    plain_bytes = sum(len(pack(some)) for some in clip_swings)
    print(f"\n   {'keys within':>12}{'error':>10}{'largest':>9}{'swings':>8}{'keys':>7}{'size over plain':>17}")
    for tolerance in TOLERANCES:
        keyed = [add_keys(clip, some, tolerance) for clip, some in zip(clips, clip_swings, strict=True)]
        errors = [some.error(clip) for clip, some in zip(clips, keyed, strict=True)]
        keys = sum(some.n_keys for some in keyed)
        swings, size = sum(some.n_swings for some in keyed), sum(len(pack(some)) for some in keyed)
        print(f"   {tolerance:>8g} deg{np.mean(errors):>10.2f}{max(errors):>9.2f}{swings:>8}{keys:>7}"
              f"{size / plain_bytes:>17.3f}")  # fmt: skip
    return {}


def _measure_storage(paths: list[Path]) -> dict[str, float]:
    """Measure packed bytes of plain swings over the raw bytes of AMC clips, with and without left out joints."""
    figures = {}
    for fps in (120.0, FPS):
        print(f"\n   packed over raw at {fps:g} frames a second, bytes for what; without left out joints")
        sizes = []
        for path in paths:
            motion = kp.load(path).at_fps(fps)
            size = kp.swings(motion, THRESHOLD).size()
            sizes.append(size)
            print(f"   {path.stem:<8}{motion.n_frames:>6} frames{_format_size(size)}")
        total = SwingSize(*(sum(values) for values in zip(*map(astuple, sizes), strict=True)))
        print(f"   {'all':<8}{'':>13}{_format_size(total)}")
        figures[f"packed_over_raw_{fps:g}_fps"] = total.ratio
        figures[f"packed_over_raw_without_left_out_{fps:g}_fps"] = total.swinging_ratio
    return figures


def _format_size(size: SwingSize) -> str:
    parts = [f"{name.replace('_', ' ')} {count / size.raw_bytes:.3f}" for name, count in size.sections.items() if count]
    return f"{size.ratio:>8.3f}   {', '.join(parts)}; {size.swinging_ratio:.3f}"


def count_numbers_per_frame(path: Path) -> int:
    """Return the number of values per frame of an AMC file."""
    lines = iter(path.read_text().splitlines())
    numbers = 0
    for line in lines:
        if line.strip() == "1":
            break
    for line in lines:
        if line.strip() == "2":
            break
        numbers += len(line.split()) - 1
    return numbers


def _measure_speed(clip: kp.Motion) -> dict[str, float]:
    """Measure speed as a multiple of real time, and the growth of time per frame at four times the length."""
    long_clip = kp.concatenate([clip] * 4)
    clip_swings, long_swings = kp.swings(clip), kp.swings(long_clip)
    tolerance = clip_swings.settings.fallback_deg
    tasks = {
        "segmentation": (lambda: kp.swings(clip), lambda: kp.swings(long_clip)),
        "with_keys": (
            lambda: add_keys(clip, clip_swings, tolerance),
            lambda: add_keys(long_clip, long_swings, tolerance),
        ),
    }
    seconds = alternate(
        {f"{name} {n}": task for name, both in tasks.items() for n, task in zip((1, 4), both, strict=True)}, rounds=7
    )
    figures = {}
    print()
    for name in tasks:
        once = seconds[f"{name} 1"]
        faster, growth = clip.duration_s / once, seconds[f"{name} 4"] / 4 / once
        print(f"   {name.replace('_', ' ')} of {clip.n_frames} frames x {clip.n_joints} joints at {clip.fps:g}: "
              f"{1e3 * once:.0f} ms, {faster:.0f} times real time; {growth:.2f} times as long for each frame of "
              f"{long_clip.n_frames}")  # fmt: skip
        figures[f"{name}_times_real_time"] = faster
        figures[f"{name}_time_per_frame_at_4_times_the_length"] = growth
    return figures


def _measure_waiting_times(clip: kp.Motion) -> dict[str, float]:
    shot, longer = clip[:300], clip[:1000]
    seconds = alternate(
        {
            "within_3_degrees_300_frames_ms": lambda: swings_within(shot, max_deg=3.0),
            "within_20_mm_300_frames_ms": lambda: swings_within(shot, max_mm=20.0),
            "within_20_mm_1000_frames_ms": lambda: swings_within(longer, max_mm=20.0),
        },
        rounds=3,
    )
    return {name: 1e3 * value for name, value in seconds.items()}
