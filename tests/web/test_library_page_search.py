"""Searches by example on the library page: whole clips, spans, poses; the position of the match."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from support.web_pages import OpenPage, expect, wait_until

pytestmark = pytest.mark.browser


def _match_span(card: Any) -> tuple[float, float]:
    """Return start and end of the match in the bar under the strip, as fractions."""
    script = """(bar) => {
      const [all, span] = [bar, bar.querySelector("i")].map((each) => each.getBoundingClientRect());
      return [(span.left - all.left) / all.width, (span.right - all.left) / all.width];
    }"""
    start, end = card.locator(".match-bar").evaluate(script)
    return start, end


def test_similar_clips_are_found(open_page: OpenPage, hashes: dict[str, str]) -> None:
    with open_page() as tab:
        page = tab.page
        card = page.locator(".card", has=page.get_by_role("link", name="walk", exact=True))
        card.hover()
        card.get_by_role("button", name="Search for clips similar to walk", exact=True).click()
        page.wait_for_url(f"**/?clip={hashes['walk']}")
        page.wait_for_selector(".grid.hits .match-details")
        page.get_by_role("heading", name="Clips similar to walk").wait_for()
        first = page.locator(".grid.hits .card").first
        expect(first.locator(".card-name")).to_have_text("walk again")
        expect(first.locator(".match-details b")).to_have_text(re.compile("%$"))
        expect(first.locator(".match-explanation")).not_to_be_empty()
        expect(page.locator(".card-name:visible", has_text="walk")).to_have_count(1)  # not the clip itself
        expect(page).to_have_title("Search · Keypose")
        page.go_back()
        page.wait_for_selector("text=8 clips")
        page.go_forward()
        page.wait_for_selector(".grid.hits .match-details")
        page.get_by_role("button", name="Clear search").click()
        page.wait_for_selector("text=8 clips")
        assert tab.errors == []


def test_span_is_found_at_its_position(open_page: OpenPage, hashes: dict[str, str]) -> None:
    with open_page(f"/?span={hashes['kick']}:25-65") as tab:  # frames 290 to 330 of the whole
        page = tab.page
        card = page.locator(".grid.hits .card", has=page.get_by_role("link", name="all of it"))
        card.wait_for()
        start, end = _match_span(card)
        assert start == pytest.approx(290 / 370, abs=0.05)
        assert end == pytest.approx(330 / 370, abs=0.05)
        address = re.compile(rf"^/clips/{hashes['all of it']}\?frame=2.*&range=2")
        expect(card.locator(".card-name")).to_have_attribute("href", address)
        page.get_by_role("heading", name="Motion similar to a range of kick").wait_for()
        expect(card.locator(".match-details")).to_contain_text(re.compile(r"\d\.\d – 1\d\.\d s"))
        expect(card.locator(".match-explanation")).not_to_contain_text("second")  # the position is displayed separately
        page.get_by_role("button", name="10 to 30 s").click()
        expect(page.locator(".library-count")).to_contain_text("1 hit in")
        expect(page.locator(".grid.hits .card-name:visible")).to_have_text(["all of it"])
        assert tab.errors == []


def test_pose_is_found_and_the_search_can_be_changed(open_page: OpenPage, hashes: dict[str, str]) -> None:
    with open_page(f"/?pose={hashes['kick']}:45") as tab:
        page = tab.page
        card = page.locator(".grid.hits .card", has=page.get_by_role("link", name="all of it"))
        card.wait_for()
        start, end = _match_span(card)
        assert start == pytest.approx(310 / 370, abs=0.05) and end - start < 0.1
        expect(card.locator(".match-details span").first).not_to_be_empty()
        page.get_by_role("heading", name="Poses similar to one in kick").wait_for()
        expect(page.get_by_label("Compare").locator("[value=legs]")).to_be_attached()  # the header is complete
        for name in ("all", "body", "major", "end_effectors"):  # internal names
            expect(page.get_by_label("Compare").locator(f"[value={name}]")).to_have_count(0)
        with page.expect_request("**/api/search") as request:
            page.get_by_label("Include mirrored motion").uncheck()
        assert request.value.post_data_json["mirrored"] is False
        page.wait_for_url("**mirrored=0")
        with page.expect_request("**/api/search") as request:
            page.get_by_label("Compare").select_option("legs")
        assert request.value.post_data_json["joints"] == ["legs"]
        page.wait_for_url("**joints=legs")
        page.reload()
        page.wait_for_selector(".grid.hits .match-details")
        expect(page.get_by_label("Compare")).to_have_value("legs")
        expect(page.get_by_label("Include mirrored motion")).not_to_be_checked()
        assert tab.errors == []


def test_missing_example(open_page: OpenPage) -> None:
    with open_page(f"/?clip={'0' * 64}") as tab:
        alert = tab.page.get_by_role("alert")
        expect(alert).to_contain_text("The search failed")
        assert all("404" in complaint for complaint in tab.errors)  # logged by the browser


def _stub_search(page: Any, count: int, fails: Callable[[int], bool] = lambda skip: False) -> list[int]:
    """Stub the search with ``count`` hits, repeating real ones. Return the ``skip`` of each request."""
    skips: list[int] = []

    def answer(route: Any) -> None:
        body = route.request.post_data_json
        skips.append(body["skip"])
        if fails(body["skip"]):
            route.abort()
            return
        real_hits = route.fetch(post_data={**body, "skip": 0}).json()["hits"]
        hits = []
        for n in range(body["skip"], min(count, body["skip"] + body["limit"])):
            hit = real_hits[n % len(real_hits)]
            clip = {**hit["clip"], "name": f"hit {n}", "hash": f"{n:08x}{hit['clip']['hash'][8:]}"}
            hits.append({**hit, "clip": clip, "score": 1 - n / count})
        route.fulfill(json={"hits": hits, "has_more": body["skip"] + body["limit"] < count, "elapsed_ms": 3.0})

    page.route("**/api/search", answer)
    page.route("**/strip.svg*", lambda route: route.fulfill(content_type="image/svg+xml", body=STRIP))
    return skips


STRIP = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='10'/>"


def test_scrolling_loads_more_hits(open_page: OpenPage, hashes: dict[str, str]) -> None:
    with open_page(will_route=True) as tab:
        page = tab.page
        skips = _stub_search(page, 230)
        page.locator(".card").first.wait_for()
        page.goto(f"{page.url.partition('?')[0]}?clip={hashes['walk']}")
        count_label = page.locator(".library-count")
        expect(count_label).to_have_text("The best 100 hits in 3 ms")
        expect(page.locator(".facet-count").first).to_have_text("100+")
        assert skips == [0]
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(count_label).to_have_text("The best 200 hits in 6 ms")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(count_label).to_have_text("230 hits in 9 ms")
        expect(page.locator(".more-hits")).to_be_hidden()
        expect(page.locator(".facet-count").first).not_to_contain_text("+")
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        last = page.get_by_role("link", name="hit 229", exact=True)
        expect(last).to_be_in_viewport()
        wait_until(page, "history.state?.position?.scroll === Math.round(scrollY)")
        last.click()
        page.wait_for_url("**/clips/**")
        page.go_back()
        expect(count_label).to_contain_text("230 hits")
        expect(last).to_be_in_viewport()  # one is where one was
        assert skips == [0, 100, 200] * 2


def test_more_hits_by_keyboard_and_after_a_failure(open_page: OpenPage, hashes: dict[str, str]) -> None:
    with open_page(will_route=True) as tab:
        page = tab.page
        broken = [True]
        _stub_search(page, 130, lambda skip: skip > 0 and broken[0])
        page.locator(".card").first.wait_for()
        page.goto(f"{page.url.partition('?')[0]}?clip={hashes['walk']}")
        expect(page.locator(".library-count")).to_contain_text("The best 100 hits")
        page.locator(".card").first.focus()
        page.keyboard.press("Control+End")  # the last hit that is there
        expect(page.locator(".card:focus .card-name")).to_have_text("hit 99")
        expect(page.get_by_role("alert")).to_contain_text("More hits could not be loaded.")
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
