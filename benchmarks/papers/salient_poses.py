"""Roberts et al., "Salient Poses": error against compression, greedy against optimal, run time.

The authors published the medians over 20 Mixamo clips and the run times separately; the paper has plots.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from benchmarks.measure import alternate
from benchmarks.papers.clips import KICKS, SWORD, TWENTY, label, load_clip, nan_unless_real, remark_on_data
from benchmarks.papers.table import Row, print_table

import keypose as kp
from keypose.curves import interpolate_linear

SECONDS = 16.7  # of each clip at most: longer takes do not change the result
RATE = 60
PAPER_ERRORS = {
    80: ("0.64", "2.84"),
    90: ("3.0", "12.6"),
}  # % removed: medians of the mean and of the largest error in mm
PAPER_GREEDY = 1.42
PAPER_REFERENCES = {"per-curve": 6.2, "pca": 3.0}  # error over that of optimal keys, read from the plots
PAPER_SECONDS = {383: 0.20, 837: 1.9, 1092: 4.65}


class Errors(NamedTuple):
    """Errors of one selection."""

    mean_mm: float
    max_mm: float
    cost: float  # of a path: its largest distance from the chord, in file units


CURVES = ("chord", "inbetween")  # how the keys of fitted curves are selected: as the paper does, and as unbake does


def compare() -> dict[str, float]:
    errors = {(rate, removed): _clip_errors(rate, removed) for rate in (30, RATE, 120) for removed in PAPER_ERRORS}
    fitted = {removed: _curve_errors(removed) for removed in PAPER_ERRORS}
    return (
        _compare_compression(errors, fitted)
        | _compare_greedy(errors[RATE, 90])
        | _compare_spacing()
        | _compare_references()
        | _compare_cliffs()
        | _compare_run_time()
    )


def _clip_errors(rate: int, removed: int) -> dict[str, np.ndarray]:
    """Return the errors of every clip (clips, 3) by selection method, with linear in-betweens."""
    selections = {"optimal": ("salient", {}), "greedy": ("simplify", {}), "uniform": ("uniform", {})}
    if (rate, removed) == (RATE, 90):
        selections["sum"] = ("salient", {"objective": "sum"})
    errors_by_name: dict[str, list[Errors]] = {selection_name: [] for selection_name in selections}
    for name in TWENTY:
        motion = load_clip(name).at_fps(rate)[: round(SECONDS * rate)]
        keys = max(2, round((1 - removed / 100) * motion.n_frames))
        for selection_name, (method, options) in selections.items():
            ladder = kp.ladder(motion, method, max_keys=keys, **options)
            score = kp.score(motion, interpolate_linear(motion, ladder.at(keys).frames))
            errors_by_name[selection_name].append(Errors(score.mean_mm, score.max_mm, ladder.costs[keys]))
    return {key: np.array(errors) for key, errors in errors_by_name.items()}


def _curve_errors(removed: int) -> dict[str, np.ndarray]:
    """Return the errors of every clip (clips, 2), mean and largest, with fitted, polished curves between keys."""
    errors_by_name: dict[str, list[tuple[float, float]]] = {name: [] for name in CURVES}
    for name in TWENTY:
        motion = load_clip(name).at_fps(RATE)[: round(SECONDS * RATE)]
        keys = max(2, round((1 - removed / 100) * motion.n_frames))
        for cost in CURVES:
            selection = kp.select(motion, keys=keys, cost=cost)
            score = kp.score(motion, kp.unbake(motion, selection, residual=False))
            errors_by_name[cost].append((score.mean_mm, score.max_mm))
    return {key: np.array(errors) for key, errors in errors_by_name.items()}


def _compare_compression(
    errors: dict[tuple[int, int], dict[str, np.ndarray]], fitted: dict[int, dict[str, np.ndarray]]
) -> dict[str, float]:
    rows, figures = [], {}
    data = "20 CMU clips here, 20 Mixamo clips (not to be passed on) there; their in-betweens seem to be splines"
    for removed, (mean, largest) in PAPER_ERRORS.items():
        ours = np.median(errors[RATE, removed]["optimal"], axis=0)
        percent = f"{removed}% removed, {RATE} fps"
        rows.append(Row(f"{percent}, straight: mean error", f"{mean} mm", f"{ours[0]:.1f} mm",
                        remark_on_data(TWENTY, data)))  # fmt: skip
        rows.append(Row(f"{percent}, straight: largest error", f"{largest} mm", f"{ours[1]:.0f} mm"))
        figures[f"salient_mean_mm_{removed}_removed"] = nan_unless_real(TWENTY, float(ours[0]))
        for cost, keys in (("chord", "their keys, our curves"), ("inbetween", "unbake")):
            curves = np.median(fitted[removed][cost], axis=0)
            rows.append(Row(f"{percent}, {keys}: mean, largest", f"{mean}, {largest} mm",
                            f"{curves[0]:.2f}, {curves[1]:.1f} mm", "fitted and polished curves"))  # fmt: skip
            for measure, figure in zip(("mean", "max"), curves, strict=True):
                name = f"salient_curves_{cost}_{measure}_mm_{removed}_removed"
                figures[name] = nan_unless_real(TWENTY, float(figure))
        data = "as above"
    uniform, optimal = (np.median(errors[RATE, 90][name], axis=0)[0] for name in ("uniform", "optimal"))
    figures["salient_straight_mean_over_uniform_90_removed"] = nan_unless_real(TWENTY, float(optimal / uniform))
    chord = np.array([each[:, 0] for each in (errors[RATE, 90]["optimal"], errors[RATE, 90]["uniform"])])
    rows.append(Row("90% removed: clips where uniform keys have less mean error, straight", "[never]",
                    f"{np.count_nonzero(chord[1] < chord[0])} of {len(TWENTY)}",
                    "the largest distance from a chord says nothing of time, and little of the mean"))  # fmt: skip
    for rate in (30, 120):
        ours = np.median(errors[rate, 90]["optimal"], axis=0)
        comment = (
            "a tenth of the frames is more keys a second at a higher rate; theirs is not stated" if rate == 30 else ""
        )
        rows.append(Row(f"90% removed, {rate} fps: mean, largest", "", f"{ours[0]:.1f}, {ours[1]:.0f} mm", comment))
    for name, comment in (
        ("uniform", "optimal is about the largest distance from a chord, not the mean error of in-betweens"),
        ("sum", "the formula as printed, the sum of the largest distances; ours takes the largest of them"),
    ):
        ours = np.median(errors[RATE, 90][name], axis=0)
        rows.append(
            Row(f"90% removed, {RATE} fps, {name}: mean, largest", "", f"{ours[0]:.1f}, {ours[1]:.0f} mm", comment)
        )
    print_table("Salient Poses, error against compression: medians over the clips, figures scaled to 1.7 m", rows)
    return figures


def _compare_greedy(errors: dict[str, np.ndarray]) -> dict[str, float]:
    """Compare curve simplification (Lim & Thalmann) against the optimum, as in figure 2."""
    ratios = errors["greedy"] / errors["optimal"]
    mean, largest, cost = np.median(ratios, axis=0)
    better = np.count_nonzero(ratios < 1 - 1e-9, axis=0)
    of = len(ratios)
    rows = [
        Row("mean error", f"{PAPER_GREEDY}", f"{mean:.2f}",
            remark_on_data(TWENTY, "other clips and in-betweens, see above")),
        Row("largest error", "", f"{largest:.2f}"),
        Row("largest distance from the chord", "", f"{cost:.2f}", "what both make small: here the optimum is one"),
        Row("clips where greedy has less mean error", "[never]", f"{better[0]} of {of}",
            "it is the distance from the chord that is optimal, see the next row"),
        Row("clips where greedy has less chord distance", "[never]", f"{better[2]} of {of}"),
    ]  # fmt: skip
    print_table(f"Salient Poses, figure 2: greedy error over optimal error, 90% removed, {RATE} fps, median", rows)
    return {
        "greedy_over_optimal_mean_error": nan_unless_real(TWENTY, float(mean)),
        "greedy_over_optimal_cost_median": nan_unless_real(TWENTY, float(cost)),
        "greedy_over_optimal_cost_min": float(ratios[:, 2].min()),
    }


def _compare_spacing() -> dict[str, float]:
    """Compare how keys are distributed, greedy and optimal, in 140 frames, with figure 3."""
    rows, ratios = [], []
    for name in (KICKS, SWORD):
        motion = load_clip(name).at_fps(30)[:140]
        for keys in (7, 14):
            ladders = [kp.ladder(motion, method, max_keys=keys) for method in ("simplify", "salient")]
            frames = [ladder.at(keys).frames for ladder in ladders]
            gaps = [int(np.diff(each).max()) for each in frames]
            means = [kp.score(motion, interpolate_linear(motion, each)).mean_mm for each in frames]
            costs = [ladder.costs[keys] * motion.mm_per_unit for ladder in ladders]
            ratios.append(costs[0] / costs[1])
            figures = (costs, means, gaps)
            ours = "; ".join(f"{greedy:.0f} to {optimal:.0f}" for greedy, optimal in figures)
            comment = "a mean error or a gap can be larger: neither is what is optimal" if not rows else ""
            rows.append(
                Row(
                    f"{label(name)}, {keys} keys: greedy to optimal",
                    "[optimal better]",
                    ours,
                    remark_on_data(name, comment),
                )
            )
    print_table(
        "Salient Poses, figure 3: 140 frames at 30 fps; largest distance from the chord of poses and mean error in mm, "
        "longest gap in frames",
        rows,
    )
    return {"greedy_over_optimal_cost_140_frames_min": nan_unless_real([KICKS, SWORD], min(ratios))}


def _compare_references() -> dict[str, float]:
    """Compare curves reduced one by one, and principal components, with figure 4, at equal numbers of stored values."""
    motions = [load_clip(name).at_fps(RATE)[: round(SECONDS * RATE)] for name in TWENTY]
    comparison = kp.compare(motions, methods=["salient-inbetween", *PAPER_REFERENCES], removed_percent=90.0,
                            inbetweens="polished", curves=False, jobs=1)  # fmt: skip
    means = {
        method: np.array([row.mean_mm for row in comparison.rows if row.method == method])
        for method in ("salient-inbetween", *PAPER_REFERENCES)
    }
    own, rows, figures = means["salient-inbetween"], [], {}
    comments = {
        "per-curve": "Maya's Simplify Curves there; here a fit of every curve that uses its values better",
        "pca": "both of whole poses",
    }
    for method, paper in PAPER_REFERENCES.items():
        figures[method] = float(np.median(means[method] / own))
        rows.append(Row(f"{method} over keys with fitted curves", f"{paper}", f"{figures[method]:.2f}",
                        remark_on_data(TWENTY, comments[method])))  # fmt: skip
    rows.append(Row("keys with fitted curves: mean error", "3.0 mm", f"{np.median(own):.1f} mm",
                    "the in-betweens that unbake writes; straight ones are above"))  # fmt: skip
    print_table(f"Salient Poses, figure 4: mean error over that of keys, 90% removed, {RATE} fps, medians", rows)
    return {"pca_error_over_keys": nan_unless_real(TWENTY, figures["pca"]),
            "fitted_mean_mm_90_removed": nan_unless_real(TWENTY, float(np.median(own)))}  # fmt: skip


def _compare_cliffs() -> dict[str, float]:
    """Count cliffs of the error, points A and B of figure 2, which the paper leaves to the artist's eye."""
    counts = [
        len(kp.ladder(load_clip(name).at_fps(30)[: round(SECONDS * 30)], "salient", max_keys=60).cliffs())
        for name in TWENTY
    ]
    rows = [Row("cliffs up to 60 keys of a clip", "[there are]", f"{min(counts)} to {max(counts)}",
                remark_on_data(TWENTY, f"mean {np.mean(counts):.1f}; 30 fps; Ladder.cliffs() finds them"))]  # fmt: skip
    print_table("Salient Poses, section 4.1: sweet spots", rows)
    return {"clips_with_cliffs": nan_unless_real(TWENTY, float(np.count_nonzero(counts)))}


