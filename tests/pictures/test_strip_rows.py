"""Strips in rows: order, scale and overlaps."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.strip import strip
from keypose.pictures.svg import find_theme
from support.errors import raises
from support.figures import Figure, figures, shadows
from support.svg_content import assert_texts_fit, paths, text_boxes

DEMO = kp.demo_motion(30)
TWELVE = np.linspace(0, DEMO.n_frames - 1, 12).astype(int)


def split_rows(strip_figures: list[Figure], per_row: int) -> list[list[Figure]]:
    return [strip_figures[start : start + per_row] for start in range(0, len(strip_figures), per_row)]


@pytest.mark.parametrize(
    "options", [{}, {"width_px": 500}, {"size_px": (640, 480)}, {"height_px": 900}, {"title": "A"}]
)
@pytest.mark.parametrize("per_row", [1, 5, 6])
def test_rows_go_below_each_other_and_nothing_overlaps(per_row: int, options: dict) -> None:
    picture = strip(DEMO, TWELVE, per_row=per_row, **options)
    strip_figures, cast = figures(picture.svg), shadows(picture.svg)
    assert len(strip_figures) == 12
    assert_texts_fit(picture.svg)
    rows = split_rows(strip_figures, per_row)
    for row in rows:
        assert all(a.box[1, 0] < b.box[0, 0] for a, b in combinations(row, 2))  # from left to right in time
    shades = [np.concatenate(cast[start : start + per_row]) for start in range(0, 12, per_row)]
    ends = [max(max(f.box[1, 1] for f in row), shade[:, 1].max()) for row, shade in zip(rows, shades, strict=True)]
    starts = [min(min(f.box[0, 1] for f in row), shade[:, 1].min()) for row, shade in zip(rows, shades, strict=True)]
    assert all(end < start for end, start in zip(ends, starts[1:], strict=False))
    assert ends[-1] <= picture.height and min(starts) >= 0
    assert max(f.box[1, 0] for f in strip_figures) <= picture.width
    floors = paths(picture.svg, fill=find_theme("light")["panel"])
    assert len(floors) == len(rows)


def test_captions_stand_between_their_row_and_the_next() -> None:
    svg = strip(DEMO, TWELVE, per_row=6, height_px=500).svg
    strip_figures = figures(svg)
    captions = {int(word.text): word for word in text_boxes(svg) if word.text.isdigit()}
    assert sorted(captions) == TWELVE.tolist()
    for index, (frame, figure) in enumerate(zip(TWELVE.tolist(), strip_figures, strict=True)):
        assert captions[frame].top > figure.box[1, 1] - 2
        if index < 6:
            assert captions[frame].bottom < min(f.box[0, 1] for f in strip_figures[6:])


def test_all_rows_have_one_scale() -> None:
    same = [0] * 1 + [40]
    m = DEMO
    first, second = figures(strip(m, same, per_row=1, view="front").svg)
    beside = figures(strip(m, same, view="front").svg)
    ratio = [np.ptp(a.box[:, 1]) / np.ptp(b.box[:, 1]) for a, b in zip((first, second), beside, strict=True)]
    assert ratio[0] == pytest.approx(ratio[1], rel=0.02)


def test_default_row_height() -> None:
    assert strip(DEMO, TWELVE, per_row=6).height == pytest.approx(2 * strip(DEMO, TWELVE[:6]).height, abs=40)
    assert strip(DEMO, TWELVE, per_row=12).svg == strip(DEMO, TWELVE, per_row=40).svg
    exact = strip(DEMO, TWELVE, per_row=4, size_px=(500, 400))
    assert (exact.width, exact.height) == (500, 400)
    assert strip(DEMO, TWELVE, per_row=4, width_px=300).width <= 300


def test_ghosts_stay_in_the_row_of_the_key_before_them() -> None:
    svg = strip(DEMO, TWELVE, per_row=6, ghosts=1).svg
    strip_figures = figures(svg)
    ghosts, keys = [f for f in strip_figures if f.opacity < 0.3], [f for f in strip_figures if f.opacity == 1]
    assert len(keys) == 12
    middle = (max(f.box[1, 1] for f in keys[:6]) + min(f.box[0, 1] for f in keys[6:])) / 2
    assert sum(ghost.box[1, 1] < middle for ghost in ghosts) == 6
    assert sum(ghost.box[0, 1] > middle for ghost in ghosts) == 5


def test_a_key_is_where_it_would_be_without_ghosts() -> None:
    plain, with_ghosts = strip(DEMO, TWELVE, per_row=5), strip(DEMO, TWELVE, per_row=5, ghosts=2)
    gaps = []
    for svg in (plain.svg, with_ghosts.svg):
        keys = [f for f in figures(svg) if f.opacity == 1]
        gaps.append([b.box[0, 0] - a.box[1, 0] for row in split_rows(keys, 5) for a, b in pairwise(row)])
    scale = gaps[1][0] / gaps[0][0]
    assert np.allclose(gaps[1], scale * np.array(gaps[0]), atol=1.0)
    assert max(gaps[0]) < 40


def test_alt_text_names_row_count() -> None:
    assert "12 poses of demo side by side in 3 rows" in strip(DEMO, TWELVE, per_row=5).alt_text
    assert "rows" not in strip(DEMO, TWELVE, per_row=12).alt_text


@pytest.mark.parametrize("layout", ["time", "path", "expanded", "in-place"])
def test_only_poses_side_by_side_have_rows(layout: str) -> None:
    with raises(kp.OptionError, option="per_row", value=4):
        strip(DEMO, TWELVE, per_row=4, layout=layout)


def test_per_row_must_be_a_positive_integer() -> None:
    for wrong in (0, -1, 1.5, True):
        with raises(kp.OptionError, option="per_row"):
            strip(DEMO, TWELVE, per_row=wrong)


def test_a_row_of_any_length_holds_all_poses() -> None:
    assert strip(DEMO, TWELVE, per_row=10**30).svg == strip(DEMO, TWELVE, per_row=12).svg


SELECTIONS = {
    "farthest": kp.select(DEMO, "farthest", keys=6),
    "spread": kp.select(DEMO, "spread", keys=4),
    "end": [360],
}


@pytest.mark.parametrize("layout", ["side", "time"])
@pytest.mark.parametrize("options", [{}, {"size_px": (640, 480)}, {"title": "A", "theme": "dark"}, {"captions": False}])
def test_each_selection_has_a_labelled_row(layout: str, options: dict) -> None:
    picture = strip(DEMO, SELECTIONS, layout=layout, **options)
    strip_figures, texts = figures(picture.svg), text_boxes(picture.svg)
    assert_texts_fit(picture.svg)
    starts = np.cumsum([0, *map(len, SELECTIONS.values())])
    labels = {word.text: word for word in texts if word.text in SELECTIONS}
    assert list(labels) == list(SELECTIONS)
    row_ends = [0.0]
    for label, start, end in zip(labels.values(), starts, starts[1:], strict=False):
        boxes = np.array([figure.box for figure in strip_figures[start:end]])
        assert row_ends[-1] <= label.top
        assert label.bottom <= boxes[:, 0, 1].min() + 1.0
        row_ends.append(float(boxes[:, 1, 1].max()))
    assert row_ends[-1] <= picture.height


def test_rows_spaced_by_time_are_aligned() -> None:
    svg = strip(DEMO, {"a": [0, 30, 90, 180], "b": [90], "c": [60, 90, 200]}, layout="time", view="front").svg
    words = text_boxes(svg)
    at: dict[int, list[float]] = {}
    for word in words:
        if word.text.isdigit():
            at.setdefault(int(word.text), []).append((word.left + word.right) / 2)
    assert len(at[90]) == 3
    assert np.ptp(at[90]) < 0.2
    seconds = {float(word.text[:-2]): (word.left + word.right) / 2 for word in words if word.text.endswith(" s")}
    slope, start = np.polyfit([frame / 30 for frame in at], [np.mean(x) for x in at.values()], 1)
    assert all(abs(start + slope * time - x) < 2 for time, x in seconds.items())
    assert len(seconds) >= 2


def test_single_poses_in_rows_are_spaced_by_time_too() -> None:
    early, middle, late = figures(strip(DEMO, {"a": [0], "b": [100], "c": [300]}, layout="time", captions=False).svg)
    x = [figure.box[:, 0].mean() for figure in (early, middle, late)]
    assert x[2] - x[0] > 10
    assert x[1] - x[0] == pytest.approx((x[2] - x[0]) / 3, rel=0.02)
    assert len(figures(strip(DEMO, {"a": [100], "b": [100]}, layout="time").svg)) == 2


def test_ghosts_and_ranks_belong_to_their_row() -> None:
    nested = {"four": kp.select(DEMO, "farthest", keys=4), "three": kp.select(DEMO, "farthest", keys=3)}
    opacities = [figure.opacity for figure in figures(strip(DEMO, nested, rank=True).svg)]
    assert sorted(opacities[:4]) == pytest.approx([0.45, 0.63, 0.82, 1.0], abs=0.01)
    assert sorted(opacities[4:]) == pytest.approx([0.45, 0.72, 1.0], abs=0.01)
    ghosts = [f for f in figures(strip(DEMO, nested, ghosts=2, layout="time").svg) if f.opacity < 0.3]
    assert len(ghosts) == 2 * 3 + 2 * 2
    with raises(kp.OptionError, option="rank", value=True):
        strip(DEMO, SELECTIONS, rank=True)


def test_alt_text_names_the_rows() -> None:
    text = strip(DEMO, {"a": [3, 30], "b": [60]}, layout="time").alt_text
    assert text.startswith("3 poses of demo spaced by time, in 2 rows: a (frames 3, 30), b (frame 60), seen from ")


@pytest.mark.parametrize("layout", ["path", "expanded", "in-place"])
def test_other_layouts_have_no_rows(layout: str) -> None:
    with raises(kp.OptionError, option="layout", value=layout, expected="side or time"):
        strip(DEMO, SELECTIONS, layout=layout)


def test_invalid_rows_are_refused() -> None:
    with raises(kp.OptionError, option="per_row", value=3):
        strip(DEMO, SELECTIONS, per_row=3)
    with raises(kp.OptionError, expected="at least one, by the label of its row"):
        strip(DEMO, {})
    with raises(kp.OptionError, expected="at most 300 poses in a strip"):
        strip(DEMO, {"a": range(200), "b": range(200)})
    with raises(kp.OptionError, option="label"):
        strip(DEMO, {3: [1]})
