"""Pictures in the documents are what the code draws today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"-?\d+(?:\.\d+)?"
DRAW_FUNCTIONS = runpy.run_path(str(ROOT / "tools" / "pictures.py"))


def test_folder_and_pages_list_the_same_pictures():
    names = {path.name for path in DRAW_FUNCTIONS["FOLDER"].iterdir()}
    assert names == set(DRAW_FUNCTIONS["pictures"]())
    linked = "".join(path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    assert {name for name in names if f"pictures/{name})" not in linked} == set()


@pytest.mark.one_python
@pytest.mark.parametrize("name", sorted(path.name for path in DRAW_FUNCTIONS["FOLDER"].iterdir()))
def test_stored_pictures_are_current(name):
    """But for the last digit of numbers, which another processor may round the other way."""
    stored, current = (DRAW_FUNCTIONS["FOLDER"] / name).read_text(), DRAW_FUNCTIONS["pictures"]()[name]().svg
    assert re.sub(NUMBER, "#", current) == re.sub(NUMBER, "#", stored), "python tools/pictures.py draws them again"
    ours, theirs = (np.array(re.findall(NUMBER, text), float) for text in (current, stored))
    assert np.allclose(ours, theirs, atol=1.01)
