"""The library page in real Chromium: looking, words, facets, the address, a thousand clips."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from web_served import CUTS, Look, Served, expect, until

pytestmark = pytest.mark.browser

NAMES = [name for name, *_ in CUTS]
CARD = ".grid .card:visible:not(.waiting)"
MOST_ALIVE = 80  # cards in the document, however many clips there are
# Scrolling has come to an end, and where is kept in the history, 200 ms later
PLACE_IS_KEPT = """async () => {
  const at = scrollY;
  await new Promise((done) => setTimeout(done, 250));
  return scrollY === at && history.state?.place?.scroll === Math.round(at);
}"""


def until_shown(page: Any, names: list[str]) -> None:
    """Waits until there are cards of just these clips, in any order."""
    condition = """(names) => {
      const cards = [...document.querySelectorAll('.grid .card:not(.waiting)')].filter((each) => each.offsetParent);
      const found = cards.map((each) => each.querySelector('.card-name').textContent);
      return found.length === names.length && names.every((name) => found.includes(name));
    }"""
    until(page, condition, arg=names)


def until_ordered(page: Any, names: list[str]) -> None:
    """Waits until there are cards of just these clips, in this order."""
    expect(page.locator(f"{CARD} .card-name")).to_have_text(names)


def test_every_clip_has_its_strip_and_nothing_leaves_the_machine(look: Look, served: Served) -> None:
    with look() as watched:
        page = watched.page
        until_shown(page, NAMES)
        expect(page.locator(".library-count")).to_have_text(f"{len(NAMES)} clips")
        until(page, "document.querySelectorAll('.card-strip.there').length === 8")
        assert page.locator(".card-strip").first.evaluate("(image) => image.naturalWidth > 4 * image.naturalHeight")
        facts = page.locator(CARD, has_text="walk again").locator(".card-facts")
        expect(facts).to_contain_text("3.3 s · 30 fps")
        expect(facts).to_contain_text("walk")
        expect(page).to_have_title("Library · Keypose")
        assert "token" not in page.url
        assert {urlsplit(url).netloc for url in watched.requests} == {urlsplit(served.origin).netloc}
        assert watched.complaints == []


def test_words_are_searched_while_typing(look: Look) -> None:
    with look() as watched:
        page = watched.page
        until_shown(page, NAMES)
        page.keyboard.press("/")
        page.keyboard.type("kick")
        until_shown(page, ["kick", "high kick", "all of it"])  # the last one by its tag
        page.wait_for_url("**/?words=kick")
        page.get_by_role("button", name="Remove “kick”").click()
        until_shown(page, NAMES)
        expect(page.get_by_label("Search names and tags")).to_have_value("")
        page.get_by_label("Search names and tags").fill("nothing is called this")
        page.wait_for_selector("text=No clip is like that")
        page.get_by_role("button", name="Clear the filters").click()
        until_shown(page, NAMES)
        assert watched.complaints == []


def test_facets_narrow_the_list_and_count(look: Look) -> None:
    with look() as watched:
        page = watched.page
        until_shown(page, NAMES)
        side = page.get_by_label("Filters")
        expect(side.locator("[data-facet='tag jump'] .facet-count")).to_have_text("3")
        side.locator("[data-facet='tag jump']").click()
        until_shown(page, ["jump", "landing", "all of it"])
        expect(side.locator("[data-facet='tag fast'] .facet-count")).to_have_text("1")  # of those three
        side.locator("[data-facet='tag fast']").click()
        until_shown(page, ["jump"])
        until(page, "new URLSearchParams(location.search).getAll('tag').join() === 'jump,fast'")
        page.get_by_role("button", name="Clear all").click()
        until_shown(page, NAMES)
        side.get_by_role("button", name="10 to 30 s").click()
        until_shown(page, ["all of it"])
        side.get_by_role("button", name="10 to 30 s").click()
        until_shown(page, NAMES)
        part = side.locator("[data-facet^='part ']").last
        count = int(part.locator(".facet-count").inner_text())
        part.click()
        until(page, "(count) => document.querySelector('.library-count').textContent.startsWith(count)",
                               arg=f"{count} clip")  # fmt: skip
        assert watched.complaints == []


def test_reload_back_and_forward_show_the_same(look: Look) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        until_shown(page, NAMES)
        until_ordered(page, sorted(NAMES))
        page.locator("[data-facet='tag walk']").click()
        until_shown(page, ["walk", "walk again", "all of it"])
        page.get_by_label("Order of clips").select_option("longest")
        until_ordered(page, ["all of it", "walk again", "walk"])
        page.reload()
        until_ordered(page, ["all of it", "walk again", "walk"])
        expect(page.locator("[data-facet='tag walk']")).to_have_attribute("aria-pressed", "true")
        page.go_back()
        until_ordered(page, ["all of it", "walk", "walk again"])
        expect(page.get_by_label("Order of clips")).to_have_value("name")
        page.go_back()
        until_shown(page, NAMES)
        page.go_forward()
        until_shown(page, ["walk", "walk again", "all of it"])
        assert watched.complaints == []


def _thousand(route: Any, rows: list[dict[str, Any]]) -> None:
    query = parse_qs(urlsplit(route.request.url).query)
    skip, limit = int(query["skip"][0]), int(query["limit"][0])
    assert limit <= 200
    facets: dict[str, list[Any]] = {"tags": [], "durations": [], "parts": []}
    page = {"total": len(rows), "skip": skip, "clips": rows[skip : skip + limit], "facets": facets}
    route.fulfill(status=200, content_type="application/json", body=json.dumps(page))


def test_a_thousand_clips_are_few_elements_and_keep_their_place(look: Look, hashes: dict[str, str]) -> None:
    row = {"tags": [], "fps": 30.0, "n_frames": 90, "duration_s": 3.0, "suffix": ".bvh", "bytes": 1,
           "added_at": "2026-11-18T00:00:00Z"}  # fmt: skip
    known = list(hashes.values())
    rows = [{**row, "hash": known[i % len(known)], "name": f"take {i}"} for i in range(1200)]
    with look() as watched:
        page = watched.page
        until_shown(page, NAMES)
        page.route("**/api/clips?*", lambda route: _thousand(route, rows))
        page.reload()
        page.wait_for_selector("text=1,200 clips")
        page.wait_for_selector(f"{CARD} >> text=take 0")
        page.mouse.move(600, 500)
        for _ in range(40):
            page.mouse.wheel(0, 900)
            page.wait_for_timeout(16)
            assert page.locator(".card").count() < MOST_ALIVE
        until(page, "scrollY > 10000")
        until(page, "![...document.querySelectorAll('.card.waiting')].some((each) => each.offsetParent)")
        until(page, PLACE_IS_KEPT)
        at = page.evaluate("scrollY")
        seen = page.locator(f"{CARD} .card-name").all_inner_texts()
        page.reload()
        until(page, "(at) => Math.abs(scrollY - at) < 2", arg=at)
        page.wait_for_selector(f"{CARD} >> text={seen[len(seen) // 2]}")
        assert watched.complaints == []
