"""The examples of docs/compare.md run, and it documents every column and method."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.compare import COMPARED_METHODS, REFERENCES
from keypose.api.compare.tables import COLUMN_TYPES

PAGE = (Path(__file__).parents[3] / "docs" / "compare.md").read_text()


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: kp.Motion):
    monkeypatch.chdir(tmp_path)
    kp.save(short[:20], "walk.bvh")
    kp.save(short[20:40], "run.bvh")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, kp.Comparison] = {}
    exec(example, names)
    assert names["again"].rows == names["comparison"].rows and len(names["comparison"].clips) == 2


def test_every_column_and_method_is_documented():
    for name in (*COLUMN_TYPES, *COMPARED_METHODS, *REFERENCES):
        assert f"`{name}`" in PAGE, name
