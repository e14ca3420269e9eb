"""Arguments of the wrong kind or size: every verb that draws refuses them in its own words, before it allocates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.pictures.heat import heat_map
from keypose.pictures.strip.choice import MOST_POSES

NAN = float("nan")


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30.0)[:60]


@pytest.fixture(scope="module")
def verbs(motion: kp.Motion, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., Any]]:
    page = tmp_path_factory.mktemp("refused") / "r.html"
    found, steps = kp.swings(motion), kp.ladder(motion, "salient", max_keys=20)
    return {
        "timeline": lambda **options: kp.timeline(found, **options),
        "curves": lambda **options: kp.plot_curves(motion, **options),
        "errors": lambda **options: kp.plot_errors(steps, **options),
        "heat": lambda **options: heat_map(np.ones((3, 2)), ["a", "b"], fps=30.0, **options),
        "strip": lambda **options: kp.strip(motion, **options),
        "report": lambda **options: kp.report(motion, page, **options),
    }


@pytest.mark.parametrize("verb", ["timeline", "curves", "errors", "heat", "strip", "report"])
@pytest.mark.parametrize("title", [5, NAN, b"walk", ["walk"]])
def test_a_title_is_text(verbs, verb, title):
    with pytest.raises(OptionError, match=r"title=.*, expected text"):
        verbs[verb](title=title)


@pytest.mark.parametrize(
    ("verb", "options", "message"),
    [
        ("errors", {"unit": NAN}, "unit=nan, expected text"),
        ("heat", {"unit": NAN}, "unit=nan, expected text"),
        ("heat", {"what": 5}, "what=5, expected text"),
        ("timeline", {"joints": 5}, "joints=5, expected names of joints"),
        ("curves", {"joints": 5}, "joints=5, expected names of joints"),
        ("errors", {"n_frames": 10**400}, "n_frames=int, expected at most"),
        ("errors", {"n_frames": 10**5000}, "n_frames=int, expected at most"),
        ("strip", {"ghosts": 10**9}, f"ghosts=1000000000, expected at most {MOST_POSES}"),
        ("strip", {"ghosts": 10**400}, f"ghosts=int, expected at most {MOST_POSES}"),
    ],
)
def test_values_that_no_picture_has_are_refused(verbs, verb, options, message):
    with pytest.raises(OptionError, match=message):
        verbs[verb](**options)


def test_as_many_keys_as_there_are_frames_are_refused_by_their_number(motion):
    long = kp.concatenate([motion] * 20)
    with pytest.raises(OptionError, match="1,200 keys, expected at most 300 poses"):
        kp.strip(long, range(1200), ghosts=MOST_POSES)
    with pytest.raises(OptionError, match="3 keys and 600 ghosts, expected at most 300 poses"):
        kp.strip(long, (0, 600, 1199), ghosts=MOST_POSES)


@pytest.mark.parametrize("other", [[1], 5, "walk.bvh", None])
def test_a_strip_is_of_a_motion(other):
    with pytest.raises(OptionError, match=f"{type(other).__name__}, expected a Motion"):
        kp.strip(other)


@pytest.mark.parametrize("other", [5, None, 2.5])
def test_reports_and_comparisons_are_of_motions(tmp_path: Path, other):
    with pytest.raises(OptionError, match="expected a Motion"):
        kp.report(other, tmp_path / "r.html")
    with pytest.raises(OptionError, match=f"{type(other).__name__}, expected Motions or paths"):
        kp.compare(other)


def test_keys_that_were_chosen_are_those_of_the_ladder(motion):
    steps, others = kp.ladder(motion, "salient", max_keys=20), kp.select(motion[:30], "salient", keys=8)
    with pytest.raises(OptionError, match="keys of 30 frames, expected those of the 60 of the ladder"):
        kp.plot_errors(steps, chosen=others)
    own = kp.select(motion, "salient", keys=8)
    assert "8 keys chosen" in kp.plot_errors(steps, chosen=own).says
    assert "8 keys chosen" in kp.plot_errors(steps, chosen=own, n_frames=30).says  # of a part of the motion
