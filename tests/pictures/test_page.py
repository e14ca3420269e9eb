"""The shell of pages: one document that is whole, that asks for nothing, and that runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest
from html_pages import Page

from browsing import opened
from keypose.errors import OptionError
from keypose.pictures.page import Section, code, facts, figure, folded, notes, page, table, written
from keypose.pictures.picture import Picture
from keypose.pictures.svg import document
from keypose.pictures.theme import theme_of

EVIL = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\u202e\ud800"


def sections() -> list[Section]:
    return [
        Section("one", "One", "<p>first</p>"),
        Section("two", "Two", "<p>second</p>", (Section("three", "Three", ""),)),
    ]


def picture(body: str = "", says: str = "a picture") -> Picture:
    return Picture(document(body, 300, 100, theme_of("page"), title="t", says=says), 300, 100, says)


def test_a_page_is_whole_and_its_headings_are_in_order():
    found = Page(page("Title", sections()))
    assert found.faults == []
    assert found.headings == [(1, "Title"), (2, "One"), (2, "Two"), (3, "Three")]
    assert [e.attributes["href"] for e in found.of("a")] == ["#content", "#one", "#two"]
    assert {"content", "one", "two", "three"} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)
    for element in found.of("section"):
        assert element.attributes["aria-labelledby"] in found.ids
    assert found.of("html")[0].attributes["lang"] == "en"


def test_one_section_around_others_lists_these_and_one_alone_has_no_contents():
    inner = (Section("a", "A", ""), Section("b", "B", ""))
    links = [e.attributes["href"] for e in Page(page("T", [Section("all", "All", "", inner)])).of("a")]
    assert links == ["#content", "#a", "#b"]
    assert not Page(page("T", sections()[:1])).of("nav")


def test_the_policy_names_the_very_scripts_and_nothing_from_outside():
    found = Page(page("T", sections(), scripts=["let a = 1;", "let b = 2;", "let a = 1;"]))
    policy = next(e for e in found.of("meta") if "http-equiv" in e.attributes).attributes["content"]
    scripts = [e.text for e in found.of("script")]
    assert scripts[1:] == ["let a = 1;", "let b = 2;"]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert not re.search(r"script-src[^;]*unsafe", policy)


@pytest.mark.parametrize("text", ["a</script>", "a</SCRIPT >", "<!-- a"])
def test_a_script_that_would_end_early_is_refused(text):
    with pytest.raises(OptionError, match="expected one that can stand in a page"):
        page("T", sections(), scripts=[text])
    with pytest.raises(OptionError, match="expected one that can stand in a page"):
        page("T", sections(), styles=[text.replace("script", "style").replace("SCRIPT", "STYLE")])


@pytest.mark.parametrize("name", ["", "1a", "a b", 'a"', "a<", "one"])
def test_ids_are_checked(name):
    with pytest.raises(OptionError, match="section id"):
        page("T", [*sections(), Section(name, "X", "")])


def test_sections_do_not_go_deeper_than_headings():
    deep = Section("s0", "x", "")
    for n in range(1, 6):
        deep = Section(f"s{n}", "x", "", (deep,))
    with pytest.raises(OptionError, match="more than 5 deep"):
        page("T", [deep])


def test_text_stays_text_wherever_it_goes():
    body = (
        table(EVIL, [EVIL], [[EVIL, 1.5]]) + facts([(EVIL, EVIL)]) + notes([EVIL] * 30) + folded(EVIL, "") + code(EVIL)
        + figure(picture(says=EVIL), "fig", EVIL)
    )  # fmt: skip
    html = page(EVIL, [Section("s", EVIL, body)])
    html.encode()  # no lone surrogate is left
    found = Page(html)
    assert found.faults == []
    assert not found.of("img")
    assert len(found.of("script")) == 1
    assert "<script>alert(1)</script>" in found.of("h1")[0].text
    assert "\x00" not in html
    assert "\u202e" not in html
    assert found.of("ul")[0].text.endswith("and 10 more")
    assert len(written("x" * 10_000)) == 200


def test_tables_have_captions_and_heads():
    found = Page(table("Cap", ["name", "n", "x"], [["a", 3, 1.23456], ["b", None, 1e12]]))
    assert found.of("caption")[0].text == "Cap"
    assert [(e.attributes["scope"], e.text) for e in found.of("th")] == [
        ("col", "name"), ("col", "n"), ("col", "x"), ("row", "a"), ("row", "b")]  # fmt: skip
    assert [e.text for e in found.of("td")] == ["3", "1.23", "–", "1e+12"]


def test_ids_of_pictures_do_not_meet():
    body = '<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)"/><use href="#c"/><text>url(#c) id="c"</text>'
    html = figure(picture(body), "first") + figure(picture(body), "second")
    assert {"first", "first-c", "second", "second-c"} == set(Page(html).ids)
    for name in ("first", "second"):
        assert f'clip-path="url(#{name}-c)"' in html
        assert f'href="#{name}-c"' in html
    assert html.count("<text>url(#c)") == 2  # what is written stays as it is
    with pytest.raises(OptionError, match="figure id"):
        figure(picture(), "a b")


def test_the_same_arguments_give_the_same_bytes():
    assert page("T", sections(), scripts=["1"]) == page("T", sections(), scripts=["1"])


@pytest.mark.browser
def test_only_the_scripts_of_the_page_run_and_nothing_is_asked_for(browser, tmp_path: Path):
    sly = ('<script>document.title = "taken"</script><img src="https://example.invalid/x.png" alt="">'
           '<p onclick="document.title=1" id="p">p</p>')  # fmt: skip
    file = tmp_path / "page.html"
    file.write_text(page("Mine", [Section("s", "S", sly)], scripts=["document.body.dataset.ran = 'yes';"]))
    with opened(browser, file) as watched:
        watched.page.click("#p")
        assert watched.page.title() == "Mine"
        assert watched.page.evaluate("document.body.dataset.ran") == "yes"
        assert all("Content Security Policy" in text for text in watched.complaints)
        refused = [kind for kind in ("script-src", "img-src") if any(f"{kind} " in text for text in watched.complaints)]
        assert refused == ["script-src", "img-src"]


@pytest.mark.browser
@pytest.mark.parametrize("preferred", ["light", "dark"])
def test_colours_follow_the_reader_and_then_the_button(browser, tmp_path: Path, preferred: str):
    file = tmp_path / "page.html"
    file.write_text(page("Mine", sections()))
    papers = {name: theme_of(name)["paper"] for name in ("light", "dark")}
    other = "dark" if preferred == "light" else "light"
    with opened(browser, file, color_scheme=preferred) as watched:

        def paper() -> str:
            red, green, blue = re.findall(
                r"\d+", watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
            )
            return f"#{int(red):02x}{int(green):02x}{int(blue):02x}"

        assert paper() == papers[preferred]
        watched.page.get_by_role("button", name=f"{other} colours").click()
        assert paper() == papers[other]
        watched.page.emulate_media(media="print")
        assert paper() == papers["light"]
        assert watched.complaints == []


@pytest.mark.browser
def test_what_is_wider_than_the_page_is_scrolled_with_the_keyboard_and_the_page_is_not(browser, tmp_path: Path):
    wide = Picture(document("", 2000, 100, theme_of("page"), title="t", says="s"), 2000, 100, "s")
    file = tmp_path / "page.html"
    file.write_text(
        page("Mine", [Section("s", "S", figure(wide, "f") + code("x " * 900) + table("T", ["a"], [["b"]]))])
    )
    with opened(browser, file, viewport={"width": 390, "height": 700}) as watched:
        assert watched.page.evaluate("document.documentElement.scrollWidth") == 390
        boxes = watched.page.evaluate("[...document.querySelectorAll('.wide, pre')].map((box) => box.tabIndex)")
        assert boxes == [0, 0, -1]
        assert watched.complaints == []
