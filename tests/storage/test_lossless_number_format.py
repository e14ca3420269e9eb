"""Number formats: the fewest digits, and exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keypose import _core
from keypose.storage.lossless.layout import (
    DECIMAL,
    DOUBLE,
    SCALED,
    SINGLE,
    NumberFormat,
    choose_number_formats,
    same_bits,
)
from keypose.storage.lossless.predictors import decimal_ranks, quarter_log2
from reference.naive_storage_lossless import decimal_rank, number_of_rank, to_float
from support.lossless_motions import EDGE_VALUES

relaxed = settings(deadline=None, max_examples=60)


@pytest.mark.parametrize(
    ("texts", "kind", "decimals"),
    [
        ("1 2 -3 0", DECIMAL, 0),
        ("1.5 -0.25", DECIMAL, 2),
        ("12.3456 -179.9999 0.0000", DECIMAL, 4),
        ("-0.668003 1.4853 1.23056e-09", DECIMAL, 14),
        ("-0.668003 61.4853 1.23056e-09", DOUBLE, 0),
        ("2.03217e-16 0", DECIMAL, 21),
        ("0.10000000149011612 3.4028e30", DOUBLE, 0),
        ("0.3333333432674408 -1e-20", DOUBLE, 0),
        ("0.3333333432674408 -0.0", SINGLE, 0),
        ("0.3333333333333333", DOUBLE, 0),
    ],
)
def test_simplest_number_format_is_chosen(texts, kind, decimals):
    (result,) = choose_number_formats(np.array([texts.split()], float))
    assert (result.kind, result.decimals) == (kind, decimals)


def test_common_scale_is_detected_with_a_coarser_column():
    scale = float(np.float32(0.0889550969004631))
    rng = np.random.default_rng(1)
    columns = scale * rng.integers(-30000, 30000, (3, 200))
    columns[1] = scale * 7 * rng.integers(0, 2000, 200)
    columns[2, 5] = -0.0
    for number_format, column in zip(choose_number_formats(columns), columns, strict=True):
        assert number_format.kind == SCALED and number_format.scale == scale
        assert same_bits(number_format.to_floats(number_format.to_integers(column)), column).all()


NUMBERS = st.one_of(
    st.sampled_from(EDGE_VALUES), st.floats(-1e15, 1e15), st.integers(-999999, 999999).map(lambda k: k / 1000)
)


@given(st.lists(NUMBERS, min_size=1))
@relaxed
def test_number_formats_are_exact_and_monotonic(values):
    column = np.array(values)
    (number_format,) = choose_number_formats(column[None])
    wholes = number_format.to_integers(column)
    assert same_bits(number_format.to_floats(wholes), column).all()
    in_order = np.argsort(column, kind="stable")
    ascending = wholes[in_order].tolist()
    for smaller, larger, value in zip(ascending, ascending[1:], column[in_order][1:], strict=False):
        assert smaller <= larger + (value == 0)  # 0.0 and -0.0 compare as equal
    slow = {
        "spelling": number_format.kind,
        "decimals": number_format.decimals,
        "scale": number_format.scale,
        "zeros": number_format.signed_zeros,
    }
    assert [to_float(slow, int(k)).hex() for k in wholes] == [float(x).hex() for x in column]


@given(st.integers(-(2**50), 2**50), st.integers(1, 15))
@relaxed
def test_decimal_ranks_agree_with_the_reference_and_are_invertible(number, digits):
    base = 10**digits
    ranks = decimal_rank(number, base)
    assert decimal_ranks(np.array([number]), digits)[0] == ranks
    back = number_of_rank(ranks, base)
    assert abs(back) <= abs(number) and decimal_rank(back, base) == ranks
    assert back == number if len(str(abs(number)).rstrip("0")) <= digits else True


@given(st.integers(1, 2**60))
@relaxed
def test_quarters_of_octaves(number):
    exact = 4 * np.log2(number)
    assert exact - 1.35 < quarter_log2(number) <= exact + 1e-9


def test_text_of_columns_gives_back_the_numbers():
    values = np.array([[1.5, -0.0, 1e-7, 123.4], [-2.25, 0.0, 1 / 3, -0.05]])
    text = _core.format_columns(values, np.array([2, 1, -1, 4], np.int32))
    assert text == b"1.50 -0.0 1e-07 123.4000\n-2.25 0.0 0.3333333333333333 -0.0500\n"
    with pytest.raises(ValueError, match="decimals"):
        _core.format_columns(values, np.array([2, 1, -1], np.int32))
    with pytest.raises(ValueError, match="100"):
        _core.format_columns(values, np.array([2, 1, -1, 101], np.int32))


def test_hostile_integers_raise_no_warnings():
    extremes = np.array([-(2**63), 2**63 - 1, 0x7FF0000000000001, 0x7FA00000])
    for number_format in (
        NumberFormat(SINGLE),
        NumberFormat(DOUBLE),
        NumberFormat(SCALED, scale=1e308),
        NumberFormat(DECIMAL, 3),
    ):
        assert len(number_format.to_floats(extremes)) == 4
