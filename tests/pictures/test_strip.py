"""Strips: figures, captions, options and escaping."""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.figure import build_body
from keypose.pictures.figure.body import build_solids
from keypose.pictures.strip import LAYOUTS, strip
from keypose.pictures.strip.scene import floor_height
from keypose.pictures.svg import TONES, find_theme
from support.errors import raises
from support.figures import Figure, figures, shadows
from support.motions import ANY_SKELETON, motion
from support.svg_content import assert_texts_fit, parse_svg, text_boxes

DEMO = kp.demo_motion(30)
EIGHT = kp.select(DEMO, "farthest", keys=8)


def assert_inside(svg: str) -> list[Figure]:
    """Assert that every figure and shadow is inside the picture, and return the figures."""
    root = parse_svg(svg)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    strip_figures = figures(svg)
    for points in (*(figure.box for figure in strip_figures), *shadows(svg)):
        assert (points > -0.6).all()
        assert (points < (width + 0.6, height + 0.6)).all()
    return strip_figures


@pytest.mark.parametrize("theme", ["light", "dark", "page", "notebook"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_poses_are_complete(layout: str, theme: str) -> None:
    picture = strip(DEMO, EIGHT, layout=layout, theme=theme)
    strip_figures = assert_inside(picture.svg)
    assert len(strip_figures) == len(shadows(picture.svg)) == 8
    for figure in strip_figures:
        assert len(figure.shapes) >= 1 + 2 * 17 + 1  # a rim, and each part with its light, but for a tiny nose
        assert len(figure.shapes_of("left", theme)) == len(figure.shapes_of("right", theme)) == 6
        assert len(figure.shapes_of("middle", theme)) >= 5
        assert len(figure.stripes) == 6
    assert_texts_fit(picture.svg)
    assert (picture.width, picture.height) == tuple(
        float(parse_svg(picture.svg).get(k, "")) for k in ("width", "height")
    )


def test_the_right_side_differs_in_colour_and_wears_a_stripe() -> None:
    for figure in figures(strip(DEMO, EIGHT).svg):
        right = np.concatenate([shape.points for shape in figure.shapes_of("right")])
        for stripe in figure.stripes:
            assert (stripe > right.min(axis=0) - 1).all()
            assert (stripe < right.max(axis=0) + 1).all()


def brightness(colour: str) -> float:
    return float(np.dot([int(colour[k : k + 2], 16) for k in (1, 3, 5)], (0.3, 0.59, 0.11)))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("tone", range(TONES))
def test_the_sides_differ_on_grey_paper_too(theme: str, tone: int) -> None:
    colours = find_theme(theme)
    for light in ("", "_dark"):
        assert brightness(colours[f"right{light}{tone}"]) > 1.1 * brightness(colours[f"left{light}{tone}"])
    for side in ("left", "middle", "right"):
        assert brightness(colours[f"{side}{tone}"]) > 1.3 * brightness(colours[f"{side}_dark{tone}"])  # it looks round


@pytest.mark.parametrize("up", ["X", "Y", "Z", "-X", "-Y", "-Z"])
def test_up_is_up_and_nothing_is_mirrored(up: str) -> None:
    axis, sign = "XYZ".index(up[-1]), -1.0 if up[0] == "-" else 1.0
    upward, left = sign * np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
    names = ("Hips", "Spine", "Head", "LeftArm", "RightArm", "LeftForeArm", "RightForeArm", "LeftUpLeg", "RightUpLeg",
             "LeftLeg", "RightLeg", "LeftFoot", "RightFoot")  # fmt: skip
    offsets = [0 * upward, 0.4 * upward, 0.2 * upward, 0.2 * left, -0.2 * left, 0.3 * left, -0.3 * left,
               0.1 * left, -0.1 * left, -0.45 * upward, -0.45 * upward, -0.45 * upward, -0.45 * upward]  # fmt: skip
    m = motion([-1, 0, 1, 1, 1, 3, 4, 0, 0, 7, 8, 9, 10], offsets, names=names, up=up)
    (front,) = figures(strip(m, [0], view="front").svg)
    (back,) = figures(strip(m, [0], view="back").svg)
    assert front.middle("left")[0] > front.middle("right")[0] + 20  # seen from before, its left is at the right
    assert back.middle("left")[0] < back.middle("right")[0] - 20
    for figure in (front, back):
        assert figure.middle("middle")[1] < figure.middle("left")[1] - 5  # y grows downwards
    (from_left,) = figures(strip(m, [0], view="left").svg)
    order = [shape.colour for shape in from_left.shapes]
    nearest = max(order.index(shape.colour) for shape in from_left.shapes_of("left"))
    assert nearest > max(
        order.index(shape.colour) for shape in from_left.shapes_of("right")
    )  # the near arm covers the far one


def test_jump_separates_figure_and_shadow() -> None:
    hop = DEMO.translations.copy()
    hop[50:60, 0, 1] += 0.5 * DEMO.height
    m = replace(DEMO, translations=hop)
    picture = strip(m, [10, 55])
    for gap, expected in zip(
        (
            shade[:, 1].min() - figure.box[1, 1]
            for figure, shade in zip(figures(picture.svg), shadows(picture.svg), strict=True)
        ),
        (False, True),
        strict=True,
    ):
        assert (gap > 20) == expected


def test_what_has_no_feet_is_on_or_above_the_floor() -> None:
    ball = motion([-1, 0], np.zeros((2, 3)), frames=20)
    rising = ball.translations.copy()
    rising[:, 0, 1] = np.linspace(0, 2.5, 20)
    ball = replace(ball, translations=rising)
    low = build_solids(build_body(ball)).radii.max() * build_body(ball).size  # the lowest point of the ball
    assert floor_height(ball) == pytest.approx(-low)


def test_alt_text() -> None:
    assert (
        strip(DEMO, [0, 15], view="left").alt_text
        == "2 poses of demo side by side, at frames 0, 15, seen from its left"
    )
    for layout in ("side", "path"):
        picture = strip(DEMO, [7], view="back", layout=layout)
        assert picture.alt_text == "one pose of demo, at frame 7, seen from its back"
    assert 'aria-label="one pose of demo, at frame 7' in strip(DEMO, [7]).svg


def test_captions_are_frames_and_seconds() -> None:
    captions = [word.text for word in text_boxes(strip(DEMO, [0, 15, 90]).svg)]
    assert captions == ["0", "0.00 s", "15", "0.50 s", "90", "3.00 s"]
    part = DEMO[30:]  # frames count from 0, as those of a selection do
    assert [word.text for word in text_boxes(strip(part, [0, 15]).svg)] == ["0", "0.00 s", "15", "0.50 s"]
    assert text_boxes(strip(DEMO, EIGHT, captions=False).svg) == []
    assert [w.text for w in text_boxes(strip(DEMO, [0, 90], layout="in-place").svg)] == ["0 – 90", "0.00 – 3.00 s"]


def test_a_caption_stands_below_its_figure() -> None:
    svg = strip(DEMO, EIGHT).svg
    frames = [word for word in text_boxes(svg) if word.text.isdigit()]
    for word, figure in zip(frames, figures(svg), strict=True):
        assert abs((word.left + word.right) / 2 - figure.box[:, 0].mean()) < 3
        assert word.top > figure.box[1, 1]


def test_time_has_an_axis_in_seconds() -> None:
    captions = [word.text for word in text_boxes(strip(DEMO, EIGHT, layout="time").svg)]
    frames = [text for text in captions if not text.endswith(" s")]
    assert set(frames) <= {str(frame) for frame in EIGHT}  # those of poses close in time are left out
    assert len(frames) >= 5
    assert sum(text.endswith(" s") for text in captions) >= 3


def test_rank_sets_opacity() -> None:
    picture = strip(DEMO, EIGHT, rank=True)
    opacities = dict(zip(EIGHT.frames.tolist(), (figure.opacity for figure in figures(picture.svg)), strict=True))
    ranked_opacities = [opacities[frame] for frame in EIGHT.order.tolist()]
    assert ranked_opacities == sorted(ranked_opacities, reverse=True)
    assert ranked_opacities[0] == 1.0
    assert 0.4 < ranked_opacities[-1] < 0.5
    with raises(kp.OptionError, option="rank", value=True):
        strip(DEMO, [1, 2], rank=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_ghosts_are_faint_and_behind(layout: str) -> None:
    strip_figures = assert_inside(strip(DEMO, [0, 40, 90], layout=layout, ghosts=2).svg)
    assert len(strip_figures) == 3 + 4
    assert all(figure.opacity < 0.2 for figure in strip_figures[:4])
    assert strip_figures[-1].opacity == 1.0 or layout in ("path", "expanded")
    assert len(figures(strip(DEMO, [0, 1, 3], layout=layout, ghosts=4).svg)) == 4  # frame 2 is all there is between


@pytest.mark.parametrize("rank", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ghosts_are_fainter_than_keys_and_have_no_outline(layout: str, rank: bool) -> None:
    svg = strip(DEMO, EIGHT, layout=layout, rank=rank, ghosts=2).svg
    strip_figures, rim = figures(svg), find_theme("light")["outline"]
    keys = [figure.opacity for figure in strip_figures if figure.shapes[0].colour == rim]
    ghosts = [figure.opacity for figure in strip_figures if rim not in {shape.colour for shape in figure.shapes}]
    assert len(keys) == 8 and len(ghosts) >= 12 and len(strip_figures) == len(keys) + len(ghosts)
    assert max(ghosts) <= 0.65 * min(keys)


def test_selection_types() -> None:
    assert len(figures(strip(DEMO).svg)) == 8
    keyed = kp.unbake(DEMO, keys=5)
    assert len(figures(strip(DEMO, keyed).svg)) == len(figures(strip(keyed).svg)) == keyed.n_keys
    assert strip(DEMO, [90, 0, 15, 15]).svg == strip(DEMO, np.array([0, 15, 90])).svg  # in order of time, each once
    still = motion([-1, 0], [[0, 0, 0], [0, 1.0, 0]])
    assert len(figures(strip(still).svg)) == 1


@pytest.mark.parametrize("name", ANY_SKELETON)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_skeleton_can_be_drawn(name: str, layout: str) -> None:
    m = ANY_SKELETON[name]
    picture = strip(m, range(min(3, m.n_frames)), layout=layout)
    assert "nan" not in picture.svg
    assert "inf" not in picture.svg
    assert_inside(picture.svg)
    assert_texts_fit(picture.svg)
    assert picture.width < 20_000
    assert len(picture.svg) < 200_000


def test_text_from_files_cannot_become_markup() -> None:
    evil = "</title></svg><script>alert(1)</script>\"'&\x00\u202e\ud800" * 500
    m = motion([-1, 0], np.eye(2, 3), names=(evil, evil + "2"), name=evil)
    picture = strip(m, [0, 1], title=evil)
    assert {element.tag.rpartition("}")[2] for element in parse_svg(picture.svg).iter()} <= {
        "svg",
        "title",
        "rect",
        "g",
        "path",
        "text",
    }
    assert "url(" not in picture.svg
    assert len(picture.svg.encode()) < 20_000
    assert_texts_fit(picture.svg)


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_save(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"strip{suffix}"
    picture = strip(DEMO, EIGHT, path, scale=1.5)
    content = path.read_bytes()
    if suffix == ".svg":
        assert content.decode() == picture.svg
    else:
        wide, tall = struct.unpack(">II", content[16:24])
        assert (wide, tall) == pytest.approx((1.5 * picture.width, 1.5 * picture.height), abs=1)


@pytest.mark.parametrize(
    ("options", "pixels"),
    [
        ({"size_px": (320, 90)}, (320, 90)),
        ({"size_px": (320, 90), "scale": 2}, (640, 180)),
        ({"height_px": 100, "scale": 1}, None),
        ({"height_px": 100}, None),
    ],
)
def test_exact_size_is_in_pixels(tmp_path: Path, options: dict, pixels: tuple[int, int] | None) -> None:
    picture = strip(DEMO, EIGHT, tmp_path / "a.png", **options)
    scale = options.get("scale", 2)
    png_size = struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24])
    assert png_size == (pixels or (scale * picture.width, scale * picture.height))


def test_transparent_background() -> None:
    assert "<rect" in strip(DEMO, EIGHT).svg
    assert "<rect" not in strip(DEMO, EIGHT, background=False).svg


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (
            {"layout": "circle"},
            {"option": "layout", "value": "circle", "expected": "one of side, time, path, expanded, in-place"},
        ),
        ({"theme": "sepia"}, {"expected": "one of light, dark, page, notebook"}),
        ({"ghosts": -1}, {"option": "ghosts", "value": -1, "expected": "at least 0"}),
        ({"selection": range(0, 362, 2), "ghosts": 1}, {"expected": "at most 300 poses in a strip"}),
        ({"rank": "yes"}, {"option": "rank", "value": "yes", "expected": "True or False"}),
        ({"captions": 1}, {"option": "captions", "value": 1, "expected": "True or False"}),
        ({"title": 3}, {"option": "title", "value": 3, "expected": "text"}),
        ({"height_px": 3}, {"option": "height_px", "value": 3, "expected": "a number from 16 to 20000"}),
        ({"size_px": 320}, {"option": "size_px", "value": 320, "expected": "(width, height)"}),
        ({"size_px": (320, 90), "width_px": 100}, {"code": "conflicting_options", "option": "size_px"}),
        ({"path": "strip.jpg"}, {"path": "strip.jpg", "expected": "one of .svg, .png"}),
        ({"selection": []}, {"expected": "at least one frame"}),
        ({"selection": [0, 10**9]}, {"option": "keys", "expected": "0 to 369"}),
        ({"selection": [0.5]}, {"hint": "or a Selection or a KeyedMotion"}),
        ({"selection": "walk.svg"}, {"option": "keys", "value": "walk.svg"}),
        ({"selection": [[1], [2, 3]]}, {"hint": "or a Selection or a KeyedMotion"}),
        ({"selection": kp.Selection(np.array([1]), 5, "farthest")}, {"expected": "those of the 370 that are shown"}),
    ],
)
def test_invalid_arguments(options: dict, fields: str) -> None:
    with raises(kp.OptionError, **fields):
        strip(DEMO, **({"selection": EIGHT} | options))


def test_only_drawn_frames_are_computed() -> None:
    long = replace(
        DEMO, translations=np.tile(DEMO.translations, (50, 1, 1)), rotations=np.tile(DEMO.rotations, (50, 1, 1))
    )
    start = time.process_time()
    strip(long, [0, 9000])
    assert time.process_time() - start < 0.5
    assert "_world" not in vars(long)
