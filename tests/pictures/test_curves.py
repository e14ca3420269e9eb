"""Motion curves: they are the motion's, keys lie on them, and saliency is the method's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn import assert_words_have_room, parsed, paths, points, texts

import keypose as kp
from keypose.errors import OptionError
from keypose.features import features_of
from keypose.methods.saliency import saliency_counts
from keypose.pictures.curve_saliency import joint_saliency
from keypose.pictures.curves import MOST_JOINTS, plot_curves
from keypose.pictures.theme import theme_of

MOTION = kp.demo_motion(fps=60)[:400]
LIGHT = theme_of("light")
THIGH = MOTION.skeleton.names[MOTION.joint("left_thigh")]
SIGMA_S = 7 / 120


def lines(svg: str) -> list[np.ndarray]:
    """The points of every curve, panel by panel."""
    found = []
    for path in parsed(svg).iter():
        if path.get("stroke-width") == "1.5" and path.get("fill") == "none" and "L" in path.get("d", ""):
            found += [np.array(piece) for piece in points(path)]
    return found


def dots(svg: str, colour: str, size: str) -> np.ndarray:
    found = paths(svg, stroke=LIGHT[colour], stroke_width=size, stroke_linecap="round")
    return np.array([piece[0] for path in found if "L" not in path.get("d", "") for piece in points(path)])


def test_curves_are_the_euler_angles() -> None:
    svg = plot_curves(MOTION, joints=THIGH, saliency=False).svg
    angles = MOTION.euler_curves()[:, MOTION.joint(THIGH)]
    drawn = lines(svg)
    assert len(drawn) == 3
    low, high = angles.min(), angles.max()
    ys = np.concatenate(drawn)[:, 1]
    for c, curve in enumerate(drawn):
        frames = (curve[:, 0] - curve[0, 0]) / (curve[-1, 0] - curve[0, 0]) * (MOTION.n_frames - 1)
        value = high - (curve[:, 1] - ys.min()) / (ys.max() - ys.min()) * (high - low)
        np.testing.assert_allclose(value, np.interp(frames, np.arange(400), angles[:, c]), atol=0.02 * (high - low))
    assert [text.text for text in texts(svg) if text.text in "XYZ"] == list(
        MOTION.skeleton.rotation_orders[MOTION.joint(THIGH)]
    )


def test_keys_lie_on_the_curves() -> None:
    frames = [0, 50, 123, 399]
    picture = plot_curves(MOTION, kp.Selection(frames, 400, "hand"), joints=THIGH, saliency=False)
    drawn = lines(picture.svg)
    keys = dots(picture.svg, "key", "5")
    assert len(keys) == 3 * 4 + 1  # and one in the legend
    on = [key for key in keys if any(abs(np.interp(key[0], c[:, 0], c[:, 1]) - key[1]) < 0.5 for c in drawn)]
    assert len(on) >= 12
    left, right = drawn[0][0, 0], drawn[0][-1, 0]
    assert len(paths(picture.svg, data_keys="4")) == 1
    assert {round((key[0] - left) / (right - left) * 399) for key in on} == set(frames)
    assert "4 keys" in {text.text for text in texts(picture.svg)}


def test_saliency_is_that_of_the_method() -> None:
    features = features_of(MOTION, "euler", THIGH)
    found = joint_saliency(features, SIGMA_S)
    counts = saliency_counts(features)
    assert (np.bincount(found.columns, minlength=3) + 2).tolist() == list(counts.per_column)
    assert (found.over_mean[found.frames] > 1).all()
    assert set(kp.select(MOTION, "saliency", joints=THIGH).frames.tolist()) <= {0, 399, *found.frames.tolist()}


def test_candidates_are_rings_on_their_curve() -> None:
    svg = plot_curves(MOTION, joints=THIGH).svg
    found = joint_saliency(features_of(MOTION, "euler", THIGH), SIGMA_S)
    drawn = lines(svg)
    for c in range(3):
        rings = dots(svg, f"line{c}", "7")
        assert len(rings) == np.count_nonzero(found.columns == c)
        for x, y in rings:
            assert np.interp(x, drawn[c][:, 0], drawn[c][:, 1]) == pytest.approx(y, abs=0.5)
    assert "salient extremum" in {text.text for text in texts(svg)}
    assert "saliency" not in plot_curves(MOTION, joints=THIGH, saliency=False).svg


def test_by_default_the_four_that_vary_most_in_file_order() -> None:
    svg = plot_curves(MOTION).svg
    shown = [text.text.removesuffix(", degrees") for text in texts(svg) if text.text.endswith(", degrees")]
    angles = MOTION.euler_curves()
    body = MOTION.skeleton.joints("body")
    most = sorted(sorted(body, key=lambda j: -angles[:, j].std(axis=0).max())[:4])
    assert shown == [MOTION.skeleton.names[j] for j in most]
    assert len(lines(svg)) == 12


def test_markers_show_their_positions() -> None:
    still = replace(MOTION, rotations=np.tile(MOTION.rotations[:1], (400, 1, 1)))
    assert ", metres" in plot_curves(still, joints="hips").svg


@pytest.mark.parametrize(("metres", "unit", "factor"), [(None, "file units", 1.0), (0.01, "metres", 0.01)])
def test_positions_are_in_metres_where_the_unit_is_known(metres: float | None, unit: str, factor: float) -> None:
    picture = plot_curves(replace(MOTION, metres_per_unit=metres), joints="hips", values="positions")
    places = factor * MOTION.world_positions()[:, MOTION.joint("hips")]
    assert f"{places.min():.4g} to {places.max():.4g} {unit}" in picture.says
    assert f", {unit}" in picture.svg and len(dots(picture.svg, "line1", "7"))


@pytest.mark.parametrize("width", [260, 960])
@pytest.mark.parametrize("motion", [MOTION, MOTION[:1], MOTION[:2]], ids=["long", "one", "two"])
def test_words_have_room(width: int, motion: kp.Motion) -> None:
    assert_words_have_room(plot_curves(motion, [0], width_px=width).svg)


@pytest.mark.parametrize("width", [260, 320, 960])
def test_the_legend_names_every_sign_and_no_joint_is_cut_beside_free_space(width: int) -> None:
    picture = plot_curves(MOTION, [0, 9], width_px=width, joints=THIGH)
    shown = {text.text for text in texts(picture.svg)}
    assert {"X", "Y", "Z", "2 keys", "salient extremum", "saliency, dotted at 1", f"{THIGH}, degrees"} <= shown
    plain = {text.text for text in texts(plot_curves(MOTION, width_px=width, saliency=False).svg)}
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
    assert "script" not in {element.tag.rpartition("}")[2] for element in parsed(picture.svg).iter()}
    assert_words_have_room(picture.svg)


def test_what_is_refused() -> None:
    with pytest.raises(OptionError, match="values='quaternions', expected one of auto, euler, positions"):
        plot_curves(MOTION, values="quaternions")
    with pytest.raises(OptionError, match=f"expected at most {MOST_JOINTS}"):
        names = tuple(f"j{n}" for n in range(30))
        skeleton = kp.Skeleton(names, np.arange(-1, 29), np.ones((30, 3)))
        plot_curves(
            kp.Motion("m", skeleton, 30, np.ones((5, 30, 3)), np.tile((1.0, 0, 0, 0), (5, 30, 1))), joints="all"
        )
    with pytest.raises(OptionError, match="Selection, expected a Motion"):
        plot_curves(kp.Selection([0], 5, "x"))  # type: ignore[arg-type]
