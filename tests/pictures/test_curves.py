"""Motion curves: values, keys and saliency."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features, gaussian_filter
from keypose.methods.saliency import saliency_counts
from keypose.methods.saliency.curves import compute_joint_saliency
from keypose.pictures.curves import plot_curves
from keypose.pictures.svg import find_theme
from support.errors import raises
from support.svg_content import assert_texts_fit, parse_svg, paths, points, text_boxes

MOTION = kp.demo_motion(fps=60)[:400]
LIGHT = find_theme("light")
THIGH = MOTION.skeleton.names[MOTION.joint("left_thigh")]
SIGMA_S = 7 / 120


def lines(svg: str) -> list[np.ndarray]:
    """Return the points of every curve, panel by panel."""
    curves = []
    for path in parse_svg(svg).iter():
        if path.get("stroke-width") == "1.5" and path.get("fill") == "none" and "L" in path.get("d", ""):
            curves += [np.array(segment) for segment in points(path)]
    return curves


def dots(svg: str, colour: str, size: str) -> np.ndarray:
    dot_paths = paths(svg, stroke=LIGHT[colour], stroke_width=size, stroke_linecap="round")
    return np.array([segment[0] for path in dot_paths if "L" not in path.get("d", "") for segment in points(path)])


def test_curves_are_the_euler_angles() -> None:
    svg = plot_curves(MOTION, joints=THIGH, saliency=False).svg
    angles = MOTION.euler_curves()[:, MOTION.joint(THIGH)]
    curves = lines(svg)
    assert len(curves) == 3
    low, high = angles.min(), angles.max()
    ys = np.concatenate(curves)[:, 1]
    for c, curve in enumerate(curves):
        frames = (curve[:, 0] - curve[0, 0]) / (curve[-1, 0] - curve[0, 0]) * (MOTION.n_frames - 1)
        value = high - (curve[:, 1] - ys.min()) / (ys.max() - ys.min()) * (high - low)
        np.testing.assert_allclose(value, np.interp(frames, np.arange(400), angles[:, c]), atol=0.02 * (high - low))
    assert [text.text for text in text_boxes(svg) if text.text in "XYZ"] == list(
        MOTION.skeleton.rotation_orders[MOTION.joint(THIGH)]
    )


def test_keys_lie_on_the_curves() -> None:
    frames = [0, 50, 123, 399]
    picture = plot_curves(MOTION, kp.Selection(frames, 400, "hand"), joints=THIGH, saliency=False)
    curves = lines(picture.svg)
    keys = dots(picture.svg, "key", "5")
    assert len(keys) == 3 * 4 + 1  # and one in the legend
    on = [key for key in keys if any(abs(np.interp(key[0], c[:, 0], c[:, 1]) - key[1]) < 0.5 for c in curves)]
    assert len(on) >= 12
    left, right = curves[0][0, 0], curves[0][-1, 0]
    assert len(paths(picture.svg, data_keys="4")) == 1
    assert {round((key[0] - left) / (right - left) * 399) for key in on} == set(frames)
    assert "4 keys" in {text.text for text in text_boxes(picture.svg)}


def test_saliency_is_that_of_the_method() -> None:
    features = compute_features(MOTION, "euler", THIGH)
    saliency = compute_joint_saliency(features, SIGMA_S)
    counts = saliency_counts(features)
    assert (np.bincount(saliency.columns, minlength=3) + 2).tolist() == list(counts.per_column)
    assert (saliency.over_mean[saliency.frames] > 1).all()
    assert set(kp.select(MOTION, "saliency", joints=THIGH).frames.tolist()) <= {0, 399, *saliency.frames.tolist()}


def test_candidates_are_rings_on_their_curve() -> None:
    svg = plot_curves(MOTION, joints=THIGH).svg
    saliency = compute_joint_saliency(compute_features(MOTION, "euler", THIGH), SIGMA_S)
    curves = lines(svg)
    for c in range(3):
        rings = dots(svg, f"line{c}", "7")
        assert len(rings) == np.count_nonzero(saliency.columns == c)
        for x, y in rings:
            assert np.interp(x, curves[c][:, 0], curves[c][:, 1]) == pytest.approx(y, abs=0.5)
    assert "salient extremum" in {text.text for text in text_boxes(svg)}
    assert "saliency" not in plot_curves(MOTION, joints=THIGH, saliency=False).svg


def test_default_joints_are_the_four_with_largest_variation() -> None:
    svg = plot_curves(MOTION).svg
    names = [text.text.removesuffix(", degrees") for text in text_boxes(svg) if text.text.endswith(", degrees")]
    angles = MOTION.euler_curves()
    body = MOTION.skeleton.joints("body")
    expected = sorted(sorted(body, key=lambda j: -angles[:, j].std(axis=0).max())[:4])
    assert names == [MOTION.skeleton.names[j] for j in expected]
    assert len(lines(svg)) == 12


def test_markers_show_their_positions() -> None:
    still = replace(MOTION, rotations=np.tile(MOTION.rotations[:1], (400, 1, 1)))
    assert ", metres" in plot_curves(still, joints="hips").svg


@pytest.mark.parametrize(("metres", "unit", "factor"), [(None, "file units", 1.0), (0.01, "metres", 0.01)])
def test_positions_are_in_metres_where_the_unit_is_known(metres: float | None, unit: str, factor: float) -> None:
    picture = plot_curves(replace(MOTION, metres_per_unit=metres), joints="hips", values="positions")
    positions = factor * MOTION.world_positions()[:, MOTION.joint("hips")]
    assert f"{positions.min():.4g} to {positions.max():.4g} {unit}" in picture.alt_text
    assert f", {unit}" in picture.svg and len(dots(picture.svg, "line1", "7"))


@pytest.mark.parametrize("width", [260, 960])
@pytest.mark.parametrize("motion", [MOTION, MOTION[:1], MOTION[:2]], ids=["long", "one", "two"])
def test_texts_fit(width: int, motion: kp.Motion) -> None:
    assert_texts_fit(plot_curves(motion, [0], width_px=width).svg)


@pytest.mark.parametrize("width", [260, 320, 960])
def test_legend_is_complete_and_joint_names_are_not_cut(width: int) -> None:
    picture = plot_curves(MOTION, [0, 9], width_px=width, joints=THIGH)
    labels = {text.text for text in text_boxes(picture.svg)}
    assert {"X", "Y", "Z", "2 keys", "salient extremum", "saliency, dotted at 1", f"{THIGH}, degrees"} <= labels
    plain = {text.text for text in text_boxes(plot_curves(MOTION, width_px=width, saliency=False).svg)}
    assert not {text for text in plain if "salien" in text or "key" in text}


def test_a_long_take_stays_small(tmp_path: Path) -> None:
    long = replace(
        MOTION, translations=np.tile(MOTION.translations, (100, 1, 1)), rotations=np.tile(MOTION.rotations, (100, 1, 1))
    )
    picture = plot_curves(long, range(0, 40_000, 20), tmp_path / "long.svg")
    assert len(picture.svg) < 500_000
    assert (tmp_path / "long.svg").read_text() == picture.svg


def test_hostile_names_are_only_text() -> None:
    names = ("<script>x", "y" * 9_999, *MOTION.skeleton.names[2:])
    evil = replace(MOTION, name="</svg>" * 99, skeleton=replace(MOTION.skeleton, names=names))
    picture = plot_curves(evil, joints=list(names[:2]))
    assert "script" not in {element.tag.rpartition("}")[2] for element in parse_svg(picture.svg).iter()}
    assert_texts_fit(picture.svg)


def test_invalid_arguments() -> None:
    with raises(OptionError, option="values", value="quaternions"):
        plot_curves(MOTION, values="quaternions")
    with raises(OptionError, option="joints"):
        names = tuple(f"j{n}" for n in range(30))
        skeleton = kp.Skeleton(names, np.arange(-1, 29), np.ones((30, 3)))
        plot_curves(
            kp.Motion("m", skeleton, 30, np.ones((5, 30, 3)), np.tile((1.0, 0, 0, 0), (5, 30, 1))), joints="all"
        )
    with raises(OptionError, expected="a Motion, as kp.load gives it"):
        plot_curves(kp.Selection([0], 5, "x"))  # type: ignore[arg-type]


# Reduced curves

KICK = kp.demo_motion(fps=30)[280:340]
FOOT = KICK.skeleton.names[KICK.joint("right_foot")]
REDUCED = kp.unbake(KICK, per="joint", method="refine")


def originals(svg: str) -> list[np.ndarray]:
    """Return the points of the wide, pale curves."""
    return [np.array(points(path)[0]) for path in paths(svg, stroke_opacity="0.35") if "L" in path.get("d", "")]


def to_data(svg: str, curve: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return frames and values of the points of a curve; the pale curves are those of ``values`` (T, C)."""
    ys = np.concatenate(originals(svg))[:, 1]
    left, right = originals(svg)[0][[0, -1], 0]
    height = (curve[:, 1] - ys.min()) / (ys.max() - ys.min())
    frames = (curve[:, 0] - left) / (right - left) * (len(values) - 1)
    return frames, values.max() - height * (values.max() - values.min())


