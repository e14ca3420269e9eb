"""The page of a search: every hit with picture and span, and nothing but shapes and text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest

import keypose as kp
from keypose.errors import OptionError
from keypose.library.records import Clip
from keypose.library.results_page import (
    MAX_CHARS,
    MAX_HITS,
    MAX_STRIPS,
    PageHit,
    PageQuery,
    describe_span,
    results_page,
    sanitize_svg,
    uses_page_colours,
)
from keypose.library.search.hits import Hit, MatchDetails
from keypose.library.search.swing_overlap import SwingMatch
from keypose.pictures.svg import Picture
from support.errors import raises
from support.html_pages import Page

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e \"' &amp;"
KEYS = (0, 10, 20, 30, 40, 50, 60, 79)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'


def clip(name: str = "walk", **changes: object) -> Clip:
    plain = Clip("ab" * 32, name, (), ("studio", "walk"), "takes/walk.bvh", "CC0", "", 20.0, 80, 4.0, 24, "s" * 64, ".bvh",
                 9000, "cd" * 32, datetime(2026, 11, 16, tzinfo=UTC))  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]


def hit(start: int = 15, end: int = 45, **changes: object) -> Hit:
    swing = SwingMatch("left_thigh", 0.25, 1.0, 1.5, 2.25, 0.9)
    plain = Hit(
        clip(), 0.87, start, end, start / 20, end / 20, 0.0, 1.5, details=MatchDetails(load_swings=lambda: (swing,))
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def strip() -> Picture:
    motion = kp.demo_motion(fps=20)[:80]
    return kp.strip(replace(motion, name="clip"), KEYS, size_px=(320, 80), captions=False, background=False)


@pytest.fixture(scope="module")
def page_query(strip: Picture) -> PageQuery:
    return PageQuery("Clips like kick.bvh", "clips.db", strip, (("tags", "studio"),), "keypose library search kick.bvh")


def page_of(page_query: PageQuery, *page_hits: PageHit) -> Page:
    page = Page(results_page(page_query, page_hits))
    assert page.faults == []
    assert len(page.ids) == len(set(page.ids))
    return page


def test_contents_of_a_hit(page_query: PageQuery, strip: Picture) -> None:
    one = hit(duplicates=("walk copy", "walk 30 fps"), mirrored=True)
    page = page_of(page_query, PageHit(one.clip, one, KEYS, strip))
    (item,) = [e for e in page.find_all("li") if e.attributes.get("class") == "hit"]
    for words in (
        "walk", "score 0.87", "0.75 to 2.25 s of 4.00 s (frames 15:45), with key poses 3 to 5 of 8.", "studio",
        "With left and right exchanged; like seconds 0.00 to 1.50 of the query.", "2 more of the same take", "walk copy",
        "takes/walk.bvh", "CC0", "left thigh", "1.50 to 2.25", "keypose library export found/ abababababababab --library clips.db",
    ):  # fmt: skip
        assert words in item.text, words
    assert [level for level, _ in page.headings] == [1, 2, 2, 3, 2]
    assert "hits1, and 2 more of the same takes" in page.find_all("dl")[0].text
    assert "keypose library search kick.bvh" in page.find_all("pre")[0].text


def test_poses_outside_of_the_span_are_faint(page_query: PageQuery, strip: Picture) -> None:
    svg = sanitize_svg(strip.svg, len(KEYS), (2, 3, 4))
    rows = [
        row for row in ET.fromstring(svg.replace("<svg ", '<svg xmlns="x" ', 1)).iter("{x}g") if len(row) == len(KEYS)
    ]
    marked = [[child.get("class") for child in row] for row in rows if row[0].tag == "{x}g"]
    assert marked == [["outside"] * 2 + [None] * 3 + ["outside"] * 3] * 2  # shadows, figures
    assert "outside" not in sanitize_svg(strip.svg, len(KEYS), ())  # a span between two keys
    assert "outside" not in sanitize_svg(strip.svg, len(KEYS), range(8))
    assert "outside" not in sanitize_svg(strip.svg, 7, (1,))  # not as many poses as there are


def test_the_matching_span_is_drawn_above_the_clip(page_query: PageQuery, strip: Picture) -> None:
    page = page_of(page_query, PageHit(clip(), hit(), KEYS, strip, span_strip=replace(strip, width=500, height=100)))
    widths = [e.attributes["style"] for e in page.find_all("div") if e.attributes.get("class") == "strip"]
    assert widths == ["max-width:512px", "max-width:800px", "max-width:512px"]  # query, part, clip
    assert [e.parents[-1] for e in page.find_all("div") if e.attributes.get("class") == "matching-span"] == ["div"]
    assert "Poses beside a coloured line" in page.find_all("main")[0].text


@pytest.mark.parametrize(
    ("start", "end", "expected_text"),
    [
        (0, 80, "All of it: 4.00 s (frames 0:80), with all 8 key poses"),
        (31, 32, "At 1.55 s of 4.00 s (frame 31), between key poses"),
        (31, 39, "1.55 to 1.95 s of 4.00 s (frames 31:39), between key poses"),
        (30, 39, "1.50 to 1.95 s of 4.00 s (frames 30:39), with key pose 4 of 8"),
        (30, 41, "1.50 to 2.05 s of 4.00 s (frames 30:41), with key poses 4 and 5 of 8"),
        (30, 40, "1.50 to 2.00 s of 4.00 s (frames 30:40), with key pose 4 of 8"),
    ],
)
def test_description_of_the_span(start: int, end: int, expected_text: str) -> None:
    assert describe_span(PageHit(clip(), hit(start, end), KEYS)) == expected_text


def test_the_bar_shows_the_span_and_the_keys(page_query: PageQuery) -> None:
    page = page_of(page_query, PageHit(clip(), hit(20, 40), KEYS))
    span, keys = (
        [e.attributes for e in page.find_all("rect") if e.attributes["class"].startswith(c)] for c in ("span", "key")
    )
    assert (float(span[0]["x"]), float(span[0]["width"])) == (250.0, 250.0)
    assert [e["class"] for e in keys] == ["key", "key", "key in", "key in", "key", "key", "key", "key"]
    assert float(keys[2]["x"]) == pytest.approx(1000 * 20.5 / 80 - 1.5, abs=0.06)
    last = page_of(page_query, PageHit(clip(), hit(79, 80)))
    (edge,) = [e.attributes for e in last.find_all("rect") if e.attributes["class"] == "span"]
    assert float(edge["x"]) + float(edge["width"]) == 1000


def test_hits_found_by_words_have_no_score(page_query: PageQuery, strip: Picture) -> None:
    page = page_of(replace(page_query, strip=None), PageHit(clip(), None, KEYS, strip))
    (item,) = [e for e in page.find_all("li") if e.attributes.get("class") == "hit"]
    assert "score" not in item.text and "4.00 s long, with 8 key poses." in item.text
    assert [title for _, title in page.headings] == ["Clips like kick.bvh", "Hits", "1 walk", "Reproduce this result"]


def test_an_empty_result_has_a_hint(page_query: PageQuery) -> None:
    assert "Nothing. Fewer words" in page_of(page_query).find_all("main")[0].text


def test_pose_hits_state_the_joint_distance(page_query: PageQuery) -> None:
    page = page_of(page_query, PageHit(clip(), hit(31, 32, details=MatchDetails(joint_distance_cm=4.26))))
    assert "Joints are 4.3 cm apart on average" in page.find_all("main")[0].text


def test_names_cannot_inject_html(page_query: PageQuery, strip: Picture) -> None:
    bad = clip(EVIL, tags=(EVIL,), source=EVIL, licence=EVIL, note=EVIL, other_names=(EVIL,))
    one = hit(clip=bad, duplicates=(EVIL,))
    evil = PageQuery(EVIL, EVIL, replace(strip, alt_text=EVIL), ((EVIL, EVIL),), EVIL)
    page = page_of(evil, PageHit(bad, one, KEYS, strip))
    assert page.find_all("img") == [] and len(page.find_all("script")) == 2
    assert "\x1b" not in page.html and "\u202e" not in page.html
    assert page.find_all("h1")[0].text.startswith("<script>alert(1)</script><img src=x onerror=alert(1)>")


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<g onload="alert(1)"/>',
        '<a href="javascript:alert(1)"><path d="M0 0"/></a>',
        '<image href="http://example.com/x.png"/>',
        "<foreignObject><p>x</p></foreignObject>",
        "<style>*{display:none}</style>",
        '<g style="position:fixed"/>',
        '<path fill="url(http://example.com/#x)" d="M0 0"/>',
        '<path fill="URL(#x)" d="M0 0"/>',
        '<g id="hits"/>',
        '<g class="hit"/>',
        '<use href="#x"/>',
        '<animate attributeName="x"/>',
        '<g xmlns="http://www.w3.org/1999/xhtml"/>',
        "</svg><p>out</p><svg>",
        "<g>" * 20 + "</g>" * 20,
        "<!-- x -->",
        "<![CDATA[x]]>",
        "<g",
        "\ud800",
        "\x00",
        "&nothing;",
    ],
)
def test_unsafe_svg_is_left_out(page_query: PageQuery, inside: str) -> None:
    bad = Picture(SVG.format(inside), 9, 9, "x")
    assert sanitize_svg(bad.svg) is None
    page = page_of(page_query, PageHit(clip(), hit(), KEYS, bad))
    assert "no picture" in page.find_all("main")[0].text


def test_invalid_svg_is_left_out() -> None:
    for svg in ("", "x", "<p/>", SVG.format("x" * MAX_CHARS), '<?xml version="1.0"?>' + SVG.format(""),
                '<!DOCTYPE x [<!ENTITY a "aaaa">]>' + SVG.format("&a;"), "<svg/>"):  # fmt: skip
        assert sanitize_svg(svg) is None
    assert sanitize_svg(SVG.format("<text>a &lt;b&gt; \u202e&amp;</text>")) == (
        '<svg width="9" height="9"><text>a &lt;b&gt;  &amp;</text></svg>'
    )


def test_strips_are_dark_where_the_page_is(strip: Picture) -> None:
    motion = replace(kp.demo_motion(fps=20)[:80], name="clip")
    of_page = kp.strip(motion, KEYS, size_px=(320, 80), captions=False, background=False, theme="page")
    assert sanitize_svg(strip.svg) == sanitize_svg(of_page.svg)
    assert uses_page_colours(sanitize_svg(strip.svg)) and '="#' not in sanitize_svg(strip.svg)
    other = SVG.format('<path fill="#123456" d="M0 0"/><path fill="#ffffff" d="M0 0"/>')
    assert sanitize_svg(other) == other.replace(' xmlns="http://www.w3.org/2000/svg"', "")


def test_limits_of_a_page(page_query: PageQuery, strip: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_STRIPS == 200
    monkeypatch.setattr("keypose.library.results_page.MAX_STRIPS", 4)
    many = [PageHit(clip(f"walk {n}"), hit(), KEYS, strip) for n in range(7)]
    page = page_of(page_query, *many)
    assert sum("strip" in (e.attributes.get("class") or "") for e in page.find_all("div")) == 5
    assert "The first 4 have pictures." in page.find_all("main")[0].text
    assert len([e for e in page.find_all("li") if e.attributes.get("class") == "hit"]) == 7
    with raises(OptionError, option="hits", expected="at most 1,000: take a smaller limit"):
        results_page(page_query, many[:1] * (MAX_HITS + 1))


def test_less_important_poses_are_fainter_unless_others_are_outside_of_the_span(page_query: PageQuery) -> None:
    motion = kp.demo_motion(30)
    keys = kp.select(motion, "farthest", keys=8)
    ranked = kp.strip(motion, keys, rank=True)
    whole, part = hit(start=0, end=motion.n_frames), hit(start=int(keys.frames[3]), end=int(keys.frames[5]))
    for one, has_ranks in ((whole, True), (part, False)):
        page = results_page(page_query, [PageHit(one.clip, one, tuple(keys), ranked)])
        assert ("The fainter a pose of a whole clip" in page) is has_ranks
        assert ('opacity=".45"' in page.partition('class="hits"')[2]) is has_ranks
        assert ('class="outside"' in page) is not has_ranks
    assert "opacity" not in sanitize_svg(ranked.svg, rank=False)
    assert sanitize_svg(ranked.svg).count('opacity=".45"') == 2  # its shadow, too
