"""Layouts and sizes of strips."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.figure import build_body
from keypose.pictures.strip import LAYOUTS, strip
from keypose.pictures.strip.canvas import expand_along_path, round_step
from support.figures import Figure, figures, shadows
from support.svg_content import assert_texts_fit, text_boxes

DEMO = kp.demo_motion(30)
EIGHT = kp.select(DEMO, "farthest", keys=8)


def lay_down(m: kp.Motion) -> kp.Motion:
    """Return the motion turned onto its back."""
    turn = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0, 0])
    rotations = m.rotations.copy()
    rotations[:, 0] = kp.rotations.multiply(turn, rotations[:, 0])
    translations = m.translations.copy()
    translations[:, 0] = kp.rotations.rotate(turn, translations[:, 0])
    return replace(m, rotations=rotations, translations=translations)


def move_in_circle(m: kp.Motion, heights: float = 2.0) -> kp.Motion:
    """Return the poses of a motion along a circle."""
    t = np.linspace(0, 2 * np.pi, m.n_frames)
    translations = m.translations.copy()
    translations[:, 0, 0], translations[:, 0, 2] = heights * np.cos(t), heights * np.sin(t)
    return replace(m, translations=translations)


def move_to_origin(m: kp.Motion) -> kp.Motion:
    translations = m.translations.copy()
    translations[:, 0, [0, 2]] = 0.0
    return replace(m, translations=translations)


MOTIONS = {
    "demo": DEMO,
    "lying": lay_down(DEMO),
    "circling": move_in_circle(DEMO),
    "in one place": move_to_origin(DEMO),
}


def overlap(first: Figure, other: Figure) -> float:
    """Return the horizontal overlap as a share of the narrower box."""
    (a, b), (c, d) = first.box[:, 0], other.box[:, 0]
    return max(0.0, min(b, d) - max(a, c)) / min(b - a, d - c)


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("layout", ["side", "expanded"])
def test_poses_never_cover_each_other(layout: str, name: str) -> None:
    for keys in (2, 8, 20):
        m = MOTIONS[name]
        strip_figures = figures(strip(m, np.linspace(0, m.n_frames - 1, keys).astype(int), layout=layout).svg)
        assert len(strip_figures) == keys
        assert all(overlap(a, b) == 0 for a, b in combinations(strip_figures, 2))


@pytest.mark.parametrize("layout", ["side", "time"])
def test_poses_go_from_left_to_right_in_time(layout: str) -> None:
    middles = [figure.box[:, 0].mean() for figure in figures(strip(DEMO, EIGHT, layout=layout).svg)]
    assert middles == sorted(middles)


def test_distances_are_those_in_time() -> None:
    frames = [0, 10, 20, 60, 100]
    strip_figures = figures(strip(DEMO, frames, layout="time").svg)
    middles = np.array([figure.box[:, 0].mean() for figure in strip_figures])
    assert np.allclose(np.diff(middles) / np.diff(frames), (middles[-1] - middles[0]) / 100, rtol=0.02)
    assert all(overlap(a, b) < 0.75 for a, b in pairwise(strip_figures))


def test_on_the_path_poses_are_where_they_really_are() -> None:
    m = move_in_circle(DEMO)
    frames = np.linspace(0, m.n_frames - 1, 9).astype(int)[:8]
    svg = strip(m, frames, layout="path", view="front").svg
    positions = np.array([figure.box.mean(axis=0) for figure in figures(svg)])
    depth = [shade[:, 1].mean() for shade in shadows(svg)]
    assert np.argsort(depth).tolist() != list(range(8))
    assert (np.diff([figure.box[1, 1] for figure in figures(svg)]) > -25).all()  # from far to near
    assert np.ptp(positions[:, 0]) > 2 * np.ptp(positions[:, 1])  # a circle seen from not very high


def test_expanded_keeps_order_and_shifts_least() -> None:
    random = np.random.default_rng(5)
    for _ in range(30):
        across, half = random.uniform(0, 4, 6), random.uniform(0.1, 0.5, 6)
        boxes = np.zeros((6, 2, 2))
        boxes[:, 0, 0], boxes[:, 1, 0] = -half, half
        offsets = expand_along_path(boxes, across)
        order = np.argsort(offsets)
        gaps = np.diff(offsets[order]) - half[order][1:] - half[order][:-1]
        assert (gaps > 0.069).all()
        ours = ((offsets - across) ** 2).sum()
        for _ in range(50):  # no other placing in this order that keeps apart is nearer
            other = offsets[order] + random.normal(0, 0.1, 6)
            if (np.diff(other) - half[order][1:] - half[order][:-1] >= 0.07).all():
                assert ((other - across[order]) ** 2).sum() >= ours - 1e-9
    far = np.arange(6) * 10.0
    assert np.allclose(expand_along_path(boxes, far), far)  # poses with space do not move


def test_expanded_orders_poses_at_one_place_by_time() -> None:
    m = move_to_origin(DEMO)
    svg = strip(m, EIGHT, layout="expanded").svg
    frame_labels = sorted((word.left, int(word.text)) for word in text_boxes(svg) if word.text.isdigit())
    assert [frame for _, frame in frame_labels] == EIGHT.frames.tolist()


def test_in_place_all_are_in_one_place_and_the_last_is_solid() -> None:
    strip_figures = figures(strip(DEMO, EIGHT, layout="in-place").svg)
    opacity = [figure.opacity for figure in strip_figures]
    assert opacity == sorted(opacity)
    assert opacity[-1] == 1.0 > opacity[0]
    assert all(overlap(a, b) > 0.3 for a, b in combinations(strip_figures, 2))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", MOTIONS)
def test_all_poses_have_one_scale(layout: str, name: str) -> None:
    """Seen from the front, heights in px and world agree up to the elevation of the camera."""
    m, frames = MOTIONS[name], EIGHT.frames
    strip_figures = sorted(
        figures(strip(m, EIGHT, layout=layout, view="front").svg), key=lambda figure: np.ptp(figure.box[:, 1])
    )
    tall = np.sort(np.ptp(build_body(m).points_at(m, frames)[..., 1], axis=1)) + 0.05 * m.height
    scales = np.array([np.ptp(figure.box[:, 1]) for figure in strip_figures]) / tall
    assert np.ptp(scales) < (0.5 if name == "lying" else 0.2) * scales.max()


def test_size_options() -> None:
    default = strip(DEMO, EIGHT)
    assert default.height == 180
    assert strip(DEMO, EIGHT, height_px=400).height == 400
    narrow = strip(DEMO, EIGHT, width_px=400)
    assert narrow.width <= 400
    assert narrow.height < 180
    for size in ((320, 90), (90, 320), (1000, 50), (16, 16)):
        exact = strip(DEMO, EIGHT, size_px=size)
        assert (exact.width, exact.height) == size
        assert_texts_fit(exact.svg)


def test_many_poses_lose_captions_in_a_narrow_strip() -> None:
    keys = range(0, DEMO.n_frames, DEMO.n_frames // 60)
    strip_figures = figures(strip(DEMO, keys, width_px=600).svg)
    assert len(strip_figures) == len(keys)
    assert all(overlap(a, b) == 0 for a, b in pairwise(strip_figures))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_thumbnail_is_still_readable(theme: str) -> None:
    """Eight poses in 320 x 90 px: tall enough, apart, and limbs of more than a pixel on either side of the middle."""
    picture = strip(DEMO, EIGHT, size_px=(320, 90), theme=theme)
    strip_figures = figures(picture.svg)
    assert len(strip_figures) == 8
    assert max(np.ptp(figure.box[:, 1]) for figure in strip_figures) > 45
    assert all(overlap(a, b) == 0 for a, b in combinations(strip_figures, 2))
    for figure in strip_figures:
        for side in ("left", "right"):
            assert max(np.ptp(shape.points, axis=0).max() for shape in figure.shapes_of(side, theme)) > 8
    assert text_boxes(picture.svg) == []


def test_letters_grow_with_a_large_picture() -> None:
    small, large = (text_boxes(strip(DEMO, EIGHT, height_px=px).svg)[0] for px in (200, 900))
    assert large.bottom - large.top > 1.8 * (small.bottom - small.top)
    assert_texts_fit(strip(DEMO, EIGHT, height_px=900).svg)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("keys", [1, 2, 40])
def test_texts_fit_in_every_layout(layout: str, keys: int) -> None:
    frames = np.linspace(0, DEMO.n_frames - 1, keys).astype(int)
    assert_texts_fit(strip(DEMO, frames, layout=layout, title="A rather long title " * 9).svg)


@pytest.mark.parametrize(
    ("min_step", "step"), [(0.07, 0.1), (1.0, 1.0), (1.1, 2.0), (2.5, 5.0), (60.0, 100.0), (0.2, 0.2)]
)
def test_steps_of_an_axis_are_round(min_step: float, step: float) -> None:
    assert round_step(min_step) == pytest.approx(step)


@pytest.mark.data
def test_strips_of_real_clips_do_not_overlap(data_dir) -> None:
    paths = sorted((data_dir / "cmu120").glob("*.bvh"))
    assert len(paths) >= 8
    for path in paths:
        m = kp.load(path)
        keys = kp.select(m, "farthest", keys=8)
        for layout in ("side", "expanded"):
            picture = strip(m, keys, layout=layout)
            strip_figures = figures(picture.svg)
            assert all(overlap(a, b) == 0 for a, b in combinations(strip_figures, 2)), path.name
            assert_texts_fit(picture.svg)
