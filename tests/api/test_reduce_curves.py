"""``kp.reduce_curves``: its arguments and their errors."""

from __future__ import annotations

import numpy as np
import pytest

import keypose as kp
from keypose.errors import ModelError, OptionError
from support.errors import Pattern, raises

TIMES = np.arange(40) / 20
VALUES = {"jaw": np.sin(5 * TIMES), "brow": np.cos(3 * TIMES), "blink": (TIMES > 1).astype(float)}


def with_value(values: np.ndarray, index: int, value: float) -> np.ndarray:
    copy = values.copy()
    copy[index] = value
    return copy


ERRORS = {
    "NaN": ({"values": {"jaw": with_value(VALUES["jaw"], 7, np.nan)}}, ModelError, {"problem": "nan at index (7,)", "subject": "curve 'jaw'"}),
    "infinity": ({"values": {"jaw": with_value(VALUES["jaw"], 7, np.inf)}}, ModelError, {"problem": "inf at index (7,)"}),
    "NaN in a table": ({"values": np.full((40, 2), np.nan)}, ModelError, {"option": "values"}),
    "time that stands still": ({"times": with_value(TIMES, 3, TIMES[2])}, OptionError, {"option": "times", "problem": "0.1 at index 3 follows 0.1"}),
    "time NaN": ({"times": with_value(TIMES, 3, np.nan)}, ModelError, {"option": "times"}),
    "other length": ({"values": {"jaw": TIMES[:9]}}, ModelError, {"subject": "curve 'jaw'", "problem": "shape (9,)"}),
    "no curves": ({"values": {}}, OptionError, {"option": "values"}),
    "no samples": ({"times": [], "values": {"jaw": []}}, OptionError, {"option": "values"}),
    "names of a mapping": ({"names": ["a", "b", "c"]}, OptionError, {"option": "names"}),
    "a name twice": ({"values": np.zeros((40, 2)), "names": ["a", "a"]}, OptionError, {"option": "names"}),
    "too few names": ({"values": np.zeros((40, 2)), "names": ["a"]}, OptionError, {"option": "names", "problem": "1 name"}),
    "neither": ({"tolerance": None}, OptionError, {"code": "missing_argument"}),
    "both": ({"keys": 4}, OptionError, {"code": "conflicting_options"}),
    "tolerance 0": ({"tolerance": 0.0}, OptionError, {"option": "tolerance", "value": 0.0}),
    "tolerance of an unknown curve": ({"tolerance": {"jew": 0.1, "*": 1}}, OptionError, {"option": "tolerance", "expected": Pattern("did you mean 'jaw'")}),
    "tolerance of some": ({"tolerance": {"jaw": 0.1}}, OptionError, {"option": "tolerance", "problem": "gives none for 'brow'"}),
    "keys 0": ({"tolerance": None, "keys": 0}, OptionError, {"option": "keys", "value": 0}),
    "one key": ({"tolerance": None, "keys": 1}, OptionError, {"option": "keys", "value": 1}),
    "keys of some": ({"tolerance": None, "keys": {"jaw": 3}}, OptionError, {"option": "keys", "problem": "gives none for 'brow'"}),
    "keys of two of a group": ({"tolerance": None, "keys": {"jaw": 3, "brow": 4, "*": 2}, "groups": {"face": ["jaw", "brow"]}}, OptionError, {"option": "keys", "value": "face"}),
    "unknown curve in a group": ({"groups": {"face": ["jaw", "lip"]}}, OptionError, {"option": "groups", "problem": "'face' has no curve 'lip'"}),
    "a curve in two groups": ({"groups": {"a": ["jaw"], "b": ["jaw"]}}, OptionError, {"option": "groups", "expected": "one group"}),
    "group named after another curve": ({"groups": {"blink": ["jaw"]}}, OptionError, {"option": "groups", "value": "blink"}),
    "empty group": ({"groups": {"face": []}}, OptionError, {"option": "groups"}),
    "groups some": ({"groups": "some"}, OptionError, {"option": "groups", "value": "some"}),
    "interpolation": ({"interpolation": "natural"}, OptionError, {"option": "interpolation", "value": "natural"}),
    "threads": ({"threads": 0}, OptionError, {"option": "threads", "value": 0}),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    arguments, kind, fields = ERRORS[case]
    with raises(kind, **fields):
        kp.reduce_curves(**{"times": TIMES, "values": VALUES, "tolerance": 0.01} | arguments)


def test_tolerances_and_keys_by_curve_and_group():
    groups = {"face": ("brow", "jaw")}
    reduced = kp.reduce_curves(TIMES, VALUES, tolerance={"face": 0.05, "jaw": 0.001, "*": 0.3}, groups=groups)
    assert reduced.tolerances.tolist() == [0.001, 0.05, 0.3]
    assert reduced["jaw"].times.tolist() == reduced["brow"].times.tolist()
    assert kp.reduce_curves(TIMES, VALUES, keys={"jaw": 5, "*": 4}, groups=groups)["brow"].samples.size == 5
    table = kp.reduce_curves(TIMES, np.stack(list(VALUES.values()), axis=1), names=list(VALUES), tolerance=0.01)
    named = kp.reduce_curves(TIMES, VALUES, tolerance=0.01)
    assert list(table) == list(named) == list(VALUES)
    assert all(np.array_equal(table[name].samples, named[name].samples) for name in VALUES)
    assert list(kp.reduce_curves(TIMES, VALUES["jaw"], tolerance=0.01)) == ["0"]
