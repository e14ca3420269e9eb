"""Outlines of hulls of circles, compared with the convex hull of many points on them."""

from __future__ import annotations

import numpy as np
import pytest

from keypose.pictures.figure.body import ABSENT, hull_paths
from support.figures import polygon


def naive_hull(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The convex hull (N, 2) of points on circles, by walking around it (monotone chain)."""
    angles = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    round_ = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    points = sorted(map(tuple, np.concatenate([c + r * round_ for c, r in zip(centres, radii, strict=True)])))

    def half(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        line: list[tuple[float, float]] = []
        for x, y in points:
            while len(line) > 1 and (line[-1][0] - line[-2][0]) * (y - line[-2][1]) <= (line[-1][1] - line[-2][1]) * (
                x - line[-2][0]
            ):
                line.pop()
            line.append((x, y))
        return line[:-1]

    return np.array(half(points) + half(points[::-1]))


def area(points: np.ndarray) -> float:
    x, y = points.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


@pytest.mark.parametrize("circles", [1, 2, 3, 5])
def test_outlines_are_those_of_the_convex_hull(circles: int) -> None:
    random = np.random.default_rng(circles)
    centres, radii = random.uniform(-800, 800, (40, circles, 2)), random.uniform(20, 200, (40, circles))
    for path, c, r in zip(hull_paths(centres, radii), centres, radii, strict=True):
        ours, theirs = polygon(path, arc_points=60), naive_hull(c, r)
        assert area(ours) > 0  # all the same way round
        assert area(ours) == pytest.approx(area(theirs), rel=0.04)
        assert np.abs(ours.min(axis=0) - theirs.min(axis=0)).max() < 3.5
        assert np.abs(ours.max(axis=0) - theirs.max(axis=0)).max() < 3.5


def test_absent_circles_are_ignored() -> None:
    centres, radii = np.array([[[0.0, 0], [900, 0], [5000, 5000]]]), np.array([[100.0, 50, ABSENT]])
    assert hull_paths(centres, radii) == hull_paths(centres[:, :2], radii[:, :2])


def test_a_circle_inside_another_is_covered() -> None:
    both = hull_paths(np.array([[[0.0, 0], [30, 0]]]), np.array([[200.0, 50]]))
    assert area(polygon(both[0], arc_points=60)) == pytest.approx(np.pi * 200**2, rel=0.04)


def test_empty_input() -> None:
    assert hull_paths(np.zeros((0, 2, 2)), np.zeros((0, 2))) == []
