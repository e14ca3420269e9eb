"""Bulut & Capin: numbers of keys, and curve errors against other methods at equal numbers of keys."""

from __future__ import annotations

import numpy as np
from benchmarks.measure import alternate
from benchmarks.papers.clips import (
    JUMP,
    KICKS,
    LONG,
    SHORT,
    SWORD,
    WALK,
    label,
    load_clip,
    nan_unless_real,
    remark_on_data,
)
from benchmarks.papers.table import Row, print_table

import keypose as kp
from keypose.features import compute_features
from keypose.methods.saliency import saliency_counts

FRAMES = 800
LEG = "left_thigh"
CLIPS = (*LONG, SHORT)
PAPER = {"walking": (13, 31, 12, 51, 33), "jumping": (16, 31, 58, 97, 36), "sword": (7, 22, 9, 31, 25)}
OURS = {"walking": WALK, "jumping": JUMP, "sword": SWORD, "kicking": KICKS}
REFERENCE = {  # x, y, z, union, final: a prototype of the same definition
    SWORD: (7, 17, 20, 40, 31),
    JUMP: (20, 16, 26, 52, 31),
    KICKS: (15, 18, 13, 41, 25),
    WALK: (9, 11, 15, 28, 19),
}
PAPER_ERRORS = {"simplify in time": "[about equal]", "decimate": "[clearly better]"}
REMARKS = {
    "simplify": "; distances from the line through two poses leave time out",
    "simplify in time": "; Lim & Thalmann on curves over time",
}
SINGLE_JOINT_METHODS = ("simplify", "simplify in time", "decimate")
MIN_RANGE_DEG = 5.0  # joints that turn less are left out
TIME_SCALE_DEG = (
    1e6  # degrees per frame: on so steep a time axis the distance from a line is the error of linear in-betweens
)


def compare() -> dict[str, float]:
    return _compare_counts() | _compare_errors() | _compare_single_joints() | _compare_speed()


def _compare_counts() -> dict[str, float]:
    """Compare the numbers of keys with tables 1 and 2."""
    rows, off = [], 0
    ratios: list[float] = []
    for action, clip in OURS.items():
        features = compute_features(load_clip(clip), "euler", [LEG])[:FRAMES]
        counts = saliency_counts(features)
        axes = dict(zip((c.channel[0] for c in features.columns), counts.per_column, strict=True))
        own_counts = (axes["X"], axes["Y"], axes["Z"], counts.union, counts.final)
        off = max(off, *np.abs(np.subtract(own_counts, REFERENCE[clip])).tolist())
        ratios.append(counts.final / features.n_frames)
        *theirs, last = PAPER.get(action, ("",))
        comment = "their clips are not named; ours is another performance" if action == "walking" else ""
        if features.n_frames < FRAMES:
            comment = f"{features.n_frames} frames only; {comment}"
        if action == "kicking":
            comment = "not in the paper"
        paper_counts = "{}/{}/{} -> {}".format(*theirs) if theirs else ""
        label_text = f"{action} ({label(clip)})"
        rows.append(
            Row(
                f"{label_text}: x/y/z -> union",
                paper_counts,
                "{}/{}/{} -> {}".format(*own_counts),
                remark_on_data(clip, comment),
            )
        )
        percent = f"{last} ({last / FRAMES:.1%})" if theirs else ""
        rows.append(Row(f"{label_text}: final", percent, f"{counts.final} ({ratios[-1]:.1%})"))
    mean = np.mean([final for *_, final in PAPER.values()]) / FRAMES
    comment = f"3.7% is its abstract's; its own table has {mean:.1%}"
    rows.append(Row("mean part of the frames", "3.7%", f"{np.mean(ratios):.1%}", comment))
    rows.append(
        Row("frames for each key", "27", f"{1 / np.mean(ratios):.0f}", "its results name a compression of 27 times")
    )
    body = [_whole_body_count(clip) for clip in OURS.values()]
    rows.append(Row("whole body, final", "", ", ".join(map(str, body)), "the paper treats one joint: 10 frames between "
                    "keys there, 20 here"))  # fmt: skip
    print_table(f"Curve saliency, tables 1 and 2: keys of the left upper leg, first {FRAMES} frames", rows)
    return {"saliency_counts_off_reference": nan_unless_real(list(REFERENCE), off)}


def _whole_body_count(clip: str) -> int:
    return saliency_counts(compute_features(load_clip(clip), "euler", "body")[:FRAMES]).final


