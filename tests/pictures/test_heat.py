"""The heat map: colours, rows and scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.metrics import position_errors_mm
from keypose.pictures.heat import MAX_ROWS, bin_max, heat_map
from keypose.pictures.svg import find_theme
from support.errors import raises
from support.svg_content import assert_texts_fit, level_strokes, parse_svg, paths, text_boxes

MOTION = kp.demo_motion(fps=30)


def steps_of(svg: str, rows: int, columns: int) -> np.ndarray:
    """Return the colour step of each cell (columns, rows) from the strokes."""
    (background,) = [path for path in parse_svg(svg).iter() if path.get("data-heat") == "0"]
    starts = [segment.split("H")[0].split() for segment in background.get("d", "").split("M")[1:]]
    right = float(background.get("d", "").split("H")[1].split("M")[0])
    left, heights = float(starts[0][0]), [float(y) for _, y in starts]
    assert len(heights) == rows
    cell = (right - left) / columns
    steps = np.zeros((columns, rows), int)
    for path in parse_svg(svg).iter():
        step = int(path.get("data-heat") or 0)
        for x, y, wide in level_strokes(path) if step else ():
            row = int(np.argmin(np.abs(np.array(heights) - y)))
            first = round((x - left) / cell)
            steps[first : first + round(wide / cell), row] = step
    return steps


def test_cell_colours() -> None:
    values = np.random.default_rng(1).uniform(0, 9, (40, 5))
    svg = heat_map(values, ["a", "b", "c", "d", "e"], fps=10, max_value=9.0).svg
    assert (steps_of(svg, 5, 40) == np.floor(values).astype(int)).all()


@pytest.mark.parametrize("frames", [1, 399, 400, 401, 1234, 5000])
def test_columns_show_the_maximum_of_their_frames(frames: int) -> None:
    values = np.random.default_rng(frames).exponential(size=(frames, 3))
    maxima = bin_max(values, 400)
    assert len(maxima) == min(frames, 400)
    for k in range(len(maxima)):  # reference
        inside = [
            t
            for t in range(frames)
            if (frames <= 400 and t == k) or (frames > 400 and k * frames // 400 <= t < (k + 1) * frames // 400)
        ]
        assert maxima[k].tolist() == [max(values[t, r] for t in inside) for r in range(3)]


def test_joints_are_sorted_by_body_region() -> None:
    values = np.ones((MOTION.n_frames, MOTION.n_joints))
    svg = heat_map(values, MOTION.skeleton, fps=30).svg
    names = [text for text in text_boxes(svg) if text.text in MOTION.skeleton.names]
    order = [text.text for text in sorted(names, key=lambda text: text.top)]
    assert sorted(order) == sorted(MOTION.skeleton.names)
    part = dict(zip(MOTION.skeleton.names, MOTION.skeleton.anatomy.body_parts, strict=True))
    sides = [
        next((side for side in ("left", "right") if (part[name] or "").startswith(side)), "middle") for name in order
    ]
    changes = [side for side, before in zip(sides, ["", *sides], strict=False) if side != before]
    assert changes[:5] == ["middle", "left", "right", "left", "right"]
    assert len(paths(svg, stroke=find_theme("light")["right4"], stroke_dasharray="3 2")) == sides.count("right")


def test_alt_text_names_maximum_and_scale_is_round() -> None:
    values = np.zeros((100, 2))
    values[37, 1] = 12.5
    picture = heat_map(values, ["arm", "leg"], fps=10)
    assert "The most is 12.5 mm, leg at frame 37" in picture.alt_text
    numbers = [
        float(text.text.removesuffix("+"))
        for text in text_boxes(picture.svg)
        if text.top > picture.height - 25 and text.text[0].isdigit()
    ]
    assert len(numbers) == 9
    np.testing.assert_allclose(np.diff(numbers), numbers[1])
    assert f"{numbers[1]:g}" in ("1", "2", "1.5", "2.5")


def test_rows_with_the_largest_numbers_are_selected() -> None:
    values = np.tile(np.arange(200.0), (3, 1))
    picture = heat_map(values, [f"row {n}" for n in range(200)], fps=1)
    names = {text.text for text in text_boxes(picture.svg) if text.text.startswith("row ")}
    assert names == {f"row {n}" for n in range(200 - MAX_ROWS, 200)}
    assert f"{200 - MAX_ROWS} rows with the smallest numbers are left out." in picture.alt_text
    assert_texts_fit(picture.svg)


@pytest.mark.parametrize("width", [240, 420, 960])
@pytest.mark.parametrize("theme", ["light", "dark", "page"])
def test_texts_fit(width: int, theme: str) -> None:
    values = np.random.default_rng(0).exponential(size=(300, MOTION.n_joints)) * 1e4
    picture = heat_map(values, MOTION.skeleton, fps=30, keys=[0, 299], title="Errors", width_px=width, theme=theme)
    assert_texts_fit(picture.svg)


def test_single_zero_value(tmp_path: Path) -> None:
    picture = heat_map(np.zeros((1, 1)), ["<b>" * 500], tmp_path / "h.svg", fps=30)
    assert (tmp_path / "h.svg").read_text() == picture.svg
    assert (steps_of(picture.svg, 1, 1) == 0).all()


def test_a_real_size() -> None:
    keyed = kp.unbake(MOTION, keys=12, polish=False)
    errors = position_errors_mm(MOTION, keyed.sample())
    picture = heat_map(errors, MOTION.skeleton, fps=MOTION.fps, keys=keyed)
    assert len(picture.svg) < 120_000
    assert len(paths(picture.svg, data_keys="12")) == 1


def test_invalid_arguments() -> None:
    with raises(OptionError, expected="(frames, 1), at least one of each"):
        heat_map(np.ones((3, 2)), ["a"], fps=1)
    with raises(OptionError, option="values"):
        heat_map([[-1.0]], ["a"], fps=1)
    with raises(OptionError, option="values"):
        heat_map([[np.nan]], ["a"], fps=1)
    with raises(OptionError, expected="an array of frames and rows"):
        heat_map([["x"]], ["a"], fps=1)
