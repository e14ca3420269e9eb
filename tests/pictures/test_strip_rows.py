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
