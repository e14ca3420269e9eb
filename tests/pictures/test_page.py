"""HTML pages: complete, without requests, and with no script but their own."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from keypose.errors import OptionError
from keypose.pictures.page import Section, code, details, escape_text, facts, figure, notes, page, table
from keypose.pictures.svg import Picture, document, find_theme
from support.chromium import open_page
from support.errors import raises
from support.html_pages import Page

EVIL = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\u202e\ud800"


def sections() -> list[Section]:
    return [
        Section("one", "One", "<p>first</p>"),
        Section("two", "Two", "<p>second</p>", (Section("three", "Three", ""),)),
    ]


def picture(body: str = "", alt_text: str = "a picture") -> Picture:
    return Picture(document(body, 300, 100, find_theme("page"), title="t", alt_text=alt_text), 300, 100, alt_text)


def test_page_is_complete_with_headings_in_order():
    parsed_page = Page(page("Title", sections()))
    assert parsed_page.faults == []
    assert parsed_page.headings == [(1, "Title"), (2, "One"), (2, "Two"), (3, "Three")]
    assert [e.attributes["href"] for e in parsed_page.find_all("a")] == ["#content", "#one", "#two"]
    assert {"content", "one", "two", "three"} <= set(parsed_page.ids)
    assert len(set(parsed_page.ids)) == len(parsed_page.ids)
    for element in parsed_page.find_all("section"):
        assert element.attributes["aria-labelledby"] in parsed_page.ids
    assert parsed_page.find_all("html")[0].attributes["lang"] == "en"


def test_contents_of_nested_and_single_sections():
    inner = (Section("a", "A", ""), Section("b", "B", ""))
    links = [e.attributes["href"] for e in Page(page("T", [Section("all", "All", "", inner)])).find_all("a")]
    assert links == ["#content", "#a", "#b"]
    assert not Page(page("T", sections()[:1])).find_all("nav")


def test_policy_allows_only_the_page_scripts():
    parsed_page = Page(page("T", sections(), scripts=["let a = 1;", "let b = 2;", "let a = 1;"]))
    policy = next(e for e in parsed_page.find_all("meta") if "http-equiv" in e.attributes).attributes["content"]
    scripts = [e.text for e in parsed_page.find_all("script")]
    assert scripts[1:] == ["let a = 1;", "let b = 2;"]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == hashes
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert not re.search(r"script-src[^;]*unsafe", policy)


@pytest.mark.parametrize("text", ["a</script>", "a</SCRIPT >", "<!-- a"])
def test_script_with_end_tag_is_rejected(text):
    with raises(OptionError, expected="one that can stand in a page"):
        page("T", sections(), scripts=[text])
    with raises(OptionError, expected="one that can stand in a page"):
        page("T", sections(), styles=[text.replace("script", "style").replace("SCRIPT", "STYLE")])


@pytest.mark.parametrize("name", ["", "1a", "a b", 'a"', "a<", "one"])
def test_ids_are_checked(name):
    with raises(OptionError, expected="one of its own of letters, digits and hyphens"):
        page("T", [*sections(), Section(name, "X", "")])


def test_sections_do_not_go_deeper_than_headings():
    deep = Section("s0", "x", "")
    for n in range(1, 6):
        deep = Section(f"s{n}", "x", "", (deep,))
    with raises(OptionError, expected="at most 5 levels"):
        page("T", [deep])


def test_text_is_escaped_everywhere():
    body = (
        table(EVIL, [EVIL], [[EVIL, 1.5]]) + facts([(EVIL, EVIL)]) + notes([EVIL] * 30) + details(EVIL, "") + code(EVIL)
        + figure(picture(alt_text=EVIL), "fig", EVIL)
    )  # fmt: skip
    html = page(EVIL, [Section("s", EVIL, body)])
    html.encode()  # no lone surrogate is left
    parsed_page = Page(html)
    assert parsed_page.faults == []
    assert not parsed_page.find_all("img")
    assert len(parsed_page.find_all("script")) == 1
    assert "<script>alert(1)</script>" in parsed_page.find_all("h1")[0].text
    assert "\x00" not in html
    assert "\u202e" not in html
    assert parsed_page.find_all("ul")[0].text.endswith("and 10 more")
    assert len(escape_text("x" * 10_000)) == 200


def test_tables_have_captions_and_heads():
    parsed_page = Page(table("Cap", ["name", "n", "x"], [["a", 3, 1.23456], ["b", None, 1e12]]))
    assert parsed_page.find_all("caption")[0].text == "Cap"
    assert [(e.attributes["scope"], e.text) for e in parsed_page.find_all("th")] == [
        ("col", "name"), ("col", "n"), ("col", "x"), ("row", "a"), ("row", "b")]  # fmt: skip
    assert [e.text for e in parsed_page.find_all("td")] == ["3", "1.23", "–", "1e+12"]


def test_picture_ids_are_unique():
    body = '<clipPath id="c"><rect/></clipPath><g clip-path="url(#c)"/><use href="#c"/><text>url(#c) id="c"</text>'
    html = figure(picture(body), "first") + figure(picture(body), "second")
    assert {"first", "first-c", "second", "second-c"} == set(Page(html).ids)
    for name in ("first", "second"):
        assert f'clip-path="url(#{name}-c)"' in html
        assert f'href="#{name}-c"' in html
    assert html.count("<text>url(#c)") == 2  # what is written stays as it is
    with raises(OptionError, expected="letters, digits and hyphens"):
        figure(picture(), "a b")


def test_the_same_arguments_give_the_same_bytes():
    assert page("T", sections(), scripts=["1"]) == page("T", sections(), scripts=["1"])


@pytest.mark.browser
def test_browser_runs_only_page_scripts_without_requests(browser, tmp_path: Path):
    sly = ('<script>document.title = "taken"</script><img src="https://example.invalid/x.png" alt="">'
           '<p onclick="document.title=1" id="p">p</p>')  # fmt: skip
    file = tmp_path / "page.html"
    file.write_text(page("Mine", [Section("s", "S", sly)], scripts=["document.body.dataset.ran = 'yes';"]))
    with open_page(browser, file) as watched:
        watched.page.click("#p")
        assert watched.page.title() == "Mine"
        assert watched.page.evaluate("document.body.dataset.ran") == "yes"
        assert all("Content Security Policy" in text for text in watched.errors)
        blocked = [kind for kind in ("script-src", "img-src") if any(f"{kind} " in text for text in watched.errors)]
        assert blocked == ["script-src", "img-src"]


@pytest.mark.browser
@pytest.mark.parametrize("preferred", ["light", "dark"])
def test_colours_follow_the_reader_and_then_the_button(browser, tmp_path: Path, preferred: str):
    file = tmp_path / "page.html"
    file.write_text(page("Mine", sections()))
    papers = {name: find_theme(name)["paper"] for name in ("light", "dark")}
    other = "dark" if preferred == "light" else "light"
    with open_page(browser, file, color_scheme=preferred) as watched:

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
        assert watched.errors == []


@pytest.mark.browser
def test_wide_content_scrolls_with_keyboard(browser, tmp_path: Path):
    wide = Picture(document("", 2000, 100, find_theme("page"), title="t", alt_text="s"), 2000, 100, "s")
    file = tmp_path / "page.html"
    file.write_text(
        page("Mine", [Section("s", "S", figure(wide, "f") + code("x " * 900) + table("T", ["a"], [["b"]]))])
    )
    with open_page(browser, file, viewport={"width": 390, "height": 700}) as watched:
        assert watched.page.evaluate("document.documentElement.scrollWidth") == 390
        boxes = watched.page.evaluate("[...document.querySelectorAll('.wide, pre')].map((box) => box.tabIndex)")
        assert boxes == [0, 0, -1]
        assert watched.errors == []
