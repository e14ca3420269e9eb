"""Motion curves: values, keys and saliency."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.features import compute_features
from keypose.methods.saliency import saliency_counts
from keypose.pictures.curves import compute_joint_saliency, plot_curves
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
