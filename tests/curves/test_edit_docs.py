"""docs/editing.md: its examples run, and it documents every operation and option."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.curves.edit import Change, Edit

PAGE = (Path(__file__).parents[2] / "docs" / "editing.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.S)


def test_every_example_runs():
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(compile(example, "docs/editing.md", "exec"), names)
    e, change = names["e"], names["change"]
    assert isinstance(e, Edit) and isinstance(change, Change)
    assert change.range == (281, 319) and change.missed > 1
    assert len(e.history) == 3 + 4 + 1 + 4
    assert e.history[0] == "rotate(240, 'left_upper_arm', axis=(0, 0, 1), degrees=30, space='world', spread_s=0.5)"
    assert isinstance(names["edited"], kp.Motion)
    assert np.isfinite(e.keyed.sample(1.0).world_positions()).all()


def test_every_operation_and_option_is_documented():
    words = set(re.findall(r"\w+", PAGE))
    for name, member in inspect.getmembers(Edit):
        if name.startswith("_"):
            continue
        assert name in words, name
        if inspect.isfunction(member):
            assert set(inspect.signature(member).parameters) - {"self"} <= words, name
