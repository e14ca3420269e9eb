"""Tanuwijaya & Ohno: farthest-first keyposes against Morishima's and Assa's, timings, weights, root matching.

The results in the paper are pictures and a plot, without numbers in its text; here each picture is compared by a
number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.measure import HERE, alternate
from benchmarks.papers.clips import (
    CARTWHEEL,
    JUMP,
    KICKS,
    LONG,
    SHORT,
    SWORD,
    WALK,
    is_real,
    label,
    load_clip,
    nan_unless_real,
    remark_on_data,
)
from benchmarks.papers.table import Row, print_table

import keypose as kp
from keypose.features import compute_features
from keypose.kinematics import up_axis
from keypose.pictures.chart import Axis, Line, chart

REFERENCE = {  # the first keys, as a prototype of the same definition found them
    SHORT: (77, 120, 61, 3, 43, 20, 52, 10),
    KICKS: (772, 442, 801, 1261, 1154),
    SWORD: (2030, 1344, 94, 1846, 934),
}
PAPER_FRAMES = 1471  # of the clip with many kicks that the paper timed
COUNTS = (10, 25, 50, 75, 100)
N_JOINTS = 9
FARTHEST, SPREAD = "farthest (the paper's)", "spread (Morishima)"
RIVALS = {
    FARTHEST: ("farthest", {}),
    SPREAD: ("spread", {}),
    "synopsis (Assa)": ("synopsis", {}),
    "synopsis, extremes only": ("synopsis", {"candidates": "extreme"}),
}
ARMS = ("left_forearm", "left_hand", "right_forearm", "right_hand")
LEGS = ("left_shin", "left_foot", "right_shin", "right_foot")
MORE_WEIGHT = 5.0
MORE_KEYS = 12
SAME_MOMENT = 12  # frames: a tenth of a second


def compare() -> dict[str, float]:
    return (
        _compare_sine()
        | _compare_clips()
        | _compare_timings()
        | _compare_weights()
        | _compare_root_matching()
        | _compare_reference()
    )


def _compare_sine() -> dict[str, float]:
    """Compare the keys of a sine wave of two and a half periods with figures 2 and 3."""
    wave = np.sin(np.linspace(0.0, 5 * np.pi, 201))[:, None]
    paper_texts = {"farthest": "[all distinct]", "spread": "[some the same]", "synopsis": "[worse]"}
    remarks = {
        "spread": "the greatest sum of steps, by the same few values again and again",
        "synopsis": "the text says worse, and does not say on what; the radius says so here",
    }
    rows, distinct = [], {}
    for keys in (5, 7):
        for name, (method, options) in RIVALS.items():
            frames = kp.select(wave, method, keys=keys, fps=30, **options).frames
            values = wave[frames, 0]
            distinct[name, keys] = len(np.unique(np.round(values, 2)))
            steps = np.abs(np.diff(values)).sum()
            ours = f"{distinct[name, keys]} distinct, sum {steps:.2f}, radius {_covering_radius(wave, frames):.2f}"
            comment = remarks.get(method, "") if keys == 5 and not options else ""
            rows.append(Row(f"{keys} keys, {name}", paper_texts[method], ours, comment))
    print_table(
        "Keyposes, figures 2 and 3: sine wave; distinct values, sum of steps between keys, covering radius", rows
    )
    return {
        "sine_distinct_of_7_farthest": distinct[FARTHEST, 7],
        "sine_distinct_of_7_spread": distinct[SPREAD, 7],
    }


def _compare_clips() -> dict[str, float]:
    """Compare five keys of a cyclic and a non-cyclic clip with figures 5 and 6; count those that are also among seven
    keys."""
    min_distances = {}
    rows = []
    for kind, clip, spread_text in (("cyclic", WALK, "[similar keys]"), ("not cyclic", CARTWHEEL, "[few differences]")):
        motion = load_clip(clip)
        poses = compute_features(motion, "root_matched", "major").values
        for name, (method, options) in RIVALS.items():
            ladder = kp.ladder(motion, method, max_keys=7, **options)
            frames = ladder.at(5).frames
            min_distances[clip, name] = _min_key_distance(poses, frames)
            ratio = min_distances[clip, name] / min_distances[clip, FARTHEST]
            n_stay = len(np.intersect1d(frames, ladder.at(7).frames))
            steps = np.linalg.norm(np.diff(poses[frames], axis=0), axis=1).sum()
            ours = f"{ratio:.2f}, sum {steps:.0f}, radius {_covering_radius(poses, frames):.1f}, {n_stay} of 5 stay"
            comment = "an optimum for seven keys need not hold that for five" if n_stay < 5 else ""
            if method == "synopsis" and ratio < 0.1:
                comment = "read to the letter it crowds its keys around one pose"
            paper = {FARTHEST: "[distinct; all stay]", SPREAD: spread_text}.get(name, "")
            rows.append(Row(f"{kind} ({label(clip)}), {name}", paper, ours, remark_on_data(clip, comment)))
    print_table(
        "Keyposes, figures 5 and 6: five keys; distance of the two most similar (farthest = 1), sum, radius", rows
    )
    return {
        f"{name}_min_distance_spread_over_farthest": nan_unless_real(
            [clip], min_distances[clip, SPREAD] / min_distances[clip, FARTHEST]
        )
        for name, clip in (("walk", WALK), ("cartwheel", CARTWHEEL))
    }


def _compare_timings() -> dict[str, float]:
    """Compare seconds against the number of keys with figure 7."""
    motion = load_clip(KICKS)[:PAPER_FRAMES]
    motion.world_positions()
    tasks = {str(k): lambda k=k: kp.farthest_search(motion).more(k) for k in COUNTS}
    seconds = alternate({"0": lambda: kp.farthest_search(motion), **tasks}, rounds=40)
    rows = [
        Row(f"{k} keys of {motion.n_frames} frames", "[plot]", f"{1e3 * seconds[str(k)]:.2f} ms",
            remark_on_data(KICKS, "the curve's seconds are not in the text") if k == COUNTS[0] else "")
        for k in COUNTS
    ]  # fmt: skip
    spent = np.array([seconds[str(k)] for k in COUNTS])
    correlation = float(np.corrcoef(COUNTS, spent)[0, 1])
    seconds_per_key = (seconds["100"] - seconds["50"]) / 50
    rows.append(Row("correlation of keys and seconds", "[linear]", f"{correlation:.4f}"))
    rows.append(
        Row(
            "one key more",
            "[O(n)]",
            f"{1e6 * seconds_per_key:.0f} us",
            "FarthestSearch.more(1) goes on where it stopped",
        )
    )
    print_table("Keyposes, figure 7: time to find k keys; theirs on a Core Duo of 1.86 GHz", rows)
    if is_real(KICKS):
        _draw_timings(spent, motion.n_frames)
    return {"farthest_keys_seconds_correlation": correlation}


def _draw_timings(seconds: np.ndarray, n_frames: int) -> None:
    """Write the chart of figure 7."""
    low = min(0.0, float(seconds.min()))
    picture = chart(
        [Line(f"{n_frames} frames, {N_JOINTS} joints", COUNTS, 1e3 * seconds, dots=True)],
        Axis("keys", low=0, is_integer=True),
        Axis("time", unit="ms", low=low),
        title="Time to find k keys",
    )
    (HERE / "papers" / "farthest_seconds.svg").write_text(picture.svg)
    print("   farthest_seconds.svg: the chart of figure 7")


def _compare_weights() -> dict[str, float]:
    """Compare the effect of weights on hands and elbows, or feet and knees, with figure 8."""
    rows, gains = [], {}
    for name, joints in (("arms", ARMS), ("legs", LEGS)):
        gain, n_stay = [], []
        for clip in LONG:
            motion = load_clip(clip)
            positions = compute_features(motion, "root_matched", joints).values
            plain = kp.select(motion, "farthest", keys=5).frames
            weighted = kp.select(motion, "farthest", keys=5, weights=dict.fromkeys(joints, MORE_WEIGHT)).frames
            gain.append(_min_key_distance(positions, weighted) / _min_key_distance(positions, plain))
            n_stay.append(_count_same_moments(plain, weighted))
        gains[name] = float(np.median(gain))
        label_text = f"{name} weigh {MORE_WEIGHT:g}: most similar {name}"
        comment = f"{_format_range(gain)}; the paper names no weight"
        rows.append(Row(label_text, "[more varied]", f"{gains[name]:.2f} times as far", remark_on_data(LONG, comment)))
        rows.append(
            Row(f"{name} weigh {MORE_WEIGHT:g}: of 5 keys stay", "[some]", f"{np.mean(n_stay):.1f}", "within 0.1 s")
        )
    print_table(
        "Keyposes, figure 8: weights; minimum distance between two of five keys on those joints, against no weights",
        rows,
    )
    return {f"weights_vary_the_{name}": nan_unless_real(LONG, gain) for name, gain in gains.items()}


def _compare_root_matching() -> dict[str, float]:
    """Compare three keys of a jump, with matched roots (weight 5) or plain positions, with figure 10."""
    rows, ratios, n_same = [], {}, []
    for clip in LONG:
        motion = load_clip(clip)
        poses = compute_features(motion, "root_matched", "major", {"hips": 0.0}).values
        matched = kp.ladder(motion, "farthest", max_keys=MORE_KEYS)
        plain = kp.ladder(
            _keep_in_place(motion), "farthest", max_keys=MORE_KEYS, features="unmatched", weights={"hips": 1.0}
        )
        matched_frames, plain_frames = matched.at(3).frames, plain.at(3).frames
        n_same.append([_count_same_moments(plain.at(n).frames, matched.at(n).frames) / n for n in (3, MORE_KEYS)])
        ratios[clip] = _min_key_distance(poses, matched_frames) / _min_key_distance(poses, plain_frames)
        if clip == JUMP:
            comment = remark_on_data(
                clip, f"{_count_same_moments(plain_frames, matched_frames)} of 3 keys are the same moments both ways"
            )
            rows.append(Row(f"jump ({label(clip)})", "[more varied]", f"{ratios[clip]:.2f}", comment))
    median = float(np.median(list(ratios.values())))
    rows.append(
        Row(
            f"median of {len(LONG)} clips",
            "",
            f"{median:.2f}",
            remark_on_data(LONG, _format_range(list(ratios.values()))),
        )
    )
    few, many = np.mean(n_same, axis=0)
    rows.append(Row(f"same moments, of 3 and of {MORE_KEYS} keys", "[similar]", f"{few:.0%}, {many:.0%}",
                    remark_on_data(LONG, "more keys give similar results, says the paper; within 0.1 s")))  # fmt: skip
    print_table(
        "Keyposes, figure 10: matched roots; minimum distance between the poses of three keys, against unmatched", rows
    )
    return {"root_matching_varies_poses": nan_unless_real(LONG, median)}


def _compare_reference() -> dict[str, float]:
    off = sum(
        int(np.count_nonzero(np.array(kp.farthest_search(load_clip(clip)).more(len(keys))) != keys))
        for clip, keys in REFERENCE.items()
    )
    total = sum(map(len, REFERENCE.values()))
    comment = remark_on_data(list(REFERENCE), "no figure of the paper: the same definition, programmed twice")
    row = Row("as the reference has them", "", f"{total - off} of {total}", comment)
    print_table("Keyposes: first keys of 09_01, 135_07 and 02_07", [row])
    return {"farthest_keys_off_reference": nan_unless_real(list(REFERENCE), off)}


def _count_same_moments(frames: np.ndarray, others: np.ndarray) -> int:
    return int(np.count_nonzero(np.abs(others[:, None] - frames).min(axis=1) <= SAME_MOMENT))


def _format_range(ratios: list[float]) -> str:
    above = sum(ratio > 1 for ratio in ratios)
    return f"{min(ratios):.2f} to {max(ratios):.2f}, above 1 on {above} of {len(ratios)} clips"


def _keep_in_place(motion: kp.Motion) -> kp.Motion:
    """Return the motion without horizontal root movement, which the paper ignores."""
    up, _ = up_axis(motion.up)
    translations = motion.translations.copy()
    roots = list(motion.skeleton.roots)
    height = translations[:, roots, up].copy()
    translations[:, roots] = 0.0
    translations[:, roots, up] = height
    return replace(motion, translations=translations)


def _min_key_distance(points: np.ndarray, frames: np.ndarray) -> float:
    """Return the distance between the two most similar keys."""
    keys = points[frames]
    distances = np.linalg.norm(keys[:, None] - keys, axis=2)
    return float(distances[np.triu_indices(len(keys), 1)].min())


def _covering_radius(points: np.ndarray, frames: np.ndarray) -> float:
    """Return the largest distance of a frame from its nearest key."""
    nearest_distances = np.min([np.linalg.norm(points - points[frame], axis=1) for frame in frames], axis=0)
    return float(nearest_distances.max())
