"""Error against keys: the curve of the ladder, and its marks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.pictures.error_curve import plot_errors
from keypose.pictures.svg import find_theme
from support.errors import raises
from support.svg_content import assert_texts_fit, parse_svg, paths, points, text_boxes

LIGHT = find_theme("light")
# a power law with a cliff at 9 keys
COSTS = np.array([100.0 / n**0.5 * (0.4 if n >= 9 else 1.0) for n in range(2, 41)])
LADDER = kp.Ladder.from_order("hand", 200, np.arange(40), COSTS, min_keys=2)


def curve(svg: str, colour: str = "line0") -> list[tuple[float, float]]:
    return points(paths(svg, stroke=LIGHT[colour], stroke_width="1.8")[0])[0]


def test_the_curve_is_the_ladder() -> None:
    points_px = curve(plot_errors(LADDER).svg)
    xs, ys = np.array(points_px).T
    part = (LADDER.counts - 2) / 38
    heights = np.interp(xs[0] + part * (xs[-1] - xs[0]), xs, ys)
    logs = np.log(COSTS)
    expected = ys[0] + (logs - logs[0]) / (logs[-1] - logs[0]) * (ys[-1] - ys[0])
    np.testing.assert_allclose(heights, expected, atol=0.5)


def test_cliffs_and_chosen_count_are_marked() -> None:
    assert LADDER.cliffs()[0].keys == 9
    picture = plot_errors(LADDER, chosen=14)
    (cliff,) = paths(picture.svg, fill=LIGHT["cliff"])
    (chosen,) = paths(picture.svg, fill=LIGHT["key"])
    xs, _ = np.array(curve(picture.svg)).T
    for path, keys, centre in ((cliff, 9, 0.0), (chosen, 14, 4.0)):
        x = float(path.get("d", "")[1:].split()[0]) + centre
        assert (x - xs[0]) / (xs[-1] - xs[0]) == pytest.approx((keys - 2) / 38, abs=0.002)
    labels = {text.text for text in text_boxes(picture.svg)}
    assert {"cliff 9", "14 keys chosen", "90 %", "95 %"} <= labels
    assert "cliffs at 9 keys. 14 keys chosen" in picture.alt_text


def test_without_a_cliff_the_knee_is_marked() -> None:
    smooth = kp.Ladder.from_order("hand", 200, np.arange(40), 100.0 * np.arange(2, 41) ** -0.5, min_keys=2)
    assert not smooth.cliffs()
    assert f"knee {smooth.knee()}" in {text.text for text in text_boxes(plot_errors(smooth).svg)}
    assert "knee" not in plot_errors(smooth, cliffs=False).alt_text


def test_the_chosen_keys_may_be_a_selection() -> None:
    assert plot_errors(LADDER, chosen=LADDER.at(14)).svg == plot_errors(LADDER, chosen=14).svg


def test_top_axis_shows_removed_percent() -> None:
    svg = plot_errors(LADDER).svg
    xs, _ = np.array(curve(svg)).T
    ninety = next(text for text in text_boxes(svg) if text.text == "90 %")
    middle = (ninety.left + ninety.right) / 2
    assert 2 + (middle - xs[0]) / (xs[-1] - xs[0]) * 38 == pytest.approx(20, abs=0.1)  # of 200 frames
    half = plot_errors(LADDER, n_frames=100).svg
    assert "of 100 frames" in plot_errors(LADDER, n_frames=100).alt_text
    ninety = next(text for text in text_boxes(half) if text.text == "80 %")
    middle = (ninety.left + ninety.right) / 2
    assert 2 + (middle - xs[0]) / (xs[-1] - xs[0]) * 38 == pytest.approx(20, abs=0.1)


def test_multiple_ladders_by_name_or_method() -> None:
    other = kp.Ladder.from_order("other", 200, np.arange(30), COSTS[:29] * 3, min_keys=2)
    for ladders in ([LADDER, other], {"hand": LADDER, "other": other}):
        svg = plot_errors(ladders).svg
        assert {"hand", "other"} <= {text.text for text in text_boxes(svg)}
        assert curve(svg, "line0")[-1][0] > curve(svg, "line1")[-1][0]  # 40 and 30 keys
        assert curve(svg, "line0")[0][1] > curve(svg, "line1")[0][1]
    assert {"hand 1", "hand 2"} <= {text.text for text in text_boxes(plot_errors([LADDER, LADDER]).svg)}


def test_cost_axis_states_units() -> None:
    assert "cost, in units of the features" in {text.text for text in text_boxes(plot_errors(LADDER).svg)}
    assert "cost (mm)" in {text.text for text in text_boxes(plot_errors(LADDER, unit="mm").svg)}
    labels = {text.text for text in text_boxes(plot_errors([LADDER, LADDER]).svg)}
    assert "cost, each in its method's own units" in labels


def test_line_ends_before_zero_cost() -> None:
    costs = np.array([5.0, 2.0, 1.0, 1e-12, 0.0])
    svg = plot_errors(kp.Ladder.from_order("hand", 50, np.arange(6), costs, min_keys=2), chosen=5).svg
    assert len(curve(svg)) == 3
    assert not any("e-" in text.text for text in text_boxes(svg))
    assert "5 keys chosen" in {text.text for text in text_boxes(svg)}
    flat = plot_errors(kp.Ladder.from_order("hand", 1, [0], [0.0]))
    assert_texts_fit(flat.svg)


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
@pytest.mark.parametrize("size", [(300, 200), (720, 400)])
def test_every_method_can_be_drawn(method: str, size: tuple[int, int]) -> None:
    ladder = kp.ladder(kp.demo_motion(fps=10)[:80], method, max_keys=30)
    picture = plot_errors(ladder, chosen=int(ladder.counts[0]), width_px=size[0], height_px=size[1])
    assert_texts_fit(picture.svg)


def test_names_are_only_text(tmp_path: Path) -> None:
    picture = plot_errors({"<script>": LADDER, "x" * 9999: LADDER}, tmp_path / "e.svg")
    assert "script" not in {element.tag.rpartition("}")[2] for element in parse_svg(picture.svg).iter()}
    assert (tmp_path / "e.svg").read_text() == picture.svg


def test_invalid_arguments() -> None:
    with raises(OptionError, option="chosen", value=50):
        plot_errors(LADDER, chosen=50)
    with raises(OptionError, expected="a Ladder, as kp.ladder gives it, or several by name"):
        plot_errors(kp.demo_motion(fps=10))  # type: ignore[arg-type]
    with raises(OptionError, expected="1 to 30"):
        plot_errors([])
