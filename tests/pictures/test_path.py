"""The path of a joint: original and reduced, from the side and from above."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import Floats
from keypose.errors import OptionError, UnknownJoint
from keypose.metrics import position_errors_mm
from keypose.pictures.svg import find_theme
from keypose.pictures.view import build_view
from support.errors import raises
from support.svg_content import assert_texts_fit, paths, points, text_boxes

KICK = kp.demo_motion(fps=30)[280:340]
FOOT = KICK.joint("right_foot")
REDUCED = kp.unbake(KICK, per="joint", method="refine")
LIGHT = find_theme("light")


def lines(svg: str, **attributes: str) -> list[Floats]:
    """Return the points of the lines with these attributes that are longer than those of the legend."""
    found = [np.array(points(path)[0]) for path in paths(svg, **attributes) if "L" in path.get("d", "")]
    return [line for line in found if len(line) > 2]


@pytest.mark.parametrize("view", ["best", "front", 30.0])
def test_both_views_show_both_paths(view: str | float) -> None:
    svg = kp.plot_path(KICK, REDUCED, "right_foot", view=view).svg
    originals, reduced = lines(svg, stroke_opacity="0.35"), lines(svg, stroke=LIGHT["line0"], stroke_width="1.5")
    assert len(originals) == len(reduced) == 2
    scales = []
    for elevation, pale, line in zip((9.0, 90.0), originals, reduced, strict=True):
        camera = build_view(KICK, view, elevation=elevation)
        path = camera.project(KICK.world_positions()[:, FOOT])[:, :2]
        scale = np.ptp(pale, axis=0).max() / np.ptp(path, axis=0).max()
        corner = pale.min(axis=0) - (path * (1.0, -1.0) * scale).min(axis=0)
        distance = np.linalg.norm(pale[:, None] - (path * (1.0, -1.0) * scale + corner), axis=-1)
        assert distance.min(axis=0).max() < 0.6  # every frame is on the drawn line
        scales.append(scale)
        sampled = camera.project(REDUCED.sample(fps=30 * 16).world_positions()[:, FOOT])[:, :2]
        drawn = sampled * (1.0, -1.0) * scale + corner
        assert np.linalg.norm(line[:, None] - drawn, axis=-1).min(axis=1).max() < 0.6
    assert scales[0] == pytest.approx(scales[1], rel=0.02)


def test_keys_and_distances_are_those_of_the_reduced_motion() -> None:
    picture = kp.plot_path(KICK, REDUCED, "right_foot")
    shin = KICK.skeleton.names[KICK.skeleton.parents[FOOT]]
    keys = REDUCED.joint_keys(shin)
    texts = [text.text for text in text_boxes(picture.svg)]
    assert f"{len(keys)} keys of {shin}" in texts
    dot_paths = paths(picture.svg, stroke=LIGHT["key"])
    assert [len(points(path)) for path in dot_paths] == [1, len(keys), len(keys)]  # the first is in the legend
    errors = position_errors_mm(KICK, REDUCED.sample())[:, FOOT]
    assert (
        f"Distance on a figure of 1.7 m: {errors.mean():.3g} mm on average, {errors.max():.3g} mm at most, "
        f"in frame {errors.argmax()}." in texts
    )
    assert f"largest distance, {errors.max():.3g} mm" in texts
    assert f"{errors.max():.3g} mm" in picture.alt_text
    shared = kp.plot_path(KICK, kp.unbake(KICK, keys=7), "right_foot")
    assert "7 keys" in [text.text for text in text_boxes(shared.svg)]


def test_the_scale_bar_is_as_long_as_it_says() -> None:
    svg = kp.plot_path(KICK, REDUCED, "right_foot", view="right").svg
    (bar,) = [path for path in paths(svg, stroke=LIGHT["muted"]) if path.get("d", "").count("v") == 2]
    length = float(bar.get("d", "").split("h")[1].split("v")[0])
    (text,) = [text.text for text in text_boxes(svg) if "cm on a figure" in text.text]
    path = build_view(KICK, "right").project(KICK.world_positions()[:, FOOT])[:, :2]
    px_per_unit = np.ptp(lines(svg, stroke_opacity="0.35")[0], axis=0).max() / np.ptp(path, axis=0).max()
    assert length == pytest.approx(float(text.split()[0]) * 10 / KICK.mm_per_unit * px_per_unit, rel=0.01)


def test_in_place_leaves_out_the_way_over_the_floor() -> None:
    walk = kp.demo_motion(fps=30)[30:150]
    keyed = kp.unbake(walk, keys=30)

    def extents(**options: bool) -> list[float]:
        svg = kp.plot_path(walk, keyed, "hips", **options).svg
        width = [float(np.ptp(line[:, 0])) for line in lines(svg, stroke_opacity="0.35")]
        bar = next(path for path in paths(svg, stroke=LIGHT["muted"]) if path.get("d", "").count("v") == 2)
        text = next(text.text for text in text_boxes(svg) if "cm on a figure" in text.text)
        return [each / float(bar.get("d", "").split("h")[1].split("v")[0]) * float(text.split()[0]) for each in width]

    assert max(extents()) > 100  # cm
    assert extents(in_place=True) == [0.0]  # a line up and down; from above it is a point


def test_a_turning_point_on_a_straight_line_is_drawn() -> None:
    """Points are never dropped because they are in line with their neighbours: the path may turn back there."""
    shift = np.zeros((21, KICK.n_joints, 3))
    shift[:, 0, 0] = np.concatenate((np.linspace(0, 1, 16), np.linspace(0.8, 0.1, 5)))
    still = KICK[[0] * 21] if isinstance(KICK[0], kp.Motion) else replace(KICK[:1].at_frames([0] * 21))
    motion = replace(still, translations=still.translations + shift)
    svg = kp.plot_path(motion, motion, "hips", view="front").svg
    for line in lines(svg, stroke_opacity="0.35"):
        turn = np.abs(line[:, 0] - line[0, 0]).argmax()
        assert 0 < turn < len(line) - 1


@pytest.mark.parametrize("width", [320, 960])
@pytest.mark.parametrize("motion", [KICK, KICK[:1], KICK[:2]], ids=["long", "one", "two"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_fit(width: int, motion: kp.Motion, theme: str) -> None:
    picture = kp.plot_path(motion, kp.unbake(motion, keys=min(5, len(motion))), width_px=width, theme=theme)  # type: ignore[arg-type]
    assert_texts_fit(picture.svg)


def test_it_is_saved(tmp_path: Path) -> None:
    picture = kp.plot_path(KICK, REDUCED, "right_foot", tmp_path / "p.png", title="T", height_px=300)
    assert (tmp_path / "p.png").read_bytes() == picture.png()
    assert picture.height == 300
    assert "T" in [text.text for text in text_boxes(picture.svg)]


def test_invalid_arguments() -> None:
    with raises(UnknownJoint, value="wing"):
        kp.plot_path(KICK, REDUCED, "wing")
    with raises(OptionError, code="different_motions"):
        kp.plot_path(KICK[:50], REDUCED)
    with raises(OptionError, option="reduced", expected="a KeyedMotion or a Motion"):
        kp.plot_path(KICK, None)  # type: ignore[arg-type]
    with raises(OptionError, expected="a Motion, as kp.load gives it"):
        kp.plot_path(REDUCED, REDUCED)  # type: ignore[arg-type]
