"""Library page in Chromium: list, text search, facets, address, a thousand clips."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from support.web_pages import CUTS, OpenPage, ServerInfo, expect, wait_until

pytestmark = pytest.mark.browser

NAMES = [name for name, *_ in CUTS]
CARD = ".grid .card:visible:not(.loading)"
MAX_CARDS = 80  # cards in the document, however many clips there are
# Scrolling has stopped, and the position is saved in the history 200 ms later
POSITION_IS_SAVED = """async () => {
  const at = scrollY;
  await new Promise((done) => setTimeout(done, 250));
  return scrollY === at && history.state?.position?.scroll === Math.round(at);
}"""


def wait_cards(page: Any, names: list[str]) -> None:
    """Wait until exactly these clips are shown, in any order."""
    condition = """(names) => {
      const cards = [...document.querySelectorAll('.grid .card:not(.loading)')].filter((each) => each.offsetParent);
      const found = cards.map((each) => each.querySelector('.card-name').textContent);
      return found.length === names.length && names.every((name) => found.includes(name));
    }"""
    wait_until(page, condition, arg=names)


def wait_order(page: Any, names: list[str]) -> None:
    """Wait until exactly these clips are shown, in this order."""
    expect(page.locator(f"{CARD} .card-name")).to_have_text(names)


def test_every_clip_has_a_strip_and_no_request_leaves_the_machine(open_page: OpenPage, server: ServerInfo) -> None:
    with open_page() as tab:
        page = tab.page
        wait_cards(page, NAMES)
        expect(page.locator(".library-count")).to_have_text(f"{len(NAMES)} clips")
        wait_until(page, "document.querySelectorAll('.card-strip.loaded').length === 8")
        assert page.locator(".card-strip").first.evaluate("(image) => image.naturalWidth > 4 * image.naturalHeight")
        facts = page.locator(CARD, has_text="walk again").locator(".card-details")
        expect(facts).to_contain_text("3.3 s · 30 fps")
        expect(facts).to_contain_text("walk")
        expect(page).to_have_title("Library · Keypose")
        assert "token" not in page.url
        assert {urlsplit(url).netloc for url in tab.requests} == {urlsplit(server.origin).netloc}
        assert tab.errors == []


def test_text_is_searched_while_typing(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        wait_cards(page, NAMES)
        page.keyboard.press("/")
        page.keyboard.type("kick")
        wait_cards(page, ["kick", "high kick", "all of it"])  # the last one by its tag
        page.wait_for_url("**/?text=kick")
        page.get_by_role("button", name="Remove filter “kick”").click()
        wait_cards(page, NAMES)
        expect(page.get_by_label("Search names and tags")).to_have_value("")
        page.get_by_label("Search names and tags").fill("nothing is called this")
        page.wait_for_selector("text=No matching clips")
        page.get_by_role("button", name="Clear filters").click()
        wait_cards(page, NAMES)
        assert tab.errors == []


def test_facets_narrow_the_list_and_count(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        wait_cards(page, NAMES)
        side = page.get_by_label("Filters", exact=True)
        expect(side.locator("[data-facet='tag jump'] .facet-count")).to_have_text("3")
        side.locator("[data-facet='tag jump']").click()
        wait_cards(page, ["jump", "landing", "all of it"])
        expect(side.locator("[data-facet='tag fast'] .facet-count")).to_have_text("1")  # of those three
        side.locator("[data-facet='tag fast']").click()
        wait_cards(page, ["jump"])
        wait_until(page, "new URLSearchParams(location.search).getAll('tag').join() === 'jump,fast'")
        page.get_by_role("button", name="Clear all").click()
        wait_cards(page, NAMES)
        side.get_by_role("button", name="10 to 30 s").click()
        wait_cards(page, ["all of it"])
        side.get_by_role("button", name="10 to 30 s").click()
        wait_cards(page, NAMES)
        part = side.locator("[data-facet^='body_part ']").last
        count = int(part.locator(".facet-count").inner_text())
        part.click()
        wait_until(page, "(count) => document.querySelector('.library-count').textContent.startsWith(count)",
                               arg=f"{count} clip")  # fmt: skip
        part.click()
        wait_cards(page, NAMES)
        kicks = side.locator("[data-facet='action kick']")
        count = int(kicks.locator(".facet-count").inner_text())
        assert 0 < count < len(NAMES)
        kicks.click()
        wait_until(page, "new URLSearchParams(location.search).get('action') === 'kick'")
        wait_until(page, "(count) => document.querySelector('.library-count').textContent.startsWith(count)",
                               arg=f"{count} clip")  # fmt: skip
        page.get_by_role("button", name="Remove filter Action: kick").click()
        wait_cards(page, NAMES)
        assert tab.errors == []


def test_reload_back_and_forward_show_the_same(open_page: OpenPage) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        wait_cards(page, NAMES)
        wait_order(page, sorted(NAMES))
        page.locator("[data-facet='tag walk']").click()
        wait_cards(page, ["walk", "walk again", "all of it"])
        page.get_by_label("Order of clips").select_option("longest")
        wait_order(page, ["all of it", "walk again", "walk"])
        page.reload()
        wait_order(page, ["all of it", "walk again", "walk"])
        expect(page.locator("[data-facet='tag walk']")).to_have_attribute("aria-pressed", "true")
        page.go_back()
        wait_order(page, ["all of it", "walk", "walk again"])
        expect(page.get_by_label("Order of clips")).to_have_value("name")
        page.go_back()
        wait_cards(page, NAMES)
        page.go_forward()
        wait_cards(page, ["walk", "walk again", "all of it"])
        assert tab.errors == []


def _list_clips(route: Any, rows: list[dict[str, Any]]) -> None:
    query = parse_qs(urlsplit(route.request.url).query)
    skip, limit = int(query["skip"][0]), int(query["limit"][0])
    assert limit <= 200
    facets: dict[str, list[Any]] = {"tags": [], "durations": [], "body_parts": [], "actions": []}
    page = {"total": len(rows), "skip": skip, "clips": rows[skip : skip + limit], "facets": facets}
    route.fulfill(status=200, content_type="application/json", body=json.dumps(page))


def test_large_library_has_few_elements_and_keeps_its_scroll_position(
    open_page: OpenPage, hashes: dict[str, str]
) -> None:
    row = {"tags": [], "fps": 30.0, "n_frames": 90, "duration_s": 3.0, "suffix": ".bvh", "bytes": 1,
           "added_at": "2026-11-18T00:00:00Z"}  # fmt: skip
    known_hashes = list(hashes.values())
    rows = [{**row, "hash": known_hashes[i % len(known_hashes)], "name": f"take {i}"} for i in range(1200)]
    with open_page() as tab:
        page = tab.page
        wait_cards(page, NAMES)
        page.route("**/api/clips?*", lambda route: _list_clips(route, rows))
        page.reload()
        page.wait_for_selector("text=1,200 clips")
        page.wait_for_selector(f"{CARD} >> text=take 0")
        page.mouse.move(600, 500)
        for _ in range(40):
            page.mouse.wheel(0, 900)
            page.wait_for_timeout(16)
            assert page.locator(".card").count() < MAX_CARDS
        wait_until(page, "scrollY > 10000")
        wait_until(page, "![...document.querySelectorAll('.card.loading')].some((each) => each.offsetParent)")
        wait_until(page, POSITION_IS_SAVED)
        at = page.evaluate("scrollY")
        names = page.locator(f"{CARD} .card-name").all_inner_texts()
        page.reload()
        wait_until(page, "(at) => Math.abs(scrollY - at) < 2", arg=at)
        page.wait_for_selector(f"{CARD} >> text={names[len(names) // 2]}")
        assert tab.errors == []
