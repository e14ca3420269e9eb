"""The error curve as text: positions of dots, marks and labels."""

from __future__ import annotations

import math

import pytest

from keypose.cli import plot

COUNTS = list(range(2, 41))


def plot_lines(
    costs: list[float], chosen: int = 12, cliffs: tuple[int, ...] = (), width: int = 80, **options
) -> list[str]:
    text = plot.plot_curve(COUNTS[: len(costs)], costs, chosen, cliffs, width, **options)
    assert text is not None
    return text.plain.splitlines()


def rows_by_column(lines: list[str]) -> dict[int, int]:
    """Return the topmost row with a symbol for each column of the plot."""
    left = lines[0].index("│" if "│" in lines[0] else "┤") + 1
    tops: dict[int, int] = {}
    for row, line in enumerate(lines[: plot.ROWS]):
        for column, sign in enumerate(line[left:]):
            if sign != " ":
                tops.setdefault(column, row)
    return tops


def test_a_power_of_ten_is_a_straight_line() -> None:
    lines = plot_lines([10.0 ** (2 - n / 10) for n in range(39)])
    tops = rows_by_column(lines)
    assert sorted(tops) == list(range(plot.MAX_COLUMNS))
    for column, row in tops.items():
        assert abs(row - column / plot.MAX_COLUMNS * plot.ROWS) <= 1
    assert [line.split()[0] for line in lines[: plot.ROWS] if "┤" in line] == ["100", "10", "1", "0.1", "0.02"]


def test_marks_stand_on_their_numbers() -> None:
    costs = [100.0 / n for n in COUNTS]
    lines = plot_lines(costs, chosen=20, cliffs=(5, 30, 99))
    axis = lines[plot.ROWS + 1]
    (chosen,) = [line.index("●") for line in lines if "●" in line]
    cliffs = sorted(line.index("◆") for line in lines if "◆" in line)
    assert chosen == axis.index("20") + 1
    assert len(cliffs) == 2
    assert cliffs == [axis.index(" 5") + 1, axis.index("30") + 1]
    below = [line[chosen] for line in lines[: plot.ROWS]]
    assert below[below.index("●") + 1 :] == ["┊"] * (plot.ROWS - 1 - below.index("●"))


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e4, 1e15])
def test_it_fits(width: int, scale: float) -> None:
    lines = plot_lines([scale / n for n in COUNTS], width=width)
    assert len(lines) == plot.ROWS + 2
    assert all(len(line) <= width for line in lines)
    assert sum("┤" in line for line in lines) >= 2  # the axis has numbers


def test_nothing_to_see() -> None:
    assert plot.plot_curve([2, 3], [2.0, 1.0], 2, (), 80) is None
    assert plot.plot_curve([2, 3, 4], [0.0, 0.0, 0.0], 2, (), 80) is None


def test_zero_and_almost_zero_stand_at_the_bottom() -> None:
    lines = plot_lines([100.0, 10.0, 1.0, 1e-300, 0.0], chosen=6)
    (row,) = [n for n, line in enumerate(lines) if "●" in line]
    assert row == plot.ROWS - 1
    assert all(float(line.split()[0]) >= 100 * 10**-plot.MAX_DECADES for line in lines[: plot.ROWS] if "┤" in line)


def test_a_flat_curve() -> None:
    lines = plot_lines([3.0] * 39)
    assert set(rows_by_column(lines).values()) == {0}


def test_plain_characters() -> None:
    lines = plot_lines([100.0 / n for n in COUNTS], cliffs=(5,), symbols=plot.PLAIN)
    assert all(line.isascii() for line in lines)
    assert sum(line.count("O") for line in lines) == 1
    assert sum(line.count("*") for line in lines) >= plot.MAX_COLUMNS - 2


def test_gaps_in_the_numbers_of_keys() -> None:
    counts = [2, 3, 7, 20, 21, 40]
    text = plot.plot_curve(counts, [math.exp(-n / 9) for n in counts], 20, (7,), 80)
    assert text is not None
    assert sorted(rows_by_column(text.plain.splitlines())) == list(range(plot.MAX_COLUMNS))