def _compare_run_time() -> dict[str, float]:
    motion = load_clip(KICKS)
    cuts = {frames: motion[:frames] for frames in (300, *PAPER_SECONDS)}
    for cut in cuts.values():
        cut.world_positions()
    seconds = alternate(
        {
            str(n): lambda n=n, part=part: kp.ladder(part, "salient", max_keys=n // 2 if n == 300 else n, threads=1)
            for n, part in cuts.items()
        }
    )
    rows = [
        Row("300 frames, up to half as many keys", "< 1 s", f"{1e3 * seconds['300']:.1f} ms", remark_on_data(KICKS))
    ]
    for frames, paper in PAPER_SECONDS.items():
        ours = seconds[str(frames)]
        comment = f"{paper / ours:.0f} times as fast, on another machine"
        rows.append(Row(f"{frames} frames, every number of keys", f"{paper:g} s", f"{ours:.3f} s", comment))
    published = math.log(PAPER_SECONDS[1092] / PAPER_SECONDS[383], 1092 / 383)
    growth = math.log(seconds["1092"] / seconds["383"], 1092 / 383)
    rows.append(Row("grows with the frames to the power", f"{published:.1f}", f"{growth:.1f}",
                    "about 3, its text says too"))  # fmt: skip
    print_table("Salient Poses, run time: theirs on a laptop, the table of pairs on its GPU; ours on one core", rows)
    return {
        "salient_paper_seconds_over_ours": PAPER_SECONDS[1092] / seconds["1092"],
        "salient_growth_exponent": growth,
    }
