"""Tanuwijaya & Ohno: farthest-first keyposes against Morishima's and Assa's, timings, weights, root matching.

The paper's results are pictures and a plot without numbers in its text; here each picture's statement is a number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.measure import alternate
from benchmarks.papers.clips import CARTWHEEL, JUMP, KICKS, LONG, SHORT, SWORD, WALK, label, only_if_real, remark, take
from benchmarks.papers.table import Row, show

import keypose as kp
from keypose.features import features_of
from keypose.kinematics import up_axis

REFERENCE = {  # the first keys, as a prototype of the same definition found them
    SHORT: (77, 120, 61, 3, 43, 20, 52, 10),
    KICKS: (772, 442, 801, 1261, 1154),
    SWORD: (2030, 1344, 94, 1846, 934),
}
PAPER_FRAMES = 1471  # of the clip with many kicks that the paper timed
COUNTS = (10, 25, 50, 75, 100)
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
SAME_MOMENT = 12  # frames: a tenth of a second


def compare() -> dict[str, float]:
    return _sine() | _clips() | _timings() | _weights() | _root() | _reference()


def _sine() -> dict[str, float]:
    """Figures 2 and 3: the values of the keys on a sine wave of two and a half periods."""
    wave = np.sin(np.linspace(0.0, 5 * np.pi, 201))[:, None]
    told = {"farthest": "[all distinct]", "spread": "[some the same]", "synopsis": "[worse]"}
    why = {
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
            ours = f"{distinct[name, keys]} distinct, sum {steps:.2f}, radius {_radius(wave, frames):.2f}"
            comment = why.get(method, "") if keys == 5 and not options else ""
            rows.append(Row(f"{keys} keys, {name}", told[method], ours, comment))
    show("Keyposes, figures 2 and 3: sine wave; distinct values, sum of steps between keys, covering radius", rows)
    return {
        "sine_distinct_of_7_farthest": distinct[FARTHEST, 7],
        "sine_distinct_of_7_spread": distinct[SPREAD, 7],
    }


def _clips() -> dict[str, float]:
    """Figures 5 and 6: a cyclic and a non-cyclic clip, five keys; and whether the keys stay when two more are asked."""
    similar = {}
    rows = []
    for kind, clip, told in (("cyclic", WALK, "[similar keys]"), ("not cyclic", CARTWHEEL, "[few differences]")):
        motion = take(clip)
        poses = features_of(motion, "root_matched", "major").values
        for name, (method, options) in RIVALS.items():
            ladder = kp.ladder(motion, method, max_keys=7, **options)
            frames = ladder.at(5).frames
            similar[clip, name] = _nearest(poses, frames)
            part = similar[clip, name] / similar[clip, FARTHEST]
            kept = len(np.intersect1d(frames, ladder.at(7).frames))
            steps = np.linalg.norm(np.diff(poses[frames], axis=0), axis=1).sum()
            ours = f"{part:.2f}, sum {steps:.0f}, radius {_radius(poses, frames):.1f}, {kept} of 5 stay"
            comment = "an optimum for seven keys need not hold that for five" if kept < 5 else ""
            if method == "synopsis" and part < 0.1:
                comment = "read to the letter it crowds its keys around one pose"
            paper = {FARTHEST: "[distinct; all stay]", SPREAD: told}.get(name, "")
            rows.append(Row(f"{kind} ({label(clip)}), {name}", paper, ours, remark(clip, comment)))
    show("Keyposes, figures 5 and 6: five keys; distance of the two most similar (farthest = 1), sum, radius", rows)
    return {
        f"{name}_most_similar_of_spread": only_if_real([clip], similar[clip, SPREAD] / similar[clip, FARTHEST])
        for name, clip in (("walk", WALK), ("cartwheel", CARTWHEEL))
    }


def _timings() -> dict[str, float]:
    """Figure 7: seconds against the number of keys."""
    motion = take(KICKS)[:PAPER_FRAMES]
    motion.world_positions()
    tasks = {str(k): lambda k=k: kp.farthest_search(motion).more(k) for k in COUNTS}
    seconds = alternate({"0": lambda: kp.farthest_search(motion), **tasks}, rounds=15)
    rows = [
        Row(f"{k} keys of {motion.n_frames} frames", "[plot]", f"{1e3 * seconds[str(k)]:.2f} ms",
            remark(KICKS, "the curve's seconds are not in the text") if k == COUNTS[0] else "")
        for k in COUNTS
    ]  # fmt: skip
    spent = np.array([seconds[str(k)] for k in COUNTS])
    straight = float(np.corrcoef(COUNTS, spent)[0, 1])
    one = (seconds["100"] - seconds["50"]) / 50
    rows.append(Row("correlation of keys and seconds", "[linear]", f"{straight:.4f}"))
    rows.append(Row("one key more", "[O(n)]", f"{1e6 * one:.0f} us", "FarthestSearch.more(1) goes on where it stopped"))
    show("Keyposes, figure 7: time to find k keys; theirs on a Core Duo of 1.86 GHz", rows)
    return {"farthest_keys_seconds_correlation": straight}


def _weights() -> dict[str, float]:
    """Figure 8: more weight on hands and elbows, or on feet and knees."""
    rows, gains = [], {}
    for name, joints in (("arms", ARMS), ("legs", LEGS)):
        gain, stay = [], []
        for clip in LONG:
            motion = take(clip)
            limbs = features_of(motion, "root_matched", joints).values
            plain = kp.select(motion, "farthest", keys=5).frames
            weighted = kp.select(motion, "farthest", keys=5, weights=dict.fromkeys(joints, MORE_WEIGHT)).frames
            gain.append(_nearest(limbs, weighted) / _nearest(limbs, plain))
            stay.append(_same_moments(plain, weighted))
        gains[name] = float(np.median(gain))
        what = f"{name} weigh {MORE_WEIGHT:g}: most similar {name}"
        comment = f"{_range(gain)}; the paper names no weight"
        rows.append(Row(what, "[more varied]", f"{gains[name]:.2f} times as far", remark(LONG, comment)))
        rows.append(
            Row(f"{name} weigh {MORE_WEIGHT:g}: of 5 keys stay", "[some]", f"{np.mean(stay):.1f}", "within 0.1 s")
        )
    show("Keyposes, figure 8: weights; the least distance between two of five keys on those joints, against no weights",
         rows)  # fmt: skip
    return {f"weights_vary_the_{name}": only_if_real(LONG, gain) for name, gain in gains.items()}


def _root() -> dict[str, float]:
    """Figure 10: three keys of a jump, roots matched with weight 5 or plain positions."""
    rows, ratios = [], {}
    for clip in LONG:
        motion = take(clip)
        poses = features_of(motion, "root_matched", "major", {"hips": 0.0}).values
        matched = kp.select(motion, "farthest", keys=3).frames
        plain = kp.select(_in_place(motion), "farthest", keys=3, features="unmatched", weights={"hips": 1.0}).frames
        ratios[clip] = _nearest(poses, matched) / _nearest(poses, plain)
        if clip == JUMP:
            comment = remark(clip, f"{_same_moments(plain, matched)} of 3 keys are the same moments both ways")
            rows.append(Row(f"jump ({label(clip)})", "[more varied]", f"{ratios[clip]:.2f}", comment))
    median = float(np.median(list(ratios.values())))
    rows.append(Row(f"median of {len(LONG)} clips", "", f"{median:.2f}", remark(LONG, _range(list(ratios.values())))))
    show("Keyposes, figure 10: matched roots; least distance between the poses of three keys, against unmatched", rows)
    return {"root_matching_varies_poses": only_if_real(LONG, median)}


def _reference() -> dict[str, float]:
    off = sum(
        int(np.count_nonzero(np.array(kp.farthest_search(take(clip)).more(len(keys))) != keys))
        for clip, keys in REFERENCE.items()
    )
    total = sum(map(len, REFERENCE.values()))
    comment = remark(list(REFERENCE), "no figure of the paper: the same definition, programmed twice")
    row = Row("as the reference has them", "", f"{total - off} of {total}", comment)
    show("Keyposes: first keys of 09_01, 135_07 and 02_07", [row])
    return {"farthest_keys_off_reference": only_if_real(list(REFERENCE), off)}


def _same_moments(frames: np.ndarray, others: np.ndarray) -> int:
    return int(np.count_nonzero(np.abs(others[:, None] - frames).min(axis=1) <= SAME_MOMENT))


def _range(ratios: list[float]) -> str:
    above = sum(ratio > 1 for ratio in ratios)
    return f"{min(ratios):.2f} to {max(ratios):.2f}, above 1 on {above} of {len(ratios)} clips"


def _in_place(motion: kp.Motion) -> kp.Motion:
    """The figure on one spot: the paper ignores where the root is over the ground."""
    up, _ = up_axis(motion.up)
    translations = motion.translations.copy()
    roots = list(motion.skeleton.roots)
    height = translations[:, roots, up].copy()
    translations[:, roots] = 0.0
    translations[:, roots, up] = height
    return replace(motion, translations=translations)


def _nearest(points: np.ndarray, frames: np.ndarray) -> float:
    """The distance of the two keys that are most alike."""
    keys = points[frames]
    apart = np.linalg.norm(keys[:, None] - keys, axis=2)
    return float(apart[np.triu_indices(len(keys), 1)].min())


def _radius(points: np.ndarray, frames: np.ndarray) -> float:
    """How far the frame is that is farthest from its nearest key."""
    nearest = np.min([np.linalg.norm(points - points[frame], axis=1) for frame in frames], axis=0)
    return float(nearest.max())
