"""The page of a comparison: tables, curves and escaping."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.api.compare import CompareOptions, Comparison, Row, compare_motion
from keypose.api.compare.tables import format_number
from keypose.pictures.comparison import comparison_card, comparison_page
from keypose.pictures.comparison.curves import MEASURES, _median_curve, plot_error_curves, plot_value_curves

SETTINGS = CompareOptions(("salient-inbetween", "farthest", "uniform"), ("per-curve", "pca"), (80.0, 90.0))
EVIL = '<script>alert(1)</script>\x1b[31m\u202e\ud800 &amp; "x" ' + "y" * 10_000


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    demo = kp.demo_motion(fps=20)
    rows = [row for n in (0, 40) for row in compare_motion(demo[n : n + 60], SETTINGS, source=f"take{n}.bvh")]
    return Comparison(tuple(rows), SETTINGS)


@pytest.fixture(scope="module")
def text(comparison: Comparison) -> str:
    return comparison_page(comparison, command="keypose compare takes/")


def cells(html: str, method_pair: tuple[str, str]) -> list[str]:
    """Return the cells of the first row of a method pair, without marks."""
    match = re.search(rf'<tr><th scope="row">{method_pair[0]}</th><td>{method_pair[1]}</td>(.*?)</tr>', html)
    assert match
    return [re.sub(r"<[^>]*>|\s|★|\*", "", cell) for cell in re.findall(r"<td.*?</td>", match[1])]


def test_the_table_holds_the_medians(comparison, text):
    for method_pair in comparison.method_pairs:
        medians = [row for row in comparison.medians() if (row.method, row.inbetweens) == method_pair]
        expected = [format_number(value) for each in medians for value in (each.mean_mm, each.max_mm)]
        assert cells(text, method_pair) == expected


def test_the_best_of_each_column_is_marked_once(text):
    table = text[text.index('<section id="errors"') : text.index('<section id="curves"')]
    assert table.count('class="number best"') == 4
    best_pairs = re.findall(r'<th scope="row">([\w-]+)</th><td>(\w+)</td>(?:(?!</tr>).)*class="number best"', table)
    assert ("salient-inbetween", "fitted") in best_pairs and not {"pca", "per-curve"} & {name for name, _ in best_pairs}


def test_page_contains_explanations_and_settings(text):
    for text_part in (
        "small files are the storage format&#x27;s business",
        "keypose compare takes/",
        "kp.compare(",
        "removed_percent=(80.0, 90.0)",
        "take0.bvh",
        "as many stored values as keys with fitted curves",
    ):
        assert text_part in text, text_part
    assert text.count("<svg") == 2 * 2 + 2
    assert text.count("<details>") >= 2


def test_all_measures_at_every_budget(comparison, text):
    part = text[text.index('<section id="figures"') : text.index('<section id="time"')]
    tables = part.split("<table")[1:]
    assert len(tables) == 2
    for table, percent in zip(tables, (80.0, 90.0), strict=True):
        heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table)
        for method_pair in comparison.method_pairs:
            row = dict(zip(heads[2:], cells(table, method_pair), strict=True))
            (median,) = (
                each
                for each in comparison.medians()
                if (each.method, each.inbetweens, each.removed_percent) == (*method_pair, percent)
            )
            expected = {"stored values": median.stored_values, "95 % within mm": median.p95_mm, "max °": median.max_deg}
            expected |= {"foot slide mm": median.foot_slide_mm, "fitting ms": 1e3 * median.fitting_s}
            expected |= {"choosing ms": 1e3 * median.selection_s, "mean mm": median.mean_mm}
            assert {name: row[name] for name in expected} == {
                name: format_number(value) for name, value in expected.items()
            }


def test_failures_are_listed_and_escaped(comparison, text):
    page = comparison_page(comparison, failures=[("a.bvh", "a.bvh:3: bad"), (EVIL, EVIL), ("b.bvh", "too long")])
    assert "<li>a.bvh:3: bad</li>" in page and "<li>b.bvh: too long</li>" in page and "3, see below" in page
    assert "<script>alert" not in page and 'id="left-out"' not in text


def test_the_same_comparison_gives_the_same_page(comparison, text):
    assert comparison_page(comparison, command="keypose compare takes/") == text


def labels(svg: str) -> set[str]:
    return set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


@pytest.mark.parametrize("inbetweens", ["linear", "fitted"])
def test_every_method_has_a_line(comparison, inbetweens):
    for measure in MEASURES:
        picture = plot_error_curves(comparison, inbetweens, measure, theme="light")
        assert {"salient-inbetween", "farthest", "uniform"} <= labels(picture.svg)
        assert {"95", "90", "80"} <= labels(picture.svg)  # frames removed, along the bottom
        assert measure.label in picture.alt_text and "uniform" in picture.alt_text


def test_references_stand_beside_keys_at_equal_values(comparison):
    picture = plot_value_curves(comparison, MEASURES[0], theme="light")
    expected = {"per-curve", "pca", "salient-inbetween, linear", "salient-inbetween, fitted", "uniform, fitted"}
    assert expected <= labels(picture.svg)


def rows_with(comparison: Comparison, points: dict[str, dict[float, float]]) -> list[Row]:
    """Return rows of clips with given errors at given percentages of keys."""
    return [
        replace(comparison.rows[0], sha256=clip, removed_percent=100 - key_percent, mean_mm=error)
        for clip, curve in points.items()
        for key_percent, error in curve.items()
    ]


def test_median_curve_covers_the_common_range(comparison):
    rows = rows_with(
        comparison, {"a": {1: 100, 10: 10}, "b": {2: 40, 20: 4}, "c": {1: 1, 2: 1, 40: 1}}
    )  # on these scales: 100 / percent, 80 / percent, 1
    x, y = _median_curve(rows, lambda row: 100 - row.removed_percent, "mean_mm")
    assert x[0] == pytest.approx(2) and x[-1] == pytest.approx(10)
    np.testing.assert_allclose(y, 80 / x)


def test_curve_of_one_clip_has_its_own_points(comparison):
    rows = rows_with(comparison, {"a": {10: 3, 1: 50, 5: 0}})
    x, y = _median_curve(rows, lambda row: 100 - row.removed_percent, "mean_mm")
    np.testing.assert_allclose(x, [1, 5, 10])
    np.testing.assert_allclose(y, [50, 0.01, 3])  # 0 has no logarithm


def test_clips_without_a_common_part_have_no_curve(comparison):
    rows = rows_with(comparison, {"a": {1: 3, 2: 2}, "b": {10: 3, 20: 2}, "c": {5: 1}})
    assert _median_curve(rows, lambda row: 100 - row.removed_percent, "mean_mm") is None
    assert _median_curve([], lambda row: 1.0, "mean_mm") is None


def test_a_page_of_one_budget_has_no_curves(comparison):
    rows = tuple(row for row in comparison if row.series == "table" and row.target_removed_percent == 90.0)
    page = comparison_page(Comparison(rows))
    assert "<svg" not in page and "Read from a table of rows" in page and cells(page, ("uniform", "linear"))


def test_hostile_text_is_escaped(comparison):
    evil = Comparison(
        tuple(
            replace(row, clip=EVIL, source=EVIL, method=EVIL, inbetweens=row.inbetweens, note=EVIL)
            for row in comparison
        )
    )
    for html in (comparison_page(evil, title=EVIL, command=EVIL), comparison_card(evil)):
        assert "<script>alert" not in html and "alert(1)</script" not in html
        assert not re.search("[\x00-\x08\x1b\u202e\ud800]", html) and "y" * 3000 not in html
        html.encode()


def test_methods_without_figures_show_a_dash(comparison):
    rows = tuple(
        replace(row, mean_mm=None, max_mm=None, keys=None, removed_percent=None, note="cannot see")
        if row.method == "farthest"
        else row
        for row in comparison
    )
    page = comparison_page(Comparison(rows))
    assert cells(page, ("farthest", "linear")) == ["–"] * 4 and "farthest: cannot see" in page


def test_number_of_clip_tables_is_limited(comparison):
    clip_rows = [row for row in comparison if row.series == "table" and row.source == "take0.bvh"]
    many = Comparison(tuple(replace(row, sha256=str(n)) for n in range(300) for row in clip_rows))
    page = comparison_page(many)
    assert page.count("<details>") == 200 and "And 100 more clips" in page and len(page) < 2_000_000


def test_a_notebook_shows_the_table(comparison):
    card = comparison._repr_html_()
    assert cells(card, ("uniform", "fitted")) == cells(comparison_page(comparison), ("uniform", "fitted"))
    assert "<script" not in card and "http" not in card


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (400, "dark")])
def test_the_page_opens_in_a_browser(browser, text, tmp_path: Path, width, scheme):
    from support.chromium import open_page

    file = tmp_path / "report.html"
    file.write_text(text)
    with open_page(browser, file, viewport={"width": width, "height": 800}, color_scheme=scheme) as watched:
        page = watched.page
        assert watched.errors == [] and watched.requests == [file.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure svg").count() == 6
        first = page.locator("details").first
        assert not first.locator("table").is_visible()
        first.locator("summary").press("Enter")
        assert first.locator("table").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 690])
def test_wide_table_is_not_cut_on_screen_or_paper(browser, text, tmp_path: Path, width):
    from support.chromium import open_page

    file = tmp_path / "report.html"
    file.write_text(text)
    with open_page(browser, file, viewport={"width": width, "height": 800}) as watched:
        page = watched.page
        if width == 690:  # an A4 page between its margins
            page.emulate_media(media="print")
            assert not page.locator("#clips").is_visible()  # nothing but a heading while all of it is folded
            page.locator("#clips summary").first.evaluate("summary => summary.parentElement.open = true")
            assert page.locator("#clips h2").is_visible()
        wide = page.locator("#figures .wide").first
        assert wide.evaluate("part => part.scrollWidth <= part.clientWidth + 1")
