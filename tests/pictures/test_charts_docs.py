"""docs/charts.md: its examples run, and its numbers are current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keypose.pictures.error_curve import MAX_CLIFFS
from keypose.pictures.heat import COLUMN_PX, SCALE_PERCENTILE
from keypose.pictures.svg import Picture
from keypose.pictures.timeline import ANGLES, MAX_DEFAULT_ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "charts.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def test_every_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(compile(example, "docs/charts.md", "exec"), names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.svg", "errors.svg", "heat.svg", "swings.svg"]
    assert isinstance(names["picture"], Picture)


def test_its_numbers_are_those_of_the_pictures() -> None:
    assert (len(ANGLES), ANGLES[0], ANGLES[-1]) == (9, 0, 120)
    assert "nine steps from 0 to 120 degrees" in PAGE
    assert f"more than {MAX_DEFAULT_ROWS} joints" in PAGE
    assert f"column of {COLUMN_PX:g} px" in PAGE
    assert f"{SCALE_PERCENTILE:g} % of the numbers" in PAGE
    assert MAX_CLIFFS == 5
    assert "Up to five are marked" in PAGE
