"""Views of motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.view import ANGLES, VIEWS, build_view
from support.errors import raises
from support.motions import motion

NAMES = ("Hips", "Spine", "LeftArm", "RightArm", "LeftUpLeg", "RightUpLeg")


def standing_figure(up: str = "Y", turn_deg: float = 0.0) -> tuple[kp.Motion, np.ndarray, np.ndarray]:
    """Return a static figure, turned to its left by ``turn_deg``, and its up and forward directions."""
    axis, sign = "XYZ".index(up[-1]), -1.0 if up[0] == "-" else 1.0
    upward, first = sign * np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
    second = np.cross(upward, first)
    t = np.radians(turn_deg)
    ahead = np.cos(t) * first + np.sin(t) * second
    left = np.cross(upward, ahead)
    offsets = [0 * upward, 0.5 * upward, 0.5 * left, -0.5 * left, 0.1 * left - upward, -0.1 * left - upward]
    return motion([-1, 0, 1, 1, 0, 0], offsets, names=NAMES, up=up), upward, ahead


@pytest.mark.parametrize("up", ["X", "Y", "Z", "-X", "-Y", "-Z"])
def test_a_view_is_a_right_handed_frame_that_looks_down_a_little(up: str) -> None:
    m, upward, _ = standing_figure(up, turn_deg=37.0)
    for view in (*VIEWS, 12.5, -400):
        v = build_view(m, view)
        axes = np.stack((v.right, v.up, v.towards))
        assert np.allclose(axes @ axes.T, np.eye(3))
        assert np.allclose(np.cross(v.right, v.up), v.towards)
        assert abs(v.right @ upward) < 1e-12
        assert np.degrees(np.arcsin(v.towards @ upward)) == pytest.approx(v.elevation)
        assert 5 < v.elevation < 15


@pytest.mark.parametrize("up", ["Y", "Z", "-X"])
@pytest.mark.parametrize("turn_deg", [0.0, 75.0, 200.0])
def test_named_views(up: str, turn_deg: float) -> None:
    m, upward, ahead = standing_figure(up, turn_deg)
    left = np.cross(upward, ahead)
    for name, direction in {"front": ahead, "left": left, "right": -left, "back": -ahead}.items():
        v = build_view(m, name)
        level = v.towards - (v.towards @ upward) * upward
        assert np.allclose(level / np.linalg.norm(level), direction), name
        assert v.degrees == pytest.approx(ANGLES[name] % 360)
        assert v.description == f"its {name}"
    assert build_view(m, 317).description == "its front right"
    assert build_view(m, "front").right @ left > 0.99  # its left is at the right of the page
    assert np.allclose(build_view(m, 90).towards, build_view(m, "left").towards)
    assert 0 < build_view(m, "three-quarter").towards @ left < 0.8 < 2 * build_view(m, "three-quarter").towards @ ahead


def test_still_figure_is_seen_from_the_front() -> None:
    m, _, ahead = standing_figure()
    assert build_view(m).towards @ ahead > 0.7


def test_best_view_shows_movement_to_the_right() -> None:
    m, _, ahead = standing_figure()
    going = replace(
        m, translations=m.translations + np.linspace(0, 5, m.n_frames)[:, None, None] * ([ahead] + [0 * ahead] * 5)
    )
    assert build_view(going).right @ ahead > 0.6
    back = replace(going, translations=going.translations[::-1])
    assert build_view(back).right @ ahead < -0.6


def turn(a: float, b: float) -> float:
    return abs((a - b + 180) % 360 - 180)


def test_small_changes_of_the_data_do_not_turn_the_view() -> None:
    m = kp.demo_motion(60)
    own, random = build_view(m).degrees, np.random.default_rng(0)
    millimetre = 0.001 * m.height / 1.7
    shaken = m.translations.copy()
    shaken[:, 0] += random.normal(0, millimetre, (m.n_frames, 3))
    for variant in (
        replace(m, translations=shaken),
        m[3:-5],
        m.at_fps(30),
        m.at_fps(120),
        m.at_fps(47.3),
    ):
        assert turn(build_view(variant).degrees, own) <= 10.0


@pytest.mark.data
def test_views_of_real_clips_stay_when_frames_are_lost(data_dir) -> None:
    for path in sorted((data_dir / "cmu120").glob("*.bvh")):
        m = kp.load(path)
        own = build_view(m).degrees
        for variant in (m.at_fps(m.fps / 2), m.at_fps(m.fps / 3), m[:-1]):
            assert turn(build_view(variant).degrees, own) <= 10.0, path.name


@pytest.mark.data
def test_an_animal_is_seen_from_its_side(data_dir) -> None:
    m = kp.load(data_dir / "gltf" / "Fox.glb")
    assert abs(build_view(m).right[2]) > 0.9  # it is long in z


@pytest.mark.parametrize("view", ["beside", "", None, float("nan"), float("inf"), True, (1, 2), "12"])
def test_invalid_views(view: object) -> None:
    with raises(kp.OptionError, option="view"):
        build_view(kp.demo_motion(10), view)  # type: ignore[arg-type]
