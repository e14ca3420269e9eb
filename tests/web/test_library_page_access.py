"""The library page for everybody: keys alone, screen readers, both colours, small screens, no motion, no clips, no server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from web_served import CUTS, Look, looking, serious_findings, serving, until

import keypose as kp

pytestmark = pytest.mark.browser

ACTIVE = "document.activeElement.closest('.card')?.querySelector('.card-name')?.textContent"
PICTURE = "document.querySelector('.card-play')?.toDataURL()"


def _wait(page: Any) -> None:
    until(page, "document.querySelectorAll('.card-strip.there').length >= 4")  # as many as a small screen shows


def test_keys_alone_do_everything(look: Look, hashes: dict[str, str]) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        _wait(page)
        page.keyboard.press("/")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(ACTIVE) == "all of it"
        for key, name in (("ArrowRight", "high kick"), ("End", "jump"), ("ArrowDown", "turn"), ("Home", "kick"),
                          ("Control+End", "walk again"), ("ArrowUp", "landing"), ("Control+Home", "all of it")):  # fmt: skip
            page.keyboard.press(key)
            assert page.evaluate(ACTIVE) == name, key
        page.keyboard.press("Space")
        page.keyboard.press("Shift+ArrowRight")
        assert page.locator(".selection-count").inner_text() == "2 clips chosen"
        page.keyboard.press("Tab")  # what is on the card: its name, its box, its buttons
        assert page.evaluate("document.activeElement.className") == "card-name"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.className").startswith("card")
        page.keyboard.press("Escape")
        page.locator(".selection-bar").wait_for(state="hidden")
        page.keyboard.press("m")
        assert page.evaluate("document.activeElement.textContent").startswith("Open")
        page.keyboard.press("Escape")
        assert page.evaluate(ACTIVE) == "high kick"
        page.keyboard.press("?")
        page.get_by_role("dialog", name="Keys of this page").wait_for()
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        page.keyboard.type("longest")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?sort=longest")
        until(page, "document.querySelector('.card-name').textContent === 'all of it'")
        page.locator(".card").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/clips/{hashes['all of it']}*")
        page.go_back()
        _wait(page)
        assert watched.complaints == []


@pytest.mark.node
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_axe_finds_nothing_serious(look: Look, axe: str, hashes: dict[str, str], colours: str, width: int) -> None:
    size = {"width": width, "height": 800}
    with look("/?tag=demo", color_scheme=colours, viewport=size) as watched:
        page = watched.page
        _wait(page)
        page.locator(".card").first.focus()
        page.keyboard.press("Space")
        page.wait_for_selector(".selection-bar:visible")
        page.wait_for_timeout(400)  # what fades in has come
        assert serious_findings(page, axe) == []
        page.keyboard.press("t")
        page.wait_for_selector("dialog")
        page.wait_for_timeout(400)
        assert serious_findings(page, axe) == []
        page.keyboard.press("Escape")
        page.goto(page.url.partition("?")[0] + f"?like={hashes['walk']}")
        page.wait_for_selector(".grid.hits .match-facts")
        page.wait_for_timeout(400)
        assert serious_findings(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hovering_and_focus_play_the_clip(look: Look) -> None:
    with look() as watched:
        page = watched.page
        _wait(page)
        page.locator(".card").nth(1).hover()
        page.wait_for_selector(".card-play")
        first = page.evaluate(PICTURE)
        until(page, f"(before) => {PICTURE} !== before", arg=first)
        page.mouse.move(5, 5)
        page.wait_for_selector(".card-play", state="detached")
        page.keyboard.press("/")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".card:focus .card-play")
        assert watched.complaints == []


def test_nothing_moves_for_those_who_want_it_still(look: Look) -> None:
    with look(reduced_motion="reduce") as watched:
        page = watched.page
        _wait(page)
        page.locator(".card").nth(1).hover()
        page.wait_for_timeout(700)
        assert page.locator(".card-play").count() == 0
        assert not any("/frames" in url for url in watched.requests)


def test_colours_are_chosen_and_kept(look: Look) -> None:
    with look(color_scheme="light") as watched:
        page = watched.page
        _wait(page)
        light = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
        page.get_by_role("button", name="Colours").click()
        page.get_by_role("menuitemradio", name="Dark").click()
        until(page, "document.querySelector('.card-strip.there')?.src.includes('theme=dark')")
        assert page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor") != light
        page.reload()
        _wait(page)
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert watched.complaints == []


def test_an_empty_library_says_how_to_begin_and_a_lost_server_how_to_go_on(
    browser: Any, pages: None, tmp_path: Path
) -> None:
    with kp.Library(tmp_path / "clips.db"):
        pass
    with serving(tmp_path / "clips.db") as served, looking(browser, served) as watched:
        page = watched.page
        page.get_by_role("heading", name="No clips yet").wait_for()
        assert page.get_by_role("button", name="Choose a folder").is_visible()
        assert watched.complaints == []
        page.route("**/api/**", lambda route: route.abort())
        page.get_by_label("Search names and tags").fill("walk")
        page.get_by_role("alert").wait_for()
        assert "The server does not answer" in page.get_by_role("alert").inner_text()
        assert "keypose serve" in page.get_by_role("alert").inner_text()
        page.unroute("**/api/**")
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("text=No clip is like that")


def test_addresses_that_lead_nowhere(look: Look) -> None:
    with look() as watched:
        page = watched.page
        _wait(page)
        page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
        page.get_by_role("heading", name="There is no such page").wait_for()
        page.get_by_role("link", name="Go to the library").click()
        page.wait_for_selector(f"text={len(CUTS)} clips")
        assert watched.complaints == []
