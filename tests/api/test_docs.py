"""docs/selection.md documents every method and every option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import keypose as kp
from keypose.api.method_input import COMMON_OPTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "selection.md").read_text()


@pytest.mark.parametrize("method", kp.methods(), ids=lambda row: row.name)
def test_every_method_and_option_is_documented(method):
    section = PAGE.split(f"\n### {method.name}\n")[1].split("\n### ")[0]
    assert set(method.options) <= set(re.findall(r"`(\w+)", section)), method.name
    assert f"| `{method.name}` |" in PAGE


def test_common_options_are_documented():
    assert set(COMMON_OPTIONS) - {"fps"} <= set(re.findall(r"`(\w+)", PAGE.split("## The methods")[0]))
