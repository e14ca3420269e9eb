"""Draw the pictures of the documentation from the demo motion: ``python tools/pictures.py``, into docs/pictures/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.curves import interpolate_linear
from keypose.pictures.chart import Axis, Line, Mark, chart
from keypose.pictures.strip.build import render_scene
from keypose.pictures.strip.canvas import Decorations, SizeOptions, fit_canvas
from keypose.pictures.strip.scene import build_scene, choose_rows
from keypose.pictures.svg import Picture, document, find_theme, number, text_element

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SWING_POSES = (160, 438, 467, 590, 616)  # of the demo motion at 60 fps: a step, a crouch, a jump, a kick


def pictures() -> dict[str, Callable[[], kp.Picture]]:
    """Return the function that draws each picture, by file name."""
    m = kp.demo_motion(fps=60)
    twelve, keyed = kp.select(m, keys=12), kp.unbake(m, keys=40)
    kick = m.at_fps(30)[280:340]
    reduced = kp.unbake(kick, per="joint", method="refine", threshold=0.13)
    return {
        "demo-strip.svg": lambda: kp.strip(m, twelve),
        "demo-expanded.svg": lambda: kp.strip(m, twelve, layout="expanded"),
        "demo-time.svg": lambda: kp.strip(m, twelve, layout="time"),
        "demo-in-place.svg": lambda: kp.strip(m[560:680], kp.select(m[560:680], "farthest", keys=5), layout="in-place"),
        "demo-swings.svg": lambda: kp.timeline(kp.swings(m), keys=keyed),
        "demo-actions.svg": lambda: kp.timeline(kp.swings(m), actions=kp.swings(m).actions(m), joints=["arms", "legs"]),
        "demo-curves.svg": lambda: kp.plot_curves(m, kp.select(m, "saliency", joints="left_leg"), joints="left_leg"),
        "demo-saliency.svg": lambda: kp.plot_curves(m[:240], joints="left_thigh", each_axis=True),
        "demo-reduced-curve.svg": lambda: draw_reduced_curve(m[200:440]),
        "demo-reduced-joints.svg": lambda: kp.plot_curves(
            kick, reduced=reduced, joints=["right_shin", "right_foot"], axes="xz"
        ),
        "demo-path.svg": lambda: kp.plot_path(kick, reduced, "right_foot"),
        "demo-errors.svg": lambda: kp.plot_errors(kp.ladder(m, max_keys=80)),
        # Figures of Tanuwijaya and Ohno: docs/papers.md
        "keyposes-sine.svg": draw_sine_wave,
        "keyposes-joints.svg": lambda: draw_default_joints(m),
        "keyposes-cyclic.svg": lambda: kp.strip(m[60:300], select_by_method(m[60:300])),
        "keyposes-not-cyclic.svg": lambda: kp.strip(m[400:700], select_by_method(m[400:700])),
        "keyposes-weights.svg": lambda: kp.strip(m, select_by_weights(m)),
        "keyposes-roots.svg": lambda: kp.strip(m[420:560], select_by_features(m[420:560])),
        "keyposes-rank.svg": lambda: kp.strip(m, kp.select(m, "farthest", keys=5), rank=True),
        # Figures of Roberts et al. and of Chia: docs/papers.md
        "salient-compression.svg": lambda: draw_compression(m),
        "salient-greedy.svg": lambda: kp.strip(m[480:620], select_greedily_and_optimally(m[480:620])),
        "swings-original.svg": lambda: kp.strip(m, SWING_POSES),
        "swings-played.svg": lambda: kp.strip(kp.swings(m).play(), SWING_POSES),
        "swings-edited.svg": lambda: kp.strip(edit_swings(m), SWING_POSES),
    }


def draw_sine_wave() -> kp.Picture:
    """Draw five and seven keys of a sine wave by three methods, each on a wave of its own."""
    x = np.linspace(0.0, 5 * np.pi, 201)
    wave = np.sin(x)
    lines, marks, heights = [], [], []
    for row, (method, keys) in enumerate((name, n) for n in (5, 7) for name in ("farthest", "spread", "synopsis")):
        frames = kp.select(wave[:, None], method, keys=keys, fps=30).frames
        heights.append(-3.0 * row)
        n_distinct = len(np.unique(np.round(wave[frames], 2)))
        colour = f"line{row % 3}"
        label = f"{method}, {keys} keys: {n_distinct} different values"
        lines.append(Line(label, x, wave + heights[-1], colour, dashed=False))
        marks += [Mark(x[frame], y=wave[frame] + heights[-1], colour=colour) for frame in frames]
    return chart(lines, Axis("angle", unit="rad"), Axis(ticks=heights, text=lambda height: "0"), marks=marks,
                 width_px=960, height_px=520)  # fmt: skip


def draw_default_joints(motion: kp.Motion) -> kp.Picture:
    """Draw the nine joints that farthest compares, on one pose."""
    choice = choose_rows(motion, [630], rank=False, ghosts=0, per_row=None)
    scene = build_scene(motion, choice, "side", "front", is_ranked=False)
    size, decorations = SizeOptions(400.0, 440.0, is_exact=True), Decorations(False, False, 0.0)
    canvas = fit_canvas(size, scene.place, scene.extent, decorations)
    theme, body = find_theme("light"), ""
    sided = {"forearm": "elbow", "hand": "wrist", "shin": "knee", "foot": "ankle"}
    labels = {f"{side}_{part}": f"{side} {name}" for side in ("left", "right") for part, name in sided.items()}
    for joint, label in (labels | {"hips": "hips, the root"}).items():
        right, up, _ = scene.poses.projected[0, motion.joint(joint)].tolist()
        x, y = canvas.x(right + canvas.offsets[0, 0]), canvas.y(up + canvas.offsets[0, 1])
        is_left = joint.startswith("right")  # the figure faces us
        end = canvas.width * (0.22 if is_left else 0.78)
        anchor = "end" if is_left else "start"
        body += f'<path d="M{number(x)} {number(y)}H{number(end)}" stroke="{theme["muted"]}"/>'
        body += f'<circle cx="{number(x)}" cy="{number(y)}" r="5.5" fill="{theme["paper"]}" stroke="{theme["ink"]}"/>'
        body += text_element(end + (-5 if is_left else 5), y + 4, label, 12.5, theme["ink"], anchor=anchor)
    alt_text = f"the nine joints that farthest compares: {', '.join(labels.values())} and hips"
    figure = render_scene(scene, canvas, theme)
    svg = document(figure + body, canvas.width, canvas.height, theme, title="Joints", alt_text=alt_text)
    return Picture(svg, canvas.width, canvas.height, alt_text)


def select_by_method(motion: kp.Motion) -> dict[str, kp.Selection]:
    """Return five keys by the method of the paper, and by those that it compares with."""
    methods = {"farthest": "farthest", "spread (Morishima)": "spread", "synopsis (Assa)": "synopsis"}
    return {label: kp.select(motion, method, keys=5) for label, method in methods.items()}


def select_by_weights(motion: kp.Motion) -> dict[str, kp.Selection]:
    """Return five keys with more weight on the arms, with none, and with more on the legs."""
    arms = ("left_forearm", "left_hand", "right_forearm", "right_hand")
    legs = ("left_shin", "left_foot", "right_shin", "right_foot")
    weights = {"elbows and wrists weigh 5": arms, "no weights": (), "knees and ankles weigh 5": legs}
    return {
        label: kp.select(motion, "farthest", keys=5, weights=dict.fromkeys(joints, 5.0))
        for label, joints in weights.items()
    }


def select_by_features(motion: kp.Motion) -> dict[str, kp.Selection]:
    """Return three keys from plain positions, and with matched roots."""
    features = {"plain positions": "unmatched", "matched roots, weight 5": "root_matched"}
    return {label: kp.select(motion, "farthest", keys=3, features=kind) for label, kind in features.items()}


def draw_compression(motion: kp.Motion) -> kp.Picture:
    """Draw the mean error against the share of frames that are removed, as Roberts et al. do, by method."""
    removed = np.array([80.0, 84.0, 88.0, 90.0, 92.0, 94.0, 96.0, 97.5])
    counts = [round((1 - percent / 100) * motion.n_frames) for percent in removed]
    straight = {"uniform": "uniform", "simplify (greedy)": "simplify", "salient (optimal)": "salient"}
    lines = []
    for colour, (label, method) in enumerate(straight.items()):
        ladder = kp.ladder(motion, method, max_keys=max(counts))
        curves = [interpolate_linear(motion, ladder.at(n).frames) for n in counts]
        errors = np.array([kp.score(motion, curve).mean_mm for curve in curves])
        lines.append(Line(f"{label}, straight", removed, errors, f"line{colour}", dashed=False))
    errors = np.array([kp.score(motion, kp.unbake(motion, keys=n, residual=False)).mean_mm for n in counts])
    lines.append(Line("unbake, fitted curves", removed, errors, "line3", dashed=False))
    return chart(lines, Axis("frames removed", unit="%"), Axis("mean error", log=True, unit="mm"),
                 width_px=960, height_px=420)  # fmt: skip


def select_greedily_and_optimally(motion: kp.Motion) -> dict[str, kp.Selection]:
    """Return five keys by curve simplification, and the optimal ones."""
    selections = {}
    for label, method in {"greedy (simplify)": "simplify", "optimal (salient)": "salient"}.items():
        selection = kp.select(motion, method, keys=5)
        error = kp.score(motion, interpolate_linear(motion, selection.frames))
        selections[f"{label}: {error.max_mm:.0f} mm"] = selection
    return selections


def edit_swings(motion: kp.Motion) -> kp.Motion:
    """Return the motion with a lower kick and lower arms."""
    edit = kp.swings(motion).edit(motion)
    edit.scale(max(edit.find("right_thigh"), key=lambda swing: swing.angle), 0.7)
    edit.scale(edit.find(["left_upper_arm", "right_upper_arm"], wider_deg=40), 0.6)
    return edit.play()


def draw_reduced_curve(motion: kp.Motion) -> kp.Picture:
    """Draw the height of a hand: its samples, and the curve through a few keys."""
    times = np.arange(motion.n_frames) / motion.fps
    height = motion.world_positions()[:, motion.joint("left_hand"), 1] * motion.mm_per_unit
    curve = kp.reduce_curves(times, {"height": height}, tolerance=10.0)["height"]
    between = np.linspace(times[0], times[-1], 600)
    return chart(
        [Line("samples", times, height, "muted", width_px=4), Line("curve", between, curve.sample(between), "line0")],
        Axis("time", unit="s"),
        Axis("height of the left hand", unit="mm"),
        marks=[Mark(time, y=value, colour="line0") for time, value in zip(curve.times, curve.values, strict=True)],
        title=f"{len(curve)} keys for {len(times)} samples, error up to {curve.max_error:.1f} mm",
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, draw in pictures().items():
        draw().save(FOLDER / name)
