"""Bulut & Capin: numbers of keys, and the error of curves against other methods at the same number."""

from __future__ import annotations

import numpy as np
from benchmarks.measure import alternate
from benchmarks.papers.clips import JUMP, KICKS, LONG, SHORT, SWORD, WALK, label, only_if_real, remark, take
from benchmarks.papers.table import Row, show

import keypose as kp
from keypose.features import features_of
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
WHY = {
    "simplify": "; distances from the line through two poses leave time out",
    "simplify in time": "; Lim & Thalmann on curves over time",
}
MANY = 1e6  # degrees a frame: on an axis of time so steep, the distance from a line is the error of linear in-betweens


def compare() -> dict[str, float]:
    return _counts() | _errors_at_equal_counts() | _speed() | _streaming()


def _counts() -> dict[str, float]:
    """Tables 1 and 2."""
    rows, off = [], 0
    parts: list[float] = []
    for action, clip in OURS.items():
        features = features_of(take(clip), "euler", [LEG])[:FRAMES]
        counts = saliency_counts(features)
        axes = dict(zip((c.channel[0] for c in features.columns), counts.per_column, strict=True))
        found = (axes["X"], axes["Y"], axes["Z"], counts.union, counts.final)
        off = max(off, *np.abs(np.subtract(found, REFERENCE[clip])).tolist())
        parts.append(counts.final / features.n_frames)
        *theirs, last = PAPER.get(action, ("",))
        comment = "their clips are not named; ours is another performance" if action == "walking" else ""
        if features.n_frames < FRAMES:
            comment = f"{features.n_frames} frames only; {comment}"
        if action == "kicking":
            comment = "not in the paper"
        shown = "{}/{}/{} -> {}".format(*theirs) if theirs else ""
        what = f"{action} ({label(clip)})"
        rows.append(Row(f"{what}: x/y/z -> union", shown, "{}/{}/{} -> {}".format(*found), remark(clip, comment)))
        percent = f"{last} ({last / FRAMES:.1%})" if theirs else ""
        rows.append(Row(f"{what}: final", percent, f"{counts.final} ({parts[-1]:.1%})"))
    mean = np.mean([final for *_, final in PAPER.values()]) / FRAMES
    comment = f"3.7% is its abstract's; its own table has {mean:.1%}"
    rows.append(Row("mean part of the frames", "3.7%", f"{np.mean(parts):.1%}", comment))
    body = [_whole_body(clip) for clip in OURS.values()]
    rows.append(Row("whole body, final", "", ", ".join(map(str, body)), "the paper treats one joint: 10 frames between "
                    "keys there, 20 here"))  # fmt: skip
    show(f"Curve saliency, tables 1 and 2: keys of the left upper leg, first {FRAMES} frames", rows)
    return {"saliency_counts_off_reference": only_if_real(list(REFERENCE), off)}


def _whole_body(clip: str) -> int:
    return saliency_counts(features_of(take(clip), "euler", "body")[:FRAMES]).final


def _errors_at_equal_counts() -> dict[str, float]:
    """Figure 8."""
    rows, figures = [], {}
    for name, joints in (("one joint", LEG), ("whole body", "body")):
        absolute = {clip: _errors(clip, joints, 1) for clip in CLIPS}
        squared = {clip: _errors(clip, joints, 2) for clip in CLIPS}
        degrees = absolute[WALK]["saliency"]
        rows.append(Row(f"{name}: saliency itself", "[plot]", f"walk {degrees:.2f} degrees", remark(WALK)))
        for method in ("uniform", "simplify", "simplify in time", "decimate"):
            ratios, squares = (
                {clip: errors[method] / errors["saliency"] for clip, errors in each.items()}
                for each in (absolute, squared)
            )
            figures[name, method] = float(np.mean(list(ratios.values())))
            ours = f"walk {ratios[WALK]:.2f}, mean {figures[name, method]:.2f}"
            worse = sum(ratio > 1 for ratio in ratios.values())
            comment = f"worse on {worse} of {len(CLIPS)} clips; mean by squares {np.mean(list(squares.values())):.2f}"
            comment += WHY.get(method, "") if joints == LEG else ""
            told = PAPER_ERRORS.get(method, "") if joints == LEG else ""
            rows.append(Row(f"{name}: {method}", told, ours, remark(CLIPS, comment)))
    show("Curve saliency, figure 8: mean absolute error of Euler curves over that of saliency, at saliency's own count",
         rows)  # fmt: skip
    return {
        f"{method}_error_over_saliency_{name.split()[-1]}".replace(" ", "_"): only_if_real(CLIPS, ratio)
        for (name, method), ratio in figures.items()
    }