def _compare_errors() -> dict[str, float]:
    """Compare curve errors at equal numbers of keys with figure 8."""
    rows, figures = [], {}
    for name, joints in (("one joint", LEG), ("whole body", "body")):
        absolute = {clip: _mean_errors(clip, joints, 1) for clip in CLIPS}
        squared = {clip: _mean_errors(clip, joints, 2) for clip in CLIPS}
        degrees = absolute[WALK]["saliency"]
        rows.append(Row(f"{name}: saliency itself", "[plot]", f"walk {degrees:.2f} degrees", remark_on_data(WALK)))
        for method in ("uniform", "simplify", "simplify in time", "decimate"):
            ratios, squares = (
                {clip: errors[method] / errors["saliency"] for clip, errors in each.items()}
                for each in (absolute, squared)
            )
            figures[name, method] = float(np.mean(list(ratios.values())))
            ours = f"walk {ratios[WALK]:.2f}, mean {figures[name, method]:.2f}"
            worse = sum(ratio > 1 for ratio in ratios.values())
            comment = f"worse on {worse} of {len(CLIPS)} clips; mean by squares {np.mean(list(squares.values())):.2f}"
            comment += REMARKS.get(method, "") if joints == LEG else ""
            paper_text = PAPER_ERRORS.get(method, "") if joints == LEG else ""
            rows.append(Row(f"{name}: {method}", paper_text, ours, remark_on_data(CLIPS, comment)))
    print_table(
        "Curve saliency, figure 8: mean absolute error of Euler curves over that of saliency, at saliency's own count",
        rows,
    )
    return {
        f"{method}_error_over_saliency_{name.split()[-1]}".replace(" ", "_"): nan_unless_real(CLIPS, ratio)
        for (name, method), ratio in figures.items()
    }


def _compare_single_joints() -> dict[str, float]:
    """Compare figure 8 for every joint of the body that turns, one at a time, on all clips."""
    ratios: dict[str, list[float]] = {method: [] for method in ("uniform", *SINGLE_JOINT_METHODS)}
    for clip in CLIPS:
        motion = load_clip(clip)[:FRAMES]
        features = compute_features(motion, "euler", "body")
        for joint, columns in features.joints.items():
            if np.ptp(features.values[:, list(columns)], axis=0).max() < MIN_RANGE_DEG:
                continue
            errors = _mean_errors(clip, joint, 1)
            for method, of_method in ratios.items():
                of_method.append(errors["saliency"] / errors[method])
    rows = [
        Row(
            method,
            "",
            f"{np.median(values):.2f}",
            remark_on_data(CLIPS, f"quarters {np.quantile(values, 0.25):.2f} to {np.quantile(values, 0.75):.2f}; "
                           f"saliency is better on {np.mean(np.array(values) < 1):.0%} of {len(values)}"),
        )
        for method, values in ratios.items()
    ]  # fmt: skip
    print_table("Curve saliency: its error over that of other methods, single joints of the body, median", rows)
    return {
        f"saliency_error_over_{method}_single_joints".replace(" ", "_"): nan_unless_real(
            CLIPS, float(np.median(values))
        )
        for method, values in ratios.items()
    }


def _mean_errors(clip: str, joints: str, power: int) -> dict[str, float]:
    """Return the mean error, to ``power``, of linear interpolation between the keys of each method, in degrees."""
    motion = load_clip(clip)[:FRAMES]
    curves = compute_features(motion, "euler", joints).values
    options = {"features": "euler", "joints": joints}
    own = kp.select(motion, "saliency", **options)
    time = TIME_SCALE_DEG * np.arange(len(curves))[:, None]
    frames_by_method = {"saliency": own.frames}
    frames_by_method |= {
        name: kp.select(motion, name, keys=len(own), **options).frames for name in ("uniform", "simplify", "decimate")
    }
    frames_by_method["simplify in time"] = kp.select(
        np.hstack([curves, time]), "simplify", keys=len(own), fps=120
    ).frames
    all_frames = np.arange(len(curves))
    return {
        name: float(
            np.mean([np.abs(np.interp(all_frames, frames, curve[frames]) - curve) ** power for curve in curves.T])
        )
        for name, frames in frames_by_method.items()
    }


def _compare_speed() -> dict[str, float]:
    """Time three methods; the paper states, without figures, that its own is the fastest."""
    curves = compute_features(load_clip(WALK), "euler", [LEG])[:FRAMES].values
    seconds = alternate(
        {
            "saliency": lambda: kp.ladder(curves, "saliency", fps=120, rank="joint", max_keys=30),
            "simplify": lambda: kp.ladder(curves, "simplify", fps=120, max_keys=30),
            "decimate": lambda: kp.ladder(curves, "decimate", fps=120, max_keys=30),
        },
        rounds=9,
    )
    rows = [
        Row(method, "[quicker]" if method == "saliency" else "", f"{1e3 * spent:.2f} ms", remark_on_data(WALK, comment))
        for (method, spent), comment in zip(
            seconds.items(),
            ("linear in the frames", "30 keys only: it stops early", "removes the other frames one by one"),
            strict=True,
        )
    ]
    print_table(f"Curve saliency: time for 30 keys of one joint, {len(curves)} frames", rows)
    return {"decimate_seconds_over_saliency": seconds["decimate"] / seconds["saliency"]}
