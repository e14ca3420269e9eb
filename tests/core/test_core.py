"""The C++ kernels against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keypose import _core, rotations
from reference import naive

MANY = 10**6


def parse(text: str, columns: int, start: int = 0):
    return _core.parse_rows(text.encode(), start, columns, 4, MANY)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_numbers_are_read_to_the_last_bit(numbers):
    for text in (
        " ".join(map(repr, numbers)),
        " ".join(f"{x:.6f}" for x in numbers),
        " ".join(f"{x:.17e}" for x in numbers),
    ):
        values, *_, fault, _, _, _ = parse(text + "\n", len(numbers))
        assert fault == ""
        expected = naive.parse_rows(text, len(numbers))
        assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "word",
    [
        "0",
        "-0",
        "+5",
        ".5",
        "-.5",
        "5.",
        "1e3",
        "1E-3",
        "+1.5e+2",
        "00012.50",
        "1e-400",
        "123456789012345678901234567890",
        "0." + "0" * 400 + "1",
        "0." + "0" * 330 + "1e5",
        "1" + "0" * 300 + ".5",
        "0.0001e-330",
        "9007199254740993",
        "0.1234567890123456789",
    ],
)
def test_every_notation_of_numbers(word):
    values, *_, fault, _, _, _ = parse(f"{word} {word}", 2)
    assert fault == "" and values.tolist() == [[float(word)] * 2]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", " \t\n", "\n\n  \n"])
def test_line_ends_and_blanks(line_end):
    values, *_ = parse(line_end.join(["1 2", "\t3  4", "5 6 "]) + line_end, 2)
    assert values.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("text", "fault", "line", "column", "byte"),
    [
        ("1 2\n3 x\n", "not a number", 1, 1, 6),
        ("1 2\n3 4,5\n", "not a number", 1, 1, 6),
        ("1 2\n3 1.#IND\n", "not a number", 1, 1, 6),
        ("1 2\nnan 4\n", "not finite", 1, 0, 4),
        ("1 2\n-inf 4\n", "not finite", 1, 0, 4),
        ("1 1e999\n", "not finite", 0, 1, 2),
        ("1 " + "1" + "0" * 400 + "\n", "not finite", 0, 1, 2),
        ("1 0.0001e400\n", "not finite", 0, 1, 2),
        ("1 2\n3\n5 6\n", "wrong count", 1, 1, 4),
        ("1 2\n3 4 5\n", "wrong count", 1, 3, 4),
        ("1 +-2\n", "not a number", 0, 1, 2),
        ("1 -\n", "not a number", 0, 1, 2),
    ],
)  # fmt: skip
def test_errors_have_line_and_column(text, fault, line, column, byte):
    *_, result, at_line, at_column, at_byte = parse(text, 2)
    assert (result, at_line, at_column, at_byte) == (fault, line, column, byte)


def test_a_truncated_last_row_is_dropped_and_counted():
    values, _, truncated, fault, *_ = parse("1 2 3\n4 5", 3)
    assert values.tolist() == [[1, 2, 3]] and truncated == 2 and fault == ""


def test_glued_numbers_are_split_and_counted():
    values, glued, *_ = parse("1.5-2.5 3e-2-4\n", 4)
    assert values.tolist() == [[1.5, -2.5, 3e-2, -4]] and glued == 2


def test_row_limit():
    values, *_ = _core.parse_rows(b"1\n2\n3\n4\n", 0, 1, 100, 2)
    assert values.tolist() == [[1], [2]]


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="columns"):
        _core.parse_rows(b"1", 0, 0, 1, 1)
    with pytest.raises(ValueError, match="after the end"):
        _core.parse_rows(b"1", 2, 1, 1, 1)
    with pytest.raises(ValueError, match="before their children"):
        _core.forward_kinematics(np.array([0], np.int32), np.zeros((1, 1, 3)), np.zeros((1, 1, 4)))
    with pytest.raises(ValueError, match="outside"):
        tables = np.full((3, 1, 3), 5, np.int32)
        _core.poses_from_channels(np.zeros((1, 2)), *tables, np.zeros((1, 3)))


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), st.integers(0, 12))
def test_printed_rows(numbers, decimals):
    text = _core.format_rows(np.array([numbers]), decimals).decode()
    tokens = [f"{x:.{decimals}f}" for x in numbers]
    expected = [w[1:] if float(w) == 0 and w.startswith("-") else w for w in tokens]
    assert text == " ".join(expected) + "\n"


def random_skeleton(rng, joints):
    parents = np.array([rng.integers(-1, j) if j else -1 for j in range(joints)], np.int32)
    return parents, rng.normal(size=(joints, 3))


@pytest.mark.parametrize("seed", range(5))
def test_forward_kinematics(seed):
    rng = np.random.default_rng(seed)
    parents, _ = random_skeleton(rng, 12)
    translations = rng.normal(size=(4, 12, 3))
    quaternions = rotations.normalise(rng.normal(size=(4, 12, 4)))
    positions, world = _core.forward_kinematics(parents, translations, quaternions)
    expected_positions, expected_matrices = naive.forward(parents, translations, quaternions)
    np.testing.assert_allclose(positions, expected_positions, atol=1e-12)
    np.testing.assert_allclose(rotations.to_matrix(world), expected_matrices, atol=1e-12)


def test_poses_from_channels():
    rng = np.random.default_rng(3)
    channels = [
        ("Xposition", "Yposition", "Zposition", "Zrotation", "Yrotation", "Xrotation"),
        ("Yrotation", "Zposition", "Xrotation"),
        (),
        ("Zrotation", "Xrotation", "Yrotation", "Yposition"),
    ]
    from keypose.formats.bvh import _column_tables
    from keypose.model import Skeleton

    skeleton = Skeleton(
        ("a", "b", "c", "d"),
        [-1, 0, 1, 0],
        rng.normal(size=(4, 3)),
        ("ZYX", "YXZ", "XYZ", "ZXY"),
        tuple(channels),
    )
    rows = rng.uniform(-400, 400, size=(6, sum(map(len, channels))))
    translations, quaternions = _core.poses_from_channels(rows, *_column_tables(skeleton), skeleton.offsets)
    expected_translations, expected_matrices = naive.poses_from_channels(rows, channels, skeleton.offsets)
    np.testing.assert_array_equal(translations, expected_translations)
    np.testing.assert_allclose(rotations.to_matrix(quaternions), expected_matrices, atol=1e-12)
