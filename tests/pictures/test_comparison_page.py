"""The page of a comparison: what is in its tables and curves, and that nothing hostile gets in."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.comparison import comparison_card, comparison_page
from keypose.pictures.comparison.curves import MEASURES, _median_curve, error_curves, value_curves
from keypose.verbs.comparing import Comparison, Row, Settings, compare_motion
from keypose.verbs.comparing.tables import figure

SETTINGS = Settings(("salient-inbetween", "farthest", "uniform"), ("per-curve", "pca"), (80.0, 90.0))
EVIL = '<script>alert(1)</script>\x1b[31m\u202e\ud800 &amp; "x" ' + "y" * 10_000


@pytest.fixture(scope="module")
def compared() -> Comparison:
    demo = kp.demo_motion(fps=20)
    rows = [row for n in (0, 40) for row in compare_motion(demo[n : n + 60], SETTINGS, source=f"take{n}.bvh")]
    return Comparison(tuple(rows), SETTINGS)


@pytest.fixture(scope="module")
def text(compared: Comparison) -> str:
    return comparison_page(compared, command="keypose compare takes/")


def cells(html: str, way: tuple[str, str]) -> list[str]:
    """The cells of the first row of a way, without marks."""
    found = re.search(rf'<tr><th scope="row">{way[0]}</th><td>{way[1]}</td>(.*?)</tr>', html)
    assert found
    return [re.sub(r"<[^>]*>|\s|★|\*", "", cell) for cell in re.findall(r"<td.*?</td>", found[1])]


def test_the_table_holds_the_medians(compared, text):
    for way in compared.ways:
        middles = [each for each in compared.middles() if (each.method, each.inbetweens) == way]
        expected = [figure(value) for each in middles for value in (each.mean_mm, each.max_mm)]
        assert cells(text, way) == expected


def test_the_best_of_each_column_is_marked_once(text):
    table = text[text.index('<section id="errors"') : text.index('<section id="curves"')]
    assert table.count('class="number best"') == 4
    marked = re.findall(r'<th scope="row">([\w-]+)</th><td>(\w+)</td>(?:(?!</tr>).)*class="number best"', table)
    assert ("salient-inbetween", "fitted") in marked and not {"pca", "per-curve"} & {name for name, _ in marked}


def test_what_a_reader_needs_is_there(text):
    for words in (
        "small files are the storage format&#x27;s business",
        "keypose compare takes/",
        "kp.compare(",
        "removed_percent=(80.0, 90.0)",
        "take0.bvh",
        "as many stored values as keys with fitted curves",
    ):
        assert words in text, words
    assert text.count("<svg") == 2 * 2 + 2
    assert text.count("<details>") >= 2


def test_every_figure_is_told_at_every_budget(compared, text):
    part = text[text.index('<section id="figures"') : text.index('<section id="time"')]
    tables = part.split("<table")[1:]
    assert len(tables) == 2
    for table, percent in zip(tables, (80.0, 90.0), strict=True):
        heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table)
        for way in compared.ways:
            row = dict(zip(heads[2:], cells(table, way), strict=True))
            (middle,) = (
                each
                for each in compared.middles()
                if (each.method, each.inbetweens, each.removed_percent) == (*way, percent)
            )
            expected = {"stored values": middle.stored_values, "95 % within mm": middle.p95_mm, "max °": middle.max_deg}
            expected |= {"foot slide mm": middle.foot_slide_mm, "fitting ms": 1e3 * middle.fitting_s}
            expected |= {"choosing ms": 1e3 * middle.choosing_s, "mean mm": middle.mean_mm}
            assert {name: row[name] for name in expected} == {name: figure(value) for name, value in expected.items()}


def test_what_was_left_out_is_listed_and_escaped(compared, text):
    page = comparison_page(compared, failed=[("a.bvh", "a.bvh:3: bad"), (EVIL, EVIL), ("b.bvh", "too long")])
    assert "<li>a.bvh:3: bad</li>" in page and "<li>b.bvh: too long</li>" in page and "3, see below" in page
    assert "<script>alert" not in page and 'id="left-out"' not in text


def test_the_same_comparison_gives_the_same_page(compared, text):
    assert comparison_page(compared, command="keypose compare takes/") == text


def labels(svg: str) -> set[str]:
    return set(re.findall(r"<text[^>]*>([^<]*)</text>", svg))


@pytest.mark.parametrize("inbetweens", ["linear", "fitted"])
def test_every_method_has_a_line(compared, inbetweens):
    for measure in MEASURES:
        picture = error_curves(compared, inbetweens, measure, theme="light")
        assert {"salient-inbetween", "farthest", "uniform"} <= labels(picture.svg)
        assert {"95", "90", "80"} <= labels(picture.svg)  # frames removed, along the bottom
        assert measure.words in picture.says and "uniform" in picture.says


def test_references_stand_beside_keys_at_equal_values(compared):
    picture = value_curves(compared, MEASURES[0], theme="light")
    expected = {"per-curve", "pca", "salient-inbetween, linear", "salient-inbetween, fitted", "uniform, fitted"}
    assert expected <= labels(picture.svg)


def rows_with(compared: Comparison, points: dict[str, dict[float, float]]) -> list[Row]:
    """Rows of clips with given errors at given percentages kept."""
    return [
        replace(compared.rows[0], sha256=clip, removed_percent=100 - kept, mean_mm=error)
        for clip, curve in points.items()
        for kept, error in curve.items()
    ]


def test_a_median_curve_is_where_all_clips_are(compared):
    rows = rows_with(
        compared, {"a": {1: 100, 10: 10}, "b": {2: 40, 20: 4}, "c": {1: 1, 2: 1, 40: 1}}
    )  # on these scales: 100 / kept, 80 / kept, 1
    x, y = _median_curve(rows, lambda row: 100 - row.removed_percent, "mean_mm")
    assert x[0] == pytest.approx(2) and x[-1] == pytest.approx(10)
    np.testing.assert_allclose(y, 80 / x)


def test_one_clip_keeps_its_very_points(compared):
    rows = rows_with(compared, {"a": {10: 3, 1: 50, 5: 0}})
    x, y = _median_curve(rows, lambda row: 100 - row.removed_percent, "mean_mm")
    np.testing.assert_allclose(x, [1, 5, 10])
    np.testing.assert_allclose(y, [50, 0.01, 3])  # nothing has no logarithm


def test_clips_without_a_common_part_have_no_curve(compared):
    rows = rows_with(compared, {"a": {1: 3, 2: 2}, "b": {10: 3, 20: 2}, "c": {5: 1}})
    assert _median_curve(rows, lambda row: 100 - row.removed_percent, "mean_mm") is None
    assert _median_curve([], lambda row: 1.0, "mean_mm") is None


def test_a_page_of_one_budget_has_no_curves(compared):
    rows = tuple(row for row in compared if row.part == "table" and row.removed_percent_asked == 90.0)
    page = comparison_page(Comparison(rows))
    assert "<svg" not in page and "Read from a table of rows" in page and cells(page, ("uniform", "linear"))


def test_nothing_hostile_gets_in(compared):
    evil = Comparison(
        tuple(
            replace(row, clip=EVIL, source=EVIL, method=EVIL, inbetweens=row.inbetweens, note=EVIL) for row in compared
        )
    )
    for html in (comparison_page(evil, title=EVIL, command=EVIL), comparison_card(evil)):
        assert "<script>alert" not in html and "alert(1)</script" not in html
        assert not re.search("[\x00-\x08\x1b\u202e\ud800]", html) and "y" * 3000 not in html
        html.encode()


def test_methods_without_figures_show_a_dash(compared):
    rows = tuple(
        replace(row, mean_mm=None, max_mm=None, keys=None, removed_percent=None, note="cannot see")
        if row.method == "farthest"
        else row
        for row in compared
    )
    page = comparison_page(Comparison(rows))
    assert cells(page, ("farthest", "linear")) == ["–"] * 4 and "farthest: cannot see" in page


def test_very_many_clips_leave_a_page_that_opens(compared):
    one = [row for row in compared if row.part == "table" and row.source == "take0.bvh"]
    many = Comparison(tuple(replace(row, sha256=str(n)) for n in range(300) for row in one))
    page = comparison_page(many)
    assert page.count("<details>") == 200 and "And 100 more clips" in page and len(page) < 2_000_000


def test_a_notebook_shows_the_table(compared):
    card = compared._repr_html_()
    assert cells(card, ("uniform", "fitted")) == cells(comparison_page(compared), ("uniform", "fitted"))
    assert "<script" not in card and "http" not in card


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (400, "dark")])
def test_the_page_opens_in_a_browser(browser, text, tmp_path: Path, width, scheme):
    from browsing import opened

    file = tmp_path / "report.html"
    file.write_text(text)
    with opened(browser, file, viewport={"width": width, "height": 800}, color_scheme=scheme) as watched:
        page = watched.page
        assert watched.complaints == [] and watched.requests == [file.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure svg").count() == 6
        first = page.locator("details").first
        assert not first.locator("table").is_visible()
        first.locator("summary").press("Enter")
        assert first.locator("table").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 690])
def test_no_column_of_every_figure_is_cut_on_a_screen_or_on_paper(browser, text, tmp_path: Path, width):
    from browsing import opened

    file = tmp_path / "report.html"
    file.write_text(text)
    with opened(browser, file, viewport={"width": width, "height": 800}) as watched:
        page = watched.page
        if width == 690:  # an A4 page between its margins
            page.emulate_media(media="print")
            assert not page.locator("#clips").is_visible()  # nothing but a heading while all of it is folded
            page.locator("#clips summary").first.evaluate("summary => summary.parentElement.open = true")
            assert page.locator("#clips h2").is_visible()
        wide = page.locator("#figures .wide").first
        assert wide.evaluate("part => part.scrollWidth <= part.clientWidth + 1")