def test_reduced_curves_are_drawn_over_the_original_ones() -> None:
    svg = plot_curves(KICK, reduced=REDUCED, joints=FOOT, panel_px=400).svg
    angles = KICK.euler_curves()[:, KICK.joint(FOOT)]
    assert len(originals(svg)) == len(lines(svg)) == 3
    for c, (pale, line) in enumerate(zip(originals(svg), lines(svg), strict=True)):
        frames, values = to_data(svg, pale, angles)
        np.testing.assert_allclose(values, np.interp(frames, np.arange(60), angles[:, c]), atol=0.01 * np.ptp(angles))
        frames, values = to_data(svg, line, angles)
        assert len(frames) > 100  # also between the frames
        keyed = REDUCED.sample(frames=np.clip(frames, 0, 59)).euler_curves()[:, KICK.joint(FOOT), c]
        np.testing.assert_allclose(values, keyed, atol=0.01 * np.ptp(angles))
    assert svg.index("stroke-opacity") < svg.index('stroke-width="1.5" stroke-linejoin')


def test_each_joint_has_its_own_keys() -> None:
    joints = ["right_thigh", "right_foot"]
    picture = plot_curves(KICK, reduced=REDUCED, joints=joints, axes="x")
    names = [KICK.skeleton.names[KICK.joint(joint)] for joint in joints]
    counts = [len(REDUCED.joint_keys(name)) for name in names]
    assert counts[0] != counts[1]
    assert len(dots(picture.svg, "key", "5")) == sum(counts) + 1  # and one in the legend
    titles = [text.text for text in text_boxes(picture.svg) if "keys of 60 frames" in text.text]
    assert [title.split(";")[0] for title in titles] == [
        f"{name}, degrees: {count} keys of 60 frames" for name, count in zip(names, counts, strict=True)
    ]
    curve = lines(picture.svg)[0]
    left, right = curve[0, 0], curve[-1, 0]
    keys = dots(picture.svg, "key", "5")[1 : 1 + counts[0]]
    assert [round((x - left) / (right - left) * 59) for x, _ in keys] == REDUCED.joint_keys(names[0]).tolist()
    assert all(abs(np.interp(x, curve[:, 0], curve[:, 1]) - y) < 0.5 for x, y in keys)
    assert "saliency" not in picture.svg
    assert "original and reduced" in picture.alt_text


