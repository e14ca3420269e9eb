"""Curve saliency while frames come in, against the whole clip: agreement of the keys, and delay."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from benchmarks.measure import alternate
from benchmarks.papers.clips import LONG, MIXED, SHORT, SWINGS, load_clip, nan_unless_real, remark_on_data
from benchmarks.papers.table import Row, print_table

import keypose as kp
from keypose.features import compute_features
from keypose.methods.saliency import METHOD, saliency
from keypose.model import Features

TUNED = (*LONG, SHORT)  # the lookahead and the steps of the window were chosen on these
HELD_OUT = (
    *(f"swings/{name}" for name in SWINGS),
    *(f"../asf-amc/{name}" for name in ("01_01", "02_01", "14_24")),
    *(f"../formats/bvh/{name}" for name in ("cmu05_20_mb", "cmu131_01_max", "daz-friendly_cmu_pirouette")),
    "../fbx/07_01",
)
LEG = "left_thigh"
LEG_FRAMES = 800  # as in the paper
JOINTS = {"left upper leg": LEG, "whole body": METHOD.joints}
TOLERANCES = (0, 2, 5)  # frames at 120 a second
LOOKAHEADS = (12, 24, 36, 65, 100, 160)


class Agreement(NamedTuple):
    """Numbers of keys over several clips, without the first and last of each, and delays in frames."""

    n_whole: int
    n_streamed: int
    n_shared: dict[int, int]  # by tolerance; each key counts once
    delays: np.ndarray  # of keys that were reported before the end

    def recall(self, tolerance: int) -> float:
        """Return the share of the keys of whole clips that were streamed."""
        return self.n_shared[tolerance] / self.n_whole

    def precision(self, tolerance: int) -> float:
        """Return the share of the streamed keys that are keys of whole clips."""
        return self.n_shared[tolerance] / self.n_streamed


@cache
def features_of(clip: str, joints: str) -> Features:
    features = compute_features(load_clip(clip), "euler", joints)
    return features[:LEG_FRAMES] if joints == LEG else features


@cache
def whole_clip_keys(clip: str, joints: str) -> np.ndarray:
    ladder = saliency(features_of(clip, joints))
    return ladder.at(ladder.natural).frames[1:-1]


def streamed_keys(features: Features, values: np.ndarray, **options: float) -> tuple[list[int], list[int]]:
    """Return the keys without the first and last, and the delays of those that were reported before the end."""
    stream = kp.StreamingSaliency(features.columns, features.fps, **options)
    keys: list[int] = []
    delays: list[int] = []
    for now, row in enumerate(values):
        new = stream.push(row)
        keys += new
        delays += [now - key for key in new]
    return [*keys, *stream.close()][1:-1], delays[1:]


def compare_keys(clips: Sequence[str], joints: str, *, repeated: bool = False, **options: float) -> Agreement:
    """Compare the keys of streams with those of whole clips.

    With ``repeated`` the stream sees each clip forwards and backwards before, and thus knows its mean saliency.
    """
    n_whole = n_streamed = 0
    n_shared = dict.fromkeys(TOLERANCES, 0)
    delays: list[int] = []
    for clip in clips:
        features, whole = features_of(clip, joints), whole_clip_keys(clip, joints)
        values, first = features.values, 0
        if repeated:
            values, first = np.concatenate((values, values[::-1], values)), 2 * features.n_frames
        keys, clip_delays = streamed_keys(features, values, **options)
        keys = [key - first for key in keys if key > first]
        n_whole, n_streamed = n_whole + len(whole), n_streamed + len(keys)
        delays += clip_delays
        for tolerance in TOLERANCES:
            n_shared[tolerance] += count_shared(whole.tolist(), keys, tolerance * features.fps / 120)
    return Agreement(n_whole, n_streamed, n_shared, np.array(delays))


def count_shared(a: list[int], b: list[int], tolerance: float) -> int:
    """Return the number of pairs of a frame of each sorted list within the tolerance, each frame in one pair."""
    i = j = n = 0
    while i < len(a) and j < len(b):
        if abs(a[i] - b[j]) <= tolerance:
            i, j, n = i + 1, j + 1, n + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return n


def compare() -> dict[str, float]:
    """Print and return the agreement of streaming with whole clips; the paper says it is suitable for live motion."""
    figures: dict[str, float] = {}
    rows = [Row("max delay", "[a window]", f"{_max_delay()} frames", "at 120 frames a second; the paper has no figure")]
    for name, joints in JOINTS.items():
        for label, clips in (("tuned", TUNED), ("held out", HELD_OUT)):
            result = compare_keys(clips, joints)
            shares = "; ".join(f"{result.recall(t):.0%} and {result.precision(t):.0%} within {t}" for t in TOLERANCES)
            counts = f"{result.n_streamed}, {result.n_whole}"
            comment = f"{shares}; delay {result.delays.mean():.0f} frames on average, {result.delays.max()} at most"
            rows.append(Row(f"{name}, {len(clips)} clips {label}", "", counts, remark_on_data(clips, comment)))
            if clips is HELD_OUT:
                key = joints if joints == METHOD.joints else "joint"
                worse = min(result.recall(2), result.precision(2))
                figures[f"streaming_agreement_{key}"] = nan_unless_real(clips, worse)
        known = compare_keys(HELD_OUT, joints, repeated=True)
        comment = f"{known.recall(2):.1%} and {known.precision(2):.1%} within 2: what is left is the mean so far"
        counts = f"{known.n_streamed}, {known.n_whole}"
        rows.append(Row(f"{name}, held out, mean known before", "", counts, remark_on_data(HELD_OUT, comment)))
    print_table("Curve saliency: keys streamed and of whole clips; recall and precision of streamed ones", rows)
    _print_lookaheads()
    return figures | {"streaming_max_delay_frames": _max_delay(), "streaming_seconds_per_second": _measure_speed()}


def _print_lookaheads() -> None:
    rows = []
    for frames in LOOKAHEADS:
        body, leg = (compare_keys(HELD_OUT, joints, lookahead_s=frames / 120) for joints in (METHOD.joints, LEG))
        delay = f"{body.delays.max()} at most, {body.delays.mean():.0f} on average"
        comment = ", ".join(
            f"{name} {each.recall(2):.0%} and {each.precision(2):.0%}" for name, each in (("body", body), ("leg", leg))
        )
        rows.append(
            Row(f"lookahead {frames} frames ({frames / 120:.3f} s)", "", delay, remark_on_data(HELD_OUT, comment))
        )
    print_table("Curve saliency: delay in frames, and agreement within 2 frames, by lookahead", rows)


def _max_delay() -> int:
    return kp.StreamingSaliency(3, fps=120).max_delay_frames


def _measure_speed() -> float:
    """Return the seconds that a stream of a whole body takes per second of motion."""
    features = features_of(MIXED, METHOD.joints)
    spent = alternate({"stream": lambda: streamed_keys(features, features.values)}, rounds=3)["stream"]
    share = spent * features.fps / features.n_frames
    curves = f"{len(features.columns)} curves"
    print(f"\n   Streaming {curves} at {features.fps:g} fps takes {share:.1%} of a core. {remark_on_data(MIXED)}")
    return share
