"""Keys of long motions are searched section by section, so that the time grows with the frames, not their square."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose import _core
from keypose.api.method_input import build_curve_options
from keypose.errors import OptionError
from keypose.model import Ladder
from support.errors import raises

unbake_module: Any = importlib.import_module("keypose.api.unbake")  # the package has a function of that name
SEARCH = {"cost": "inbetween", "interpolation": "bezier", "threads": 1, "max_gap_frames": 30}
SECTION_FRAMES = 120


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30)


@pytest.fixture
def section_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of frames of each search, with short sections."""
    sizes: list[int] = []

    def record(source: Any, *arguments: Any, **options: Any) -> Ladder:
        sizes.append(len(source))
        return kp.ladder(source, *arguments, **options)

    monkeypatch.setattr(unbake_module, "SECTION_FRAMES", SECTION_FRAMES)
    monkeypatch.setattr(unbake_module, "ladder", record)
    return sizes


def _search(motion: kp.Motion, max_keys: int | None = None, **options: Any) -> Ladder:
    result: Ladder = unbake_module.search_sections(motion, max_keys, {**SEARCH, **options})
    return result


def _common_keys(key_ladder: Ladder) -> list[int]:
    return sorted(set.intersection(*(set(each) for each in key_ladder)))


def test_ladder_is_optimal_with_keys_at_cuts(motion: kp.Motion, section_sizes: list[int]) -> None:
    key_ladder = _search(motion)
    cuts = _common_keys(key_ladder)
    assert len(cuts) == len(section_sizes) + 1 == 4 and max(section_sizes) < 1.5 * SECTION_FRAMES
    expected = kp.ladder(motion, "salient", pins=cuts, max_keys=int(key_ladder.counts[-1]), **SEARCH)
    counts = np.intersect1d(key_ladder.counts, expected.counts).tolist()
    assert len(counts) > 60 and counts[0] == expected.counts[0]
    np.testing.assert_allclose(
        [key_ladder.costs[n] for n in counts], [expected.costs[n] for n in counts], rtol=1e-6, atol=1e-6
    )
    for n in counts[::10]:
        assert len(key_ladder.at(n)) == n


def test_constraints_hold(motion: kp.Motion, section_sizes: list[int]) -> None:
    pins, excluded = [5, 119, 200], [60, 61, 118, 122, 240]
    key_ladder = _search(motion, 80, pins=pins, excluded=excluded, min_gap_frames=3)
    assert len(section_sizes) == 3 and key_ladder.counts[-1] <= 80
    assert {0, 5, 119, 200, 369} <= set(_common_keys(key_ladder))  # a cut is a pin if there is one near it
    for selection in key_ladder:
        gaps = np.diff(selection.frames)
        assert not set(selection) & set(excluded) and gaps.min() >= 3 and gaps.max() <= 30
    limited = _search(motion, limit_mm=20.0)
    assert limited.cost_values.max() <= 20.0 and len(limited) > 3


@pytest.mark.parametrize("options", [{"auto": True}, {"tolerance_mm": 15.0}])
def test_unbake(
    motion: kp.Motion, section_sizes: list[int], monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    keyed = kp.unbake(motion, **options)
    assert section_sizes and max(section_sizes) < 1.5 * SECTION_FRAMES
    monkeypatch.setattr(unbake_module, "SECTION_FRAMES", 10_000)
    exact = kp.unbake(motion, **options)
    assert exact.n_keys <= keyed.n_keys <= 1.25 * exact.n_keys + 3
    assert kp.score(motion, keyed).max_mm <= options.get("tolerance_mm", 17.0)


@pytest.mark.parametrize("kernel", ["inbetween_spans", "polish"])
def test_spans_are_measured_without_the_rest_of_the_motion(
    motion: kp.Motion, section_sizes: list[int], monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    """Their number grows with the frames; if each took the whole motion, the time would grow with the square."""
    sizes: list[int] = []
    compute = getattr(_core, kernel)

    def record(*arguments: Any) -> Any:
        sizes.append(len(arguments[1]))
        return compute(*arguments)

    monkeypatch.setattr(_core, kernel, record)
    kp.unbake(motion, auto=True)
    assert len(sizes) > 20 and sum(size > 1.5 * SECTION_FRAMES for size in sizes) <= 4


def test_too_few_keys_for_sections(motion: kp.Motion, section_sizes: list[int]) -> None:
    """The whole motion is searched, as the cuts are not allowed to cost a selection."""
    with raises(OptionError, code="no_selection"):
        _search(motion, 12, pins=[4, 9, 50, 90, 100, 119, 200, 241, 300])
    section_sizes.clear()
    curve_options = build_curve_options(motion.skeleton, "bezier", "quaternion", False, 0.0, None, None, 1, False)
    key_ladder = unbake_module._search_ladder(motion, curve_options, 14, {"max_gap_frames": 30})
    assert section_sizes[-1] == motion.n_frames and key_ladder.counts.tolist() == [14]


@pytest.mark.parametrize(
    ("n_frames", "options"),
    [(200, {}), (370, {"loop": True}), (370, {"objective": "sum"}), (370, {"measure": "mean"}), (370, {"top_only": True}),
     (370, {"max_gap_frames": 300})],
)  # fmt: skip
def test_searches_without_sections(
    motion: kp.Motion, section_sizes: list[int], n_frames: int, options: dict[str, Any]
) -> None:
    assert unbake_module.has_sections(motion, None, SEARCH)
    assert not unbake_module.has_sections(motion[:n_frames], None, {**SEARCH, **options})


@pytest.mark.parametrize("value", ["x", 2.5, np.zeros(0), [3], {}])
@pytest.mark.parametrize("option", ["max_gap_frames", "min_gap_frames", "measure", "objective", "loop"])
def test_wrong_types(motion: kp.Motion, section_sizes: list[int], option: str, value: Any) -> None:
    with raises(OptionError, option=option):
        kp.unbake(motion, **{option: value})


def test_report(motion: kp.Motion, section_sizes: list[int], tmp_path: Path) -> None:
    page = kp.report(motion, tmp_path / "report.html").read_text()
    assert section_sizes and max(section_sizes) < 1.5 * SECTION_FRAMES
    assert "Error and number of keys" in page