def test_the_title_has_the_largest_error() -> None:
    row = kp.refine_table(KICK, joints=FOOT).rows[0]
    for axis, ratio in zip(KICK.skeleton.rotation_orders[KICK.joint(FOOT)].lower(), row.max_error_ratios, strict=True):
        svg = plot_curves(KICK, reduced=REDUCED, joints=FOOT, axes=axis).svg
        (title,) = [text.text for text in text_boxes(svg) if "largest error" in text.text]
        assert title.endswith(f"largest error {ratio:.1%} of the range of {axis.upper()}")


def test_axes_keep_their_colours() -> None:
    everything = plot_curves(KICK, joints=FOOT, saliency=False)
    last = plot_curves(KICK, joints=FOOT, axes=["X"], saliency=False)
    assert len(lines(last.svg)) == 1
    place = KICK.skeleton.rotation_orders[KICK.joint(FOOT)].index("X")
    colours = [path.get("stroke") for path in paths(everything.svg, stroke_width="1.5", fill="none")]
    assert colours[-3:] == [LIGHT["line0"], LIGHT["line1"], LIGHT["line2"]]
    assert paths(last.svg, stroke_width="1.5", fill="none")[-1].get("stroke") == LIGHT[f"line{place}"]
    assert place > 0
    assert [text.text for text in text_boxes(last.svg) if text.text in "XYZ"] == ["X"]


