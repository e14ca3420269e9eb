"""Selections, ladders, and cliffs and knee of the cost curve."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose.errors import ModelError, OptionError
from keypose.model import Ladder, Selection
from support.errors import raises


def make_ladder(costs, min_keys: int = 2) -> Ladder:
    n = len(costs) + min_keys - 1
    return Ladder.from_order("test", max(1000, n), range(n), costs, min_keys=min_keys)


def test_a_selection_is_increasing_and_inside():
    assert Selection([0, 4, 9], 10, "test").frames.tolist() == [0, 4, 9]
    for wrong in ([], [4, 4], [5, 3], [-1, 3], [0, 10]):
        with raises(ModelError, subject="selection", expected="increasing ones from 0 to 9, at least one"):
            Selection(wrong, 10, "test")
    with raises(ModelError, subject="selection", value="order"):
        Selection([0, 4], 10, "test", order=[0, 5])


def test_instances_stay_read_only():
    ladder = make_ladder(np.linspace(5, 1, 9))
    for copies in (ladder, pickle.loads(pickle.dumps(ladder)), copy.deepcopy(ladder)):
        for array in (copies.frames, copies.at(4).frames, copies.at(4).order, copies.cost_values, copies.costs.amounts):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_a_ladder_answers_inside_its_range_and_names_it_outside():
    ladder = Ladder.from_paths("test", 20, [2, 3, 5], [0, 19, 0, 7, 19, 0, 3, 7, 12, 19], [4.0, 2.0, 1.0])
    assert ladder.at(3).frames.tolist() == [0, 7, 19] and ladder.at(5).frames.tolist() == [0, 3, 7, 12, 19]
    assert dict(ladder.costs) == {2: 4.0, 3: 2.0, 5: 1.0} and ladder.at(3).order is None
    for wrong in (0, 1, 4, 6, -2):
        with raises(OptionError, expected="one of 2, 3, 5"):
            ladder.at(wrong)
    assert 3 in ladder.costs and 4 not in ladder.costs and ladder.costs.get(4) is None and ladder.costs.get(5) == 1.0
    with raises(OptionError, expected="2 to 10"):
        make_ladder(np.ones(9)).costs[1]
    with raises(OptionError, option="keys", value=2.5):
        make_ladder(np.ones(9)).at(2.5)


@pytest.mark.parametrize("cost", [[-1.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_costs_are_finite_and_not_negative(cost):
    with pytest.raises(ModelError):
        make_ladder(cost)


def stairs(at: dict[int, float], last: int = 60) -> np.ndarray:
    """Return a cost that falls by 2 % per key and at given numbers of keys by a further factor."""
    costs = [100.0]
    for keys in range(3, last + 1):
        costs.append(costs[-1] * 0.98 / at.get(keys, 1.0))
    return np.array(costs)


def test_cliffs_are_where_they_were_built_strongest_first():
    cliffs = make_ladder(stairs({7: 3.0, 20: 1.5, 41: 2.0})).cliffs()
    assert [cliff.keys for cliff in cliffs] == [7, 41, 20]
    np.testing.assert_allclose([cliff.strength for cliff in cliffs], np.log([3.0, 2.0, 1.5]))


def test_a_cliff_at_the_first_place_and_one_of_two_keys():
    assert [cliff.keys for cliff in make_ladder(stairs({3: 4.0})).cliffs()] == [3]
    assert [cliff.keys for cliff in make_ladder(stairs({10: 2.0, 11: 2.0})).cliffs()] == [11]  # both keys are needed


def test_the_next_two_keys_both_count():
    """d(n) must exceed d(n+1) and d(n+2): a key that only prepares the next but one is no cliff."""
    drops = np.full(40, 0.02)
    drops[10], drops[12] = 0.5, 0.6
    cliffs = make_ladder(np.exp(-np.concatenate(([0.0], np.cumsum(drops))))).cliffs()
    assert [cliff.keys for cliff in cliffs] == [15]
    drops[12] = 0.2  # now the first falls more than both after it, and the other is a cliff too
    cliffs = make_ladder(np.exp(-np.concatenate(([0.0], np.cumsum(drops))))).cliffs()
    assert [cliff.keys for cliff in cliffs] == [13, 15]
    np.testing.assert_allclose([cliff.strength for cliff in cliffs], [0.3, 0.18])


@pytest.mark.parametrize(("step", "count"), [(0.11, 1), (0.09, 0)])
def test_a_cliff_is_at_least_a_tenth(step, count):
    assert len(make_ladder(stairs({20: np.exp(step)})).cliffs()) == count


def test_a_cliff_need_not_be_much_steeper_than_what_follows():
    drops = np.full(40, 0.3)
    drops[10] = 0.45
    assert [c.keys for c in make_ladder(np.exp(-np.concatenate(([0.0], np.cumsum(drops)))), min_keys=2).cliffs()] == [
        13
    ]


def test_of_neighbouring_cliffs_the_strongest():
    drops = np.full(40, 0.02)
    drops[10], drops[11] = 0.9, 0.4
    assert [c.keys for c in make_ladder(np.exp(-np.concatenate(([0.0], np.cumsum(drops))))).cliffs()] == [13]


def naive_cliffs(costs: dict[int, float]) -> dict[int, float]:
    """Return the cliffs by the definition, number by number; the number of keys after the last has no drop."""
    drops = {n: np.log(costs[n - 1] / costs[n]) for n in costs if n - 1 in costs}
    strengths = {n: drop - max(drops[n + 1], drops.get(n + 2, -np.inf)) for n, drop in drops.items() if n + 1 in drops}
    return {
        n: strength
        for n, strength in strengths.items()
        if strength >= 0.1 and strength > strengths.get(n - 1, -np.inf) and strength >= strengths.get(n + 1, -np.inf)
    }


@given(st.lists(st.floats(0.0, 1.5), min_size=2, max_size=40), st.integers(1, 4))
def test_cliffs_are_those_of_the_definition(drops, min_keys):
    costs = 7.0 * np.exp(-np.concatenate(([0.0], np.cumsum(drops) / 6)))
    ladder = make_ladder(costs, min_keys)
    expected = naive_cliffs(dict(zip(range(min_keys, min_keys + len(costs)), costs.tolist(), strict=True)))
    found = {cliff.keys: cliff.strength for cliff in ladder.cliffs()}
    assert found == pytest.approx(expected)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_rounding_has_no_cliffs():
    noise = np.concatenate((np.geomspace(1, 1e-7, 10), 1e-8 * np.random.default_rng(0).random(40)))
    assert make_ladder(noise).cliffs() == ()


def test_the_natural_number_is_one_of_the_counts():
    with raises(ModelError, subject="ladder", expected="one of its counts"):
        Ladder.from_order("test", 10, range(5), np.ones(5), natural=7)


def test_no_cliffs_on_flat_and_on_steadily_falling_curves():
    keys = np.arange(2, 80.0)
    curves = [np.ones(78), np.zeros(78), 0.9**keys, 0.5**keys, 1000 - keys]
    for costs in (*curves, keys**-0.5):
        assert make_ladder(costs).cliffs() == (), costs[:4]
    for power in (1.0, 2.0, 3.0):  # steepest at its start
        assert [cliff.keys for cliff in make_ladder(keys**-power).cliffs()] == [3]


def test_a_cost_that_falls_to_zero_has_a_cliff_there():
    assert [cliff.keys for cliff in make_ladder([9, 8.8, 8.6, 8.4, 0, 0, 0, 0, 0]).cliffs()] == [6]


def test_cliffs_of_short_and_broken_ladders():
    assert make_ladder([1.0]).cliffs() == make_ladder([2.0, 1.0]).cliffs() == ()
    gap = Ladder.from_paths(
        "test", 20, [2, 3, 6, 7], [0] * 0 + [0, 1] + [0, 1, 2] + list(range(6)) + list(range(7)), [4, 3, 2, 1.0]
    )
    assert gap.cliffs() == ()


def test_the_knee_is_the_corner():
    bent = np.concatenate((np.geomspace(100, 1, 10), np.geomspace(1, 0.5, 41)[1:]))
    assert make_ladder(bent).knee() == 11
    assert make_ladder(bent).knee(min_keys=12, max_keys=30) in range(12, 31)
    assert make_ladder(np.ones(20)).knee() == 2 and make_ladder(np.ones(20)).knee(5, 9) == 5
    with raises(OptionError, expected="2 to 21"):
        make_ladder(np.ones(20)).knee(30, 40)
