"""The library page for everybody: keys alone, screen readers, both colours, small screens, no motion, no clips, no server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from web_served import CUTS, Look, by_palette, expect, looking, serious_findings, serving, until

import keypose as kp

pytestmark = pytest.mark.browser

PICTURE = "document.querySelector('.card-play')?.toDataURL()"


def _wait(page: Any) -> None:
    until(page, "document.querySelectorAll('.card-strip.there').length >= 4")  # as many as a small screen shows


def test_keys_alone_do_everything(look: Look, hashes: dict[str, str]) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        _wait(page)
        page.keyboard.press("/")
        page.keyboard.press("ArrowDown")
        active = page.locator(".card:focus .card-name")
        expect(active).to_have_text("all of it")
        for key, name in (("ArrowRight", "high kick"), ("End", "jump"), ("ArrowDown", "turn"), ("Home", "kick"),
                          ("Control+End", "walk again"), ("ArrowUp", "landing"), ("Control+Home", "all of it")):  # fmt: skip
            page.keyboard.press(key)
            expect(active).to_have_text(name)
        page.keyboard.press("Space")
        page.keyboard.press("Shift+ArrowRight")
        expect(page.locator(".selection-count")).to_have_text("2 clips chosen")
        page.keyboard.press("Tab")  # what is on the card: its name, its box, its buttons
        expect(page.locator(":focus")).to_have_class("card-name")
        page.keyboard.press("Escape")
        expect(active).to_have_text("high kick")
        page.keyboard.press("Escape")
        expect(page.locator(".selection-bar")).to_be_hidden()
        page.keyboard.press("m")
        expect(page.locator(":focus")).to_have_text(re.compile("^Open"))
        page.keyboard.press("Escape")
        expect(page.get_by_role("menu")).to_have_count(0)
        expect(active).to_have_text("high kick")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys of this page")
        dialog.wait_for()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        by_palette(page, "longest")
        page.wait_for_url("**/?sort=longest")
        expect(page.locator(".card-name").nth(1)).to_have_text("walk again")
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
        assert serious_findings(page, axe) == []
        page.keyboard.press("t")
        page.wait_for_selector("dialog")
        assert serious_findings(page, axe) == []
        page.keyboard.press("Escape")
        page.goto(page.url.partition("?")[0] + f"?like={hashes['walk']}")
        page.wait_for_selector(".grid.hits .match-facts")
        assert serious_findings(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(page.url.partition("?")[0] + "?removed=1")
        page.get_by_role("heading", name="Nothing is removed").wait_for()
        assert serious_findings(page, axe) == []


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
        light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        page.get_by_role("button", name="Colours").click()
        page.get_by_role("menuitemradio", name="Dark").click()
        until(page, "document.querySelector('.card-strip.there')?.src.includes('theme=dark')")
        expect(page.locator("html")).not_to_have_css("background-color", light)
        page.reload()
        _wait(page)
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert watched.complaints == []


def test_an_empty_library_says_how_to_begin_and_a_lost_server_how_to_go_on(
    browser: Any, pages: None, tmp_path: Path
) -> None:
    with kp.Library(tmp_path / "clips.db"):
        pass
    with serving(tmp_path / "clips.db") as served, looking(browser, served) as watched:
        page = watched.page
        page.get_by_role("heading", name="No clips yet").wait_for()
        expect(page.get_by_role("button", name="Choose a folder")).to_be_visible()
        expect(page.locator(".welcome code")).to_have_text("keypose library add takes/ --library clips.db")
        assert watched.complaints == []
        page.route("**/api/**", lambda route: route.abort())
        page.get_by_label("Search names and tags").fill("walk")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
        expect(page.get_by_role("alert")).to_contain_text("keypose serve")
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
