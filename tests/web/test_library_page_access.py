"""Accessibility of the library page: keyboard, screen readers, themes, small screens, reduced motion, no clips, no server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from support.clip_page import call_api
from support.web_pages import (
    CUTS,
    OpenPage,
    expect,
    open_tab,
    poll,
    run_command,
    run_server,
    serious_violations,
    wait_until,
)

pytestmark = pytest.mark.browser

PICTURE = "document.querySelector('.card-preview')?.toDataURL()"


def _wait_strips(page: Any) -> None:
    wait_until(page, "document.querySelectorAll('.card-strip.loaded').length >= 4")  # as many as a small screen shows


def test_everything_works_by_keyboard(open_page: OpenPage, hashes: dict[str, str]) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        _wait_strips(page)
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
        expect(page.locator(".selection-count")).to_have_text("2 clips selected")
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
        dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
        dialog.wait_for()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        run_command(page, "longest")
        page.wait_for_url("**/?sort=longest")
        expect(page.locator(".card-name").nth(1)).to_have_text("walk again")
        page.locator(".card").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/clips/{hashes['all of it']}*")
        page.go_back()
        _wait_strips(page)
        assert tab.errors == []


@pytest.mark.node
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_axe_finds_no_serious_violations(
    open_page: OpenPage, axe: str, hashes: dict[str, str], colours: str, width: int
) -> None:
    size = {"width": width, "height": 800}
    with open_page("/?tag=demo", color_scheme=colours, viewport=size) as tab:
        page = tab.page
        _wait_strips(page)
        page.locator(".card").first.focus()
        page.keyboard.press("Space")
        page.wait_for_selector(".selection-bar:visible")
        assert serious_violations(page, axe) == []
        page.keyboard.press("t")
        page.wait_for_selector("dialog")
        assert serious_violations(page, axe) == []
        page.keyboard.press("Escape")
        page.goto(page.url.partition("?")[0] + f"?clip={hashes['walk']}")
        page.wait_for_selector(".grid.hits .match-details")
        assert serious_violations(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.goto(page.url.partition("?")[0] + "?trash=1")
        page.get_by_role("heading", name="The trash is empty").wait_for()
        assert serious_violations(page, axe) == []


def test_hover_and_focus_play_the_clip(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _wait_strips(page)
        page.locator(".card").nth(1).hover()
        page.wait_for_selector(".card-preview")
        first = page.evaluate(PICTURE)
        wait_until(page, f"(before) => {PICTURE} !== before", arg=first)
        page.mouse.move(5, 5)
        page.wait_for_selector(".card-preview", state="detached")
        page.keyboard.press("/")
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".card:focus .card-preview")
        assert tab.errors == []


def test_preview_changes_with_the_clip_under_the_pointer(open_page: OpenPage) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        _wait_strips(page)
        card = page.locator(".card").nth(1)
        card.hover()
        page.wait_for_selector(".card-preview")

        def read_request() -> str:
            return [url for url in tab.requests if "/frames?" in url][-1]

        def read_hash() -> str:
            return str(card.locator(".card-name").get_attribute("href")).removeprefix("/clips/")

        assert read_hash() in read_request()
        before = read_hash()
        page.get_by_label("Order of clips").select_option("longest")  # without moving the pointer
        poll(read_hash, lambda digest: digest != before)
        poll(read_request, lambda url: read_hash() in url)
        page.wait_for_selector(".card-preview")
        assert page.locator(".card-preview").count() == 1
        assert tab.errors == []


def test_reduced_motion_disables_previews(open_page: OpenPage) -> None:
    with open_page(reduced_motion="reduce") as tab:
        page = tab.page
        _wait_strips(page)
        page.locator(".card").nth(1).hover()
        page.wait_for_timeout(700)
        assert page.locator(".card-preview").count() == 0
        assert not any("/frames" in url for url in tab.requests)


def test_theme_is_chosen_and_stored(open_page: OpenPage) -> None:
    with open_page(color_scheme="light") as tab:
        page = tab.page
        _wait_strips(page)
        light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("menuitemradio", name="Dark").click()
        wait_until(page, "document.querySelector('.card-strip.loaded')?.src.includes('theme=dark')")
        expect(page.locator("html")).not_to_have_css("background-color", light)
        page.reload()
        _wait_strips(page)
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert tab.errors == []


def test_empty_library_and_lost_server_say_what_to_do(browser: Any, pages: None, tmp_path: Path) -> None:
    with kp.Library(tmp_path / "clips.db"):
        pass
    with run_server(tmp_path / "clips.db") as server, open_tab(browser, server, will_route=True) as tab:
        page = tab.page
        page.get_by_role("heading", name="No clips yet").wait_for()
        expect(page.get_by_role("button", name="Add a folder…")).to_be_visible()
        expect(page.locator(".empty-library code")).to_have_text("keypose library add takes/ --library clips.db")
        hints = page.locator(".empty-library > .hint")
        for each in call_api(page, "/api/library")["import_formats"]:
            command, label = each["install_command"], each["label"]
            for suffix in each["suffixes"]:
                if command is None and not suffix.endswith(".gz"):
                    expect(hints.first).to_contain_text(suffix)
            if command is not None:
                expect(hints.first).not_to_contain_text(each["suffixes"][0])
                expect(hints.get_by_text(f"{label} files need this on the server: {command}")).to_be_visible()
        assert tab.errors == []
        page.route("**/api/**", lambda route: route.abort())
        page.get_by_label("Search names and tags").fill("walk")
        expect(page.get_by_role("alert")).to_contain_text("The server is not responding")
        expect(page.get_by_role("alert")).to_contain_text("keypose serve")
        page.unroute("**/api/**")
        page.get_by_role("button", name="Try again").click()
        page.wait_for_selector("text=No matching clips")


def test_unknown_addresses(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _wait_strips(page)
        page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
        page.get_by_role("heading", name="Page not found").wait_for()
        page.get_by_role("link", name="Go to the library").click()
        page.wait_for_selector(f"text={len(CUTS)} clips")
        assert tab.errors == []
