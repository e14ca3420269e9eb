"""The examples of docs/compare.md run, and it knows every column and way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import keypose as kp
from keypose.verbs.comparing import CONTENDERS, REFERENCES
from keypose.verbs.comparing.rows import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "compare.md").read_text()


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: kp.Motion):
    monkeypatch.chdir(tmp_path)
    kp.save(short[:20], "walk.bvh")
    kp.save(short[20:40], "run.bvh")
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, kp.Comparison] = {}
    exec(example, names)
    assert names["again"].rows == names["found"].rows and len(names["found"].clips) == 2


def test_every_column_and_way_is_explained():
    for name in (*KINDS, *CONTENDERS, *REFERENCES):
        assert f"`{name}`" in PAGE, name
