"""Searches by example on the library page: whole clips, parts, poses; where the match lies."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from web_served import Look, expect, until

pytestmark = pytest.mark.browser


def _span(card: Any) -> tuple[float, float]:
    """From where to where the bar under the strip is filled, as parts of it."""
    script = """(bar) => {
      const [all, span] = [bar, bar.querySelector("i")].map((each) => each.getBoundingClientRect());
      return [(span.left - all.left) / all.width, (span.right - all.left) / all.width];
    }"""
    start, end = card.locator(".match-bar").evaluate(script)
    return start, end


def test_more_like_this(look: Look, hashes: dict[str, str]) -> None:
    with look() as watched:
        page = watched.page
        card = page.locator(".card", has=page.get_by_role("link", name="walk", exact=True))
        card.hover()
        card.get_by_role("button", name="More like walk", exact=True).click()
        page.wait_for_url(f"**/?like={hashes['walk']}")
        page.wait_for_selector(".grid.hits .match-facts")
        page.get_by_role("heading", name="Clips like walk").wait_for()
        first = page.locator(".grid.hits .card").first
        expect(first.locator(".card-name")).to_have_text("walk again")
        expect(first.locator(".match-facts b")).to_have_text(re.compile("%$"))
        expect(first.locator(".match-says")).not_to_be_empty()
        expect(page.locator(".card-name", has_text="walk")).to_have_count(1)  # not the clip itself
        expect(page).to_have_title("Search · Keypose")
        page.go_back()
        page.wait_for_selector("text=8 clips")
        page.go_forward()
        page.wait_for_selector(".grid.hits .match-facts")
        page.get_by_role("button", name="End this search").click()
        page.wait_for_selector("text=8 clips")
        assert watched.complaints == []


def test_a_part_is_found_where_it_lies(look: Look, hashes: dict[str, str]) -> None:
    with look(f"/?part={hashes['kick']}:25-65") as watched:  # frames 290 to 330 of the whole
        page = watched.page
        card = page.locator(".grid.hits .card", has=page.get_by_role("link", name="all of it"))
        card.wait_for()
        start, end = _span(card)
        assert start == pytest.approx(290 / 370, abs=0.05)
        assert end == pytest.approx(330 / 370, abs=0.05)
        address = re.compile(rf"^/clips/{hashes['all of it']}\?frame=2.*&range=2")
        expect(card.locator(".card-name")).to_have_attribute("href", address)
        page.get_by_role("heading", name="Moments like a part of kick").wait_for()
        expect(card.locator(".match-facts")).to_contain_text(re.compile(r"\d\.\d – 1\d\.\d s"))
        expect(card.locator(".match-says")).not_to_contain_text("second")  # where it is stands there once
        page.get_by_role("button", name="10 to 30 s").click()
        expect(page.locator(".library-count")).to_contain_text("1 hit in")
        expect(page.locator(".grid.hits .card-name:visible")).to_have_text(["all of it"])
        assert watched.complaints == []


def test_a_pose_is_found_and_the_search_can_be_changed(look: Look, hashes: dict[str, str]) -> None:
    with look(f"/?pose={hashes['kick']}:45") as watched:
        page = watched.page
        card = page.locator(".grid.hits .card", has=page.get_by_role("link", name="all of it"))
        card.wait_for()
        start, end = _span(card)
        assert start == pytest.approx(310 / 370, abs=0.05) and end - start < 0.1
        expect(card.locator(".match-facts span").first).not_to_be_empty()
        page.get_by_role("heading", name="Poses like one of kick").wait_for()
        expect(page.get_by_label("Compare").locator("[value=legs]")).to_be_attached()  # all of the head has come
        for name in ("all", "body", "major", "end_effectors"):  # nobody's words
            expect(page.get_by_label("Compare").locator(f"[value={name}]")).to_have_count(0)
        with page.expect_request("**/api/search") as asked:
            page.get_by_label("also mirrored").uncheck()
        assert asked.value.post_data_json["mirrored"] is False
        page.wait_for_url("**mirrored=0")
        with page.expect_request("**/api/search") as asked:
            page.get_by_label("Compare").select_option("legs")
        assert asked.value.post_data_json["joints"] == ["legs"]
        page.wait_for_url("**by=legs")
        page.reload()
        page.wait_for_selector(".grid.hits .match-facts")
        expect(page.get_by_label("Compare")).to_have_value("legs")
        expect(page.get_by_label("also mirrored")).not_to_be_checked()
        assert watched.complaints == []


def test_an_example_that_is_not_there(look: Look) -> None:
    with look(f"/?like={'0' * 64}") as watched:
        alert = watched.page.get_by_role("alert")
        expect(alert).to_contain_text("The search found no answer")
        assert all("404" in complaint for complaint in watched.complaints)  # the browser tells of them itself


def _many(page: Any, count: int, fails: Callable[[int], bool] = lambda skip: False) -> list[int]:
    """Lets the page's searches find ``count`` clips: those that are there, again and again. Where its requests began."""
    asked: list[int] = []

    def answer(route: Any) -> None:
        told = route.request.post_data_json
        asked.append(told["skip"])
        if fails(told["skip"]):
            route.abort()
            return
        found = route.fetch(post_data={**told, "skip": 0}).json()["hits"]
        hits = []
        for n in range(told["skip"], min(count, told["skip"] + told["limit"])):
            hit = found[n % len(found)]
            clip = {**hit["clip"], "name": f"hit {n}", "hash": f"{n:08x}{hit['clip']['hash'][8:]}"}
            hits.append({**hit, "clip": clip, "score": 1 - n / count})
        route.fulfill(json={"hits": hits, "more": told["skip"] + told["limit"] < count, "took_ms": 3.0})

    page.route("**/api/search", answer)
    page.route("**/strip.svg*", lambda route: route.fulfill(content_type="image/svg+xml", body=STRIP))
    return asked


