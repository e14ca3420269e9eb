"""Arguments of the wrong type or size: every drawing function rejects them before it allocates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.pictures.heat import heat_map
from keypose.pictures.strip.scene import MAX_POSES
from support.errors import raises

NAN = float("nan")


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30.0)[:60]


@pytest.fixture(scope="module")
def draw_functions(motion: kp.Motion, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., Any]]:
    page = tmp_path_factory.mktemp("invalid") / "r.html"
    swings, ladder = kp.swings(motion), kp.ladder(motion, "salient", max_keys=20)
    return {
        "timeline": lambda **options: kp.timeline(swings, **options),
        "curves": lambda **options: kp.plot_curves(motion, **options),
        "errors": lambda **options: kp.plot_errors(ladder, **options),
        "path": lambda **options: kp.plot_path(motion, **{"reduced": motion, **options}),
        "heat": lambda **options: heat_map(np.ones((3, 2)), ["a", "b"], fps=30.0, **options),
        "strip": lambda **options: kp.strip(motion, **options),
        "report": lambda **options: kp.report(motion, page, **options),
    }


@pytest.mark.parametrize("name", ["timeline", "curves", "errors", "path", "heat", "strip", "report"])
@pytest.mark.parametrize("title", [5, NAN, b"walk", ["walk"]])
def test_title_must_be_text(draw_functions, name, title):
    with raises(OptionError, option="title"):
        draw_functions[name](title=title)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("errors", {"unit": NAN}, "unit=nan, expected text"),
        ("timeline", {"joints": 5}, "joints=5, expected names of joints"),
        ("errors", {"n_frames": 10**5000}, "n_frames=int, expected at most"),
        ("strip", {"ghosts": 10**9}, f"ghosts=1000000000, expected at most {MAX_POSES}"),
    ],
)
def test_wording(draw_functions, name, options, message):
    """Messages of options of pictures are pinned here only."""
    with pytest.raises(OptionError, match=message):
        draw_functions[name](**options)


@pytest.mark.parametrize(
    ("name", "option", "value", "expected"),
    [
        ("errors", "unit", NAN, "text"),
        ("heat", "unit", NAN, "text"),
        ("heat", "quantity", 5, "text"),
        ("timeline", "joints", 5, "names of joints, body parts or groups, at least one"),
        ("curves", "joints", 5, "names of joints, body parts or groups, at least one"),
        ("curves", "axes", "w", "x, y or z, or several of them"),
        ("curves", "axes", 5, "x, y or z, or several of them"),
        ("curves", "axes", (), "x, y or z, or several of them"),
        ("path", "in_place", 1, "True or False"),
        ("strip", "ghosts", 10**9, f"at most {MAX_POSES}"),
        ("strip", "ghosts", 10**400, f"at most {MAX_POSES}"),
    ],
)
def test_invalid_values(draw_functions, name, option, value, expected):
    with raises(OptionError, option=option, value=value, expected=expected):
        draw_functions[name](**{option: value})


@pytest.mark.parametrize("n_frames", [10**400, 10**5000], ids=["400 digits", "5000 digits"])
def test_too_many_frames(draw_functions, n_frames):
    with raises(OptionError, option="n_frames", value=n_frames) as info:
        draw_functions["errors"](n_frames=n_frames)
    assert info.value.expected.startswith("at most")


def test_too_many_poses(motion):
    long = kp.concatenate([motion] * 20)
    with raises(OptionError, expected="at most 300 poses in a strip"):
        kp.strip(long, range(1200), ghosts=MAX_POSES)
    with raises(OptionError, expected="at most 300 poses in a strip"):
        kp.strip(long, (0, 600, 1199), ghosts=MAX_POSES)


@pytest.mark.parametrize("other", [[1], 5, "walk.bvh", None])
def test_strip_needs_a_motion(other):
    with raises(OptionError, expected="a Motion or a KeyedMotion, as kp.load or kp.unbake give"):
        kp.strip(other)


@pytest.mark.parametrize("other", [5, None, 2.5])
def test_report_and_compare_need_motions(tmp_path: Path, other):
    with raises(OptionError, expected="a Motion, as kp.load gives, or several of them"):
        kp.report(other, tmp_path / "r.html")
    with raises(OptionError, expected="Motions or paths of motion files"):
        kp.compare(other)


def test_chosen_keys_must_match_the_ladder(motion):
    ladder, others = kp.ladder(motion, "salient", max_keys=20), kp.select(motion[:30], "salient", keys=8)
    with raises(OptionError, option="chosen"):
        kp.plot_errors(ladder, chosen=others)
    own = kp.select(motion, "salient", keys=8)
    assert "8 keys chosen" in kp.plot_errors(ladder, chosen=own).alt_text
    assert "8 keys chosen" in kp.plot_errors(ladder, chosen=own, n_frames=30).alt_text  # of a part of the motion
