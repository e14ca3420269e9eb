"""Pictures in the documents are what the code draws today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"-?\d+(?:\.\d+)?"
MADE = runpy.run_path(str(ROOT / "tools" / "pictures.py"))


def test_no_other_pictures_and_all_are_shown():
    names = {path.name for path in MADE["FOLDER"].iterdir()}
    assert names == set(MADE["pictures"]())
    told = "".join(path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    assert {name for name in names if f"pictures/{name})" not in told} == set()


@pytest.mark.one_python
@pytest.mark.parametrize("name", sorted(path.name for path in MADE["FOLDER"].iterdir()))
def test_they_are_drawn_the_same(name):
    """But for the last digit of numbers, which another processor may round the other way."""
    kept, drawn = (MADE["FOLDER"] / name).read_text(), MADE["pictures"]()[name]().svg
    assert re.sub(NUMBER, "#", drawn) == re.sub(NUMBER, "#", kept), "python tools/pictures.py draws them anew"
    ours, theirs = (np.array(re.findall(NUMBER, text), float) for text in (drawn, kept))
    assert np.allclose(ours, theirs, atol=1.01)
