"""Keys at the ends of travel: share of events with a key, and ankle distance at extremes and breakdowns of walks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from benchmarks.extremes.events import KINDS, find_event_peaks, rank_in_step
from benchmarks.measure import alternate, unmeasured_figures
from benchmarks.papers.clips import MIXED, is_real, load_clip
from benchmarks.search.clips import Clip, all_clips, half_of, is_data_present, labelled_clips, more

import keypose as kp
from keypose.arrays import Floats
from keypose.curves.capture_faults import remove_flips
from keypose.extremes import find_extremes, is_of_leading_part
from keypose.options import LeadingPart

HALF = 1  # of the subjects; limits were tuned on the other half
STEP = 8  # one clip in so many of those without labels
MAX_FRAMES = 600
NEAR_S = 0.07
BUDGETS: dict[str, dict[str, Any]] = {
    "auto": {"auto": True},
    "10_percent": {"share": 0.1},
}
# Walks ahead, straight or in a curve, of the half of the subjects with that number.
WALKS = {
    0: "35_01 35_03 35_04 35_06 35_07 35_08 35_10 35_29 35_30 39_01 39_02 39_05 39_09 39_12",
    1: "02_02 07_01 07_03 07_04 07_06 07_07 07_09 07_10 08_03 08_04 08_07 08_08 08_09 08_10 16_15 16_21 16_32 38_02",
}
LONG_FRAMES = 5000
LEADING_STEP = 4  # one clip in so many
LEADING_PARTS: tuple[LeadingPart, ...] = ("right_hand", "left_hand", "right_foot", "left_foot", "hips")


class EventResult(NamedTuple):
    """Whether one event has a key near its frame of largest reach."""

    kind: str
    before: bool
    after: bool
    is_marked: bool  # by a key that is an extreme
    is_detected: bool  # by an extreme of the motion, with or without a key


class ClipResult(NamedTuple):
    """The events of one clip, and the errors with keys at extremes relative to those without."""

    events: list[EventResult]
    max_ratio: float
    mean_ratio: float


def run() -> dict[str, float]:
    if not is_data_present() or not is_real(MIXED):
        print("   NOT MEASURED: the clips are absent, set KEYPOSE_TEST_DATA")
        return unmeasured_figures("extremes")
    figures: dict[str, float] = {}
    ratios = []
    for budget, options in BUDGETS.items():
        results = measure_events(HALF, options)
        events = [event for result in results for event in result.events]
        print_events(f"{budget}, {len(results)} clips", events)
        figures[f"events_with_a_key_{budget}"] = share(events, "after")
        kicks = [event for event in events if event.kind == "kick"]
        figures[f"kicks_with_an_extreme_{budget}"] = share(kicks, "is_marked")
        ratios += [(result.max_ratio, result.mean_ratio) for result in results]
    max_ratios, mean_ratios = np.array(ratios).T
    print("\n   errors with keys at extremes over those without:")
    print(f"   largest error: {np.median(max_ratios):.3f} in the median clip, {max_ratios.max():.3f} in the worst")
    print(f"   mean error: {mean_ratios.mean():.3f} in the mean of clips, {mean_ratios.max():.3f} in the worst")
    figures["largest_max_error_ratio"] = float(max_ratios.max())
    figures["mean_error_ratio"] = float(mean_ratios.mean())
    extremes, breakdowns = measure_walks(HALF)
    print(f"\n   rank of the ankle distance in the steps of {len(WALKS[HALF].split())} walks (chance 0.50):")
    print(
        f"   {extremes.mean():.2f} at {len(extremes)} extremes, {breakdowns.mean():.2f} at {len(breakdowns)} breakdowns"
    )
    figures["walks_rank_at_extremes"] = float(extremes.mean())
    figures["walks_rank_at_breakdowns"] = float(breakdowns.mean())
    figures |= measure_leading(HALF)
    figures["unbake_5000_frames_times_as_long"] = measure_time()
    return figures


def measure_events(half: int, options: dict[str, Any]) -> list[ClipResult]:
    """Return the results of the clips of a half of the subjects that have events."""
    clips = (*labelled_clips(), *more()[::STEP])
    results = (measure_clip(clip, options) for clip in clips if half_of(clip.subject) == half)
    return [result for result in results if result.events]


def measure_clip(clip: Clip, options: dict[str, Any]) -> ClipResult:
    motion = clip.motion()[:MAX_FRAMES]
    peaks = find_event_peaks(motion)
    if not peaks:
        return ClipResult([], 1.0, 1.0)
    count = {"keys": max(3, round(options["share"] * motion.n_frames))} if "share" in options else options
    before, after = (
        kp.unbake(motion, residual=False, extremes_first=extremes_first, **count) for extremes_first in (False, True)
    )
    detected = [extreme.frame for extreme in find_extremes(motion)]
    captured = remove_flips(motion)  # which curves omit
    scores = [kp.score(captured, keyed) for keyed in (before, after)]
    frame_lists = (before.keys, after.keys, after.keys[after.extremes], detected)
    events = [
        EventResult(peak.kind, *(is_near(frames, peak.time_s * motion.fps, motion.fps) for frames in frame_lists))
        for peak in peaks
    ]
    return ClipResult(events, scores[1].max_mm / scores[0].max_mm, scores[1].mean_mm / scores[0].mean_mm)


def measure_leading(half: int) -> dict[str, float]:
    """Return the share of the ends of travel of a leading part that have a key, and the errors that this costs."""
    clips = [clip for clip in (*labelled_clips(), *more()[::STEP]) if half_of(clip.subject) == half][::LEADING_STEP]
    hits: dict[str, list[tuple[bool, bool]]] = {}
    mean_ratios, max_ratios = [], []
    for clip in clips:
        motion = clip.motion()[:MAX_FRAMES]
        ends = [end for extreme in find_extremes(motion) for end in extreme.travel_ends]
        captured, keys = remove_flips(motion), max(3, round(0.1 * motion.n_frames))
        before = kp.unbake(motion, keys=keys, residual=False)
        score = kp.score(captured, before)
        for part in LEADING_PARTS:
            frames = sorted({end.frame for end in ends if is_of_leading_part(end, part)})
            if not frames:
                continue
            after = kp.unbake(motion, keys=keys, leading=part, residual=False)
            hits.setdefault(part, []).extend(
                (is_near(before.keys, frame, motion.fps), is_near(after.keys, frame, motion.fps)) for frame in frames
            )
            moved = kp.score(captured, after)
            mean_ratios.append(moved.mean_mm / score.mean_mm)
            max_ratios.append(moved.max_mm / score.max_mm)
    print(
        f"\n   a leading part, 10 % of the frames as keys, {len(clips)} clips: share of its ends of travel with a key"
    )
    for part, pairs in hits.items():
        without, with_leading = np.mean(pairs, axis=0)
        print(f"   {part:<14}{len(pairs):>7}{without:>9.2f}{with_leading:>9.2f}")
    without, with_leading = np.mean([pair for pairs in hits.values() for pair in pairs], axis=0)
    print(f"   {'all':<14}{'':>7}{without:>9.2f}{with_leading:>9.2f}")
    print(f"   errors over those without: largest {max(max_ratios):.3f} at most, mean {np.mean(mean_ratios):.3f}")
    return {
        "leading_ends_with_a_key_without": float(without),
        "leading_ends_with_a_key": float(with_leading),
        "leading_largest_max_error_ratio": max(max_ratios),
        "leading_mean_error_ratio": float(np.mean(mean_ratios)),
    }


def is_near(frames: Sequence[int], frame: float, fps: float) -> bool:
    """Return whether one of ``frames`` is within ``NEAR_S`` of ``frame``."""
    return bool((np.abs(np.asarray(frames) - frame) <= NEAR_S * fps + 1e-6).any())


def share(events: Sequence[EventResult], field: str) -> float:
    return float(np.mean([getattr(event, field) for event in events]))


def print_events(title: str, events: Sequence[EventResult]) -> None:
    print(f"\n   {title}: share of events with a key within {NEAR_S:g} s of the frame of largest reach")
    print(f"   {'event':<14}{'count':>7}{'before':>9}{'after':>9}{'extreme':>9}{'detected':>10}")
    for kind in (*KINDS, "all"):
        of_kind = [event for event in events if kind in (event.kind, "all")]
        if of_kind:
            shares = [share(of_kind, field) for field in EventResult._fields[1:]]
            print(
                f"   {kind:<14}{len(of_kind):>7}{shares[0]:>9.2f}{shares[1]:>9.2f}{shares[2]:>9.2f}{shares[3]:>10.2f}"
            )


def measure_walks(half: int) -> tuple[Floats, Floats]:
    """Return the ranks of the ankle distance at the extremes and at the breakdowns of walks with automatic keys."""
    names = WALKS[half].split()
    clips = {clip.name: clip for clip in all_clips()}
    extremes, breakdowns = [], []
    for name in names:
        motion = clips[name].motion()[:MAX_FRAMES]
        keyed = kp.unbake(motion, auto=True, residual=False)
        ranks = rank_in_step(motion)[keyed.keys]
        is_in_step = np.isfinite(ranks)
        extremes.append(ranks[is_in_step & keyed.extremes])
        breakdowns.append(ranks[is_in_step & ~keyed.extremes])
    return np.concatenate(extremes), np.concatenate(breakdowns)


def measure_time() -> float:
    """Return how many times as long it takes with keys at extremes, for a long clip at 120 frames a second."""
    motion = load_clip(MIXED)
    motion = kp.concatenate([motion] * -(-LONG_FRAMES // motion.n_frames))[:LONG_FRAMES]
    start = time.perf_counter()
    find_extremes(motion)
    print(f"   {LONG_FRAMES} frames: find extremes {1e3 * (time.perf_counter() - start):.0f} ms")
    keys = LONG_FRAMES // 20
    seconds = alternate(
        {
            "without": lambda: kp.unbake(motion, keys=keys, residual=False),
            "with": lambda: kp.unbake(motion, keys=keys, residual=False, extremes_first=True),
        },
        rounds=2,
    )
    print(f"   {LONG_FRAMES} frames to {keys} keys: {seconds['without']:.2f} s, at extremes {seconds['with']:.2f} s")
    return seconds["with"] / seconds["without"]