def test_positions_of_a_motion_can_be_the_reduced_ones() -> None:
    other = replace(KICK, translations=KICK.translations + [0.5, 0, 0])
    svg = plot_curves(KICK, reduced=other, joints="hips", values="positions", axes="x").svg
    positions = KICK.world_positions()[:, KICK.joint("hips"), :1]
    frames, values = to_data(svg, lines(svg)[0], positions)
    np.testing.assert_allclose(values, np.interp(frames, np.arange(60), positions[:, 0]) + 0.5, atol=0.02)
    assert "keys" not in svg


def test_what_is_reduced_must_be_the_same_clip() -> None:
    with raises(OptionError, code="different_motions"):
        plot_curves(KICK, reduced=KICK[:50])
    with raises(OptionError, option="reduced", expected="a KeyedMotion or a Motion"):
        plot_curves(KICK, reduced=[0, 5])  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [260, 960])
@pytest.mark.parametrize("n_frames", [1, 2, 60])
def test_texts_of_reduced_curves_fit(width: int, n_frames: int) -> None:
    motion = KICK[:n_frames]
    assert_texts_fit(plot_curves(motion, reduced=kp.unbake(motion, keys=min(5, n_frames)), width_px=width).svg)


# Each axis


def test_each_axis_has_its_own_saliency_and_the_keys_of_the_joint() -> None:
    picture = plot_curves(MOTION, joints=THIGH, each_axis=True)
    features = compute_features(MOTION, "euler", THIGH)
    counts = saliency_counts(features)
    keys = kp.select(MOTION, "saliency", joints=THIGH).frames
    titles = [text.text for text in text_boxes(picture.svg) if "clusters" in text.text]
    assert len(titles) == 3
    for c, (title, column) in enumerate(zip(titles, features.columns, strict=True)):
        assert title.startswith(f"{column.joint} {column.channel[0]}, degrees: ")
        assert title.endswith(f", {counts.per_column[c] - 2} with an extremum")
        assert len(dots(picture.svg, f"line{c}", "7")) == counts.per_column[c] - 2
    assert len(keys) == counts.final < counts.union
    assert len(dots(picture.svg, "key", "5")) == 3 * len(keys) + 1  # and one in the legend
    assert {f"{len(keys)} keys", "candidates"} <= {text.text for text in text_boxes(picture.svg)}


def test_candidates_of_each_axis_are_the_frames_above_its_mean() -> None:
    curve = compute_features(MOTION, "euler", THIGH).values[:, :1]
    sigma = SIGMA_S * MOTION.fps
    saliency = np.abs(gaussian_filter(curve, sigma, 2.0) - gaussian_filter(curve, 2 * sigma, 2.0))
    picture = plot_curves(MOTION, joints=THIGH, each_axis=True)
    title = next(text.text for text in text_boxes(picture.svg) if "clusters" in text.text)
    assert f": {int((saliency > saliency.mean()).sum())} candidates in " in title
    frames = [0, 100, 399]
    assert len(dots(plot_curves(MOTION, frames, joints=THIGH, each_axis=True).svg, "key", "5")) == 3 * len(frames) + 1


@pytest.mark.parametrize("options", [{"saliency": False}, {"reduced": MOTION}])
def test_each_axis_needs_saliency(options: dict) -> None:
    with raises(OptionError, option="each_axis"):
        plot_curves(MOTION, each_axis=True, **options)