def _errors(clip: str, joints: str, power: int) -> dict[str, float]:
    """The mean error of straight lines between the keys of each method, in degrees (to the power)."""
    motion = take(clip)[:FRAMES]
    curves = features_of(motion, "euler", joints).values
    seen = {"features": "euler", "joints": joints}
    own = kp.select(motion, "saliency", **seen)
    time = MANY * np.arange(len(curves))[:, None]
    chosen = {"saliency": own.frames}
    chosen |= {
        name: kp.select(motion, name, keys=len(own), **seen).frames for name in ("uniform", "simplify", "decimate")
    }
    chosen["simplify in time"] = kp.select(np.hstack([curves, time]), "simplify", keys=len(own), fps=120).frames
    every = np.arange(len(curves))
    return {
        name: float(np.mean([np.abs(np.interp(every, frames, curve[frames]) - curve) ** power for curve in curves.T]))
        for name, frames in chosen.items()
    }


def _speed() -> dict[str, float]:
    """The paper calls its method the quickest of the three, without figures."""
    curves = features_of(take(WALK), "euler", [LEG])[:FRAMES].values
    seconds = alternate(
        {
            "saliency": lambda: kp.ladder(curves, "saliency", fps=120, rank="joint", max_keys=30),
            "simplify": lambda: kp.ladder(curves, "simplify", fps=120, max_keys=30),
            "decimate": lambda: kp.ladder(curves, "decimate", fps=120, max_keys=30),
        },
        rounds=9,
    )
    rows = [
        Row(method, "[quicker]" if method == "saliency" else "", f"{1e3 * spent:.2f} ms", remark(WALK, comment))
        for (method, spent), comment in zip(
            seconds.items(),
            ("linear in the frames", "30 keys only: it stops early", "removes the other frames one by one"),
            strict=True,
        )
    ]
    show(f"Curve saliency: time for 30 keys of one joint, {len(curves)} frames", rows)
    return {"decimate_seconds_over_saliency": seconds["decimate"] / seconds["saliency"]}


def _streaming() -> dict[str, float]:
    """The paper says that its method suits motion that is still coming in."""
    found, whole, same = 0, 0, 0
    stream = kp.StreamingSaliency(3, fps=120, rank="joint")
    delay = stream.greatest_delay_frames
    for clip in CLIPS:
        features = features_of(take(clip), "euler", [LEG])[:FRAMES]
        stream = kp.StreamingSaliency(features.columns, fps=features.fps)
        keys = [key for frame in features.values for key in stream.push(frame)] + list(stream.close())
        own = kp.select(take(clip)[:FRAMES], "saliency", joints=[LEG]).frames
        found, whole, same = found + len(keys), whole + len(own), same + len(np.intersect1d(keys, own))
    rows = [
        Row("greatest delay", "[a window]", f"{delay} frames", "at 120 frames a second; the paper names no figure"),
        Row("keys, streaming and whole clip", "", f"{found}, {whole}", remark(CLIPS, f"{same} the same")),
    ]
    show(f"Curve saliency: keys while frames come in, left upper leg of {len(CLIPS)} clips", rows)
    return {"streaming_greatest_delay_frames": delay}