STRIP = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='10'/>"


def test_more_hits_come_as_one_scrolls(look: Look, hashes: dict[str, str]) -> None:
    with look() as watched:
        page = watched.page
        asked = _many(page, 230)
        page.locator(".card").first.wait_for()
        page.goto(f"{page.url.partition('?')[0]}?like={hashes['walk']}")
        counted = page.locator(".library-count")
        expect(counted).to_have_text("The best 100 hits in 3 ms")
        expect(page.locator(".facet-count").first).to_have_text("100+")
        assert asked == [0]
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(counted).to_have_text("The best 200 hits in 6 ms")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(counted).to_have_text("230 hits in 9 ms")
        expect(page.locator(".more-hits")).to_be_hidden()
        expect(page.locator(".facet-count").first).not_to_contain_text("+")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        last = page.get_by_role("link", name="hit 229", exact=True)
        expect(last).to_be_in_viewport()
        until(page, "history.state?.place?.scroll === Math.round(scrollY)")
        last.click()
        page.wait_for_url("**/clips/**")
        page.go_back()
        expect(counted).to_contain_text("230 hits")
        expect(last).to_be_in_viewport()  # one is where one was
        assert asked == [0, 100, 200] * 2


def test_more_hits_come_by_keys_and_when_they_did_not_come(look: Look, hashes: dict[str, str]) -> None:
    with look() as watched:
        page = watched.page
        broken = [True]
        _many(page, 130, lambda skip: skip > 0 and broken[0])
        page.locator(".card").first.wait_for()
        page.goto(f"{page.url.partition('?')[0]}?like={hashes['walk']}")
        expect(page.locator(".library-count")).to_contain_text("The best 100 hits")
        page.locator(".card").first.focus()
        page.keyboard.press("Control+End")  # the last hit that is there
        expect(page.locator(".card:focus .card-name")).to_have_text("hit 99")
        expect(page.get_by_role("alert")).to_contain_text("No more hits came.")
        expect(page.locator(".library-count")).to_contain_text("The best 100 hits")  # those that are there stay
        broken.clear()
        broken.append(False)
        button = page.get_by_role("button", name="Try again")
        for _ in range(8):  # past what is on the card
            page.keyboard.press("Tab")
            if button.evaluate("(button) => button === document.activeElement"):
                break
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".library-count")).to_contain_text("130 hits")
        expect(page.locator(".card-name", has_text="hit 105")).to_be_attached()
