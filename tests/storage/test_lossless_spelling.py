"""How numbers are spelt: as few digits as they have, and every bit of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lossless_motions import STRANGE

from keypose import _core
from keypose.storage.lossless.misses import quarters, rungs
from keypose.storage.lossless.spelling import DECIMAL, DOUBLE, SCALED, SINGLE, Spelling, same_bits, spellings
from naive_storage_lossless import of_rung, rung, spelt

relaxed = settings(deadline=None, max_examples=60)


@pytest.mark.parametrize(
    ("words", "kind", "decimals"),
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
def test_the_plainest_spelling_is_found(words, kind, decimals):
    (found,) = spellings(np.array([words.split()], float))
    assert (found.kind, found.decimals) == (kind, decimals)


def test_multiples_of_a_scale_are_found_also_where_one_column_is_coarser():
    scale = float(np.float32(0.0889550969004631))
    rng = np.random.default_rng(1)
    columns = scale * rng.integers(-30000, 30000, (3, 200))
    columns[1] = scale * 7 * rng.integers(0, 2000, 200)
    columns[2, 5] = -0.0
    for spelling, column in zip(spellings(columns), columns, strict=True):
        assert spelling.kind == SCALED and spelling.scale == scale
        assert same_bits(spelling.values(spelling.wholes(column)), column).all()


NUMBERS = st.one_of(
    st.sampled_from(STRANGE), st.floats(-1e15, 1e15), st.integers(-999999, 999999).map(lambda k: k / 1000)
)


@given(st.lists(NUMBERS, min_size=1))
@relaxed
def test_every_spelling_gives_back_the_bits_in_order(values):
    column = np.array(values)
    (spelling,) = spellings(column[None])
    wholes = spelling.wholes(column)
    assert same_bits(spelling.values(wholes), column).all()
    in_order = np.argsort(column, kind="stable")
    ascending = wholes[in_order].tolist()
    for smaller, larger, value in zip(ascending, ascending[1:], column[in_order][1:], strict=False):
        assert smaller <= larger + (value == 0)  # 0.0 and -0.0 compare as equal
    slow = {
        "spelling": spelling.kind,
        "decimals": spelling.decimals,
        "scale": spelling.scale,
        "zeros": spelling.signed_zeros,
    }
    assert [spelt(slow, int(k)).hex() for k in wholes] == [float(x).hex() for x in column]


@given(st.integers(-(2**50), 2**50), st.integers(1, 15))
@relaxed
def test_rungs_agree_with_the_twin_and_lead_back(number, digits):
    base = 10**digits
    counted = rung(number, base)
    assert rungs(np.array([number]), digits)[0] == counted
    back = of_rung(counted, base)
    assert abs(back) <= abs(number) and rung(back, base) == counted
    assert back == number if len(str(abs(number)).rstrip("0")) <= digits else True


@given(st.integers(1, 2**60))
@relaxed
def test_quarters_of_octaves(number):
    exact = 4 * np.log2(number)
    assert exact - 1.35 < quarters(number) <= exact + 1e-9


def test_text_of_columns_gives_back_the_numbers():
    values = np.array([[1.5, -0.0, 1e-7, 123.4], [-2.25, 0.0, 1 / 3, -0.05]])
    text = _core.format_columns(values, np.array([2, 1, -1, 4], np.int32))
    assert text == b"1.50 -0.0 1e-07 123.4000\n-2.25 0.0 0.3333333333333333 -0.0500\n"
    with pytest.raises(ValueError, match="decimals"):
        _core.format_columns(values, np.array([2, 1, -1], np.int32))
    with pytest.raises(ValueError, match="100"):
        _core.format_columns(values, np.array([2, 1, -1, 101], np.int32))


def test_hostile_whole_numbers_make_no_noise():
    extremes = np.array([-(2**63), 2**63 - 1, 0x7FF0000000000001, 0x7FA00000])
    for spelling in (Spelling(SINGLE), Spelling(DOUBLE), Spelling(SCALED, scale=1e308), Spelling(DECIMAL, 3)):
        assert len(spelling.values(extremes)) == 4
