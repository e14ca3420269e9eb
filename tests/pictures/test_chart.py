"""Charts: lines match the axes, and texts fit."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from keypose.errors import OptionError
from keypose.pictures.chart import Axis, Band, Line, Mark, TopAxis, chart
from keypose.pictures.chart.draw import DASHES, SAMPLE_PX, LineStyles
from keypose.pictures.svg import SERIES, find_theme
from support.errors import raises
from support.svg_content import assert_texts_fit, parse_svg, paths, points, text_boxes

LIGHT = find_theme("light")
KEYS = np.arange(2, 61)


def decreasing_lines(n: int) -> list[Line]:
    return [Line(f"method number {i}", KEYS, 900 / KEYS ** (1.0 + 0.07 * i), f"line{i % 10}") for i in range(n)]


def value_at(svg: str, px: float, *, upright: bool) -> float:
    """Return the value at ``px``, computed from the tick labels of linear axes without a top axis."""
    numbers = [text for text in text_boxes(svg) if re.fullmatch(r"-?[\d,.]+", text.text)]
    lowest = max(text.top for text in numbers)
    ticks = [text for text in numbers if (text.top < lowest - 1) == upright]
    at = [(text.top + text.bottom) / 2 if upright else (text.left + text.right) / 2 for text in ticks]
    slope, base = np.polyfit(at, [float(text.text.replace(",", "")) for text in ticks], 1)
    return float(slope * px + base)


def test_points_match_the_ticks() -> None:
    x, y = np.array([0.0, 1.0, 2.5, 4.0]), np.array([3.0, -2.0, 8.0, 5.5])
    svg = chart([Line("", x, y, dashed=False)], Axis("time"), Axis("angle")).svg
    (segment,) = points(paths(svg, stroke=LIGHT["line0"])[0])
    assert len(segment) == 4
    for (px, py), a, b in zip(segment, x, y, strict=True):
        assert value_at(svg, px, upright=False) == pytest.approx(a, abs=0.02)
        assert value_at(svg, py, upright=True) == pytest.approx(b, abs=0.15)


def test_log_axis_spacing() -> None:
    svg = chart([Line("", [1, 2, 5], [1.0, 10.0, 100.0], dashed=False)], Axis("keys"), Axis("cost", log=True)).svg
    (segment,) = points(paths(svg, stroke=LIGHT["line0"])[0])
    heights = [y for _, y in segment]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.11)
    assert {"1", "10", "100"} <= {text.text for text in text_boxes(svg)}


def test_non_finite_values_are_gaps() -> None:
    y = [1.0, 2.0, np.nan, 2.5, np.inf, 3.0, 1.0]
    svg = chart([Line("", range(7), y, dashed=False)], Axis(), Axis()).svg
    assert [len(segment) for segment in points(paths(svg, stroke=LIGHT["line0"])[0])] == [2, 1, 2]
    svg = chart([Line("", range(4), [5.0, 0.0, -1.0, 7.0], dashed=False)], Axis(), Axis(log=True)).svg
    assert [len(piece) for piece in points(paths(svg, stroke=LIGHT["line0"])[0])] == [1, 1]


@pytest.mark.parametrize("size", [(200, 160), (360, 240), (640, 360), (1400, 700)])
@pytest.mark.parametrize("n", [1, 3, 9, 14])
def test_texts_neither_overlap_nor_leave_the_picture(size: tuple[int, int], n: int) -> None:
    marks = [
        Mark(4, "cliff 4", 300.0, "cliff", drop=True),
        Mark(5, "cliff 5", 260.0),
        Mark(12, "chosen"),
        Mark(14, "too"),
    ]
    top = TopAxis("removed", [(keys, f"{100 - keys} %") for keys in range(5, 60, 5)])
    picture = chart(
        decreasing_lines(n), Axis("keys", is_integer=True), Axis("cost", log=True, unit="mm"), width_px=size[0], height_px=size[1],
        title="A title that may well be longer than the picture is wide, in some sizes", marks=marks, top=top,
    )  # fmt: skip
    assert_texts_fit(picture.svg)


def test_labels_follow_the_order_of_line_ends() -> None:
    svg = chart(decreasing_lines(4), Axis("keys"), Axis("cost", log=True)).svg
    names = [text for text in text_boxes(svg) if text.text.startswith("method")]
    assert [name.text for name in sorted(names, key=lambda name: name.top)] == [f"method number {i}" for i in range(4)]
    right = points(paths(svg, stroke=LIGHT["line0"])[0])[0][-1][0]
    assert all(name.left > right for name in names)
    assert [name.fill for name in names] == [LIGHT[f"line{i}"] for i in range(4)]


def test_narrow_chart_has_legend_below() -> None:
    svg = chart(decreasing_lines(5), Axis("keys"), Axis("cost"), width_px=300, height_px=300).svg
    names = [text for text in text_boxes(svg) if text.text.startswith("method")]
    label = next(text for text in text_boxes(svg) if text.text == "keys")
    assert len(names) == 5
    assert all(name.top >= label.bottom - 1 for name in names)


def test_lines_differ_by_more_than_colour() -> None:
    for width in (300, 860):
        svg = chart(decreasing_lines(10), Axis("keys"), Axis("cost"), width_px=width, height_px=500).svg
        dashes = [paths(svg, stroke=LIGHT[f"line{i}"])[0].get("stroke-dasharray") for i in range(10)]
        assert len(set(dashes)) == 10
    one_colour = [replace(line, colour="line0") for line in decreasing_lines(10)]
    svg = chart(one_colour, Axis("keys"), Axis("cost"), width_px=860, height_px=500).svg
    assert len({path.get("stroke-dasharray") for path in paths(svg, stroke_width="1.8")}) == 10
    dotted = [
        Line(line.label, KEYS[:3], [1.0 + n, 2.0, 3.0], line.colour, dots=True)
        for n, line in enumerate(decreasing_lines(3))
    ]
    svg = chart(dotted, Axis("keys"), Axis("cost")).svg
    dots = [paths(svg, fill=LIGHT[f"line{i}"])[0].get("d", "") for i in range(3)]
    assert len({re.sub(r"[-\d. ]+", "", path) for path in dots}) == 3  # circles, squares, diamonds


def dash_mask(pattern: str, length: float = 200.0) -> np.ndarray:
    """Return whether a dashed line is visible, for every tenth of a px."""
    lengths = [float(part) for part in pattern.split()] or [length]
    ends = np.cumsum(np.tile(lengths, int(length / sum(lengths)) + 2))
    return np.searchsorted(ends, np.arange(0.0, length, 0.1), side="right") % 2 == 0


def test_dash_patterns_are_distinct() -> None:
    assert len(DASHES) == SERIES
    assert all(sum(map(float, pattern.split())) <= SAMPLE_PX for pattern in DASHES)  # each is seen once at least
    for first, other in pairwise(DASHES):
        assert np.mean(dash_mask(first) != dash_mask(other)) > 0.25, (first, other)
    for first, other in combinations(DASHES, 2):
        assert np.mean(dash_mask(first, SAMPLE_PX) != dash_mask(other, SAMPLE_PX)) > 0.1, (first, other)


def test_lines_with_dots_are_dashed_where_shapes_repeat() -> None:
    styles = LineStyles(dotted := [replace(line, dots=True) for line in decreasing_lines(10)])
    assert len({(styles.shape(line), styles.dash(line)) for line in dotted}) == 10


def test_first_marks_get_their_labels_first() -> None:
    close = [Mark(10 + 0.01 * n, f"a rather long label {n}") for n in range(9)]
    labels = [
        text.text
        for text in text_boxes(chart(decreasing_lines(1), Axis(), Axis(), marks=close).svg)
        if "rather" in text.text
    ]
    assert "a rather long label 0" in labels
    assert 1 < len(labels) < 9
    lines = paths(chart(decreasing_lines(1), Axis(), Axis(), marks=close).svg, stroke=LIGHT["muted"])
    assert len(lines) == 9  # every mark is drawn


def test_bands_lie_behind_and_inside() -> None:
    root = parse_svg(chart(decreasing_lines(1), Axis(), Axis(), bands=[Band(10, 20), Band(50, 900), Band(-9, -3)]).svg)
    tags = [element.tag.rpartition("}")[2] for element in root]
    rects = [element for element in root if element.get("fill-opacity") == "0.5"]
    assert len(rects) == 2
    assert tags.index("path") > max(list(root).index(rect) for rect in rects)
    edges = [(float(r.get("x")), float(r.get("x")) + float(r.get("width"))) for r in rects]
    assert all(0 < left < right <= 640 for left, right in edges)


def test_long_lines_stay_small_and_keep_their_peaks() -> None:
    y = np.sin(np.arange(100_000) / 9_000)
    y[[31_234, 77_777]] = 5.0, -4.0
    picture = chart([Line("", np.arange(100_000), y, dashed=False)], Axis("frame"), Axis("angle"))
    heights = [height for _, height in points(paths(picture.svg, stroke=LIGHT["line0"])[0])[0]]
    assert len(picture.svg) < 40_000
    assert value_at(picture.svg, min(heights), upright=True) == pytest.approx(5.0, abs=0.05)
    assert value_at(picture.svg, max(heights), upright=True) == pytest.approx(-4.0, abs=0.05)


@pytest.mark.parametrize("value", [1e300, -1e300, 1e-300, 5e-324, 0.0, 1e15 + 1, np.nan, np.inf])
@pytest.mark.parametrize("log", [False, True])
def test_extreme_values_can_be_drawn(value: float, log: bool) -> None:
    for y in ([value], [value, value], [value, -value, 0.0], [value, 1.0]):
        svg = chart([Line("a", range(len(y)), y)], Axis("x"), Axis("y", log=log)).svg
        assert "nan" not in svg
        assert "inf" not in svg
        assert_texts_fit(svg)


def test_chart_without_lines() -> None:
    svg = chart([], Axis("keys"), Axis("cost")).svg
    assert {"keys", "cost"} <= {text.text for text in text_boxes(svg)}


def test_text_cannot_become_markup() -> None:
    evil = "<script>alert(1)</script>&\"'\x00\ud800\u202e" + "x" * 10_000
    picture = chart([Line(evil, [1, 2], [1, 2])], Axis(evil, unit=evil), Axis(evil), title=evil, marks=[Mark(1, evil)])
    assert {element.tag.rpartition("}")[2] for element in parse_svg(picture.svg).iter()} <= {
        "svg",
        "title",
        "rect",
        "path",
        "text",
    }
    assert_texts_fit(picture.svg)
    assert len(picture.svg) < 20_000


def test_alt_text() -> None:
    assert (
        'aria-label="Error. method number 0, method number 1"'
        in chart(decreasing_lines(2), Axis(), Axis(), title="Error").svg
    )
    assert chart(decreasing_lines(2), Axis(), Axis(), alt_text="Two methods").alt_text == "Two methods"


@pytest.mark.parametrize("theme", ["light", "dark", "page", "notebook"])
def test_every_theme(theme: str) -> None:
    svg = chart(decreasing_lines(2), Axis(), Axis(), theme=theme).svg
    assert find_theme(theme)["line1"] in svg
    assert ("#" in svg) == (theme != "page")


def test_invalid_arguments() -> None:
    with raises(OptionError, expected="as many of both"):
        chart([Line("a", [1, 2], [1, 2, 3])], Axis(), Axis())
    with raises(OptionError, option="width_px", value=10):
        chart([], Axis(), Axis(), width_px=10)
    with raises(OptionError, expected="one of light, dark, page, notebook"):
        chart([], Axis(), Axis(), theme="pink")
